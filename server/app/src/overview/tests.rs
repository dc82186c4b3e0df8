//! The overview on both engines, over events that take the whole road.

use restante_core::handoff::State;
use restante_core::time::Clock as _;
use restante_store::both_engines;

use super::*;
use crate::testing::{TestApp, TestTenant};

async fn overview(a: &TestApp, tenant: &TestTenant, window: Window) -> Overview {
    a.app.overview(&tenant.by, window).await.unwrap()
}

both_engines!(a_tenant_with_nothing_has_an_overview_of_nothing, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    for window in Window::ALL {
        let seen = overview(&a, &tenant, window).await;
        assert_eq!((seen.slots.total().accepted, seen.endpoints.len(), seen.refusals.len()), (0, 0, 0));
        // `bootstrap` makes a consumer.
        assert_eq!((seen.consumers.len(), seen.consumers[0].oldest), (1, None));
        assert_eq!(seen.consumers[0].ages, None);
    }
});

both_engines!(what_came_in_waits_and_was_refused_is_told_by_endpoint_and_consumer, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let other = a.tenant("beta").await;
    let busy = a.endpoint(&tenant.by, "Busy").await;
    let quiet = a.endpoint(&tenant.by, "Quiet").await;
    a.hold_event(&tenant.by, busy).await;
    let first = a.t.clock.now();
    a.t.clock.advance_seconds(2 * 3_600);
    a.hold_event(&tenant.by, busy).await;
    let refused = vec![("rejected:signature_mismatch".to_owned(), a.t.clock.now(), 3)];
    a.app.store.write_refusals(tenant.by.tenant(), quiet, refused, Vec::new()).await.unwrap();

    let seen = overview(&a, &tenant, Window::Day).await;
    assert_eq!((seen.slots.total().accepted, seen.slots.total().refused), (2, 3));
    assert_eq!(seen.slots.iter().filter(|slot| slot.accepted > 0).count(), 2);
    let told: Vec<_> =
        seen.endpoints.iter().map(|one| (one.name.as_str(), one.accepted, one.refused)).collect();
    assert_eq!(told, [("Quiet", 0, 3), ("Busy", 2, 0)]);
    assert_eq!(seen.endpoints[1].newest.map(Timestamp::seconds), Some(a.t.clock.now().seconds()));
    let only = Refused { reason: "signature_mismatch".to_owned(), count: 3, mostly_at: Some(quiet) };
    assert_eq!(seen.refusals, [only]);
    let consumer = &seen.consumers[0];
    assert_eq!((consumer.pending, consumer.oldest.map(Timestamp::seconds)), (2, Some(first.seconds())));
    let ages: Vec<u64> = consumer.ages.as_ref().unwrap().iter().map(|age| age.count).collect();
    assert_eq!(ages, [1, 0, 0, 1, 0, 0]);
    let course = a.app.endpoint_course(&tenant.by, busy, Window::Day).await.unwrap();
    assert_eq!((course.overview.accepted, course.overview.refused), (2, 0));
    assert_eq!(course.overview.name, "Busy");
    assert_eq!(course.slots.total().accepted, 2);
    assert!(a.app.endpoint_course(&other.by, busy, Window::Day).await.is_err());
    // An hour back there is only the second; another tenant has none of it.
    assert_eq!(overview(&a, &tenant, Window::Hour).await.slots.total().accepted, 1);
    assert_eq!(
        overview(&a, &other, Window::Week).await.slots.total(),
        Slot { at: overview(&a, &other, Window::Week).await.slots.since(), ..Slot::default() }
    );
});

both_engines!(what_somebody_settled_waits_for_nobody, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = a.endpoint(&tenant.by, "Payments").await;
    for _ in 0..2 {
        a.hold_event(&tenant.by, endpoint).await;
        a.t.clock.advance_seconds(1);
    }
    a.fail_all(&tenant.by, "default", "no paper").await;
    let failed = async || overview(&a, &tenant, Window::Hour).await.consumers[0].failed;
    assert_eq!(failed().await, 2);
    // That the consumer failed is nothing that happened at the door.
    assert_eq!(overview(&a, &tenant, Window::Hour).await.slots.total().failed, 0);
    let page = a.app.events(
        &tenant.by,
        crate::events::EventFilter { state: Some(State::Failed), ..Default::default() },
        None,
        10,
        false,
    );
    let id = page.await.unwrap().events[0].receipt.id;
    let settle = crate::replay::Settle {
        consumer: "default".to_owned(),
        settlement: restante_core::handoff::Settlement::Failed,
        note: None,
    };
    a.app.settle_event(&tenant.by, id, settle).await.unwrap();
    assert_eq!(failed().await, 1);
});
