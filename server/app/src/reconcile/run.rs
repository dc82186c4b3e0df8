//! A run, page by page. Each page is asked for, looked up, and written in one transaction with the place of
//! the next; between two pages nothing is held but the lease. What goes wrong is told on the run, tried again
//! later where that can help, and ends it where only a person can.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use restante_core::id::{EndpointId, TenantId};
use restante_core::problem::FieldError;
use restante_core::reconcile::{ListRequest, Lister, Window};
use restante_core::time::Timestamp;
use restante_store::reconciliation::{
    self as rows, ClaimedRun, Hold, NewRun, PageWrite, ReconciliationRow, RunEnd, RunRow,
};
use restante_store::{Delivery, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::page::{ABSENCE_ENTRIES_MIN, LookedUp, Progress, note, write_of};
use super::{OVERLAP_SECONDS_MIN, WIDE_EVERY_SECONDS, WIDE_SECONDS, prepare};
use crate::outbound::{Answer, Call, CallFault};
use crate::receive::Target;
use crate::schedule::{Report, Work};
use crate::{App, figures};

/// A holder that is silent for longer has lost its run. A call takes 30 seconds at most.
const LEASE_SECONDS: u32 = 120;
/// Endpoints that one node asks at once.
const AT_ONCE: usize = 4;
/// Endpoints that are looked up as due.
const DUE_MAX: u32 = 100;
/// How long one pass begins runs, and how long it goes on with those it has begun.
const BEGINS_MAX: Duration = Duration::from_secs(50);
const GOES_ON_MAX: Duration = Duration::from_secs(600);
/// Tries of a page that went wrong after which a run is given up, and those that the provider asked to wait.
const TRIES_MAX: u64 = 8;
/// The first pause after a page that went wrong; it doubles.
const RETRY_SECONDS: i64 = 5;
const RETRY_SECONDS_MAX: i64 = 30 * 60;
/// How long a provider may have a run wait.
const RETRY_AFTER_SECONDS_MAX: i64 = 60 * 60;
/// Pages of one run; a list that is longer leads in a circle.
const PAGES_MAX: u64 = 20_000;
/// How often a run begins with its first page again, because the provider does not know its place any more.
const RESTARTS_MAX: u64 = 3;
/// How often a page is written anew because the endpoint changed under it.
const WRITES_MAX: usize = 3;
/// Sealed bytes of one transaction. A page with more goes in several, of which the last has its place.
const WRITE_BYTES_MAX: usize = 4 * 1024 * 1024;

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

/// The job: runs what is due.
pub(crate) async fn reconcile_due(work: Work) -> Result<Report, crate::schedule::JobFault> {
    let began = Instant::now();
    let (mut ended, mut waits, mut paused) = (0, 0, 0);
    let mut running: JoinSet<(EndpointId, Result<Option<Left>, StoreError>)> = JoinSet::new();
    let mut begun: HashSet<EndpointId> = HashSet::new();
    loop {
        if running.len() < AT_ONCE && !work.stops() && began.elapsed() < BEGINS_MAX {
            let due = work.app.store.read(|conn| Box::pin(rows::due(conn, DUE_MAX))).await?;
            let free = AT_ONCE - running.len();
            for (tenant, endpoint) in due.into_iter().filter(|one| begun.insert(one.1)).take(free) {
                let (app, stop) = (work.app.clone(), work.stop.clone());
                running.spawn(async move {
                    (endpoint, app.reconcile(tenant, endpoint, &stop, began + GOES_ON_MAX).await)
                });
            }
        }
        let Some(left) = running.join_next().await else { break };
        match left {
            Ok((endpoint, Ok(Some(Left::Ended)))) => {
                ended += 1;
                // One that was asked for behind it is due at once.
                begun.remove(&endpoint);
            }
            Ok((_, Ok(Some(Left::Waits)))) => waits += 1,
            Ok((_, Ok(Some(Left::Paused | Left::Lost)))) => paused += 1,
            Ok((_, Ok(None))) => {}
            Ok((endpoint, Err(error))) => {
                tracing::warn!(endpoint.id = %endpoint, %error, "a reconciliation could not go on; it is left to the next run");
            }
            Err(error) => tracing::error!(%error, "a reconciliation has failed within"),
        }
    }
    let report = Report::of("runs ended", ended).and("wait for their provider", waits);
    Ok(if paused > 0 { report.and("go on later", paused) } else { report })
}

/// A run on its way.
struct Run<'a> {
    app: &'a App,
    hold: Hold,
    row: RunRow,
    settings: ReconciliationRow,
    lister: Lister,
    target: Arc<Target>,
    window: Window,
    progress: Progress,
    /// Positions that it was at.
    seen: HashSet<String>,
    called: Option<Instant>,
    /// Objects that events tell of, where the list is compared.
    told: Option<HashSet<String>>,
}

