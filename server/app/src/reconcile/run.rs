//! A run: claimed, done page by page (`turn.rs`), and left when it has ended, waits, or the server stops.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use restante_core::id::{EndpointId, TenantId};
use restante_core::problem::FieldError;
use restante_core::reconcile::{Lister, Window};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::reconciliation::{
    self as rows, ClaimedRun, Hold, NewRun, ReconciliationRow, RunEnd, RunRow,
};
use tokio::sync::watch;

use super::compare::Told;
use super::page::Progress;
use super::{OVERLAP_SECONDS_MIN, WIDE_EVERY_SECONDS, WIDE_SECONDS, prepare};
use crate::App;
use crate::receive::Target;

/// A holder that is silent for longer has lost its run. A call takes 30 seconds at most.
const LEASE_SECONDS: u32 = 120;

/// How a run left this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It came to its end, well or not.
    Ended,
    /// It is tried again later.
    Waits,
    /// The server stops, or the pass took long enough.
    Paused,
    /// Another node has it now.
    Lost,
}

/// A run on its way.
pub(super) struct Run<'a> {
    pub(super) app: &'a App,
    pub(super) hold: Hold,
    pub(super) row: RunRow,
    pub(super) settings: ReconciliationRow,
    pub(super) lister: Lister,
    pub(super) target: Arc<Target>,
    pub(super) window: Window,
    pub(super) progress: Progress,
    /// Positions that it was at.
    pub(super) seen: HashSet<String>,
    pub(super) called: Option<Instant>,
    /// Objects that events tell of, where the list is compared.
    pub(super) told: Option<Told>,
}

/// What a page came to.
pub(super) enum Paged {
    More,
    End(Box<RunEnd>),
    Left(Left),
}

