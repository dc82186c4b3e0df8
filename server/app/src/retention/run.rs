//! The run: every tenant, every endpoint of it, payloads first and then keys, in small batches.
//!
//! A batch looks on a connection that reads, and removes in one short transaction that looks again. Nothing notes
//! how far a run came: what is left is found by its age, so a run may be killed anywhere, and two may run at once.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use restante_core::id::{EndpointId, TenantId, uuid_v7, uuid_v7_floor};
use restante_core::retention::{Policy, resolve};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::events::PayloadState;
use restante_store::retention::{
    self, Cutoffs, Due, Kept, KeyRule, LineCounts, NewRun, OldRows, PolicyLevel, TenantFacts,
};
use serde_json::json;
use tokio::sync::watch;
use uuid::Uuid;

use super::clock;
use super::plan::{EndpointPlan, InstanceRetention, levels};
use super::policies::said;
use super::report::{EndpointReport, Report, counts_json};
use crate::App;

/// Events that one batch looks at.
const EVENTS_PER_BATCH: u32 = 500;
/// Bytes of payloads that one transaction removes; one larger payload goes alone.
const BYTES_PER_BATCH: u64 = 16 * 1024 * 1024;
/// Tenants that are read at once.
const TENANTS_AT_ONCE: u32 = 200;
/// Looks at keys in a row that find nothing but keys which their secret keeps; younger ones are kept as well then.
const LOOKS_IN_VAIN_MAX: u32 = 4;
/// Events of a held endpoint that are counted as held.
const HELD_COUNTED_MAX: u64 = 10_000;
/// From when on a run that was not heard of counts as cut off.
const SILENT_SECONDS: i64 = 600;
/// How long the record of a run is kept, in days.
const RUNS_KEPT_DAYS: i64 = 400;
/// Lives of what is no event, in days. `docs/DATA.md` has the table.
const MINUTE_COUNTERS_DAYS: i64 = 14;
const HOUR_COUNTERS_DAYS: i64 = 400;
const REPLAY_JOBS_DAYS: i64 = 400;
const REFUSALS_DAYS_MAX: u32 = 30;
/// Free pages that stay in the SQLite file for what comes next: a twentieth of it, and at least a megabyte.
const PAGES_FREE_SHARE: u64 = 20;
const PAGES_FREE_MIN: u64 = 256;

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
            self.payloads(&facts.holds.receipts, &cutoffs, line).await?;
        }
        if self.stopped() {
            return Ok(());
        }
        for state in [PayloadState::Removed, PayloadState::Erased] {
            self.keys(&facts.holds.receipts, plan, state, line).await?;
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

    async fn look(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        after: (Timestamp, Uuid),
        before: Timestamp,
    ) -> Result<Vec<Due>, StoreError> {
        self.app
            .store
            .read(move |conn| {
                Box::pin(retention::due_payloads(conn, tenant, endpoint, after, before, EVENTS_PER_BATCH))
            })
            .await
    }

    async fn payloads(
        &mut self,
        held: &HashSet<Uuid>,
        cutoffs: &Cutoffs,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint) = (line.tenant, line.endpoint);
        let mut after = (Timestamp::from_micros(i64::MIN), Uuid::nil());
        let mut looked = 0;
        loop {
            if self.stopped() || self.options.look_max.is_some_and(|max| looked >= max) {
                return Ok(());
            }
            let due = self.look(tenant, endpoint, after, cutoffs.look_before()).await?;
            let Some(last) = due.last() else { return Ok(()) };
            after = (last.stored_at, last.id);
            looked += due.len() as u64;
            let (held, cutoffs, dry_run) = (held.clone(), *cutoffs, self.options.dry_run);
            let found = due.clone();
            let (judged, sizes) = self
                .app
                .store
                .read(move |conn| {
                    Box::pin(async move {
                        let judged = retention::judge(conn, tenant, &found, &cutoffs, &held, dry_run).await?;
                        let requests = judged.go.iter().map(|request| request.payload).collect();
                        let sizes = match dry_run {
                            true => retention::sizes(conn, tenant, requests).await?,
                            false => (0, 0),
                        };
                        Ok((judged, sizes))
                    })
                })
                .await?;
            let take: HashSet<Uuid> = judged
                .go
                .iter()
                .flat_map(|request| &request.receipts)
                .chain(&judged.give_up)
                .copied()
                .collect();
            for (id, why) in &judged.kept {
                if dry_run || !take.contains(id) {
                    *line.kept.entry(*why).or_default() += 1;
                }
            }
            if dry_run {
                let asked: HashSet<Uuid> = due.iter().map(|due| due.id).collect();
                let mine =
                    judged.go.iter().flat_map(|request| &request.receipts).filter(|id| asked.contains(id));
                line.counts.payloads += mine.count() as u64;
                line.counts.payload_bytes += sizes.1;
                line.counts.expired += judged.give_up.len() as u64;
                continue;
            }
            for batch in batches(&due, &take) {
                self.remove_payloads(cutoffs, batch, line).await?;
            }
        }
    }

    async fn remove_payloads(
        &self,
        planned: Cutoffs,
        batch: Vec<Uuid>,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint, at, run) = (line.tenant, line.endpoint, self.at, self.id);
        let (counts, kept) = self
            .app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let nothing = (LineCounts::default(), Vec::new());
                    // Policies, holds and consumers are asked again, and stand still until the commit.
                    if !retention::hold_still(conn, tenant).await? {
                        return Ok(nothing);
                    }
                    let facts = retention::facts(conn, tenant, Some(endpoint), at).await?;
                    let instance = InstanceRetention::read(facts.instance.as_deref())?;
                    let Some(found) = facts.endpoints.first() else { return Ok(nothing) };
                    let plan = EndpointPlan::new(&facts, &instance, found);
                    let all = |why| batch.iter().map(|id| (*id, why)).collect::<Vec<_>>();
                    if plan.held {
                        return Ok((LineCounts::default(), all(Kept::Hold)));
                    }
                    if facts.backfilling {
                        return Ok((LineCounts::default(), all(Kept::Backfill)));
                    }
                    let cutoffs = planned.stricter(plan.cutoffs(at));
                    let removed =
                        retention::remove_payloads(conn, tenant, batch, &cutoffs, &facts.holds.receipts)
                            .await?;
                    let counts = LineCounts {
                        payloads: removed.payloads,
                        payload_bytes: removed.bytes,
                        keys: 0,
                        expired: removed.expired,
                    };
                    retention::add_to_line(conn, tenant, run, endpoint, counts).await?;
                    Ok((counts, removed.kept))
                })
            })
            .await?;
        line.counts.payloads += counts.payloads;
        line.counts.payload_bytes += counts.payload_bytes;
        line.counts.expired += counts.expired;
        for (_, why) in kept {
            *line.kept.entry(why).or_default() += 1;
        }
        Ok(())
    }

    async fn keys(
        &mut self,
        held: &HashSet<Uuid>,
        plan: &EndpointPlan,
        state: PayloadState,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint, at) = (line.tenant, line.endpoint, self.at);
        let before = plan.cutoffs(at).key;
        let mut after = (Timestamp::from_micros(i64::MIN), Uuid::nil());
        let (mut looked, mut in_vain) = (0, 0);
        loop {
            if self.stopped() || self.options.look_max.is_some_and(|max| looked >= max) {
                return Ok(());
            }
            let (held, secrets, sent_before) = (held.clone(), plan.secrets, plan.sent_before(at));
            let found = self
                .app
                .store
                .read(move |conn| {
                    Box::pin(async move {
                        let rule = KeyRule { secrets, sent_before, held: &held };
                        let limit = EVENTS_PER_BATCH;
                        retention::due_keys(conn, tenant, endpoint, state, after, before, limit, &rule).await
                    })
                })
                .await?;
            let Some(last) = found.last else { return Ok(()) };
            after = last;
            looked += u64::from(EVENTS_PER_BATCH);
            for (why, count) in &found.kept {
                *line.kept.entry(*why).or_default() += count;
            }
            let by_secret = found.keys.is_empty() && found.kept.keys().all(|why| *why == Kept::Secret);
            in_vain = if by_secret { in_vain + 1 } else { 0 };
            if in_vain >= LOOKS_IN_VAIN_MAX {
                return Ok(());
            }
            if self.options.dry_run {
                line.counts.keys += found.keys.len() as u64;
            } else if !found.keys.is_empty() {
                line.counts.keys += self.remove_keys(tenant, endpoint, found.keys, before).await?;
            }
        }
    }

    async fn remove_keys(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        keys: Vec<Uuid>,
        planned: Timestamp,
    ) -> Result<u64, StoreError> {
        let (at, run) = (self.at, self.id);
        self.app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if !retention::hold_still(conn, tenant).await? {
                        return Ok(0);
                    }
                    // The guardrail of this moment: no edit since the plan was made gets around it.
                    let facts = retention::facts(conn, tenant, Some(endpoint), at).await?;
                    let instance = InstanceRetention::read(facts.instance.as_deref())?;
                    let Some(found) = facts.endpoints.first() else { return Ok(0) };
                    let plan = EndpointPlan::new(&facts, &instance, found);
                    if plan.held {
                        return Ok(0);
                    }
                    let before = planned.min(plan.cutoffs(at).key);
                    let rule = KeyRule {
                        secrets: plan.secrets,
                        sent_before: plan.sent_before(at),
                        held: &facts.holds.receipts,
                    };
                    let keys = retention::remove_keys(conn, tenant, keys, before, &rule).await?;
                    let counts = LineCounts { keys, ..LineCounts::default() };
                    retention::add_to_line(conn, tenant, run, endpoint, counts).await?;
                    Ok(keys)
                })
            })
            .await
    }

    /// Counters, samples of refusals, lines of the log, old records.
    async fn old_of_tenant(
        &mut self,
        tenant: TenantId,
        facts: &TenantFacts,
        instance: &InstanceRetention,
    ) -> Result<(), StoreError> {
        let resolved = resolve(&levels(facts, instance, None, None), &instance.bounds);
        let ago = |days: i64| self.at.plus_seconds(-days * 86_400);
        let old = OldRows {
            minutes: ago(MINUTE_COUNTERS_DAYS),
            hours: ago(HOUR_COUNTERS_DAYS),
            refusals: ago(resolved.payload_days.value.min(REFUSALS_DAYS_MAX).into()),
            log: (!facts.holds.tenant).then(|| ago(resolved.log_days.value.into())),
            replay_jobs: ago(REPLAY_JOBS_DAYS),
        };
        let runs_before = uuid_v7_floor(ago(RUNS_KEPT_DAYS));
        loop {
            let (removed, left) = self
                .app
                .store
                .write(move |conn| {
                    Box::pin(async move {
                        let (removed, left) = retention::remove_old_of_tenant(conn, tenant, old).await?;
                        let lines = retention::forget_old(conn, Some(tenant), runs_before).await?;
                        Ok((removed + lines, left))
                    })
                })
                .await?;
            self.report.old_rows += removed;
            if !left || self.stopped() {
                return Ok(());
            }
        }
    }

    async fn of_the_instance(&mut self) -> Result<(), StoreError> {
        let stored = self
            .app
            .store
            .read(|conn| {
                Box::pin(async move {
                    use restante_store::control::instance_settings::{InstanceSetting, read};
                    read(conn, InstanceSetting::Retention).await
                })
            })
            .await?;
        let instance = InstanceRetention::read(stored.as_deref())?;
        let resolved =
            resolve(&[(restante_core::retention::Level::Instance, instance.defaults)], &instance.bounds);
        let log_before = self.at.plus_seconds(-i64::from(resolved.log_days.value) * 86_400);
        let runs_before = uuid_v7_floor(self.at.plus_seconds(-RUNS_KEPT_DAYS * 86_400));
        loop {
            let (removed, left) = self
                .app
                .store
                .write(move |conn| {
                    Box::pin(async move {
                        let (lines, left) = retention::remove_old_instance_log(conn, log_before).await?;
                        Ok((lines + retention::forget_old(conn, None, runs_before).await?, left))
                    })
                })
                .await?;
            self.report.old_rows += removed;
            if !left || self.stopped() {
                return Ok(());
            }
        }
    }

    async fn give_space_back(&mut self) -> Result<(), StoreError> {
        let mut pages = self.app.store.read(|conn| Box::pin(retention::pages(conn))).await?;
        loop {
            let stay = (pages.all / PAGES_FREE_SHARE).max(PAGES_FREE_MIN);
            if pages.free <= stay || self.stopped() {
                return Ok(());
            }
            let left = self.app.store.write(|conn| Box::pin(retention::give_back(conn))).await?;
            if left.all >= pages.all {
                // The file was made without `auto_vacuum`, or others fill it as fast.
                return Ok(());
            }
            self.report.pages_given_back += pages.all - left.all;
            pages = left;
        }
    }
}

/// The events that are taken, in portions of so many bytes.
fn batches(due: &[Due], take: &HashSet<Uuid>) -> Vec<Vec<Uuid>> {
    let mut batches: Vec<Vec<Uuid>> = Vec::new();
    let mut room = 0_u64;
    for one in due.iter().filter(|one| take.contains(&one.id)) {
        match batches.last_mut() {
            Some(batch) if one.bytes <= room => {
                room -= one.bytes;
                batch.push(one.id);
            }
            _ => {
                room = BYTES_PER_BATCH.saturating_sub(one.bytes);
                batches.push(vec![one.id]);
            }
        }
    }
    batches
}
