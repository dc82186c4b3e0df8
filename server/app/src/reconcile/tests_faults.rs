//! What goes wrong at providers, one by one: rate limits, faults, lists that are no lists.

use std::sync::Arc;

use restante_store::both_engines;
use tokio::sync::Notify;

use super::run::Left;
use super::tests::{asked, bench, ids};
use super::tests_provider::{Fault, KEY, Provider};
use super::*;

// Retry-After as a date, and GitHub's way, in which the answer is a 403 like that of a wrong token.
both_engines!(each_way_to_ask_for_patience_is_obeyed_and_stops_nothing, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..1), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    for status in [403, 429, 503] {
        let reset = b.now() + 200;
        let headers = format!("x-ratelimit-remaining: 0\r\nx-ratelimit-reset: {reset}\r\n");
        b.provider.then(Fault::Headers(status, headers));
        assert_eq!(b.go().await, Some(Left::Waits), "{status}");
        b.a.t.clock.advance_seconds(199);
        assert_eq!(b.go().await, None, "{status}: not before the time");
        b.a.t.clock.advance_seconds(2);
    }
    b.provider.then(Fault::Headers(429, "retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n".to_owned()));
    assert_eq!(b.go().await, Some(Left::Waits));
    b.a.t.clock.advance_seconds(1);
    b.provider.then(Fault::Status(429, None));
    assert_eq!(b.go().await, Some(Left::Waits), "without a time it is a minute");
    b.a.t.clock.advance_seconds(59);
    assert_eq!(b.go().await, None);
    b.a.t.clock.advance_seconds(1);
    assert_eq!(b.go().await, Some(Left::Ended));
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!((b.last().await.row.inserted, set.stopped), (1, None));
});

both_engines!(nobody_makes_a_run_wait_for_longer_than_an_hour, |t| async {
    let b = bench(t).await;
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    b.provider.then(Fault::Status(429, Some(u32::MAX)));
    assert_eq!(b.go().await, Some(Left::Waits));
    b.a.t.clock.advance_seconds(3_599);
    assert_eq!(b.go().await, None);
    b.a.t.clock.advance_seconds(1);
    assert_eq!(b.go().await, Some(Left::Ended));
});

both_engines!(a_forbidden_list_stops_as_a_wrong_key_does, |t| async {
    let b = bench(t).await;
    b.provider.then(Fault::Status(403, None));
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("refused"));
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert!(set.stopped.unwrap().contains("403"));
});

both_engines!(a_place_that_is_forgotten_again_and_again_ends_the_run, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..250), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    for _ in 0..4 {
        b.provider.then(Fault::Grows(format!("evt_top{}", b.provider.ids().len())));
        b.provider.then(Fault::Status(410, None));
    }
    assert_eq!(b.go().await, Some(Left::Ended));
    let run = b.last().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.restarts), (Some("failed"), 3));
    assert!(run.row.error.unwrap().contains("place"));
    assert_eq!(b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap().checkpoint_at, None);
});

both_engines!(what_leads_elsewhere_or_is_unknown_ends_the_run_and_is_told, |t| async {
    let b = bench(t).await;
    for (status, word) in [(302, "not followed"), (404, "404"), (418, "418")] {
        b.provider.then(Fault::Headers(status, "location: http://10.0.0.1/\r\n".to_owned()));
        let run = b.ask().await;
        assert_eq!(run.row.outcome.as_deref(), Some("failed"));
        assert!(run.row.error.as_deref().unwrap().contains(word), "{:?}", run.row.error);
        let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
        assert_eq!((set.stopped, set.checkpoint_at), (None, None), "the next run tries again");
    }
});

both_engines!(an_entry_without_an_id_is_counted_and_the_others_come_in, |t| async {
    let b = bench(t).await;
    b.provider.add([String::new()], b.now() - 60, "charge.succeeded");
    b.provider.add(ids("a", 0..2), b.now() - 60, "charge.succeeded");
    let run = b.ask().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted, run.row.failed), (Some("done"), 2, 1));
});

both_engines!(a_list_without_an_end_is_given_up, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..1), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    b.provider.then(Fault::Status(503, None));
    assert_eq!(b.go().await, Some(Left::Waits));
    // As if it had read so many.
    b.a.t.execute("UPDATE reconciliation_runs SET pages = 20000").await;
    b.a.t.clock.advance_seconds(60);
    assert_eq!(b.go().await, Some(Left::Ended));
    let run = b.last().await;
    assert_eq!(run.row.outcome.as_deref(), Some("failed"));
    assert!(run.row.error.unwrap().contains("circle"));
});

both_engines!(a_provider_that_takes_its_time_holds_no_other_tenant_up, |t| async {
    let b = bench(t).await;
    let beta = b.a.tenant("beta").await;
    let (endpoint, provider) = (b.a.endpoint(&beta.by, "Payments").await, Provider::start().await);
    b.a.app.set_reconciliation(&beta.by, endpoint, asked(&provider, KEY)).await.unwrap();
    let (arrived, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    b.provider.then(Fault::Held(Arc::clone(&arrived), Arc::clone(&go)));
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    let lease = restante_store::jobs::JobLease {
        job: JOB.to_owned(),
        epoch: 1,
        run: restante_core::id::JobRunId::new(restante_store::testing::START, [0; 10]),
    };
    let work =
        crate::schedule::Work { app: b.a.app.clone(), lease, stop: tokio::sync::watch::channel(false).1 };
    let job = tokio::spawn(reconcile_due(work));
    arrived.notified().await;
    // The job waits for the one provider, and the other tenant's run becomes due only now.
    let made = b.a.app.ask_reconciliation(&beta.by, endpoint, AskedRun::default(), None).await.unwrap();
    while b.a.app.reconciliation_run(&beta.by, endpoint, made.value).await.unwrap().row.outcome.is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(b.last().await.row.outcome, None, "the first one is still under way");
    go.notify_one();
    assert_eq!(job.await.unwrap().unwrap().counts[0], ("runs ended".to_owned(), 2));
});
