//! An event with its history, as JSON.

use restante_app::events::{EventDetail, Variant};
use restante_core::handoff::{Outcome, State};
use restante_core::id::{DeliveryId, EndpointId, SecretId};
use restante_core::time::Timestamp;
use restante_store::events::{DeliveryRecord, Receipt};
use restante_store::handoffs::{AttemptRecord, HandoffRecord, ReplayRecord, SettlementRecord};
use serde::Serialize;
use utoipa::ToSchema;

use super::event_answer::{Body, EventAnswer, Headers, parts};

/// An event with its history.
#[derive(Serialize, ToSchema)]
#[schema(as = EventDetail)]
pub(crate) struct EventDetailAnswer {
    #[serde(flatten)]
    event: EventAnswer,
    /// One for each consumer that it was handed off to.
    handoffs: Vec<HandoffAnswer>,
    /// The claims, newest first; at most 200 that have ended.
    attempts: Vec<AttemptAnswer>,
    /// The sender's attempts, oldest first: the one that made the receipt, and at most 100 later ones.
    delivery_log: Vec<DeliveryAnswer>,
    /// Newest first.
    replays: Vec<ReplayEntry>,
    /// What people decided about failed and uncertain handoffs, newest first.
    settlements: Vec<SettlementAnswer>,
    /// Other bytes that came under the event's key; a few are kept.
    variants: Vec<VariantAnswer>,
}

/// An event on its way to one consumer.
#[derive(Serialize, ToSchema)]
#[schema(as = Handoff)]
pub(crate) struct HandoffAnswer {
    consumer: String,
    /// Whether the consumer was deleted.
    consumer_deleted: bool,
    #[schema(value_type = String, example = "pending")]
    state: State,
    /// Of a pending one: when it can be claimed.
    #[schema(value_type = Option<String>, format = DateTime)]
    due_at: Option<Timestamp>,
    /// Claims so far.
    attempts: u32,
    /// Claims since it was made or last replayed; these count for `max_attempts`.
    attempts_since_replay: u32,
    /// Of a leased one: when the lease runs out.
    #[schema(value_type = Option<String>, format = DateTime)]
    lease_expires_at: Option<Timestamp>,
    /// When a person settled it.
    #[schema(value_type = Option<String>, format = DateTime)]
    settled_at: Option<Timestamp>,
}

/// One claim of an event.
#[derive(Serialize, ToSchema)]
#[schema(as = Attempt)]
pub(crate) struct AttemptAnswer {
    consumer: String,
    attempt: u32,
    #[schema(value_type = String, format = DateTime)]
    claimed_at: Timestamp,
    /// Null while it is under way.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
    /// `acked`, `retried`, `failed`, `uncertain`, `expired`, `exhausted` (a retry was asked for and no
    /// attempt was left), `cancelled`; null while it is under way.
    #[schema(value_type = Option<String>)]
    outcome: Option<Outcome>,
    handler_version: Option<String>,
    remote_operation_id: Option<String>,
    /// The note or error that the application gave.
    note: Option<String>,
}

/// One attempt of the sender.
#[derive(Serialize, ToSchema)]
#[schema(as = Delivery)]
pub(crate) struct DeliveryAnswer {
    #[schema(value_type = String, example = "dlv_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: DeliveryId,
    #[schema(value_type = String, format = DateTime)]
    received_at: Timestamp,
    /// `accepted` for the first, `duplicate` for the others.
    outcome: String,
    #[schema(value_type = String)]
    endpoint: EndpointId,
    origin: String,
    /// Whether it carried the same bytes as the first.
    same_body: bool,
    /// The secret that verified it.
    #[schema(value_type = Option<String>)]
    secret: Option<SecretId>,
    request_id: Option<String>,
}

/// A replay.
#[derive(Serialize, ToSchema)]
#[schema(as = ReplayEntry)]
pub(crate) struct ReplayEntry {
    #[schema(value_type = String, example = "rpl_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: restante_core::id::ReplayId,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// `key_…` or `usr_…`.
    by: String,
    reason: Option<String>,
    /// The consumer that was named; null for all.
    consumer: Option<String>,
}

