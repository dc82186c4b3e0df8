//! What the overview is tried with.

use restante_app::overview::{ConsumerOverview, EndpointOverview, Overview, Refused, Silence, Slots};
use restante_app::stats::Window;
use restante_core::id::{ConsumerId, EndpointId};
use restante_core::time::Timestamp;
use restante_store::stats::AgeCount;
use uuid::Uuid;

use crate::parts::samples::{HOSTILE, long};

pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

fn endpoint(name: &str, provider: &str) -> EndpointOverview {
    EndpointOverview {
        id: EndpointId(Uuid::from_u128(1)),
        name: name.to_owned(),
        provider: provider.to_owned(),
        enabled: true,
        accepted: 8_210,
        duplicates: 271,
        refused: 12,
        newest: Some(NOW.plus_seconds(-60)),
        repeats: (0..24).map(|n| (n % 5 != 4).then_some(f64::from(n) / 100.0)).collect(),
        usual_repeats: Some((0.01, 0.04)),
        silence: None,
    }
}

fn consumer(name: &str) -> ConsumerOverview {
    ConsumerOverview {
        id: ConsumerId(Uuid::from_u128(2)),
        name: name.to_owned(),
        pending: 1_204,
        leased: 50,
        failed: 9,
        uncertain: 3,
        attempts: 4_000,
        oldest: Some(NOW.plus_seconds(-8_040)),
        age_seconds: Some(8_040),
        ages: Some([40, 80, 200, 400, 300, 184].map(|count| AgeCount { count, more: count == 400 }).into()),
    }
}

fn of(
    endpoints: Vec<EndpointOverview>,
    consumers: Vec<ConsumerOverview>,
    refusals: Vec<Refused>,
) -> Overview {
    let slots = Slots::empty(Window::Day, NOW);
    Overview { window: Window::Day, now: NOW, slots, endpoints, refusals, consumers }
}

fn refused(reason: &str) -> Refused {
    Refused { reason: reason.to_owned(), count: 291, mostly_at: Some(EndpointId(Uuid::from_u128(1))) }
}

pub(crate) fn empty() -> Overview {
    of(Vec::new(), Vec::new(), Vec::new())
}

pub(crate) fn ordinary() -> Overview {
    let silence = Silence { seconds: 32_400, longest_pause_seconds: Some(2_400) };
    let shop = EndpointOverview { silence: Some(silence), ..endpoint("Shop EU", "shopify") };
    let mailer = ConsumerOverview {
        pending: 0,
        oldest: None,
        age_seconds: None,
        ages: None,
        failed: 0,
        uncertain: 0,
        ..consumer("mailer")
    };
    of(
        vec![endpoint("Payments", "stripe"), shop],
        vec![consumer("billing"), mailer],
        vec![refused("signature_mismatch")],
    )
}

pub(crate) fn hostile() -> Overview {
    of(vec![endpoint(HOSTILE, HOSTILE)], vec![consumer("billing")], vec![refused(HOSTILE)])
}

pub(crate) fn huge() -> Overview {
    let endpoints = (0..1_000)
        .map(|_| EndpointOverview { accepted: u64::MAX / 4_000, ..endpoint(&long(), "stripe") })
        .collect();
    let consumers = (0..100).map(|_| consumer(&"a".repeat(64))).collect();
    of(endpoints, consumers, (0..40).map(|_| refused(&long())).collect())
}
