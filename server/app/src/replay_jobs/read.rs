//! How far replays of many are.

use restante_core::id::ReplayJobId;
use restante_store::StoreError;
use restante_store::replay_jobs::{self, ReplayJobRow};

use super::{filter, not_found};
use crate::events::EventFilter;
use crate::{App, By};

impl App {
    /// A replay of many of the caller's tenant, with the filter of its events.
    ///
    /// # Errors
    /// Not found.
    pub async fn replay_job(
        &self,
        by: &By,
        id: ReplayJobId,
    ) -> Result<(ReplayJobRow, EventFilter), StoreError> {
        let tenant = by.tenant();
        let found = self.store.read(move |conn| Box::pin(replay_jobs::get(conn, tenant, id))).await?;
        let row = found.ok_or_else(not_found)?;
        let asked = filter::read(&row.filter).unwrap_or_default();
        Ok((row, asked))
    }

    /// The newest replays of many of the caller's tenant, at most 50.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn replay_jobs(&self, by: &By) -> Result<Vec<ReplayJobRow>, StoreError> {
        let tenant = by.tenant();
        self.store.read(move |conn| Box::pin(replay_jobs::newest(conn, tenant))).await
    }
}
