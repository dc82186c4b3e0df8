//! Making an endpoint. Everything about it is checked before anything is written.

use restante_core::catalogue::{CheckedSecret, Provider};
use restante_core::id::EndpointId;
use restante_core::problem::Problem;
use restante_core::seal::Place;
use restante_core::tenant_limits::Limited;
use restante_core::token::IngestToken;
use restante_store::StoreError;
use restante_store::control::endpoints::EndpointRow;
use restante_store::control::secrets::SecretRow;
use restante_store::control::{audit, endpoints, secrets, tenant_limits};
use serde_json::json;

use super::shown::Options;
use super::{NewEndpoint, Noted, Notice, check, shown};
use crate::idempotency::Once;
use crate::quota::room_for;
use crate::retention::{PolicyLevel, write_policy};
use crate::{App, By, Made, Repeat};

/// What passed every rule.
struct Checked {
    provider: &'static Provider,
    options: Options,
    secrets: Vec<CheckedSecret>,
    notices: Vec<Notice>,
}

impl App {
    /// Makes an endpoint.
    ///
    /// # Errors
    /// A [`Problem`] that names every field at fault; then nothing was stored.
    pub async fn create_endpoint(
        &self,
        by: &By,
        asked: NewEndpoint,
        repeat: Option<Repeat>,
    ) -> Result<Made<Noted>, StoreError> {
        let checked = check(&asked, self.settings.body_bytes_ceiling).map_err(Problem::fields)?;
        let keys = self.tenant_keys(by.tenant()).await?;
        let now = self.clock.now();
        let once = Once::new(self, by, repeat, &keys, now);
        let token = IngestToken::new(self.random.bytes());
        let id = EndpointId::new(now, self.random.bytes());
        let place = Place::endpoint_options(id);
        let row = EndpointRow {
            id,
            name: asked.name,
            provider: checked.provider.slug.clone(),
            token_sealed: keys.seal(
                &Place::endpoint_token(id),
                token.expose().as_bytes(),
                self.random.bytes(),
            ),
            options: checked.options.stored(),
            options_sealed: checked.options.sealed(&keys, &place, self.random.bytes()),
            dedup_scope: asked.dedup_scope,
            max_body_bytes: asked.max_body_bytes,
            enabled: asked.enabled,
            created_at: now,
            updated_at: now,
        };
        let new_secrets = checked.secrets.iter().enumerate();
        let secret_rows: Vec<SecretRow> =
            new_secrets.map(|(place, new)| shown::new_secret(self, &keys, &new.secret, place, now)).collect();
        let mut endpoint = shown::endpoint(self, &keys, row.clone(), &secret_rows, now)?;
        let policy = asked.retention.filter(|policy| !policy.is_empty());
        endpoint.retention = policy;
        let answer = Noted { endpoint, notices: checked.notices };
        let detail = json!({ "name": row.name, "provider": row.provider, "secrets": secret_rows.len() });
        let line = by.audit(&*self.random, now, "endpoint.create", id.to_string(), &detail);
        let (tenant, actor) = (by.tenant(), by.actor());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if let Some(made) = once.begin(conn).await? {
                        return Ok(made);
                    }
                    room_for(conn, tenant, Limited::Endpoints, async |conn| {
                        tenant_limits::count_endpoints(conn, tenant).await
                    })
                    .await?;
                    endpoints::insert(conn, tenant, &row, &token.hash()).await?;
                    for secret in &secret_rows {
                        secrets::insert(conn, tenant, id, secret).await?;
                    }
                    if let Some(policy) = policy {
                        let level = PolicyLevel::Endpoint(id);
                        write_policy(conn, tenant, level, policy, actor, now, "/retention").await?;
                    }
                    audit::insert(conn, tenant, line).await?;
                    once.keep(conn, answer).await
                })
            })
            .await
    }
}

fn check(asked: &NewEndpoint, ceiling: u64) -> check::Check<Checked> {
    let plain = check::both(check::name(&asked.name), check::max_body_bytes(asked.max_body_bytes, ceiling));
    let described = check::provider(&asked.provider).and_then(|provider| {
        // As they were sent: a name that isn't known is a fault with any value, `null` as well.
        let scheme = check::options(provider, &asked.options);
        let options = Options::split(provider, asked.options.clone());
        // Without a scheme nothing can be said of the secrets, but how many they are.
        // Some senders show their secret only once they have the URL: until then the endpoint is disabled.
        let secrets_are_due = asked.enabled || !asked.secrets.is_empty();
        let counted =
            if secrets_are_due { check::secrets_count(provider, asked.secrets.len()) } else { Ok(()) };
        let (scheme, ()) = check::both(scheme, counted)?;
        let mut checked = Checked { provider, options, secrets: Vec::new(), notices: Vec::new() };
        let mut errors = Vec::new();
        for (place, pasted) in asked.secrets.iter().enumerate() {
            match check::secret(&scheme, pasted, &format!("/secrets/{place}")) {
                Ok((secret, notices)) => {
                    checked.secrets.push(secret);
                    checked.notices.extend(notices);
                }
                Err(faults) => errors.extend(faults),
            }
        }
        if errors.is_empty() { Ok(checked) } else { Err(errors) }
    });
    check::both(plain, described).map(|(_, checked)| checked)
}
