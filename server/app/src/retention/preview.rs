//! What a run would remove now, with the policies as they are or as somebody would have them, and the record of runs.

use restante_core::retention::Policy;
use restante_store::StoreError;
use restante_store::retention::{self, LineCounts, PolicyLevel, RunLine, RunRow};
use uuid::Uuid;

use super::report::Report;
use super::run::{Options, run};
use crate::administration::administrator;
use crate::people::Actor;
use crate::{App, By};

/// Events that a preview looks at for each endpoint, payloads and keys each.
pub const PREVIEW_LOOK_MAX: u64 = 5_000;

/// Runs on a page.
const RUNS_PER_PAGE: u32 = 25;

impl App {
    /// What a run would remove of the caller's tenant now; with a draft, as if it were saved.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn retention_preview(
        &self,
        by: &By,
        draft: Option<(PolicyLevel, Policy)>,
    ) -> Result<Report, StoreError> {
        let options = Options {
            dry_run: true,
            tenant: Some(by.tenant()),
            look_max: Some(PREVIEW_LOOK_MAX),
            draft,
            ..Options::default()
        };
        // Whether the clock can be believed is the run's matter; what would go by it is told.
        let now = self.store.read(|conn| Box::pin(async move { conn.now().await })).await?;
        run(self, Some(now), options).await
    }

    /// The newest runs that found something of the caller's tenant, each with its lines.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn retention_runs(
        &self,
        by: &By,
        before: Option<Uuid>,
    ) -> Result<Vec<(RunRow, Vec<RunLine>)>, StoreError> {
        let tenant = by.tenant();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let mut runs = Vec::new();
                    for run in retention::runs_of_tenant(conn, tenant, before, RUNS_PER_PAGE).await? {
                        let lines = retention::lines_of_run(conn, tenant, run.id).await?;
                        runs.push((run, lines));
                    }
                    Ok(runs)
                })
            })
            .await
    }

    /// The newest runs of the instance, for administrators.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator.
    pub async fn instance_retention_runs(
        &self,
        actor: &Actor,
        before: Option<Uuid>,
    ) -> Result<Vec<(RunRow, LineCounts)>, StoreError> {
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    retention::newest_runs(conn, before, RUNS_PER_PAGE).await
                })
            })
            .await
    }
}
