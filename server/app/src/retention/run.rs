//! The run: every tenant, every endpoint of it, payloads first and then keys, in small batches.
//!
//! A batch looks on a connection that reads, and removes in one short transaction that looks again; then it rests for as
//! long as that took, so that at least half of the time belongs to those who deliver and claim. Nothing notes
//! how far a run came: what is left is found by its age, so a run may be killed anywhere, and two may run at once.

mod keys;
mod lives;
mod payloads;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use restante_core::id::{TenantId, uuid_v7};
use restante_core::retention::Policy;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::events::PayloadState;
use restante_store::retention::{self, Kept, LineCounts, NewRun, PolicyLevel, TenantFacts};
use serde_json::json;
use tokio::sync::watch;
use uuid::Uuid;

use super::clock;
use super::plan::{EndpointPlan, InstanceRetention};
use super::policies::said;
use super::report::{EndpointReport, Report, counts_json};
use crate::App;

/// Events that one batch looks at.
const EVENTS_PER_BATCH: u32 = 500;
/// The shortest and the longest rest after a transaction that removed something.
const REST: (Duration, Duration) = (Duration::from_millis(2), Duration::from_secs(1));
/// Tenants that are read at once.
const TENANTS_AT_ONCE: u32 = 200;
/// Events of a held endpoint that are counted as held.
const HELD_COUNTED_MAX: u64 = 10_000;
/// From when on a run that was not heard of counts as cut off.
const SILENT_SECONDS: i64 = 600;

/// Why a run runs. The words are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cause {
    /// It was its time.
    #[default]
    Schedule,
    /// The operator's command.
    Command,
    /// A person asked for it.
    Person,
}

impl Cause {
    const fn word(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Command => "command",
            Self::Person => "person",
        }
    }
}

/// How to run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Look, and remove nothing.
    pub dry_run: bool,
    /// Why it runs.
    pub cause: Cause,
    /// Who asked for it; empty: nobody.
    pub actor: String,
    /// Ends the run after the batch that is under way, once it says `true`.
    pub stop: Option<watch::Receiver<bool>>,
    /// Look at this tenant alone. What belongs to the instance is left out.
    pub tenant: Option<TenantId>,
    /// Events that are looked at for each endpoint and step; `None`: all. For a preview on a page.
    pub look_max: Option<u64>,
    /// As if this policy were saved. For a look alone.
    pub draft: Option<(PolicyLevel, Policy)>,
}

impl Options {
    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }
}

/// Runs, and gives what it did. `at` is the time that it takes for now; without one it is the database's time, as far
/// as that can be believed.
///
/// # Errors
/// What the database ran into. What was removed until then is on the record.
pub async fn run(app: &App, at: Option<Timestamp>, options: Options) -> Result<Report, StoreError> {
    let began = Instant::now();
    let (now, seen) = app
        .store
        .read(|conn| Box::pin(async move { Ok((conn.now().await?, retention::seen(conn).await?)) }))
        .await?;
    let doubt = match at {
        Some(_) => None,
        None => clock::doubt(app.clock.now(), now, seen),
    };
    let id = uuid_v7(now, app.random.bytes());
    let mut running = Running {
        app,
        at: at.unwrap_or(now),
        id,
        report: Report { at: at.unwrap_or(now), dry_run: options.dry_run, ..Report::default() },
        options,
    };
    if !running.options.dry_run {
        running.begin(now, at).await?;
    }
    let worked = match doubt {
        Some(why) => {
            running.report.stopped = Some(why);
            Ok(())
        }
        None => running.everything().await,
    };
    running.report.milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    if !running.options.dry_run {
        let outcome = match &worked {
            Ok(()) => running.report.stopped.clone().unwrap_or_else(|| "done".to_owned()),
            Err(error) => format!("It ended because of a failure, and the next run goes on: {error}."),
        };
        running.end(outcome).await?;
    }
    worked?;
    Ok(running.report)
}

/// A run under way.
struct Running<'a> {
    app: &'a App,
    at: Timestamp,
    id: Uuid,
    options: Options,
    report: Report,
}

