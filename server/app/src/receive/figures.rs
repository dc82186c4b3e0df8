//! The figures of receiving, for `/metrics`. No label holds what a tenant or a sender chose: the
//! provider is a name of the catalogue.

use std::time::Duration;

use metrics::{counter, histogram};

/// A delivery by its outcome, with the time from its last byte to its answer.
pub(super) fn delivery(outcome: &'static str, took: Duration) {
    counter!("restante_deliveries_total", "outcome" => outcome).increment(1);
    histogram!("restante_receive_seconds").record(took.as_secs_f64());
}

/// A refusal by its reason.
pub(super) fn rejected(reason: &'static str) {
    counter!("restante_rejected_total", "reason" => reason).increment(1);
}

/// How old the signed time of an accepted delivery was, in milliseconds; negative for the future.
pub(super) fn signed_age(provider: &'static str, age_ms: i64) {
    histogram!("restante_signed_age_seconds", "provider" => provider).record(age_ms as f64 / 1_000.0);
}
