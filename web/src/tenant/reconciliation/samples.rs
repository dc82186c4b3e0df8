//! Offers and runs to try pages with.

use std::collections::BTreeMap;

use restante_app::reconcile::{Found, Reconciliation, ReconciliationOffer, Run};
use restante_core::id::{EndpointId, ReceiptId, ReconciliationRunId};
use restante_core::reconcile::Field;
use restante_core::time::Timestamp;
use restante_store::reconciliation::RunRow;
use serde_json::{Map, Value};
use uuid::Uuid;

pub(super) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

fn field(name: &str, text: &str, optional: bool, one_of: Vec<String>) -> Field {
    Field {
        name: name.to_owned(),
        title: text.to_owned(),
        help: text.to_owned(),
        optional,
        default: Some(text.to_owned()).filter(|text| !text.is_empty()),
        one_of,
    }
}

/// An endpoint of which everything is set that can be, with texts of others in each place.
pub(super) fn offer(text: &str) -> ReconciliationOffer {
    let options = ["account", "recipe"].map(|name| (name.to_owned(), Value::String(text.to_owned())));
    ReconciliationOffer {
        endpoint: EndpointId(Uuid::from_u128(1)),
        name: text.to_owned(),
        provider: text.to_owned(),
        how: text.to_owned(),
        possible: true,
        described: true,
        compares: true,
        credentials: vec![
            field("api_key", text, false, Vec::new()),
            field("private_key", text, true, Vec::new()),
        ],
        options: vec![
            field("account", text, true, Vec::new()),
            field("region", text, false, vec![text.to_owned(), "eu".to_owned()]),
        ],
        reaches_seconds: Some(2_592_000),
        set: Some(Reconciliation {
            enabled: true,
            credentials: BTreeMap::from([("api_key".to_owned(), text.to_owned())]),
            base_url: Some(text.to_owned()),
            interval_seconds: 77,
            overlap_seconds: 60,
            options: Map::from_iter(options),
            checkpoint_at: Some(NOW),
            next_at: Some(NOW),
            stopped: Some(text.to_owned()),
            created_at: NOW,
            updated_at: NOW,
            notice: None,
        }),
    }
}

/// A run that found everything there is to find; `outcome` is how it ended, `None` while it is under way.
pub(super) fn run(text: &str, amount: u64, outcome: Option<&str>) -> Run {
    let id = ReconciliationRunId(Uuid::from_u128(u128::from(amount)));
    let found = |number: u64| Found {
        receipt: number.is_multiple_of(2).then(|| ReceiptId(Uuid::from_u128(u128::from(number)))),
        event_id: Some(text.to_owned()),
        event_type: Some(text.to_owned()),
        at: number.is_multiple_of(3).then_some(NOW),
    };
    Run {
        row: RunRow {
            id,
            cause: "asked".to_owned(),
            actor: Some(text.to_owned()),
            asked_at: NOW,
            trusting: false,
            started_at: Some(NOW),
            finished_at: outcome.map(|_| NOW),
            from: Some(NOW),
            to: Some(NOW),
            wanted_from: Some(NOW.plus_seconds(-30 * 86_400)),
            position: Some(text.to_owned()),
            pages: amount,
            restarts: amount,
            listed: amount,
            known: amount,
            inserted: amount / 2,
            redelivered: amount / 4,
            missing: 0,
            mismatched: amount / 4,
            failed: amount / 4,
            too_old: amount / 8,
            tries: amount,
            outcome: outcome.map(str::to_owned),
            error: Some(text.to_owned()),
            found: String::new(),
            unprocessed: String::new(),
        },
        never_by_webhook: vec![text.to_owned(); 3],
        found: (0..amount.min(200)).map(found).collect(),
        unprocessed: BTreeMap::from([("billing".to_owned(), amount)]),
    }
}
