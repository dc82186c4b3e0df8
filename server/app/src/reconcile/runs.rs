//! Runs as a tenant sees them and asks for them.

use std::collections::BTreeMap;

use restante_core::id::{EndpointId, ReceiptId, ReconciliationRunId, TenantId};
use restante_core::problem::{Code, Problem};
use restante_core::reconcile::CLOCK_ERROR_SECONDS;
use restante_core::time::Timestamp;
use restante_store::control::audit::{self, AuditRow};
use restante_store::control::endpoints;
use restante_store::reconciliation::{self as rows, NewRun, RunRow};
use restante_store::{Conn, StoreError, jobs};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::settings::no_endpoint;
use super::{JOB, not_set};
use crate::idempotency::Once;
use crate::{App, By, Made, Repeat};

/// Runs that wait behind the one under way; more would find nothing new.
const WAITING_MAX: usize = 5;

/// A run that a person or a program asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedRun {
    /// From where on; by default what any run would look at, and at least the last two days.
    pub from: Option<Timestamp>,
    /// Up to where; by default the time at which it begins. Only together with `from`.
    pub to: Option<Timestamp>,
    /// Whether it may find that everything is missing, which otherwise ends it: the key may be another account's.
    pub trusting: bool,
}

impl AskedRun {
    /// The run, as it is made.
    pub(super) fn run(self, id: ReconciliationRunId, actor: String) -> NewRun {
        let Self { from, to, trusting } = self;
        NewRun { id, cause: "asked", actor: Some(actor), from, to, trusting }
    }
}

/// An event that was missing, or an object that no event told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its receipt, where it was inserted.
    pub receipt: Option<ReceiptId>,
    /// The provider's id.
    pub event_id: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: Option<String>,
    /// When it happened, by the provider.
    pub at: Option<Timestamp>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What is stored of it.
    pub row: RunRow,
    /// Types of events that it listed and that never came by webhook.
    pub never_by_webhook: Vec<String>,
    /// Events that were missing, a few.
    pub found: Vec<Found>,
    /// Events that were here and not processed, by consumer.
    pub unprocessed: BTreeMap<String, u64>,
}

impl App {
    /// Has an endpoint's provider be asked now, behind a run that is under way.
    ///
    /// # Errors
    /// Not found, also when nothing is set; a fault of the stretch; a conflict when several runs wait already.
    pub async fn ask_reconciliation(
        &self,
        by: &By,
        endpoint: EndpointId,
        asked: AskedRun,
        repeat: Option<Repeat>,
    ) -> Result<Made<ReconciliationRunId>, StoreError> {
        let keys = self.tenant_keys(by.tenant()).await?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        stretch(asked, now)?;
        let once = Once::new(self, by, repeat, &keys, now);
        let id = ReconciliationRunId::new(now, self.random.bytes());
        let detail = json!({ "run": id, "from": asked.from, "to": asked.to, "trusting": asked.trusting });
        let line = by.audit(&*self.random, now, "reconciliation.run", endpoint.to_string(), &detail);
        let new = asked.run(id, by.actor());
        let first = crate::schedule::next_slot(JOB, now);
        let made = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if let Some(made) = once.begin(conn).await? {
                        return Ok(made);
                    }
                    ask(conn, tenant, endpoint, new, line).await?;
                    jobs::register(conn, JOB, first).await?;
                    jobs::ask(conn, JOB, "a tenant".to_owned()).await?;
                    once.keep(conn, id).await
                })
            })
            .await?;
        self.schedule_wake.wake();
        Ok(made)
    }

    /// The newest runs of an endpoint, from the one before `before` on.
    ///
    /// # Errors
    /// Not found.
    pub async fn reconciliation_runs(
        &self,
        by: &By,
        endpoint: EndpointId,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Run>, StoreError> {
        let tenant = by.tenant();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    known(conn, tenant, endpoint).await?;
                    let runs = rows::newest(conn, tenant, endpoint, before, limit).await?;
                    let never = rows::types(conn, tenant, endpoint).await?;
                    Ok(runs.into_iter().map(|run| shown(run, &never)).collect())
                })
            })
            .await
    }

    /// A run of an endpoint.
    ///
    /// # Errors
    /// Not found.
    pub async fn reconciliation_run(
        &self,
        by: &By,
        endpoint: EndpointId,
        id: ReconciliationRunId,
    ) -> Result<Run, StoreError> {
        self.run_of(by.tenant(), endpoint, id).await
    }

    pub(super) async fn run_of(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        id: ReconciliationRunId,
    ) -> Result<Run, StoreError> {
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    known(conn, tenant, endpoint).await?;
                    let run = rows::get(conn, tenant, endpoint, id).await?;
                    let run = run.ok_or_else(|| Problem::not_found("run"))?;
                    let never = rows::types(conn, tenant, endpoint).await?;
                    Ok(shown(run, &never))
                })
            })
            .await
    }
}

/// Makes a run that somebody asks for, with its line on the tenant's audit log.
pub(super) async fn ask(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    new: NewRun,
    line: AuditRow,
) -> Result<(), StoreError> {
    known(conn, tenant, endpoint).await?;
    let newest = rows::newest(conn, tenant, endpoint, None, 20).await?;
    if newest.iter().filter(|run| run.finished_at.is_none()).count() > WAITING_MAX {
        let full = "Several runs of this endpoint wait already. Wait until they are done.";
        return Err(Problem::new(Code::Conflict, full).into());
    }
    rows::ask(conn, tenant, endpoint, new).await?.ok_or_else(not_set)?;
    audit::insert(conn, tenant, line).await
}

/// Whether a stretch can be asked for. A little in the future is the clock of who asks.
pub(super) fn stretch(asked: AskedRun, now: Timestamp) -> Result<(), Problem> {
    let latest = now.plus_seconds(CLOCK_ERROR_SECONDS);
    match (asked.from, asked.to) {
        (None, Some(_)) => Err(Problem::field("/from", "Say from when on as well.")),
        (Some(from), _) if from > latest => {
            Err(Problem::field("/from", "This is in the future. Nothing can have happened since then."))
        }
        (_, Some(to)) if to > latest => {
            Err(Problem::field("/to", "This is in the future. Leave it out for everything until now."))
        }
        (Some(from), Some(to)) if to <= from => {
            Err(Problem::field("/to", "The end has to come after the beginning."))
        }
        _ => Ok(()),
    }
}

async fn known(conn: &mut Conn<'_>, tenant: TenantId, endpoint: EndpointId) -> Result<(), StoreError> {
    endpoints::get(conn, tenant, endpoint).await?.ok_or_else(no_endpoint)?;
    Ok(())
}

fn shown(row: RunRow, never: &[(String, u64, ReconciliationRunId)]) -> Run {
    Run {
        never_by_webhook: never.iter().filter(|one| one.2 == row.id).map(|one| one.0.clone()).collect(),
        found: serde_json::from_str(&row.found).unwrap_or_default(),
        unprocessed: serde_json::from_str(&row.unprocessed).unwrap_or_default(),
        row,
    }
}
