//! Replays of many on both engines, over events that took the whole road.

use restante_core::handoff::State;
use restante_core::id::{ReceiptId, ReplayJobId};
use restante_core::problem::Code;
use restante_store::both_engines;

use super::{NewReplays, ReplayOf, Replays};
use crate::Repeat;
use crate::events::EventFilter;
use crate::testing::{TestApp, TestTenant};

async fn with_events(a: &TestApp, slug: &str, count: usize) -> (TestTenant, Vec<ReceiptId>) {
    let tenant = a.tenant(slug).await;
    let endpoint = a.endpoint(&tenant.by, "Payments").await;
    let mut ids = Vec::new();
    for _ in 0..count {
        let sent = a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
        ids.push(sent.value.receipts[0]);
        a.t.clock.advance_seconds(1);
    }
    (tenant, ids)
}

fn all(filter: EventFilter, consumer: Option<&str>) -> NewReplays {
    let consumer = consumer.map(str::to_owned);
    NewReplays { of: ReplayOf::Matching(filter), consumer, reason: None }
}

async fn ask(a: &TestApp, tenant: &TestTenant, asked: NewReplays) -> ReplayJobId {
    a.app.create_replay_job(&tenant.by, asked, None).await.unwrap().value.id
}

async fn work_off(a: &TestApp, tenant: &TestTenant, id: ReplayJobId) -> usize {
    let mut steps = 1;
    while a.app.step_replay_job(tenant.by.tenant(), id).await.unwrap() {
        steps += 1;
    }
    steps
}

async fn failed(a: &TestApp, tenant: &TestTenant) -> u64 {
    let filter = EventFilter { state: Some(State::Failed), ..EventFilter::default() };
    a.app.count_events(&tenant.by, filter).await.unwrap().0
}

both_engines!(all_that_matched_when_it_was_asked_for_is_replayed_in_steps, |t| async {
    let a = TestApp::new(t);
    let (tenant, _) = with_events(&a, "acme", 60).await;
    let (other, _) = with_events(&a, "beta", 1).await;
    a.fail_all(&tenant.by, "default", "no paper").await;
    a.fail_all(&other.by, "default", "no paper").await;
    let filter = EventFilter { state: Some(State::Failed), ..EventFilter::default() };
    let reason = Some("there is paper".to_owned());
    let asked = NewReplays { reason, ..all(filter, Some("default")) };
    let made = a.app.create_replay_job(&tenant.by, asked, None).await.unwrap().value;
    assert_eq!((made.count, made.complete), (60, true));
    let id = made.id;
    // What comes later is not part of it.
    a.t.clock.advance_seconds(1);
    let endpoint = a.app.endpoint_names(&tenant.by).await.unwrap()[0].0;
    a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
    a.fail_all(&tenant.by, "default", "no ink").await;
    assert_eq!(work_off(&a, &tenant, id).await, 3);
    let Replays { row: job, of } = a.app.replay_job(&tenant.by, id).await.unwrap();
    assert_eq!((job.events, job.handoffs, job.refused, job.matched), (60, 60, 0, Some(60)));
    assert_eq!(job.outcome.as_deref(), Some("done"));
    assert!(matches!(of, ReplayOf::Matching(asked) if asked.state == Some(State::Failed)));
    assert_eq!((failed(&a, &tenant).await, failed(&a, &other).await), (1, 1));
    assert_eq!(a.t.count("replays WHERE reason = 'there is paper'").await, 60);
    // Nothing is left to do, and another tenant knows nothing of it.
    assert!(!a.app.step_replay_job(tenant.by.tenant(), id).await.unwrap());
    assert!(a.app.replay_job(&other.by, id).await.is_err());
    assert!(a.app.replay_jobs(&other.by, None, 50).await.unwrap().is_empty());
    assert_eq!(a.app.replay_jobs(&tenant.by, None, 50).await.unwrap().len(), 1);
    assert!(a.app.replay_jobs(&tenant.by, Some(id.0), 50).await.unwrap().is_empty());
});

both_engines!(the_sweep_works_it_off_and_a_second_node_does_nothing_twice, |t| async {
    let a = TestApp::new(t);
    let (tenant, _) = with_events(&a, "acme", 30).await;
    let id = ask(&a, &tenant, all(EventFilter::default(), None)).await;
    let other = a.second_node().await;
    let (one, two) = tokio::join!(a.app.sweep_replay_jobs(), other.sweep_replay_jobs());
    one.unwrap();
    two.unwrap();
    a.app.sweep_replay_jobs().await.unwrap();
    let Replays { row: job, .. } = a.app.replay_job(&tenant.by, id).await.unwrap();
    assert_eq!((job.events, job.outcome.as_deref()), (30, Some("done")));
    assert_eq!(a.t.count("replays").await, 30);
});

