//! Deleting an endpoint: its URL answers 404 from then on, its secrets are gone, its events stay.

use restante_core::id::EndpointId;
use restante_store::StoreError;
use restante_store::control::{audit, endpoints, tenants};
use serde_json::json;

use super::read::not_found;
use crate::{App, By};

impl App {
    /// Deletes an endpoint.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's.
    pub async fn delete_endpoint(&self, by: &By, id: EndpointId) -> Result<(), StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let line = by.audit(&*self.random, now, "endpoint.delete", id.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    tenants::config_changed(conn, tenant).await?;
                    if !endpoints::delete(conn, tenant, id, now).await? {
                        return Err(not_found());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        self.targets.forget(id);
        Ok(())
    }
}
