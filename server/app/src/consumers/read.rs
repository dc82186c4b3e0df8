//! Consumers as their tenant sees them.

use restante_core::id::ConsumerId;
use restante_store::{StoreError, consumers};
use uuid::Uuid;

use super::{Consumer, not_found};
use crate::{App, By};

impl App {
    /// A page of the tenant's consumers, newest first, those before an id.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn consumers(
        &self,
        by: &By,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Consumer>, StoreError> {
        let (tenant, before) = (by.tenant(), before.map(ConsumerId));
        let now = self.clock.now();
        let found =
            self.store.read(move |conn| Box::pin(consumers::page(conn, tenant, before, limit))).await?;
        Ok(found.into_iter().map(|record| Consumer::new(record, now)).collect())
    }

    /// A consumer by its name.
    ///
    /// # Errors
    /// Not found.
    pub async fn consumer(&self, by: &By, name: &str) -> Result<Consumer, StoreError> {
        let (tenant, name) = (by.tenant(), name.to_owned());
        let found = self
            .store
            .read(move |conn| Box::pin(async move { consumers::by_name(conn, tenant, &name).await }))
            .await?;
        Ok(Consumer::new(found.ok_or_else(not_found)?, self.clock.now()))
    }
}
