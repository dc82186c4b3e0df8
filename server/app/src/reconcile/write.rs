//! The writing of a page. What the list has only in part is fetched first, one by one, so a page may go in in
//! several parts: what is here after a part is known when the page is read again, and only the last one has the place
//! of the next page.

use std::time::{Duration, Instant};

use restante_core::reconcile::{Listed, may_have_been_here};
use restante_core::request::Request;
use restante_store::reconciliation::{self as rows, Hold, PageWrite};
use restante_store::retention::newest_removed_in;
use restante_store::{Delivery, StoreError};

use super::call::NoPage;
use super::page::{Candidate, LookedUp, Progress, note, write_of};
use super::run::Run;
use crate::figures;

/// Sealed bytes of one transaction.
const WRITE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long fetched events wait for others; well within the lease, and what they cost is not lost.
const WRITE_EVERY: Duration = Duration::from_secs(30);
/// How often a part is written anew because the endpoint or the keys changed under it.
const WRITES_MAX: usize = 3;

/// What waits to be written of a page.
#[derive(Default)]
struct Part {
    events: Vec<(Listed, Request)>,
    bytes: usize,
    redelivered: u64,
}

/// What became of a missing entry.
enum Whole {
    Event(Request),
    AskedAgain,
    Unreadable,
    NotNow(NoPage),
}

/// What a part turned out to hold beside what it wrote.
#[derive(Default)]
struct Beside {
    failed: u64,
    too_old: u64,
}

