//! Events with their histories, to try pages with.

use axum::body::Bytes;
use restante_app::events::{
    AttemptRecord, Content, DeliveryRecord, EventDetail, HandoffRecord, ReplayRecord, SettlementRecord,
    Variant,
};
use restante_core::handoff::{Outcome, State};
use restante_core::id::{DeliveryId, EndpointId, ReplayId};
use restante_core::request::HeaderList;
use uuid::Uuid;

use crate::parts::samples::{HOSTILE, long};
use crate::tenant::events::row::samples as rows;

pub(crate) use rows::NOW;

fn content(text: &str) -> Content {
    let header = (text.to_owned(), Bytes::from(text.to_owned()));
    let body = serde_json::json!({ "id": text, "list": [1, 2.5, null, true, text] }).to_string();
    Content { headers: HeaderList(vec![header]), body: Bytes::from(body) }
}

fn of(text: &str, times: usize) -> EventDetail {
    let mut event = rows::event(text);
    event.content = Some(content(text));
    let at = |n: usize| NOW.plus_seconds(-60 + n as i64);
    let handoff = |state, n: usize| HandoffRecord {
        consumer: format!("consumer-{n}"),
        consumer_deleted: n % 2 == 1,
        state,
        due_at: (state == State::Pending).then(|| NOW.plus_seconds(300)),
        attempt: 3,
        tries: 3,
        lease: (state == State::Leased).then(|| (at(1), NOW.plus_seconds(30), Some(text.to_owned()))),
        replay: None,
        settled_at: (n == 5).then_some(NOW),
    };
    EventDetail {
        event,
        handoffs: State::ALL
            .iter()
            .cycle()
            .take(6.max(times))
            .enumerate()
            .map(|(n, s)| handoff(*s, n))
            .collect(),
        attempts: Outcome::ALL
            .iter()
            .cycle()
            .take(7.max(times))
            .enumerate()
            .map(|(n, outcome)| AttemptRecord {
                consumer: "billing".to_owned(),
                attempt: n as u32 + 1,
                claimed_at: at(n),
                ended_at: at(n + 1),
                outcome: *outcome,
                handler_version: Some(text.to_owned()),
                remote_operation_id: Some(text.to_owned()),
                note: Some(text.to_owned()),
            })
            .collect(),
        repeats: (0..times)
            .map(|n| DeliveryRecord {
                id: DeliveryId(Uuid::from_u128(n as u128)),
                endpoint: EndpointId(Uuid::from_u128(1)),
                received_at: at(n),
                outcome: "duplicate".to_owned(),
                origin: "delivery".to_owned(),
                same_body: n % 2 == 0,
                secret: None,
                request_id: Some(text.to_owned()),
            })
            .collect(),
        replays: vec![ReplayRecord {
            id: ReplayId(Uuid::from_u128(1)),
            at: at(20),
            actor: "usr_1".to_owned(),
            reason: Some(text.to_owned()),
            consumer: None,
        }],
        settlements: vec![SettlementRecord {
            consumer: "billing".to_owned(),
            at: at(30),
            actor: "operator".to_owned(),
            state: State::Processed,
            note: Some(text.to_owned()),
        }],
        variants: vec![Variant {
            id: Uuid::from_u128(9),
            received_at: at(5),
            size: 1_280,
            content: Some(content(&format!("{text}!"))),
        }],
    }
}

pub(crate) fn empty() -> EventDetail {
    let mut event = rows::event("");
    event.receipt.event_type = None;
    event.receipt.event_id = None;
    event.receipt.account = None;
    event.receipt.diverged = false;
    event.sha256 = None;
    EventDetail {
        event,
        handoffs: Vec::new(),
        attempts: Vec::new(),
        repeats: Vec::new(),
        replays: Vec::new(),
        settlements: Vec::new(),
        variants: Vec::new(),
    }
}

pub(crate) fn ordinary() -> EventDetail {
    of("invoice.paid", 2)
}

pub(crate) fn hostile() -> EventDetail {
    let mut detail = of(HOSTILE, 2);
    detail.event.receipt.reason = Some("envelope".to_owned());
    detail
}

pub(crate) fn huge() -> EventDetail {
    of(&long(), 200)
}