impl Running<'_> {
    async fn begin(&mut self, now: Timestamp, named: Option<Timestamp>) -> Result<(), StoreError> {
        let new = NewRun {
            id: self.id,
            cause: self.options.cause.word(),
            actor: self.options.actor.clone(),
            at: self.at,
            started_at: now,
        };
        self.report.run = Some(self.id);
        // Who names the present time says that the clock is right.
        let confirms = named.is_some_and(|named| named.micros_since(now).unsigned_abs() <= 3_600_000_000);
        let silent_since = now.plus_seconds(-SILENT_SECONDS);
        self.app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if confirms {
                        retention::note_seen(conn, now, None).await?;
                    }
                    let cut_off = "Its process ended before it did. The next run went on with what was left.";
                    retention::close_cut_off(conn, now, silent_since, cut_off).await?;
                    retention::insert_run(conn, &new).await
                })
            })
            .await
    }

    async fn end(&mut self, outcome: String) -> Result<(), StoreError> {
        let Report { old_rows, pages_given_back, milliseconds, kept, counts, .. } = &self.report;
        let mut beside = counts_json(*counts, kept);
        beside["old_rows"] = json!(old_rows);
        beside["pages_given_back"] = json!(pages_given_back);
        beside["milliseconds"] = json!(milliseconds);
        let (id, beside) = (self.id, Some(beside.to_string()));
        self.app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let now = conn.now().await?;
                    retention::finish(conn, id, now, &outcome, beside).await
                })
            })
            .await
    }

    async fn everything(&mut self) -> Result<(), StoreError> {
        if let Some(tenant) = self.options.tenant {
            return self.tenant(tenant).await;
        }
        let mut after = None;
        loop {
            let page = self
                .app
                .store
                .read(move |conn| Box::pin(retention::tenants_after(conn, after, TENANTS_AT_ONCE)))
                .await?;
            let Some(last) = page.last().copied() else { break };
            for tenant in page {
                self.tenant(tenant).await?;
                if self.stopped() {
                    return Ok(());
                }
            }
            after = Some(last);
        }
        if !self.options.dry_run {
            self.of_the_instance().await?;
            self.give_space_back().await?;
        }
        Ok(())
    }

    fn stopped(&mut self) -> bool {
        if self.options.is_stopped() {
            let why = "It was told to stop. The next run goes on with what is left.";
            self.report.stopped.get_or_insert_with(|| why.to_owned());
        }
        self.report.stopped.is_some()
    }

    /// Leaves the database to others for as long as the last transaction took.
    async fn rest(&self, since: Instant) {
        tokio::time::sleep(since.elapsed().clamp(REST.0, REST.1)).await;
    }

    async fn tenant(&mut self, tenant: TenantId) -> Result<(), StoreError> {
        let at = self.at;
        let facts =
            self.app.store.read(move |conn| Box::pin(retention::facts(conn, tenant, None, at))).await?;
        let facts = match &self.options.draft {
            Some((level, policy)) if self.options.dry_run => said(&facts, level, *policy),
            _ => facts,
        };
        let instance = InstanceRetention::read(facts.instance.as_deref())?;
        for endpoint in &facts.endpoints {
            let plan = EndpointPlan::new(&facts, &instance, endpoint);
            let mut line = EndpointReport {
                tenant,
                endpoint: plan.id,
                name: plan.name.clone(),
                counts: LineCounts::default(),
                kept: BTreeMap::new(),
            };
            let done = self.endpoint(&facts, &plan, &mut line).await;
            if !self.options.dry_run && !line.kept.is_empty() {
                let (id, kept, endpoint) = (self.id, line.kept.clone(), plan.id);
                self.app
                    .store
                    .write(move |conn| {
                        Box::pin(
                            async move { retention::keep_reasons(conn, tenant, id, endpoint, &kept).await },
                        )
                    })
                    .await?;
            }
            self.report.add(line);
            done?;
            if self.stopped() {
                return Ok(());
            }
        }
        if !self.options.dry_run {
            self.old_of_tenant(tenant, &facts, &instance).await?;
        }
        Ok(())
    }

    async fn endpoint(
        &mut self,
        facts: &TenantFacts,
        plan: &EndpointPlan,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let cutoffs = plan.cutoffs(self.at);
        if plan.held || facts.backfilling {
            let why = if plan.held { Kept::Hold } else { Kept::Backfill };
            self.count_kept(line, cutoffs.payload, why).await?;
            if plan.held {
                return Ok(());
            }
        } else {
            self.payloads(&facts.holds, &cutoffs, line).await?;
        }
        if self.stopped() {
            return Ok(());
        }
        for state in [PayloadState::Removed, PayloadState::Erased] {
            self.keys(&facts.holds, plan, state, line).await?;
        }
        Ok(())
    }

    /// Counts what is due and stays as a whole.
    async fn count_kept(
        &self,
        line: &mut EndpointReport,
        before: Timestamp,
        why: Kept,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint) = (line.tenant, line.endpoint);
        let mut after = (Timestamp::from_micros(i64::MIN), Uuid::nil());
        let mut count = 0;
        while count < HELD_COUNTED_MAX {
            let due = self.look(tenant, endpoint, after, before).await?;
            let Some(last) = due.last() else { break };
            after = (last.stored_at, last.id);
            count += due.len() as u64;
        }
        if count > 0 {
            *line.kept.entry(why).or_default() += count;
        }
        Ok(())
    }
}