impl Run<'_> {
    /// Writes a page. The inner error says that the whole of an entry could not be had; what came before it is kept.
    pub(super) async fn write(
        &mut self,
        looked_up: &LookedUp,
        next: Option<String>,
    ) -> Result<Result<(), NoPage>, StoreError> {
        let mut page = write_of(looked_up);
        let mut part = Part::default();
        let mut written = Instant::now();
        for candidate in looked_up.candidates.iter().filter(|one| one.is_missing()) {
            match self.whole(candidate).await {
                Whole::Event(request) => {
                    part.bytes += request.body.len();
                    part.events.push((candidate.entry.clone(), request));
                }
                Whole::AskedAgain => {
                    part.redelivered += 1;
                    note(&mut self.progress, &candidate.entry, None);
                }
                Whole::Unreadable => page.failed += 1,
                Whole::NotNow(why) => {
                    let before = self.write_part(part, None).await?;
                    return Ok(Err(before.err().unwrap_or(why)));
                }
            }
            if part.bytes > WRITE_BYTES_MAX || written.elapsed() > WRITE_EVERY {
                match self.write_part(std::mem::take(&mut part), None).await? {
                    Ok(beside) => {
                        page.failed += beside.failed;
                        page.too_old += beside.too_old;
                    }
                    Err(why) => return Ok(Err(why)),
                }
                written = Instant::now();
            }
        }
        page.position = next;
        Ok(self.write_part(part, Some(page)).await?.map(|_| ()))
    }

    /// The request that an entry stands for, fetched where the list has only a part of it; or the provider sends it again.
    async fn whole(&mut self, candidate: &Candidate) -> Whole {
        let item = |pointer: &str| candidate.entry.value(pointer);
        let now = self.app.clock.now();
        let asks_again = self.lister.filled("{redeliver}").as_deref() == Some("yes");
        if asks_again
            && candidate.entry.arrived == Some(false)
            && let Ok(Some(request)) = self.lister.redeliver(&item, now)
            && self.called(request).await.is_ok()
        {
            return Whole::AskedAgain;
        }
        let whole = match self.lister.fetch(&item, now) {
            Ok(None) => None,
            Ok(Some(request)) => match self.called(request).await {
                Ok(answer) => Some(answer.body),
                // It is gone; the others are not.
                Err(NoPage::Place(_) | NoPage::Never { stops: false, .. }) => return Whole::Unreadable,
                Err(other) => return Whole::NotNow(other),
            },
            Err(_) => return Whole::Unreadable,
        };
        let whole = whole.as_deref().map(String::from_utf8_lossy);
        self.lister.event(&candidate.entry, whole.as_deref()).map_or(Whole::Unreadable, Whole::Event)
    }

    async fn write_part(
        &mut self,
        part: Part,
        page: Option<PageWrite>,
    ) -> Result<Result<Beside, NoPage>, StoreError> {
        for time in 1..=WRITES_MAX {
            match self.write_once(&part, page.as_ref()).await {
                Err(StoreError::Stale) if time < WRITES_MAX => {
                    // The endpoint or the keys may have changed; or the lease is lost, which the next try finds again.
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
                other => return other.map(Ok),
            }
        }
        Err(StoreError::Stale)
    }

    /// Writes a part in one transaction, with `page` the last one.
    async fn write_once(&mut self, part: &Part, page: Option<&PageWrite>) -> Result<Beside, StoreError> {
        let mut beside = Beside::default();
        let mut all = Vec::with_capacity(part.events.len());
        for (entry, request) in &part.events {
            match self.app.listed_delivery(&self.target, request.clone(), self.hold.run) {
                Some(delivery) => all.push((entry, delivery)),
                None => beside.failed += 1,
            }
        }
        let mut found = self.progress.clone();
        let (mut deliveries, mut happened) = (Vec::new(), Vec::new());
        for (entry, delivery) in self.newer(all, &mut beside).await? {
            note(&mut found, entry, Some(&delivery));
            deliveries.push(delivery);
            happened.push(entry.at);
        }
        let mut write = page.cloned().unwrap_or_else(|| PageWrite {
            is_part: true,
            position: self.row.position.clone(),
            ..PageWrite::default()
        });
        if page.is_some() {
            write.failed += beside.failed;
            write.too_old += beside.too_old;
        }
        write.redelivered += part.redelivered;
        let inserts = !deliveries.is_empty();
        (write.deliveries, write.happened) = (deliveries, happened);
        self.row.known += self.commit(write, &mut found).await?;
        self.progress = found;
        if let Some(page) = page {
            figures::reconciliation_mismatches(page.mismatched);
            self.row.position.clone_from(&page.position);
            self.row.pages += 1;
            self.row.listed += page.listed;
        }
        if page.is_some() || inserts {
            self.row.tries = 0;
        }
        Ok(beside)
    }

    /// Those that are newer than every key of theirs that was removed. This is asked anew for each part: keys may have
    /// been removed while its events were fetched.
    async fn newer<'e>(
        &self,
        all: Vec<(&'e Listed, Delivery)>,
        beside: &mut Beside,
    ) -> Result<Vec<(&'e Listed, Delivery)>, StoreError> {
        let scopes = all.iter().flat_map(|(_, delivery)| &delivery.receipts);
        let scopes = scopes.map(|receipt| receipt.scope.clone()).collect();
        let (tenant, provider) = (self.hold.tenant, self.target.provider());
        let removed = self
            .app
            .store
            .read(move |conn| {
                Box::pin(async move { newest_removed_in(conn, tenant, provider, scopes).await })
            })
            .await?;
        let (old, newer): (Vec<_>, Vec<_>) = all.into_iter().partition(|(entry, delivery)| {
            let mut newest = delivery.receipts.iter().map(|receipt| removed.get(&receipt.scope).copied());
            newest.any(|newest| may_have_been_here(entry.at, newest))
        });
        beside.too_old += old.len() as u64;
        Ok(newer)
    }

    /// Commits what is to be written of a page, and wakes who waits for it. Gives how many of its events were here.
    pub(super) async fn commit(
        &self,
        mut page: PageWrite,
        progress: &mut Progress,
    ) -> Result<u64, StoreError> {
        page.found = serde_json::to_string(&progress.found).unwrap_or_else(|_| "[]".to_owned());
        page.unprocessed = progress.unprocessed.clone();
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
        Ok(done.known)
    }
}