/// What a page came to.
enum Paged {
    More,
    End(Box<RunEnd>),
    Left(Left),
}

/// Why an answer is no page.
enum NoPage {
    /// Asking again later may help.
    Later { why: String, after: Option<i64> },
    /// The provider does not know the place in its list.
    Place(String),
    /// It won't.
    Never { why: String, stops: bool },
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
        let Some(claimed) = self.claim_reconciliation(tenant, endpoint, reaches).await? else {
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
                            trusting: false,
                        }
                    };
                    let from = move |row: &ReconciliationRow, run: &RunRow, now: Timestamp| {
                        window_from(row, run, now, reaches_seconds)
                    };
                    rows::claim(conn, tenant, endpoint, LEASE_SECONDS, new, from).await
                })
            })
            .await
    }

    /// The endpoint as the receiving path knows it; `None` while it takes nothing.
    async fn reconciliation_target(
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

    async fn database_now(&self) -> Result<Timestamp, StoreError> {
        self.store.read(|conn| Box::pin(conn.now())).await
    }
}

/// From where on a run looks.
fn window_from(row: &ReconciliationRow, run: &RunRow, now: Timestamp, reaches_seconds: u64) -> Timestamp {
    let reaches = i64::try_from(reaches_seconds).unwrap_or(i64::MAX);
    let earliest = now.plus_seconds(reaches.saturating_neg());
    let from = match (run.from, row.checkpoint_at) {
        (Some(from), _) => from,
        (None, None) => earliest,
        (None, Some(checkpoint)) => {
            let overlap = row.overlap_seconds.max(OVERLAP_SECONDS_MIN);
            let from = checkpoint.plus_seconds(-i64::from(overlap));
            if run.cause == "due" { from } else { from.min(now.plus_seconds(-WIDE_SECONDS)) }
        }
    };
    from.clamp(earliest, now)
}

