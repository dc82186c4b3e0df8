//! A turn of a run: one page asked for, looked up, and written in one transaction with the place of the next;
//! between two pages nothing is held but the lease.

use restante_core::reconcile::{ListPage, Window, may_have_been_here};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::reconciliation::{self as rows, Hold, PageWrite, RunEnd};

use super::WIDE_SECONDS;
use super::call::NoPage;
use super::compare::Told;
use super::page::{ABSENCE_ENTRIES_MIN, LookedUp, note};
use super::run::{Paged, Run, next_due, refused};

/// Pages of one run; a list that is longer leads in a circle.
const PAGES_MAX: u64 = 20_000;

impl Run<'_> {
    pub(super) async fn page(&mut self) -> Result<Paged, StoreError> {
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

    /// Why a page looks as if it were another account's: nothing that was listed so far is here, though events that
    /// happened within the page's stretch came by webhook, and would be on it. An outage leaves none of them; what came
    /// before and after it happened outside, or is listed and known.
    async fn is_foreign(&self, looked_up: &LookedUp) -> Result<Option<String>, StoreError> {
        let missing = looked_up.missing();
        // A list that is narrowed to some types says nothing about the others.
        let narrowed = self.lister.filled("{types}").is_some();
        if self.row.trusting
            || narrowed
            || self.row.known > 0
            || missing < ABSENCE_ENTRIES_MIN as usize
            || missing + looked_up.too_old() < looked_up.candidates.len()
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

    /// A page of objects, of which only is counted which of them no event told of.
    async fn compare(&mut self, page: ListPage, next: Option<String>) -> Result<Paged, StoreError> {
        let told = match self.told.take() {
            Some(told) => told,
            None => self.told_of().await?,
        };
        let (mut missing, mut too_old) = (0, 0);
        for entry in &page.entries {
            if entry.id.as_ref().is_none_or(|id| told.objects.contains(id)) {
                continue;
            }
            if may_have_been_here(entry.at, told.unreadable) {
                too_old += 1;
            } else {
                missing += 1;
                note(&mut self.progress, entry, None);
            }
        }
        self.told = Some(told);
        let failed = page.entries.iter().filter(|entry| entry.id.is_none()).count() as u64;
        let write = PageWrite {
            listed: page.entries.len() as u64,
            missing,
            failed,
            too_old,
            position: next.clone(),
            ..PageWrite::default()
        };
        let mut progress = self.progress.clone();
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
    async fn told_of(&self) -> Result<Told, StoreError> {
        let Some(compare) = &self.lister.recipe().compare else { return Ok(Told::default()) };
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
        let Window { from, to } = self.window;
        let begins = self.row.wanted_from.unwrap_or(from);
        let back = |seconds: i64| to.plus_seconds(seconds.saturating_neg());
        let reaches = i64::try_from(self.lister.recipe().reaches_seconds).unwrap_or(i64::MAX);
        // A stretch that a person chose may leave a gap after what was looked at before; then that stays where it was.
        let joins = begins <= self.settings.checkpoint_at.unwrap_or_else(|| back(reaches));
        let until_now = self.row.started_at.is_none_or(|started| to >= started);
        let wide = until_now && begins <= back(WIDE_SECONDS.min(reaches));
        Ok(Paged::End(Box::new(RunEnd {
            outcome: "done",
            error: None,
            checkpoint: joins.then_some(to),
            wide_at: wide.then_some(now),
            stop: None,
            due_at: next_due(&self.settings, now),
        })))
    }

    pub(super) async fn failed(&self, why: String, stops: bool) -> Result<Paged, StoreError> {
        let now = self.app.database_now().await?;
        let mut end = refused(&self.settings, why, stops, now);
        if !stops {
            end.outcome = "failed";
        }
        Ok(Paged::End(Box::new(end)))
    }
}