/// What a person decided.
#[derive(Serialize, ToSchema)]
#[schema(as = Settlement)]
pub(crate) struct SettlementAnswer {
    consumer: String,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// `key_…` or `usr_…`.
    by: String,
    #[schema(value_type = String, example = "processed")]
    state: State,
    note: Option<String>,
}

/// Other bytes under the same key.
#[derive(Serialize, ToSchema)]
#[schema(as = Variant)]
pub(crate) struct VariantAnswer {
    /// The delivery that brought them.
    #[schema(value_type = String, example = "dlv_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: DeliveryId,
    #[schema(value_type = String, format = DateTime)]
    received_at: Timestamp,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Vec<String>>>)]
    headers: Option<Headers>,
    /// Left out where it is too large for this answer; `/payload?variant=` gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_encoding: Option<&'static str>,
}

impl From<EventDetail> for EventDetailAnswer {
    fn from(detail: EventDetail) -> Self {
        let first = first_delivery(&detail.event.receipt);
        let under_way = detail.handoffs.iter().filter_map(under_way);
        Self {
            attempts: under_way.chain(detail.attempts.into_iter().map(ended)).collect(),
            handoffs: detail.handoffs.into_iter().map(handoff).collect(),
            delivery_log: std::iter::once(first).chain(detail.repeats.into_iter().map(repeat)).collect(),
            replays: detail.replays.into_iter().map(replay).collect(),
            settlements: detail.settlements.into_iter().map(settlement).collect(),
            variants: detail.variants.into_iter().map(variant).collect(),
            event: EventAnswer::new(detail.event),
        }
    }
}

/// The receipt is its own first delivery.
fn first_delivery(receipt: &Receipt) -> DeliveryAnswer {
    DeliveryAnswer {
        id: DeliveryId(receipt.id.0),
        received_at: receipt.received_at,
        outcome: "accepted".to_owned(),
        endpoint: receipt.endpoint,
        origin: receipt.origin.clone(),
        same_body: true,
        secret: receipt.secret,
        request_id: None,
    }
}

fn repeat(record: DeliveryRecord) -> DeliveryAnswer {
    let DeliveryRecord { id, endpoint, received_at, outcome, origin, same_body, secret, request_id } = record;
    DeliveryAnswer { id, received_at, outcome, endpoint, origin, same_body, secret, request_id }
}

fn handoff(record: HandoffRecord) -> HandoffAnswer {
    HandoffAnswer {
        consumer: record.consumer,
        consumer_deleted: record.consumer_deleted,
        state: record.state,
        due_at: record.due_at,
        attempts: record.attempt,
        attempts_since_replay: record.tries,
        lease_expires_at: record.lease.map(|(_, until, _)| until),
        settled_at: record.settled_at,
    }
}

fn under_way(record: &HandoffRecord) -> Option<AttemptAnswer> {
    let (claimed_at, _, handler_version) = record.lease.clone()?;
    Some(AttemptAnswer {
        consumer: record.consumer.clone(),
        attempt: record.attempt,
        claimed_at,
        ended_at: None,
        outcome: None,
        handler_version,
        remote_operation_id: None,
        note: None,
    })
}

fn ended(record: AttemptRecord) -> AttemptAnswer {
    AttemptAnswer {
        consumer: record.consumer,
        attempt: record.attempt,
        claimed_at: record.claimed_at,
        ended_at: Some(record.ended_at),
        outcome: Some(record.outcome),
        handler_version: record.handler_version,
        remote_operation_id: record.remote_operation_id,
        note: record.note,
    }
}

fn replay(record: ReplayRecord) -> ReplayEntry {
    let ReplayRecord { id, at, actor, reason, consumer } = record;
    ReplayEntry { id, at, by: actor, reason, consumer }
}

fn settlement(record: SettlementRecord) -> SettlementAnswer {
    let SettlementRecord { consumer, at, actor, state, note } = record;
    SettlementAnswer { consumer, at, by: actor, state, note }
}

fn variant(variant: Variant) -> VariantAnswer {
    let (headers, body, body_encoding) = parts(variant.content);
    VariantAnswer {
        id: DeliveryId(variant.id),
        received_at: variant.received_at,
        size: variant.size,
        headers,
        body,
        body_encoding,
    }
}
