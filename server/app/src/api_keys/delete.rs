//! Revoking an API key: it opens nothing from then on, on other nodes within five seconds.

use restante_core::id::KeyId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::{api_keys, audit};
use serde_json::json;

use crate::{App, By};

impl App {
    /// Revokes a key of the caller's tenant; the caller's own as well.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's.
    pub async fn delete_api_key(&self, by: &By, id: KeyId) -> Result<(), StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let line = by.audit(&*self.random, now, "key.delete", id.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if !api_keys::delete(conn, tenant, id, now).await? {
                        return Err(Problem::not_found("key").into());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        self.callers.forget(id);
        Ok(())
    }
}