impl App {
    /// Does what is to be done of an endpoint now; `None` when nothing is, or another node does it.
    pub(super) async fn reconcile(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        stop: &watch::Receiver<bool>,
        until: Instant,
    ) -> Result<Option<Left>, StoreError> {
        let Some((row, Some(set))) = self.reconciliation_rows(tenant, endpoint).await? else {
            return Ok(None);
        };
        let keys = self.tenant_keys(tenant).await?;
        let lister = match prepare::provider(&row) {
            Some(provider) => prepare::lister(
                provider,
                set.base_url.as_deref(),
                &prepare::options(&set)?,
                &prepare::credentials(&keys, &set)?,
            ),
            None => Err(vec![FieldError {
                pointer: "/".to_owned(),
                detail: "This version does not know the provider.".to_owned(),
            }]),
        };
        let reaches = lister.as_ref().map_or(0, |lister| lister.recipe().reaches_seconds);
        let Some(claimed) = self.claim_reconciliation(tenant, endpoint, row.provider, reaches).await? else {
            return Ok(None);
        };
        let ClaimedRun { hold, run, settings } = claimed;
        if settings.updated_at != set.updated_at {
            // It was changed between the two looks.
            self.store.write(move |conn| Box::pin(async move { rows::release(conn, &hold).await })).await?;
            return Ok(Some(Left::Paused));
        }
        let prepared = match lister {
            Ok(lister) => self
                .reconciliation_target(tenant, endpoint)
                .await?
                .map(|target| (lister, target))
                .ok_or_else(|| {
                    "The endpoint is disabled or its tenant suspended, so nothing is asked for.".to_owned()
                }),
            Err(faults) => {
                let faults: Vec<String> = faults.into_iter().map(|fault| fault.detail).collect();
                Err(format!("What is set can’t be used any more: {}", faults.join(" ")))
            }
        };
        let (lister, target) = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                let end = refused(&settings, why, false, self.database_now().await?);
                return self.end_reconciliation(hold, end).await.map(Some);
            }
        };
        let window = Window { from: run.from.unwrap_or(run.asked_at), to: run.to.unwrap_or(run.asked_at) };
        let progress = Progress {
            found: serde_json::from_str(&run.found).unwrap_or_default(),
            unprocessed: serde_json::from_str(&run.unprocessed).unwrap_or_default(),
        };
        let mut run = Run {
            app: self,
            hold,
            row: run,
            settings,
            lister,
            target,
            window,
            progress,
            seen: HashSet::new(),
            called: None,
            told: None,
        };
        loop {
            if *stop.borrow() || Instant::now() > until {
                let hold = run.hold.clone();
                self.store
                    .write(move |conn| Box::pin(async move { rows::release(conn, &hold).await }))
                    .await?;
                return Ok(Some(Left::Paused));
            }
            match run.page().await {
                Ok(Paged::More) => {}
                Ok(Paged::End(end)) => return self.end_reconciliation(run.hold, *end).await.map(Some),
                Ok(Paged::Left(left)) => return Ok(Some(left)),
                Err(StoreError::Stale) => return Ok(Some(Left::Lost)),
                Err(error) => return Err(error),
            }
        }
    }

    async fn claim_reconciliation(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        provider: String,
        reaches_seconds: u64,
    ) -> Result<Option<ClaimedRun>, StoreError> {
        let id = restante_core::id::ReconciliationRunId::new(self.clock.now(), self.random.bytes());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let new = move |row: &ReconciliationRow, now: Timestamp| {
                        let wide = row
                            .wide_at
                            .is_none_or(|at| now.micros_since(at) >= WIDE_EVERY_SECONDS * 1_000_000);
                        NewRun {
                            id,
                            cause: if wide { "wide" } else { "due" },
                            actor: None,
                            from: None,
                            to: None,
                            trusting: false,
                        }
                    };
                    let from = move |row: &ReconciliationRow, run: &RunRow, now: Timestamp| {
                        window_from(row, run, now, reaches_seconds)
                    };
                    rows::claim(conn, tenant, endpoint, &provider, LEASE_SECONDS, new, from).await
                })
            })
            .await
    }

    /// The endpoint as the receiving path knows it; `None` while it takes nothing.
    pub(super) async fn reconciliation_target(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
    ) -> Result<Option<Arc<Target>>, StoreError> {
        let token = self.token_of(tenant, endpoint).await?;
        Ok(self.find_endpoint(&token).await?.filter(|target| target.gate("POST").is_none()))
    }

    async fn end_reconciliation(&self, hold: Hold, end: RunEnd) -> Result<Left, StoreError> {
        let (endpoint, run, outcome) = (hold.endpoint, hold.run, end.outcome);
        let why = end.error.clone().unwrap_or_default();
        let ended =
            self.store.write(move |conn| Box::pin(async move { rows::end(conn, &hold, end).await })).await;
        match ended {
            Ok(()) => {
                tracing::info!(endpoint.id = %endpoint, run.id = %run, outcome, why, "a reconciliation has ended");
                Ok(Left::Ended)
            }
            Err(StoreError::Stale) => Ok(Left::Lost),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn database_now(&self) -> Result<Timestamp, StoreError> {
        self.store.read(|conn| Box::pin(conn.now())).await
    }
}

/// From where on a run looks.
fn window_from(row: &ReconciliationRow, run: &RunRow, now: Timestamp, reaches_seconds: u64) -> Timestamp {
    let reaches = i64::try_from(reaches_seconds).unwrap_or(i64::MAX);
    let earliest = now.plus_seconds(reaches.saturating_neg());
    let from = match (run.from, row.checkpoint_at) {
        // Who names a time has it asked for; a provider that lists less lists less.
        (Some(from), _) => return from.min(now),
        (None, None) => earliest,
        (None, Some(checkpoint)) => {
            let overlap = row.overlap_seconds.max(OVERLAP_SECONDS_MIN);
            let from = checkpoint.plus_seconds(-i64::from(overlap));
            if run.cause == "due" { from } else { from.min(now.plus_seconds(-WIDE_SECONDS)) }
        }
    };
    from.clamp(earliest, now)
}

/// The end of a run that did not come to its own; with `stops` none begins by itself any more.
pub(super) fn refused(settings: &ReconciliationRow, why: String, stops: bool, now: Timestamp) -> RunEnd {
    RunEnd {
        outcome: "refused",
        error: Some(why.clone()),
        checkpoint: None,
        wide_at: None,
        stop: stops.then_some(why),
        due_at: next_due(settings, now),
    }
}

/// When the next run is due.
pub(super) fn next_due(settings: &ReconciliationRow, now: Timestamp) -> Timestamp {
    now.plus_seconds(i64::from(settings.interval_seconds))
}
