//! Making an API key, which can do at most what its maker can.

use restante_core::access::Scopes;
use restante_core::id::KeyId;
use restante_core::problem::{FieldError, Problem};
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::api_keys::{self, ApiKeyRow};
use restante_store::control::audit;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{CreatedApiKey, NewApiKey, draw};
use crate::idempotency::Once;
use crate::{App, By, Made, Repeat, endpoints};

impl App {
    /// Makes an API key.
    ///
    /// # Errors
    /// A [`Problem`]: a field at fault, or scopes that the caller lacks itself.
    pub async fn create_api_key(
        &self,
        by: &By,
        asked: NewApiKey,
        repeat: Option<Repeat>,
    ) -> Result<Made<CreatedApiKey>, StoreError> {
        let now = self.clock.now();
        check(&asked, now)?;
        by.principal.may_grant(asked.scopes)?;
        let keys = self.tenant_keys(by.tenant()).await?;
        let once = Once::new(self, by, repeat, &keys, now);
        let drawn = draw(&*self.random, asked, by.actor(), now);
        let row = drawn.created.row.clone();
        let detail = json!({ "name": row.name, "scopes": row.scopes, "expires_at": row.expires_at });
        let line = by.audit(&*self.random, now, "key.create", row.id.to_string(), &detail);
        let tenant = by.tenant();
        let made = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if let Some(made) = once.begin::<Kept>(conn).await? {
                        return Ok(made);
                    }
                    api_keys::insert(conn, tenant, &row, &drawn.lookup_hash, &drawn.secret_hash).await?;
                    audit::insert(conn, tenant, line).await?;
                    once.keep(conn, Kept::from(drawn.created)).await
                })
            })
            .await?;
        Ok(Made { value: CreatedApiKey::from(made.value), repeated: made.repeated })
    }
}

fn check(asked: &NewApiKey, now: Timestamp) -> Result<(), Problem> {
    let mut errors = endpoints::check_name(&asked.name).err().unwrap_or_default();
    if asked.expires_at.is_some_and(|expires_at| expires_at <= now) {
        errors.push(FieldError {
            pointer: "/expires_at".to_owned(),
            detail: format!("The key would have expired already: it is {now} here."),
        });
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}

/// A created key as a kept answer holds it, sealed.
#[derive(Serialize, Deserialize)]
struct Kept {
    id: KeyId,
    #[serde(with = "in_clear")]
    key: Secret<String>,
    name: String,
    hint: String,
    scopes: String,
    created_by: String,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
}

impl From<CreatedApiKey> for Kept {
    fn from(created: CreatedApiKey) -> Self {
        let CreatedApiKey { row, key } = created;
        Self {
            id: row.id,
            key,
            name: row.name,
            hint: row.hint,
            scopes: row.scopes.to_string(),
            created_by: row.created_by,
            created_at: row.created_at,
            expires_at: row.expires_at,
        }
    }
}

impl From<Kept> for CreatedApiKey {
    fn from(kept: Kept) -> Self {
        let row = ApiKeyRow {
            id: kept.id,
            name: kept.name,
            hint: kept.hint,
            scopes: Scopes::from_stored(&kept.scopes).unwrap_or_default(),
            created_by: kept.created_by,
            created_at: kept.created_at,
            expires_at: kept.expires_at,
            last_used_at: None,
        };
        Self { row, key: kept.key }
    }
}

/// Secrets have no serialised form on purpose; this one goes from here into a sealed field.
mod in_clear {
    use restante_core::secret::Secret;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        secret: &Secret<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Secret<String>, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}
