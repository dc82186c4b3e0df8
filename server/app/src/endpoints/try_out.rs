//! Trying a description out on a pasted request, before anything is saved: the verdict that a delivery
//! would get, with its explanation. Nothing is stored, counted or logged.

use restante_core::limits::BODY_BYTES_DEFAULT;
use restante_core::problem::Problem;
use restante_core::request::Request;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::verify::{Endpoint, Verdict, verify};
use serde_json::{Map, Value};

use super::check;
use crate::App;

/// What is tried.
pub struct TryOut {
    /// The provider's slug.
    pub provider: String,
    /// The endpoint's options, the secret ones among them.
    pub options: Map<String, Value>,
    /// The secret as it was pasted.
    pub secret: Secret<String>,
    /// The request as it was pasted.
    pub request: Request,
    /// When it is taken to have come; `None` is now.
    pub at: Option<Timestamp>,
}

impl App {
    /// The verdict on a request.
    ///
    /// # Errors
    /// A [`Problem`] that names every field at fault.
    pub fn try_out(&self, asked: &TryOut) -> Result<Verdict, Problem> {
        let provider = check::provider(&asked.provider).map_err(Problem::fields)?;
        let scheme = check::options(provider, &asked.options);
        let scheme = check::both(scheme, check::secrets_count(provider, 1)).map_err(Problem::fields)?.0;
        let (checked, _) = check::secret(&scheme, &asked.secret, "/secrets/0").map_err(Problem::fields)?;
        let key = scheme.key(checked.secret.expose()).map_err(|fault| Problem::field("/secrets/0", fault))?;
        let url = format!("{}/in/", self.settings.public_url);
        let endpoint = Endpoint {
            scheme: &scheme,
            keys: &[key],
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
    use crate::testing::TestApp;

    fn asked(signature: &str) -> TryOut {
        let options = json!({ "verify": { "algorithm": "hmac-sha256", "header": "X-Sig", "event": { "id": { "json": "/id" } } } });
        TryOut {
            provider: "custom".to_owned(),
            options: options.as_object().unwrap().clone(),
            secret: Secret::new("key".to_owned()),
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
        let empty = TryOut { secret: Secret::new(String::new()), ..asked(right) };
        assert_eq!(a.app.try_out(&empty).unwrap_err().errors[0].pointer, "/secrets/0");
        assert_eq!(a.t.count("receipts").await + a.t.count("refusals").await, 0);
    }
}
