//! How far replays of many are.

use restante_core::id::ReplayJobId;
use restante_store::StoreError;
use restante_store::replay_jobs::{self, ReplayJobRow};
use uuid::Uuid;

use super::{ReplayOf, filter, not_found};
use crate::events::EventFilter;
use crate::{App, By};

/// A replay of many.
#[derive(Debug, Clone)]
pub struct Replays {
    /// What is known of it.
    pub row: ReplayJobRow,
    /// Which events it is of.
    pub of: ReplayOf,
}

impl Replays {
    fn read(row: ReplayJobRow) -> Self {
        // One that can't be read ends with a sentence that says so.
        let of = filter::read(&row.filter).unwrap_or(ReplayOf::Matching(EventFilter::default()));
        Self { row, of }
    }
}

impl App {
    /// A replay of many of the caller's tenant.
    ///
    /// # Errors
    /// Not found.
    pub async fn replay_job(&self, by: &By, id: ReplayJobId) -> Result<Replays, StoreError> {
        let tenant = by.tenant();
        let found = self.store.read(move |conn| Box::pin(replay_jobs::get(conn, tenant, id))).await?;
        Ok(Replays::read(found.ok_or_else(not_found)?))
    }

    /// Replays of many of the caller's tenant, the newest first, those after `after` in that order.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn replay_jobs(
        &self,
        by: &By,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Replays>, StoreError> {
        let tenant = by.tenant();
        let rows =
            self.store.read(move |conn| Box::pin(replay_jobs::list(conn, tenant, after, limit))).await?;
        Ok(rows.into_iter().map(Replays::read).collect())
    }
}