impl Run<'_> {
    async fn page(&mut self) -> Result<Paged, StoreError> {
        let position = self.row.position.clone();
        if self.row.pages >= PAGES_MAX {
            return self
                .failed(
                    format!("The list has more than {PAGES_MAX} pages, so it seems to lead in a circle."),
                    false,
                )
                .await;
        }
        let now = self.app.clock.now();
        let request = match self.lister.request(self.window, position.as_deref(), now) {
            Ok(request) => request,
            Err(why) => return self.failed(why, false).await,
        };
        let location = request.location.clone();
        let page = match self.called(request).await {
            Ok(answer) => {
                let link = answer.header("link");
                self.lister
                    .page(&location, position.as_deref(), self.window, link.as_deref(), &answer.body)
                    .map_err(|why| NoPage::Later { why, after: None })
            }
            Err(why) => Err(why),
        };
        let page = match page {
            Ok(page) => page,
            Err(why) => return self.no_page(why).await,
        };
        let next = page.next.clone();
        if let Some(next) = &next
            && (position.as_ref() == Some(next) || !self.seen.insert(next.clone()))
        {
            let why = "The list leads in a circle: a page names one as its next that was read before.";
            return self.failed(why.to_owned(), false).await;
        }
        if self.lister.recipe().compare.is_some() {
            return self.compare(page, next).await;
        }
        let looked_up = self.app.look_up(self.hold.tenant, &self.target, &self.lister, page).await?;
        if let Some(why) = self.is_foreign(&looked_up).await? {
            return self.failed(why, true).await;
        }
        match self.write(&looked_up, next.clone()).await? {
            Ok(()) => {}
            Err(why) => return self.no_page(why).await,
        }
        match next {
            Some(_) => Ok(Paged::More),
            None => self.done().await,
        }
    }

    /// Why a page looks as if it were another account's: all of it is missing, though webhooks came in the
    /// very same stretch. An outage leaves none of them either.
    async fn is_foreign(&self, looked_up: &LookedUp) -> Result<Option<String>, StoreError> {
        let missing = looked_up.missing();
        // A list that is narrowed to some types says nothing about the others.
        let narrowed = self.lister.filled("{types}").is_some();
        if self.row.trusting
            || narrowed
            || missing < ABSENCE_ENTRIES_MIN as usize
            || missing < looked_up.candidates.len()
        {
            return Ok(None);
        }
        let Some((from, to)) = looked_up.stretch() else { return Ok(None) };
        let received = self.received(from, to).await?;
        Ok((received >= u64::from(ABSENCE_ENTRIES_MIN)).then(|| {
            format!(
                "None of {missing} events that the provider lists is here, though {received} or more came by webhook in the same \
                 time. The credentials are probably those of another account. Nothing of this page was inserted. If they are \
                 right, ask for a run that may find everything missing."
            )
        }))
    }

    async fn received(&self, from: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        let Hold { tenant, endpoint, .. } = self.hold;
        self.app
            .store
            .read(move |conn| {
                Box::pin(rows::received_between(conn, tenant, endpoint, from, to, ABSENCE_ENTRIES_MIN))
            })
            .await
    }

    /// Makes a call, at a distance from the one before that keeps within the provider's limit.
    async fn called(&mut self, request: ListRequest) -> Result<Answer, NoPage> {
        let pause = Duration::from_millis(self.lister.recipe().pause_ms.into());
        if let Some(since) = self.called.map(|called| called.elapsed())
            && since < pause
        {
            tokio::time::sleep(pause - since).await;
        }
        self.called = Some(Instant::now());
        let ListRequest { location, method, headers, body } = request;
        let call = Call { location, method: method.as_str(), headers, body };
        let answer = match self.app.outbound.call(call).await {
            Ok(answer) => answer,
            Err(fault @ CallFault::Blocked(_)) => {
                return Err(NoPage::Never { why: fault.to_string(), stops: true });
            }
            Err(fault) => return Err(NoPage::Later { why: fault.to_string(), after: None }),
        };
        let status = answer.status;
        let after = answer.header("retry-after").and_then(|text| text.trim().parse::<i64>().ok());
        match status {
            200..=299 => Ok(answer),
            401 | 403 if after.is_none() => Err(NoPage::Never {
                why: format!(
                    "The provider refuses the credentials ({status}). Give new ones, and runs begin again."
                ),
                stops: true,
            }),
            403 | 429 => Err(NoPage::Later {
                why: format!("The provider asks to wait ({status})."),
                after: Some(after.unwrap_or(60)),
            }),
            500..=599 => Err(NoPage::Later { why: format!("The provider answers {status}."), after }),
            400 | 404 | 410 | 422 if self.row.position.is_some() => Err(NoPage::Place(format!(
                "The provider does not know the place in its list any more ({status})."
            ))),
            300..=399 => Err(NoPage::Never {
                why: "The provider leads to another place, which is not followed.".to_owned(),
                stops: false,
            }),
            _ => Err(NoPage::Never {
                why: format!("The provider answers {status} to the request for its list."),
                stops: false,
            }),
        }
    }

    async fn no_page(&mut self, why: NoPage) -> Result<Paged, StoreError> {
        match why {
            NoPage::Never { why, stops } => self.failed(why, stops).await,
            NoPage::Later { why, .. } if self.row.tries >= TRIES_MAX => {
                self.failed(
                    format!("{why} It was tried {} times; the next run goes on.", self.row.tries + 1),
                    false,
                )
                .await
            }
            NoPage::Later { why, after } => {
                let pause = after.map_or_else(
                    || RETRY_SECONDS.saturating_mul(1 << self.row.tries.min(20)).min(RETRY_SECONDS_MAX),
                    |after| after.clamp(1, RETRY_AFTER_SECONDS_MAX),
                );
                let again = self.app.database_now().await?.plus_seconds(pause);
                let hold = self.hold.clone();
                self.app
                    .store
                    .write(move |conn| {
                        Box::pin(async move { rows::retry(conn, &hold, why, true, again).await })
                    })
                    .await?;
                Ok(Paged::Left(Left::Waits))
            }
            NoPage::Place(why) if self.row.restarts >= RESTARTS_MAX => self.failed(why, false).await,
            NoPage::Place(why) => {
                let hold = self.hold.clone();
                self.app
                    .store
                    .write(move |conn| Box::pin(async move { rows::restart(conn, &hold, why).await }))
                    .await?;
                self.row.restarts += 1;
                self.row.position = None;
                self.seen.clear();
                Ok(Paged::More)
            }
        }
    }

    /// Writes a page. The inner error says that the whole of an entry could not be had.
    async fn write(
        &mut self,
        looked_up: &LookedUp,
        next: Option<String>,
    ) -> Result<Result<(), NoPage>, StoreError> {
        let mut page = write_of(looked_up, &self.progress);
        let mut requests = Vec::new();
        let asks_again = self.lister.filled("{redeliver}").as_deref() == Some("yes");
        for candidate in looked_up.candidates.iter().filter(|one| one.is_missing()) {
            let item = |pointer: &str| candidate.entry.value(pointer);
            let now = self.app.clock.now();
            if asks_again
                && candidate.entry.arrived == Some(false)
                && let Ok(Some(request)) = self.lister.redeliver(&item, now)
                && self.called(request).await.is_ok()
            {
                page.redelivered += 1;
                note(&mut self.progress, &candidate.entry, None);
                continue;
            }
            let whole = match self.lister.fetch(&item, now) {
                Ok(None) => None,
                Ok(Some(request)) => match self.called(request).await {
                    Ok(answer) => Some(answer.body),
                    // It is gone; the others are not.
                    Err(NoPage::Place(_) | NoPage::Never { stops: false, .. }) => {
                        page.failed += 1;
                        continue;
                    }
                    Err(other) => return Ok(Err(other)),
                },
                Err(_) => {
                    page.failed += 1;
                    continue;
                }
            };
            let whole = whole.as_deref().map(String::from_utf8_lossy);
            match self.lister.event(&candidate.entry, whole.as_deref()) {
                Ok(request) => requests.push((candidate.entry.clone(), request)),
                Err(_) => page.failed += 1,
            }
        }
        page.position = next;
        for time in 1..=WRITES_MAX {
            match self.write_once(&page, &requests).await {
                Err(StoreError::Stale) if time < WRITES_MAX => {
                    // The endpoint may have changed; or the lease is lost, which the next try finds again.
                    let Hold { tenant, endpoint, .. } = self.hold;
                    self.app.targets.forget(endpoint);
                    let Some(target) = self.app.reconciliation_target(tenant, endpoint).await? else {
                        return Ok(Err(NoPage::Never {
                            why: "The endpoint was disabled while the run went on.".to_owned(),
                            stops: false,
                        }));
                    };
                    self.target = target;
                }
                Err(error) => return Err(error),
                Ok(()) => return Ok(Ok(())),
            }
        }
        Err(StoreError::Stale)
    }

    async fn write_once(
        &mut self,
        page: &PageWrite,
        requests: &[(restante_core::reconcile::Listed, restante_core::request::Request)],
    ) -> Result<(), StoreError> {
        let mut rest = page.failed;
        let mut found =
            Progress { found: self.progress.found.clone(), unprocessed: self.progress.unprocessed.clone() };
        let mut waiting: Vec<Delivery> = Vec::new();
        let mut bytes = 0;
        for (entry, request) in requests {
            let Some(delivery) = self.app.listed_delivery(&self.target, request.clone(), self.hold.run)
            else {
                rest += 1;
                continue;
            };
            note(&mut found, entry, Some(&delivery));
            bytes += request.body.len();
            waiting.push(delivery);
            if bytes > WRITE_BYTES_MAX {
                // Its place stays: what is written now is known when the page is read again.
                let part = PageWrite {
                    deliveries: std::mem::take(&mut waiting),
                    known: Vec::new(),
                    types: Default::default(),
                    listed: 0,
                    redelivered: 0,
                    missing: 0,
                    mismatched: 0,
                    failed: 0,
                    position: self.row.position.clone(),
                    found: json(&found.found),
                    unprocessed: found.unprocessed.clone(),
                };
                self.commit(part, &mut found).await?;
                bytes = 0;
            }
        }
        let last = PageWrite {
            deliveries: waiting,
            known: page.known.clone(),
            types: page.types.clone(),
            listed: page.listed,
            redelivered: page.redelivered,
            missing: page.missing,
            mismatched: page.mismatched,
            failed: rest,
            position: page.position.clone(),
            found: json(&found.found),
            unprocessed: found.unprocessed.clone(),
        };
        self.commit(last, &mut found).await?;
        figures::reconciliation_mismatches(page.mismatched);
        self.row.position.clone_from(&page.position);
        self.row.pages += 1;
        self.row.tries = 0;
        self.row.listed += page.listed;
        self.progress = found;
        Ok(())
    }

    async fn commit(&self, page: PageWrite, progress: &mut Progress) -> Result<(), StoreError> {
        let hold = self.hold.clone();
        let done = self
            .app
            .store
            .write(move |conn| Box::pin(async move { rows::write_page(conn, &hold, page).await }))
            .await?;
        progress.unprocessed = done.unprocessed;
        for committed in &done.committed {
            self.app.wake(&committed.wake);
        }
        Ok(())
    }

    /// A page of objects, of which only is counted which of them no event told of.
    async fn compare(
        &mut self,
        page: restante_core::reconcile::ListPage,
        next: Option<String>,
    ) -> Result<Paged, StoreError> {
        let told = match self.told.take() {
            Some(told) => told,
            None => self.told_of().await?,
        };
        let mut missing = 0;
        for entry in &page.entries {
            if entry.id.as_ref().is_some_and(|id| !told.contains(id)) {
                missing += 1;
                note(&mut self.progress, entry, None);
            }
        }
        self.told = Some(told);
        let failed = page.entries.iter().filter(|entry| entry.id.is_none()).count() as u64;
        let write = PageWrite {
            deliveries: Vec::new(),
            known: Vec::new(),
            types: Default::default(),
            listed: page.entries.len() as u64,
            redelivered: 0,
            missing,
            mismatched: 0,
            failed,
            position: next.clone(),
            found: json(&self.progress.found),
            unprocessed: self.progress.unprocessed.clone(),
        };
        let mut progress =
            Progress { found: self.progress.found.clone(), unprocessed: self.progress.unprocessed.clone() };
        self.commit(write, &mut progress).await?;
        self.row.position.clone_from(&next);
        self.row.pages += 1;
        self.row.tries = 0;
        self.row.listed += page.entries.len() as u64;
        match next {
            Some(_) => Ok(Paged::More),
            None => self.done().await,
        }
    }

    /// The objects that events of the window tell of.
    async fn told_of(&self) -> Result<HashSet<String>, StoreError> {
        let Some(compare) = &self.lister.recipe().compare else { return Ok(HashSet::new()) };
        let glob = self.lister.filled(&compare.event_type).unwrap_or_default();
        self.app
            .objects_told_of(self.hold.tenant, self.hold.endpoint, &glob, &compare.id, self.window.from)
            .await
    }

    async fn done(&mut self) -> Result<Paged, StoreError> {
        if self.row.listed == 0 && !self.row.trusting && self.lister.recipe().compare.is_none() {
            let received = self.received(self.window.from, self.window.to).await?;
            if received >= u64::from(ABSENCE_ENTRIES_MIN) && self.lister.filled("{types}").is_none() {
                let why = format!(
                    "The provider lists nothing, though {received} or more events came by webhook in the same time. The \
                     credentials are probably those of another account, or of test mode."
                );
                return self.failed(why, true).await;
            }
        }
        let now = self.app.database_now().await?;
        let wide = self.row.cause != "due";
        Ok(Paged::End(Box::new(RunEnd {
            outcome: "done",
            error: None,
            checkpoint: Some(self.window.to),
            wide_at: wide.then_some(now),
            stop: None,
            due_at: next_due(&self.settings, now),
        })))
    }

    async fn failed(&self, why: String, stops: bool) -> Result<Paged, StoreError> {
        let now = self.app.database_now().await?;
        let mut end = refused(&self.settings, why, stops, now);
        if !stops {
            end.outcome = "failed";
        }
        Ok(Paged::End(Box::new(end)))
    }
}

fn refused(settings: &ReconciliationRow, why: String, stops: bool, now: Timestamp) -> RunEnd {
    RunEnd {
        outcome: "refused",
        error: Some(why.clone()),
        checkpoint: None,
        wide_at: None,
        stop: stops.then_some(why),
        due_at: next_due(settings, now),
    }
}

fn next_due(settings: &ReconciliationRow, now: Timestamp) -> Timestamp {
    now.plus_seconds(i64::from(settings.interval_seconds))
}

fn json(found: &[super::Found]) -> String {
    serde_json::to_string(found).unwrap_or_else(|_| "[]".to_owned())
}
