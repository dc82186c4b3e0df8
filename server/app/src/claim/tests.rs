//! A claim looks at its caller when it leases, not only when it was let in: it may have waited since.
//! On both engines; here the caller was let in before each change, as a claim that waits was.

use restante_core::access::{Principal, Scope, Scopes};
use restante_core::id::EndpointId;
use restante_core::problem::{Code, Problem};
use restante_store::testing::TestStore;
use restante_store::{StoreError, both_engines};

use super::*;
use crate::api_keys::{ApiKeyRow, NewApiKey};
use crate::testing::{TestApp, TestTenant};
use crate::{App, By};

/// A tenant with an event that waits for its consumer `default`, and a worker of it.
struct Bench {
    a: TestApp,
    owner: TestTenant,
    worker: By,
    key: ApiKeyRow,
}

async fn bench(t: TestStore) -> Bench {
    let a = TestApp::new(t);
    let owner = a.tenant("acme").await;
    a.hold_event(&owner.by, EndpointId(restante_core::id::uuid_v7_floor(a.app.clock.now()))).await;
    let asked = NewApiKey {
        name: "worker".to_owned(),
        scopes: Scopes::NONE.with(Scope::EventsConsume),
        expires_at: Some(a.app.clock.now().plus_seconds(60)),
    };
    let made = a.app.create_api_key(&owner.by, asked, None).await.unwrap().value;
    let principal = a.app.authenticate(made.key.expose()).await.unwrap();
    Bench { a, owner, worker: By { principal, request_id: None }, key: made.row }
}

async fn claim(app: &App, by: &By) -> Result<Claimed, StoreError> {
    let asked = Claim { max: 1, lease_seconds: 60, wait_seconds: 30, handler_version: None };
    app.claim(by, "default", asked, tokio::sync::watch::channel(false).1).await
}

impl Bench {
    /// What the claim is refused with, of an event that nobody has leased.
    async fn refused(&self, app: &App) -> Problem {
        let Err(StoreError::Problem(problem)) = claim(app, &self.worker).await else {
            panic!("the claim was not refused");
        };
        assert_eq!(self.a.t.count("handoffs WHERE state = 0 AND attempt = 0").await, 1, "{problem}");
        problem
    }
}

both_engines!(a_key_that_was_revoked_meanwhile_leases_nothing_on_any_node, |t| async {
    let bench = bench(t).await;
    let node = bench.a.second_node().await;
    bench.a.app.delete_api_key(&bench.owner.by, bench.key.id).await.unwrap();
    for app in [&bench.a.app, &node] {
        assert_eq!(bench.refused(app).await.code, Code::Unauthorized);
    }
});

both_engines!(a_key_that_expired_meanwhile_leases_nothing, |t| async {
    let bench = bench(t).await;
    bench.a.t.clock.advance_seconds(60);
    let problem = bench.refused(&bench.a.app).await;
    assert_eq!(problem.code, Code::Unauthorized);
    assert!(problem.detail.contains("expired"), "{problem}");
});

both_engines!(a_key_that_lost_its_scope_meanwhile_leases_nothing, |t| async {
    let bench = bench(t).await;
    bench.a.t.execute("UPDATE api_keys SET scopes = 'events:read' WHERE name = 'worker'").await;
    assert_eq!(bench.refused(&bench.a.app).await.code, Code::MissingScope);
});

both_engines!(a_suspended_tenant_gets_no_events_and_loses_none, |t| async {
    let bench = bench(t).await;
    bench.a.t.execute("UPDATE tenants SET suspended = suspended OR TRUE").await;
    assert_eq!(bench.refused(&bench.a.app).await.code, Code::Unavailable);
});

both_engines!(a_consumer_that_was_deleted_meanwhile_is_not_found, |t| async {
    let bench = bench(t).await;
    bench.a.app.delete_consumer(&bench.owner.by, "default").await.unwrap();
    let Err(StoreError::Problem(problem)) = claim(&bench.a.app, &bench.worker).await else {
        panic!("there is no such consumer");
    };
    assert_eq!(problem, crate::consumers::not_found());
    assert_eq!(bench.a.t.count("handoffs WHERE state = 1").await, 0);
});

both_engines!(another_tenants_key_of_the_same_id_is_nobodys, |t| async {
    let bench = bench(t).await;
    let other = bench.a.tenant("other").await;
    let principal = Principal { tenant: other.by.tenant(), ..bench.worker.principal };
    let Err(StoreError::Problem(problem)) = claim(&bench.a.app, &By { principal, request_id: None }).await
    else {
        panic!("the key belongs to one tenant");
    };
    assert_eq!(problem.code, Code::Unauthorized);
});

both_engines!(a_waiting_claim_ends_when_its_key_is_revoked, |t| async {
    let bench = bench(t).await;
    bench.a.t.execute("UPDATE handoffs SET state = 2").await;
    let (app, worker) = (bench.a.app.clone(), bench.worker.clone());
    let waiting = tokio::spawn(async move { claim(&app, &worker).await });
    bench.a.app.delete_api_key(&bench.owner.by, bench.key.id).await.unwrap();
    // However far the claim was by then, it gets nothing of what comes now.
    bench.a.hold_event(&bench.owner.by, EndpointId(uuid::Uuid::nil())).await;
    bench.a.app.wakeups.wake(bench.a.app.consumer(&bench.owner.by, "default").await.unwrap().id);
    let Err(StoreError::Problem(problem)) = waiting.await.unwrap() else { panic!("it got something") };
    assert_eq!(problem.code, Code::Unauthorized);
    assert_eq!(bench.a.t.count("handoffs WHERE state = 0 AND attempt = 0").await, 1);
});
