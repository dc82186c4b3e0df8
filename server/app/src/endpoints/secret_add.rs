//! Adding a secret to an endpoint, for a change of secrets without a gap: the old ones go on
//! verifying for as long as the sender may still use them.

use restante_core::id::EndpointId;
use restante_core::limits::{SECRET_OVERLAP_SECONDS_MAX, SECRETS_PER_ENDPOINT_MAX};
use restante_core::problem::Problem;
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::control::{audit, endpoints, secrets};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::read::not_found;
use super::shown::Options;
use super::{EndpointSecret, Notice, check, shown};
use crate::idempotency::Once;
use crate::{App, By, Made, Repeat};

/// What becomes of the secrets that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retire {
    /// They end after so many seconds, or earlier where they would have anyway.
    AfterSeconds(u32),
    /// They stay as they are.
    Never,
}

/// A secret to be added.
#[derive(Debug, Clone)]
pub struct NewSecret {
    /// As it was pasted.
    pub secret: Secret<String>,
    /// What becomes of the others.
    pub retire_others: Retire,
}

/// A secret that was added, and what a person should look at again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedSecret {
    /// The secret.
    pub secret: EndpointSecret,
    /// What is unusual.
    #[serde(with = "super::notices")]
    pub notices: Vec<Notice>,
}

impl App {
    /// Adds a secret to an endpoint.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's; or a [`Problem`] that says what is wrong with the
    /// secret. Then nothing was changed.
    pub async fn add_secret(
        &self,
        by: &By,
        id: EndpointId,
        asked: NewSecret,
        repeat: Option<Repeat>,
    ) -> Result<Made<AddedSecret>, StoreError> {
        if let Retire::AfterSeconds(seconds) = asked.retire_others
            && seconds > SECRET_OVERLAP_SECONDS_MAX
        {
            return Err(Problem::field(
                "/retire_others_in_seconds",
                format!(
                    "The other secrets end after 0 to {SECRET_OVERLAP_SECONDS_MAX} seconds (a year); \
                     null lets them stay."
                ),
            )
            .into());
        }
        let keys = self.tenant_keys(by.tenant()).await?;
        let now = self.clock.now();
        let once = Once::new(self, by, repeat, &keys, now);
        let (tenant, by, app) = (by.tenant(), by.clone(), self.clone());
        let made = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if let Some(made) = once.begin(conn).await? {
                        return Ok(made);
                    }
                    let endpoint = endpoints::get(conn, tenant, id).await?.ok_or_else(not_found)?;
                    let provider = check::provider(&endpoint.provider).map_err(Problem::fields)?;
                    let options = Options::read(&keys, &endpoint)?.whole();
                    let scheme = check::options(provider, &options).map_err(Problem::fields)?;
                    let (checked, notices) =
                        check::secret(&scheme, &asked.secret, "/secret").map_err(Problem::fields)?;
                    if let Retire::AfterSeconds(seconds) = asked.retire_others {
                        secrets::retire(conn, tenant, id, now.plus_seconds(i64::from(seconds))).await?;
                    }
                    // What ended is no secret any more and need not lie there.
                    secrets::delete_expired(conn, tenant, id, now).await?;
                    if secrets::of_endpoint(conn, tenant, id).await?.len() >= SECRETS_PER_ENDPOINT_MAX {
                        return Err(Problem::field(
                            "/secret",
                            format!(
                                "The endpoint already holds {SECRETS_PER_ENDPOINT_MAX} secrets, and more it \
                                 can't hold. Delete one that the sender no longer uses."
                            ),
                        )
                        .into());
                    }
                    let row = shown::new_secret(&app, &keys, &checked.secret, 0, now);
                    secrets::insert(conn, tenant, id, &row).await?;
                    endpoints::touch(conn, tenant, id, now).await?;
                    let detail = json!({ "secret": row.id });
                    let line = by.audit(&*app.random, now, "endpoint.secret.add", id.to_string(), &detail);
                    audit::insert(conn, tenant, line).await?;
                    once.keep(conn, AddedSecret { secret: shown::secret(&row), notices }).await
                })
            })
            .await?;
        self.targets.forget(id);
        Ok(made)
    }
}
