//! From a page of a list to what is written of it: which entries are here, which are not, which are here as
//! something else, and which can't be read. What is missing becomes a delivery, identified by the very rules
//! by which one that comes in is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use restante_core::id::{ReconciliationRunId, TenantId};
use restante_core::reconcile::{ListPage, Listed, may_have_been_here};
use restante_core::request::Request;
use restante_core::time::Timestamp;
use restante_core::verify::{Accepted, EventKey, identify_unverified};
use restante_store::reconciliation::{self as rows, Asked, KnownEvent, PageWrite};
use restante_store::retention::newest_removed_in;
use restante_store::{Delivery, StoreError};

use super::runs::Found;
use crate::App;
use crate::receive::{Incoming, Road, Target};

/// Events that are named of those that were missing.
const FOUND_MAX: usize = 200;
/// Entries of a page below which it is no sign of anything that all of them are missing.
pub(super) const ABSENCE_ENTRIES_MIN: u32 = 20;

/// An entry with the request that it stands for.
pub(super) struct Candidate {
    pub(super) entry: Listed,
    key: Asked,
    known: Option<KnownEvent>,
    /// It is not here, and may have been: it is older than the keys that are held.
    too_old: bool,
}

impl Candidate {
    /// Whether it is not here and never was.
    pub(super) const fn is_missing(&self) -> bool {
        self.known.is_none() && !self.too_old
    }
}

/// A page, looked up.
pub(super) struct LookedUp {
    pub(super) candidates: Vec<Candidate>,
    /// Entries of which nothing can be made.
    pub(super) failed: u64,
    pub(super) listed: u64,
}

impl LookedUp {
    /// How many are not here and never were.
    pub(super) fn missing(&self) -> usize {
        self.candidates.iter().filter(|one| one.is_missing()).count()
    }

    /// How many are not here and may have been.
    pub(super) fn too_old(&self) -> usize {
        self.candidates.iter().filter(|one| one.too_old).count()
    }

    /// The stretch of time in which its events happened, where the list tells.
    pub(super) fn stretch(&self) -> Option<(Timestamp, Timestamp)> {
        let times = || self.candidates.iter().filter_map(|one| one.entry.at);
        Some((times().min()?, times().max()?))
    }
}

/// What a run knows while it goes on.
#[derive(Clone)]
pub(super) struct Progress {
    pub(super) found: Vec<Found>,
    pub(super) unprocessed: BTreeMap<String, u64>,
}

impl App {
    /// Finds out what of a page is here.
    pub(super) async fn look_up(
        &self,
        tenant: TenantId,
        target: &Arc<Target>,
        lister: &restante_core::reconcile::Lister,
        page: ListPage,
    ) -> Result<LookedUp, StoreError> {
        let listed = page.entries.len() as u64;
        let mut candidates = Vec::with_capacity(page.entries.len());
        let mut failed = 0;
        for entry in page.entries {
            let request = entry.id.is_some().then(|| lister.event(&entry, None).ok()).flatten();
            match request.as_ref().and_then(|request| key(target, request)) {
                // The same event may stand twice in a page: sent twice, or moved while it was read.
                Some(key) if candidates.iter().any(|one: &Candidate| one.key == key) => {}
                Some(key) => candidates.push(Candidate { entry, key, known: None, too_old: false }),
                None => failed += 1,
            }
        }
        let asked: Vec<Asked> = candidates.iter().map(|one| one.key.clone()).collect();
        let provider = target.provider();
        let scopes: BTreeSet<String> = asked.iter().map(|one| one.scope.clone()).collect();
        let (known, removed) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    // In this order: a key that goes in between is noted by the second look.
                    let known = rows::known_events(conn, tenant, provider, &asked).await?;
                    Ok((known, newest_removed_in(conn, tenant, provider, scopes).await?))
                })
            })
            .await?;
        for (candidate, known) in candidates.iter_mut().zip(known) {
            let newest = removed.get(&candidate.key.scope).copied();
            candidate.too_old = known.is_none() && may_have_been_here(candidate.entry.at, newest);
            candidate.known = known;
        }
        Ok(LookedUp { candidates, failed, listed })
    }

    /// The delivery of an event that was missing; `None` when its request can't be read after all, or is
    /// larger than the endpoint takes.
    pub(super) fn listed_delivery(
        &self,
        target: &Arc<Target>,
        request: Request,
        run: ReconciliationRunId,
    ) -> Option<Delivery> {
        if request.body.len() as u64 > target.body_bytes_max() {
            return None;
        }
        let mut accepted = identify_unverified(&target.for_verification(), &request);
        // It came over TLS from the provider itself: what its signature would leave open does not count.
        accepted.weak = Vec::new();
        known_key(&accepted)?;
        let incoming = Incoming {
            request,
            received_at: self.clock.now(),
            request_id: run.to_string(),
            trace_id: None,
            peer: None,
            held: None,
        };
        Some(self.seal(Road::Listed, target, &incoming, &accepted))
    }
}

/// What a looked-up page writes, but for the deliveries and the place of the next page.
pub(super) fn write_of(looked_up: &LookedUp) -> PageWrite {
    let mut types: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let (mut known, mut mismatched) = (Vec::new(), 0);
    for candidate in &looked_up.candidates {
        if let Some(name) = &candidate.entry.event_type {
            let count = types.entry(name.chars().take(200).collect()).or_default();
            count.0 += 1;
            count.1 += u64::from(candidate.known.as_ref().is_some_and(|known| known.delivered));
        }
        if let Some(here) = &candidate.known {
            known.push(here.receipt);
            let differs = |listed: &String| here.event_type.as_ref().is_some_and(|held| held != listed);
            mismatched += u64::from(candidate.entry.event_type.as_ref().is_some_and(differs));
        }
    }
    PageWrite {
        known,
        types,
        listed: looked_up.listed,
        mismatched,
        failed: looked_up.failed,
        too_old: looked_up.too_old() as u64,
        ..PageWrite::default()
    }
}

/// Notes an event that was missing.
pub(super) fn note(progress: &mut Progress, entry: &Listed, delivery: Option<&Delivery>) {
    if progress.found.len() < FOUND_MAX {
        progress.found.push(Found {
            receipt: delivery.and_then(|delivery| delivery.receipts.first()).map(|receipt| receipt.id),
            event_id: entry.id.as_deref().map(|id| id.chars().take(255).collect()),
            event_type: entry.event_type.as_deref().map(|name| name.chars().take(200).collect()),
            at: entry.at,
        });
    }
}

fn key(target: &Target, request: &Request) -> Option<Asked> {
    known_key(&identify_unverified(&target.for_verification(), request))
}

/// The key of a request with one event that has one.
fn known_key(accepted: &Accepted) -> Option<Asked> {
    let [item] = accepted.items.as_slice() else { return None };
    match &item.event_key {
        EventKey::Known(key) => {
            Some(Asked { event_key: key.clone(), scope: crate::receive::stored_scope(&item.scope) })
        }
        EventKey::Fresh | EventKey::Envelope => None,
    }
}