both_engines!(a_replay_of_many_is_stopped_and_ends_by_itself_when_it_can_not_go_on, |t| async {
    let a = TestApp::new(t);
    let (tenant, _) = with_events(&a, "acme", 30).await;
    let everything = EventFilter::default;
    let id = ask(&a, &tenant, all(everything(), None)).await;
    assert!(a.app.step_replay_job(tenant.by.tenant(), id).await.unwrap());
    a.app.cancel_replay_job(&tenant.by, id).await.unwrap();
    assert!(!a.app.step_replay_job(tenant.by.tenant(), id).await.unwrap());
    assert_eq!(a.app.replay_job(&tenant.by, id).await.unwrap().row.events, 25);
    let again = a.app.cancel_replay_job(&tenant.by, id).await.unwrap_err().into_problem();
    assert_eq!(again.code, Code::Conflict);

    let id = ask(&a, &tenant, all(everything(), Some("default"))).await;
    a.app.delete_consumer(&tenant.by, "default").await.unwrap();
    assert!(!a.app.step_replay_job(tenant.by.tenant(), id).await.unwrap());
    let Replays { row: job, .. } = a.app.replay_job(&tenant.by, id).await.unwrap();
    assert!(job.outcome.unwrap().contains("deleted") && job.finished_at.is_some());
    assert!(a.app.create_replay_job(&tenant.by, all(everything(), Some("nobody")), None).await.is_err());
});

both_engines!(what_can_not_be_replayed_is_counted_and_holds_up_none_of_the_others, |t| async {
    let a = TestApp::new(t);
    let (tenant, ids) = with_events(&a, "acme", 3).await;
    a.t.execute("UPDATE receipts SET payload_state = 'removed' WHERE id IN (SELECT id FROM receipts ORDER BY id LIMIT 1)").await;
    let id = ask(&a, &tenant, all(EventFilter::default(), None)).await;
    work_off(&a, &tenant, id).await;
    let Replays { row: job, .. } = a.app.replay_job(&tenant.by, id).await.unwrap();
    assert_eq!((job.events, job.refused), (ids.len() as u64 - 1, 1));
});

both_engines!(
    picked_events_are_replayed_once_whatever_is_among_them_and_however_often_it_is_asked,
    |t| async {
        let a = TestApp::new(t);
        let (tenant, mut ids) = with_events(&a, "acme", 30).await;
        let (other, theirs) = with_events(&a, "beta", 1).await;
        ids.extend([ids[0], theirs[0], ReceiptId(uuid::Uuid::from_u128(9))]);
        ids.reverse();
        let asked =
            |ids: Vec<ReceiptId>| NewReplays { of: ReplayOf::Events(ids), consumer: None, reason: None };
        let repeat = || Some(Repeat::new("once".to_owned(), "POST", "/v1/replays", b"{}"));
        let first = a.app.create_replay_job(&tenant.by, asked(ids.clone()), repeat()).await.unwrap();
        let again = a.app.create_replay_job(&tenant.by, asked(ids), repeat()).await.unwrap();
        assert_eq!((first.repeated, again.repeated, first.value), (false, true, again.value));
        assert_eq!((first.value.count, first.value.complete), (30, true), "another tenant's is not there");
        assert_eq!(work_off(&a, &tenant, first.value.id).await, 2);
        let Replays { row: job, of } = a.app.replay_job(&tenant.by, first.value.id).await.unwrap();
        assert_eq!((job.events, job.refused, job.outcome.as_deref()), (30, 2, Some("done")));
        assert!(matches!(of, ReplayOf::Events(ids) if ids.len() == 33));
        assert_eq!((a.t.count("replay_jobs").await, a.t.count("replays").await), (1, 30));
        assert!(a.app.event(&other.by, theirs[0], false).await.unwrap().replays.is_empty());
        for wrong in [Vec::new(), vec![theirs[0]; 251]] {
            let refused = a.app.create_replay_job(&tenant.by, asked(wrong), None).await.unwrap_err();
            assert_eq!(refused.into_problem().errors[0].pointer, "/events");
        }
    }
);
