//! Refusals: counted by reason, and a bounded sample kept for the person who asks why.
//!
//! Nothing of an unauthentic request may cost a write of its own, or a flood of forgeries would
//! become a flood of commits. Counts and samples gather here and go to the database once a second;
//! what a crash loses is at most that second of counts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use restante_core::id::{EndpointId, RefusalId, TenantId};
use restante_core::seal::Place;
use restante_core::time::Timestamp;
use restante_core::verify::Rejection;
use restante_store::refusals::{RefusalCounts, RefusalSample};

use super::record::without_credentials;
use super::{Incoming, Target};
use crate::App;
use crate::refusals::kept;

/// How often counts and samples are written.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// Samples that one endpoint gets between two flushes.
const SAMPLES_PER_FLUSH_MAX: usize = 3;
/// Endpoints that are held between two flushes; the refusals of more go uncounted.
const ENDPOINTS_HELD_MAX: usize = 10_000;

/// What waits to be written.
#[derive(Debug, Default)]
pub struct Refusals {
    waiting: Mutex<HashMap<(TenantId, EndpointId), Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    counts: BTreeMap<(&'static str, i64), i64>,
    samples: Vec<Sample>,
}

/// A refused request until it is sealed: at the flush, so that a flood costs no encryption.
#[derive(Debug)]
struct Sample {
    target: Arc<Target>,
    incoming: Arc<Incoming>,
    reason: &'static str,
    explanation: String,
}

/// Microseconds in a minute: counts are kept by the minute.
const MINUTE: i64 = 60_000_000;

impl Refusals {
    /// Counts a refusal and keeps it as a sample, if there is room.
    pub(super) fn reject(&self, target: &Arc<Target>, incoming: &Arc<Incoming>, rejection: &Rejection) {
        self.with(target, |waiting| {
            waiting.count(rejection.reason.as_str(), incoming.received_at);
            if waiting.samples.len() < SAMPLES_PER_FLUSH_MAX {
                waiting.samples.push(Sample {
                    target: Arc::clone(target),
                    incoming: Arc::clone(incoming),
                    reason: rejection.reason.as_str(),
                    explanation: rejection.explanation.clone(),
                });
            }
        });
    }

    /// Counts something that ended without a receipt: `handshake`, `failed`, or a refusal before the
    /// body was read (`too_large`, `timeout`, `rate`).
    pub fn count(&self, target: &Target, what: &'static str, at: Timestamp) {
        self.with(target, |waiting| waiting.count(what, at));
    }

    fn with(&self, target: &Target, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (target.tenant, target.endpoint);
        if waiting.len() >= ENDPOINTS_HELD_MAX && !waiting.contains_key(&key) {
            return;
        }
        change(waiting.entry(key).or_default());
    }

    fn take(&self) -> HashMap<(TenantId, EndpointId), Waiting> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What could not be written waits for the next flush; samples are dropped, counts are not.
    fn put_back(&self, key: (TenantId, EndpointId), counts: BTreeMap<(&'static str, i64), i64>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = waiting.entry(key).or_default();
        for (slot, count) in counts {
            *entry.counts.entry(slot).or_default() += count;
        }
    }
}

impl Waiting {
    fn count(&mut self, what: &'static str, at: Timestamp) {
        let minute = at.micros().div_euclid(MINUTE) * MINUTE;
        *self.counts.entry((what, minute)).or_default() += 1;
    }
}

impl App {
    /// Writes what has gathered. The background task calls it each second, and the stop once more.
    pub async fn flush_refusals(&self) {
        for (key, waiting) in self.refusals.take() {
            let (tenant, endpoint) = key;
            let samples = waiting.samples.iter().map(|sample| self.seal_refusal(sample)).collect();
            let counts: RefusalCounts = waiting
                .counts
                .iter()
                .map(|((what, minute), count)| (metric(what), Timestamp::from_micros(*minute), *count))
                .collect();
            if let Err(error) = self.store.write_refusals(tenant, endpoint, counts, samples).await {
                tracing::warn!(tenant.id = %tenant, endpoint.id = %endpoint, %error, "refusals were not written");
                self.refusals.put_back(key, waiting.counts);
            }
        }
    }

    fn seal_refusal(&self, sample: &Sample) -> RefusalSample {
        let Sample { target, incoming, .. } = sample;
        let id = RefusalId::new(incoming.received_at, self.random.bytes());
        let headers = without_credentials(&incoming.request.headers, target.scheme.credential_headers());
        let request = kept::encode(&incoming.request, &headers);
        RefusalSample {
            id,
            received_at: incoming.received_at,
            reason: sample.reason,
            explanation: sample.explanation.clone(),
            request_sealed: target.sealing.seal(&Place::refusal_request(id), &request, self.random.bytes()),
            request_id: Some(incoming.request_id.clone()),
        }
    }
}

/// What happened, as the counter is called: reasons of refusal share a prefix.
fn metric(what: &str) -> String {
    match what {
        "handshake" | "failed" => what.to_owned(),
        reason => format!("rejected:{reason}"),
    }
}

/// Flushes each second until told to stop, and then once more.
pub async fn run_refusal_flush(app: App, mut stop: tokio::sync::watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(FLUSH_EVERY) => app.flush_refusals().await,
            changed = stop.changed() => if changed.is_err() || *stop.borrow() { break },
        }
    }
    app.flush_refusals().await;
}
