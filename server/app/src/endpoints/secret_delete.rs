//! Deleting a secret of an endpoint: what is signed with it is refused from then on.

use restante_core::id::{EndpointId, SecretId};
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;
use restante_store::control::{audit, endpoints, secrets, tenants};
use serde_json::json;

use super::read::not_found;
use super::{check, shown};
use crate::{App, By};

impl App {
    /// Deletes a secret.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's; a conflict when the endpoint would be left without
    /// a secret that it needs.
    pub async fn delete_secret(&self, by: &By, id: EndpointId, secret: SecretId) -> Result<(), StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let detail = json!({ "secret": secret });
        let line = by.audit(&*self.random, now, "endpoint.secret.delete", id.to_string(), &detail);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    tenants::config_changed(conn, tenant).await?;
                    let endpoint = endpoints::get(conn, tenant, id).await?.ok_or_else(not_found)?;
                    let rows = secrets::of_endpoint(conn, tenant, id).await?;
                    let rest = rows.iter().filter(|row| row.id != secret && shown::is_live(row, now)).count();
                    if !secrets::delete(conn, tenant, id, secret).await? {
                        return Err(Problem::not_found("secret").into());
                    }
                    let provider = check::provider(&endpoint.provider).map_err(Problem::fields)?;
                    if check::secrets_count(provider, rest).is_err() {
                        return Err(Problem::new(
                            Code::Conflict,
                            "This is the endpoint's last secret, and without one nothing can be verified. \
                             Add its successor first, or disable the endpoint.",
                        )
                        .into());
                    }
                    endpoints::touch(conn, tenant, id, now).await?;
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        self.targets.forget(id);
        Ok(())
    }
}
