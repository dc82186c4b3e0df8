//! The API keys of a tenant, without what makes them keys.

use restante_store::StoreError;
use restante_store::control::api_keys::{self, ApiKeyRow};
use uuid::Uuid;

use crate::{App, By};

impl App {
    /// The newest keys of the caller's tenant, from the one before `before` on; at most `limit`.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn api_keys(
        &self,
        by: &By,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<ApiKeyRow>, StoreError> {
        let tenant = by.tenant();
        self.store.read(move |conn| Box::pin(api_keys::page(conn, tenant, before, limit))).await
    }
}
