//! Trying a description out on a pasted request, before anything is saved: the verdict that a delivery
//! would get, with its explanation. Nothing is stored, counted or logged.

use restante_core::id::EndpointId;
use restante_core::limits::BODY_BYTES_DEFAULT;
use restante_core::problem::Problem;
use restante_core::request::Request;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::verify::{Endpoint, Verdict, verify};
use restante_store::StoreError;
use restante_store::control::{endpoints, secrets};
use serde_json::{Map, Value};

use super::read::not_found;
use super::{check, shown};
use crate::{App, By};

/// What is tried.
pub struct TryOut {
    /// The provider's slug.
    pub provider: String,
    /// The endpoint's options, the secret ones among them.
    pub options: Map<String, Value>,
    /// The secret as it was pasted; `None` tries the secrets of the endpoint that is there.
    pub secret: Option<Secret<String>>,
    /// The request as it was pasted.
    pub request: Request,
    /// When it is taken to have come; `None` is now.
    pub at: Option<Timestamp>,
}

/// What an endpoint that is there adds: its secrets and its URL.
#[derive(Default)]
struct Present {
    secrets: Vec<Secret<String>>,
    token: Option<String>,
}

impl App {
    /// The verdict on a request by a description that is not saved yet.
    ///
    /// # Errors
    /// A [`Problem`] that names every field at fault.
    pub fn try_out(&self, asked: &TryOut) -> Result<Verdict, Problem> {
        self.try_with(asked, Present::default())
    }

    /// The same for an endpoint that is there: with its own live secrets where none was pasted, and with its
    /// URL.
    ///
    /// # Errors
    /// Not found, or a [`Problem`] that names every field at fault.
    pub async fn try_out_at(&self, by: &By, id: EndpointId, asked: &TryOut) -> Result<Verdict, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let rows = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    endpoints::get(conn, tenant, id).await?.ok_or_else(not_found)?;
                    secrets::of_endpoint(conn, tenant, id).await
                })
            })
            .await?;
        let live = rows.iter().filter(|row| shown::is_live(row, now));
        let secrets = live.map(|row| shown::open_secret(&keys, row)).collect::<Result<Vec<_>, _>>()?;
        let token = Some(self.token_of(by.tenant(), id).await?);
        Ok(self.try_with(asked, Present { secrets, token })?)
    }

    fn try_with(&self, asked: &TryOut, present: Present) -> Result<Verdict, Problem> {
        let provider = check::provider(&asked.provider).map_err(Problem::fields)?;
        let secrets = match &asked.secret {
            Some(pasted) => vec![pasted.clone()],
            None => present.secrets,
        };
        let scheme = check::options(provider, &asked.options);
        let scheme =
            check::both(scheme, check::secrets_count(provider, secrets.len())).map_err(Problem::fields)?.0;
        let mut keys = Vec::with_capacity(secrets.len());
        for secret in &secrets {
            let (checked, _) = check::secret(&scheme, secret, "/secrets/0").map_err(Problem::fields)?;
            let key = scheme.key(checked.secret.expose());
            keys.push(key.map_err(|fault| Problem::field("/secrets/0", fault))?);
        }
        let url = format!("{}/in/{}", self.settings.public_url, present.token.unwrap_or_default());
        let endpoint = Endpoint {
            scheme: &scheme,
            keys: &keys,
            url: &url,
            endpoint_id: "",
            dedup_scope: None,
            body_bytes_max: BODY_BYTES_DEFAULT,
        };
        Ok(verify(&endpoint, &asked.request, asked.at.unwrap_or_else(|| self.clock.now())))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use restante_core::request::HeaderList;
    use restante_store::testing::TestStore;
    use serde_json::json;

    use super::*;
    use crate::endpoints::NewEndpoint;
    use crate::testing::TestApp;

    fn asked(signature: &str) -> TryOut {
        let options = json!({ "verify": { "algorithm": "hmac-sha256", "header": "X-Sig", "event": { "id": { "json": "/id" } } } });
        TryOut {
            provider: "custom".to_owned(),
            options: options.as_object().unwrap().clone(),
            secret: Some(Secret::new("key".to_owned())),
            request: Request {
                method: "POST".to_owned(),
                headers: HeaderList(vec![("x-sig".to_owned(), Bytes::from(signature.to_owned()))]),
                body: Bytes::from_static(b"{\"id\":\"evt_1\"}"),
                ..Request::default()
            },
            at: None,
        }
    }

    #[tokio::test]
    async fn a_pasted_request_gets_the_verdict_of_a_delivery_and_leaves_nothing() {
        let a = TestApp::new(TestStore::sqlite().await);
        // printf '{"id":"evt_1"}' | openssl dgst -sha256 -hmac key
        let right = "6640d8dfe1219986fd807426997fb4d6b7a71e70d4b4a4bf37a145b32f4f1a87";
        match a.app.try_out(&asked(right)).unwrap() {
            Verdict::Accept(accepted) => assert_eq!(accepted.items[0].event_id.as_deref(), Some("evt_1")),
            other => panic!("{other:?}"),
        }
        match a.app.try_out(&asked(&"0".repeat(64))).unwrap() {
            Verdict::Reject(rejection) => assert!(!rejection.explanation.contains(right)),
            other => panic!("{other:?}"),
        }
        let wrong = TryOut { options: Map::new(), ..asked(right) };
        assert!(a.app.try_out(&wrong).unwrap_err().errors[0].pointer.starts_with("/options"));
        let empty = TryOut { secret: Some(Secret::new(String::new())), ..asked(right) };
        assert_eq!(a.app.try_out(&empty).unwrap_err().errors[0].pointer, "/secrets/0");
        let without = TryOut { secret: None, ..asked(right) };
        assert_eq!(a.app.try_out(&without).unwrap_err().errors[0].pointer, "/secrets");
        // An endpoint that is there brings its own secrets, to its own tenant.
        let tenant = a.tenant("acme").await;
        let new = NewEndpoint {
            name: "Ours".to_owned(),
            provider: "custom".to_owned(),
            secrets: ["other", "key"].map(|text| Secret::new(text.to_owned())).into(),
            options: asked(right).options,
            dedup_scope: None,
            max_body_bytes: None,
            retention: None,
            enabled: true,
        };
        let id = a.app.create_endpoint(&tenant.by, new, None).await.unwrap().value.endpoint.id;
        match a.app.try_out_at(&tenant.by, id, &without).await.unwrap() {
            Verdict::Accept(accepted) => assert_eq!(accepted.key_index, Some(1)),
            other => panic!("{other:?}"),
        }
        let wrong = TryOut { secret: Some(Secret::new("else".to_owned())), ..asked(right) };
        assert!(matches!(a.app.try_out_at(&tenant.by, id, &wrong).await.unwrap(), Verdict::Reject(_)));
        let other = a.tenant("beta").await;
        assert!(a.app.try_out_at(&other.by, id, &without).await.is_err());
        assert_eq!(a.t.count("receipts").await + a.t.count("refusals").await, 0);
    }
}
