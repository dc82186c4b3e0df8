//! One structured record a delivery. It reads alone and holds no secret, payload or header value.

use std::time::{Duration, Instant};

use restante_core::verify::{Accepted, Rejection};
use restante_store::{Committed, StoreError};

use super::{Incoming, Outcome, Target};
use crate::figures;

/// What is known of a delivery before its outcome is.
pub(super) struct Entry<'a> {
    pub(super) target: &'a Target,
    pub(super) incoming: &'a Incoming,
    /// The size of its body, which may be gone already.
    pub(super) body_bytes: usize,
    /// Whether its signature was looked at; a test event may come without one.
    pub(super) verified: bool,
    pub(super) verified_in: Duration,
    pub(super) began: Instant,
}

/// What an outcome adds. Fields that it has not are left out of the record.
#[derive(Default)]
struct Ending<'a> {
    signature: &'static str,
    transaction: Option<&'static str>,
    timestamp_age_ms: Option<i64>,
    status: Option<u16>,
    accepted: Option<&'a Accepted>,
    committed: Option<&'a Committed>,
    error: Option<String>,
}

impl Entry<'_> {
    const fn signature(&self) -> &'static str {
        if self.verified { "verified" } else { "not verified" }
    }

    pub(super) fn committed(&self, accepted: &Accepted, committed: &Committed) {
        let repeats_only =
            !committed.receipts.is_empty() && committed.receipts.iter().all(|receipt| receipt.duplicate);
        let outcome = if repeats_only { Outcome::Duplicate } else { Outcome::Accepted };
        let timestamp_age_ms = self.age_ms(accepted);
        if let Some(age) = timestamp_age_ms {
            figures::signed_age(self.target.provider, age);
        }
        self.write(
            outcome,
            &Ending {
                signature: self.signature(),
                transaction: Some("committed"),
                timestamp_age_ms,
                accepted: Some(accepted),
                committed: Some(committed),
                ..Ending::default()
            },
        );
    }

    pub(super) fn failed(&self, accepted: &Accepted, error: &StoreError) {
        let unknown = matches!(error, StoreError::CommitUnknown { .. });
        self.write(
            Outcome::Failed,
            &Ending {
                signature: self.signature(),
                transaction: Some(if unknown { "unknown" } else { "not committed" }),
                timestamp_age_ms: self.age_ms(accepted),
                accepted: Some(accepted),
                error: Some(error.to_string()),
                ..Ending::default()
            },
        );
    }

    pub(super) fn rejected(&self, rejection: &Rejection) {
        figures::rejected(rejection.reason.as_str());
        self.write(
            Outcome::Rejected,
            &Ending {
                signature: rejection.reason.as_str(),
                timestamp_age_ms: rejection.age_seconds.map(|seconds| seconds.saturating_mul(1_000)),
                status: Some(rejection.status),
                ..Ending::default()
            },
        );
    }

    pub(super) fn handshake(&self) {
        self.write(Outcome::Handshake, &Ending { signature: "handshake", ..Ending::default() });
    }

    fn age_ms(&self, accepted: &Accepted) -> Option<i64> {
        accepted.signed_at.map(|at| self.incoming.received_at.micros_since(at) / 1_000)
    }

    fn write(&self, outcome: Outcome, ending: &Ending<'_>) {
        let took = self.began.elapsed();
        figures::delivery(outcome.as_str(), took);
        let (target, incoming) = (self.target, self.incoming);
        let first = ending.accepted.and_then(|accepted| accepted.items.first());
        let receipts = ending.committed.map(|committed| committed.receipts.as_slice()).unwrap_or_default();
        tracing::info!(
            target: "restante::delivery",
            {
                tenant.id = %target.tenant,
                endpoint.id = %target.endpoint,
                provider = target.provider,
                outcome = outcome.as_str(),
                signature = ending.signature,
                timestamp_age_ms = ending.timestamp_age_ms,
                event.id = first.and_then(|item| item.event_id.as_deref()),
                "event.type" = first.and_then(|item| item.event_type.as_deref()),
                account = first.and_then(|item| item.account.as_deref()),
                receipt.id = receipts.first().map(|receipt| tracing::field::display(receipt.id)),
                events = ending.accepted.map(|accepted| accepted.items.len()),
                duplicates = receipts.iter().filter(|receipt| receipt.duplicate).count(),
                diverged = receipts.iter().any(|receipt| receipt.diverged),
                transaction = ending.transaction,
                status = ending.status,
                error = ending.error,
                body_bytes = self.body_bytes,
                verify_us = micros(self.verified_in),
                duration_us = micros(took),
                request_id = incoming.request_id,
                trace_id = incoming.trace_id,
            },
            "delivery"
        );
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
