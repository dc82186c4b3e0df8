//! What administrators do to tenants, on both engines.

use std::sync::Arc;

use restante_core::access::Role;
use restante_core::id::{EndpointId, ReceiptId, TenantId};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::tenant_limits::{Limited, TenantLimits};
use restante_store::tenant_removal::Step;
use restante_store::{StoreError, both_engines};

use super::NewTenantAsked;
use crate::endpoints::TestEvent;
use crate::events::PayloadPart;
use crate::people::Actor;
use crate::receive::Target;
use crate::replay_jobs::{NewReplays, ReplayOf};
use crate::retention::Held;
use crate::testing::{TestApp, TestTenant};
use crate::{App, By};

fn problem<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Problem {
    match result {
        Err(StoreError::Problem(problem)) => problem,
        other => panic!("no refusal: {other:?}"),
    }
}

/// Two tenants, of which the first one's owner administers the instance.
struct Bench {
    a: TestApp,
    admin: Actor,
    first: TestTenant,
    acme: TestTenant,
    endpoint: EndpointId,
}

async fn bench(t: restante_store::testing::TestStore) -> Bench {
    let a = TestApp::new(t);
    let first = a.tenant("first").await;
    let acme = a.tenant("acme").await;
    let admin = a.app.person_of("owner@first.test").await.unwrap().unwrap();
    let endpoint = a.endpoint(&acme.by, "Payments").await;
    Bench { admin: Actor::person(admin, None), a, first, acme, endpoint }
}

impl Bench {
    fn id(&self) -> TenantId {
        self.acme.by.tenant()
    }

    async fn target(&self, app: &App) -> Option<Arc<Target>> {
        let url = self.a.app.endpoint(&self.acme.by, self.endpoint).await.unwrap().url;
        app.find_endpoint(url.rsplit('/').next().unwrap()).await.unwrap()
    }

    /// The status and the wait with which a delivery is answered before its body is read; 0 when it isn't.
    async fn answered(&self) -> (u16, Option<u64>) {
        let target = self.target(&self.a.app).await.unwrap();
        let reply = self.a.app.let_in(&target, "POST", self.a.app.clock.now()).err();
        reply.map_or((0, None), |reply| {
            let wait = reply.headers.iter().find(|(name, _)| name == "retry-after");
            (reply.status, wait.map(|(_, seconds)| seconds.parse().unwrap()))
        })
    }

    async fn limit(&self, what: Limited, value: u64) {
        let limits = TenantLimits::default().with(what, Some(value));
        self.a.app.set_tenant_limits(&self.admin, self.id(), limits).await.unwrap();
    }

    /// An event with a payload that is sealed in earnest.
    async fn event(&self, by: &By, endpoint: EndpointId) -> ReceiptId {
        let sent = self.a.app.send_test_event(by, endpoint, TestEvent::default(), None).await;
        sent.unwrap().value.receipts[0]
    }
}

/// Does every step of a deletion; tells how many.
async fn finish(app: &App, tenant: TenantId) -> u64 {
    let mut steps = 0;
    loop {
        steps += 1;
        match app.step_tenant_removal(tenant).await.unwrap() {
            Step::Removed(rows) => assert!(rows > 0),
            Step::Finished => return steps,
            Step::Nothing => panic!("nobody else works at it"),
        }
    }
}

both_engines!(tenants_are_listed_with_what_they_hold_and_how_long_the_oldest_waits, |t| async {
    let b = bench(t).await;
    for _ in 0..3 {
        b.event(&b.acme.by, b.endpoint).await;
    }
    b.a.t.clock.advance_seconds(60);
    let page = b.a.app.tenants(&b.admin, "", None).await.unwrap();
    assert_eq!(page.tenants.iter().map(|tenant| tenant.slug.as_str()).collect::<Vec<_>>(), ["acme", "first"]);
    let acme = &page.tenants[0];
    let used = |what| acme.used.get(what).unwrap();
    assert_eq!((used(Limited::Events), used(Limited::DeliveriesPerMinute)), (3, 3));
    let sealed = "SELECT CAST(SUM(length(headers_sealed) + length(body_sealed)) AS BIGINT) FROM payloads";
    assert_eq!(used(Limited::PayloadBytes), u64::try_from(b.a.t.number(sealed).await).unwrap());
    assert_eq!((used(Limited::Endpoints), used(Limited::Consumers), used(Limited::Members)), (1, 1, 1));
    let waits = b.a.app.clock.now().micros_since(acme.oldest_pending.unwrap()) / 1_000_000;
    assert_eq!(waits, 60);
    assert_eq!(page.tenants[1].used.get(Limited::Events), Some(0));
    assert_eq!((page.near.len(), page.removals.len()), (0, 0));
    let found = b.a.app.tenants(&b.admin, "FI", None).await.unwrap();
    assert_eq!(found.tenants.len(), 1);
});

both_engines!(many_tenants_are_listed_page_by_page, |t| async {
    let b = bench(t).await;
    for number in 0..103 {
        let asked = NewTenantAsked {
            name: format!("T{number:03}"),
            owner: "eve@example.com".to_owned(),
            ..NewTenantAsked::default()
        };
        b.a.app.create_tenant(&b.admin, asked).await.unwrap();
    }
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = b.a.app.tenants(&b.admin, "", after.as_deref()).await.unwrap();
        seen.extend(page.tenants.into_iter().map(|tenant| tenant.slug));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 105);
    assert!(seen.is_sorted());
});

both_engines!(only_administrators_look_after_tenants, |t| async {
    let b = bench(t).await;
    let user = b.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let (owner, id) = (Actor::person(user, None), b.id());
    let app = &b.a.app;
    let refused = [
        problem(app.tenants(&owner, "", None).await).code,
        problem(app.tenant_detail(&owner, id).await).code,
        problem(app.tenant_removal(&owner, id).await).code,
        problem(app.rename_tenant(&owner, id, "Other", "other").await).code,
        problem(app.suspend_tenant(&owner, id, "").await).code,
        problem(app.resume_tenant(&owner, id).await).code,
        problem(app.set_tenant_limits(&owner, id, TenantLimits::default()).await).code,
        problem(app.delete_tenant(&owner, id, "acme").await).code,
        problem(
            app.create_tenant(
                &owner,
                NewTenantAsked {
                    name: "X".to_owned(),
                    owner: "a@b.c".to_owned(),
                    ..NewTenantAsked::default()
                },
            )
            .await,
        )
        .code,
    ];
    assert!(refused.iter().all(|code| *code == Code::MissingScope), "{refused:?}");
    assert_eq!(b.a.t.count("tenants WHERE suspended OR slug = 'other'").await, 0);
    let nobody = TenantId(uuid::Uuid::nil());
    assert_eq!(problem(app.tenant_detail(&b.admin, nobody).await).code, Code::NotFound);
    assert_eq!(problem(app.suspend_tenant(&b.admin, nobody, "").await).code, Code::NotFound);
    assert_eq!(problem(app.delete_tenant(&b.admin, nobody, "").await).code, Code::NotFound);
});

both_engines!(a_new_tenant_belongs_to_whom_its_link_invites, |t| async {
    let b = bench(t).await;
    let asked = |slug: &str| NewTenantAsked {
        name: " Gamma & Sons ".to_owned(),
        slug: slug.to_owned(),
        owner: "Eve@Example.com".to_owned(),
    };
    let made = b.a.app.create_tenant(&b.admin, asked("")).await.unwrap();
    assert_eq!((made.slug.as_str(), made.owner.as_str()), ("gamma-sons", "eve@example.com"));
    let password = Secret::new("correct horse battery staple".to_owned());
    let accepted = b.a.app.accept_as_new(&made.link, password, None).await.unwrap();
    let here = b.a.app.who(accepted.user, Some("gamma-sons")).await.unwrap().unwrap().here.unwrap();
    assert_eq!((here.role(), here.name.as_str()), (Some(Role::Owner), "Gamma & Sons"));
    assert!(b.a.app.keys.of(made.tenant, &b.a.app.store).await.is_ok());
    let taken = problem(b.a.app.create_tenant(&b.admin, asked("acme")).await);
    assert_eq!(taken.errors[0].pointer, "/slug");
    let wrong = NewTenantAsked { owner: "nobody".to_owned(), ..NewTenantAsked::default() };
    let wrong = problem(b.a.app.create_tenant(&b.admin, wrong).await);
    let pointers: Vec<&str> = wrong.errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/name", "/owner"]);
    assert_eq!(b.a.t.count("tenants").await, 3);
    assert_eq!(b.a.t.count("instance_audit_log WHERE action = 'tenant.create'").await, 1);
});

both_engines!(a_renamed_tenant_keeps_its_urls_and_loses_its_old_address, |t| async {
    let b = bench(t).await;
    b.a.app.rename_tenant(&b.admin, b.id(), "Acme Ltd", "acme-ltd").await.unwrap();
    let owner = b.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    assert!(b.a.app.who(owner, Some("acme")).await.unwrap().unwrap().here.is_none());
    let here = b.a.app.who(owner, Some("acme-ltd")).await.unwrap().unwrap().here.unwrap();
    assert_eq!((here.tenant, here.name.as_str()), (b.id(), "Acme Ltd"));
    assert!(b.target(&b.a.app).await.is_some());
    let taken = problem(b.a.app.rename_tenant(&b.admin, b.id(), "Acme", "first").await);
    assert_eq!(taken.errors[0].pointer, "/slug");
    let wrong = problem(b.a.app.rename_tenant(&b.admin, b.id(), "", "A B").await);
    assert_eq!(wrong.errors.len(), 2);
    assert_eq!(b.a.t.count("instance_audit_log WHERE action = 'tenant.rename'").await, 1);
    assert_eq!(b.a.t.count("audit_log WHERE action = 'tenant.rename'").await, 1);
});

both_engines!(a_suspended_tenant_is_answered_503_and_nothing_is_stored_until_it_goes_on, |t| async {
    let b = bench(t).await;
    let (node, receipts) = (b.a.second_node().await, b.a.t.count("receipts").await);
    assert!(b.target(&node).await.is_some());
    b.a.app.suspend_tenant(&b.admin, b.id(), " The invoice of May is open ").await.unwrap();
    assert_eq!(b.answered().await, (503, Some(60)));
    let refused = b.a.app.send_test_event(&b.acme.by, b.endpoint, TestEvent::default(), None).await;
    assert_eq!(problem(refused).code, Code::Conflict);
    // A node that has read the endpoint before finds out when it commits.
    let refused = node.send_test_event(&b.acme.by, b.endpoint, TestEvent::default(), None).await;
    assert!(matches!(refused, Err(StoreError::Problem(_))));
    assert_eq!(b.a.t.count("receipts").await, receipts);
    let owner = b.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let here = b.a.app.who(owner, Some("acme")).await.unwrap().unwrap().here.unwrap();
    assert!(here.suspended);
    assert_eq!(here.suspended_because.as_deref(), Some("The invoice of May is open"));
    b.a.app.flush_refusals().await;
    assert_eq!(b.a.t.count("rollups WHERE metric = 'rejected:suspended' AND grain = 1").await, 1);
    // Twice is once.
    b.a.app.suspend_tenant(&b.admin, b.id(), "").await.unwrap();
    b.a.app.resume_tenant(&b.admin, b.id()).await.unwrap();
    b.a.app.resume_tenant(&b.admin, b.id()).await.unwrap();
    assert_eq!(b.answered().await, (0, None));
    b.event(&b.acme.by, b.endpoint).await;
    for table in ["audit_log", "instance_audit_log"] {
        assert_eq!(b.a.t.count(&format!("{table} WHERE action = 'tenant.suspend'")).await, 1, "{table}");
        assert_eq!(b.a.t.count(&format!("{table} WHERE action = 'tenant.resume'")).await, 1, "{table}");
    }
    let long = "x".repeat(crate::administration::tenants::REASON_CHARS_MAX + 1);
    assert_eq!(problem(b.a.app.suspend_tenant(&b.admin, b.id(), &long).await).errors[0].pointer, "/because");
});

both_engines!(who_sends_faster_than_the_limit_is_told_when_to_come_again, |t| async {
    let b = bench(t).await;
    for what in [Limited::DeliveriesPerMinute, Limited::EndpointDeliveriesPerMinute] {
        b.limit(what, 6).await;
        assert_eq!(b.answered().await.0, 0);
        assert_eq!(b.answered().await.0, 0);
        assert_eq!(b.answered().await, (429, Some(10)));
        b.a.t.clock.advance_seconds(10);
        assert_eq!(b.answered().await.0, 0);
        b.a.t.clock.advance_seconds(3_600);
    }
    b.a.app.flush_refusals().await;
    assert_eq!(
        b.a.t
            .number(
                "SELECT CAST(SUM(count) AS BIGINT) FROM rollups WHERE metric = 'rejected:rate' AND grain = 1"
            )
            .await,
        2
    );
    // A probe costs nothing of it.
    let target = b.target(&b.a.app).await.unwrap();
    assert_eq!(b.a.app.let_in(&target, "HEAD", b.a.app.clock.now()).unwrap_err().status, 200);
});

both_engines!(a_tenant_that_holds_as_much_as_it_may_takes_nothing_until_there_is_room, |t| async {
    let b = bench(t).await;
    b.event(&b.acme.by, b.endpoint).await;
    for (what, enough) in [(Limited::Events, 2), (Limited::PayloadBytes, 1_000_000)] {
        b.limit(what, 1).await;
        assert_eq!(b.answered().await, (503, Some(60)), "{what:?}");
        let page = b.a.app.tenants(&b.admin, "", None).await.unwrap();
        assert_eq!((page.near.len(), page.near[0].1[0].what), (1, what));
        let measures = b.a.app.limits_used(&b.acme.by).await.unwrap();
        assert!(measures.len() == 1 && measures[0].is_reached());
        b.limit(what, enough).await;
        assert_eq!(b.answered().await, (0, None), "{what:?}");
    }
    assert!(b.a.app.limits_used(&b.first.by).await.unwrap().is_empty());
    // The other tenant is not held to it.
    let other = b.a.endpoint(&b.first.by, "Other").await;
    b.event(&b.first.by, other).await;
});

both_engines!(what_people_make_has_its_limits_too, |t| async {
    let b = bench(t).await;
    b.limit(Limited::Endpoints, 1).await;
    let asked = crate::endpoints::NewEndpoint {
        name: "More".to_owned(),
        provider: "stripe".to_owned(),
        secrets: vec![Secret::new("whsec_c2VjcmV0LW9mLWEtdGVzdA".to_owned())],
        options: serde_json::Map::new(),
        dedup_scope: None,
        max_body_bytes: None,
        retention: None,
        enabled: true,
    };
    let refused = problem(b.a.app.create_endpoint(&b.acme.by, asked.clone(), None).await);
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.detail.contains("1 endpoints") && refused.detail.contains("administrator"), "{refused}");
    b.a.app.create_endpoint(&b.first.by, asked.clone(), None).await.unwrap();
    b.a.app.delete_endpoint(&b.acme.by, b.endpoint).await.unwrap();
    b.a.app.create_endpoint(&b.acme.by, asked, None).await.unwrap();

    b.limit(Limited::Members, 1).await;
    let owner = b.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let by = b.a.app.who(owner, Some("acme")).await.unwrap().unwrap().here.unwrap().by(owner, None);
    assert_eq!(problem(b.a.app.invite(&by, "eve@example.com", Role::Viewer).await).code, Code::Conflict);
    b.limit(Limited::Members, 2).await;
    b.a.app.invite(&by, "eve@example.com", Role::Viewer).await.unwrap();
    assert_eq!(problem(b.a.app.invite(&by, "bob@example.com", Role::Viewer).await).code, Code::Conflict);
});

both_engines!(limits_have_bounds_and_a_change_is_on_both_logs, |t| async {
    let b = bench(t).await;
    let limits = TenantLimits::default()
        .with(Limited::DeliveriesPerMinute, Some(0))
        .with(Limited::PayloadBytes, Some(u64::MAX))
        .with(Limited::Events, Some(0));
    let refused = problem(b.a.app.set_tenant_limits(&b.admin, b.id(), limits).await);
    let pointers: Vec<&str> = refused.errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/deliveries_per_minute", "/payload_bytes"]);
    b.limit(Limited::Events, 5).await;
    b.limit(Limited::Events, 5).await;
    b.a.app.set_tenant_limits(&b.admin, b.id(), TenantLimits::default()).await.unwrap();
    assert_eq!(b.a.t.count("tenant_limits").await, 0);
    for table in ["audit_log", "instance_audit_log"] {
        let lines = format!("{table} WHERE action = 'tenant.limits' AND detail LIKE '%none%'");
        assert_eq!(b.a.t.count(&lines).await, 2, "{table}");
    }
});

both_engines!(from_the_deletion_on_nothing_opens_and_nobody_comes_in, |t| async {
    let b = bench(t).await;
    let receipt = b.event(&b.acme.by, b.endpoint).await;
    let node = b.a.second_node().await;
    for app in [&b.a.app, &node] {
        assert!(app.payload(&b.acme.by, receipt, PayloadPart::Whole).await.is_ok());
        assert!(app.authenticate(b.acme.api_key.expose()).await.is_ok());
    }
    let target = b.target(&node).await;
    let url = b.a.app.endpoint(&b.acme.by, b.endpoint).await.unwrap().url;
    let refused = problem(b.a.app.delete_tenant(&b.admin, b.id(), "Acme").await);
    assert_eq!(refused.errors[0].pointer, "/typed_name");
    assert!(b.a.app.payload(&b.acme.by, receipt, PayloadPart::Whole).await.is_ok());

    b.a.app.delete_tenant(&b.admin, b.id(), "acme").await.unwrap();
    // The sealed rows are all there, and no key of theirs is.
    assert_eq!(b.a.t.count("payloads").await, 1);
    assert_eq!(b.a.t.count("tenant_keys WHERE state <> 3 OR length(wrapped) > 0").await, 3);
    assert!(b.a.app.payload(&b.acme.by, receipt, PayloadPart::Whole).await.is_err());
    assert!(b.a.app.keys.of(b.id(), &b.a.app.store).await.is_err());
    assert!(b.a.app.authenticate(b.acme.api_key.expose()).await.is_err());
    let owner = b.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let who = b.a.app.who(owner, Some("acme")).await.unwrap().unwrap();
    assert!(who.here.is_none() && who.tenants.is_empty());
    assert!(b.a.app.find_endpoint(url.rsplit('/').next().unwrap()).await.unwrap().is_none());
    // Another node stores nothing by what it remembers, and has forgotten it in a few seconds.
    assert!(target.is_some());
    let refused = node.send_test_event(&b.acme.by, b.endpoint, TestEvent::default(), None).await;
    assert!(refused.is_err());
    assert_eq!(b.a.t.count("receipts").await, 1);
    b.a.t.clock.advance_seconds(5);
    assert!(node.authenticate(b.acme.api_key.expose()).await.is_err());
    assert!(node.find_endpoint(url.rsplit('/').next().unwrap()).await.unwrap().is_none());
    b.a.t.clock.advance_seconds(55);
    assert!(node.keys.of(b.id(), &node.store).await.is_err());
    // The name is free again; a second deletion finds nobody.
    assert_eq!(problem(b.a.app.delete_tenant(&b.admin, b.id(), "acme").await).code, Code::NotFound);
    let password = Secret::new("correct horse battery staple".to_owned());
    b.a.app.bootstrap("acme", "new@acme.test", password).await.unwrap();
});

both_engines!(a_tenant_of_which_anything_is_held_is_not_deleted, |t| async {
    let b = bench(t).await;
    let receipt = b.event(&b.acme.by, b.endpoint).await;
    for held in [Held::Tenant, Held::Endpoint(b.endpoint), Held::Event(receipt)] {
        let hold = b.a.app.hold(&b.acme.by, held, "the court's secret", None).await.unwrap().value.id;
        let refused = problem(b.a.app.delete_tenant(&b.admin, b.id(), "acme").await);
        assert_eq!(refused.code, Code::Conflict);
        for part in [&hold.to_string(), "nothing was deleted", "release holds on its page Retention"] {
            assert!(refused.detail.contains(part), "{refused}");
        }
        // Administrators of the instance learn that something is held, and not why.
        assert!(!refused.detail.contains("court"), "{refused}");
        // Its keys are all there, and so is what they open.
        assert!(b.a.app.payload(&b.acme.by, receipt, PayloadPart::Whole).await.is_ok(), "{held:?}");
        assert_eq!(b.a.t.count("tenant_deletions").await, 0);
        b.a.app.release_hold(&b.acme.by, hold).await.unwrap();
    }
    b.a.app.delete_tenant(&b.admin, b.id(), "acme").await.unwrap();
    let late = b.a.app.hold(&b.acme.by, Held::Tenant, "too late", None).await;
    assert!(late.is_err(), "nothing that is gone can be held");
    assert_eq!(b.a.t.count("retention_holds WHERE released_at IS NULL").await, 0);
});

both_engines!(a_hold_and_a_deletion_at_once_never_both_succeed, |t| async {
    let b = bench(t).await;
    let node = b.a.second_node().await;
    let (mut held, mut deleted) = (0, 0);
    for round in 0..12 {
        let slug = format!("t{round}");
        let tenant = b.a.tenant(&slug).await;
        let id = tenant.by.tenant();
        // The keys are looked up before, so that both get to their transactions.
        b.a.app.keys.of(id, &b.a.app.store).await.unwrap();
        let hold = b.a.app.hold(&tenant.by, Held::Tenant, "a dispute", None);
        let delete = node.delete_tenant(&b.admin, id, &slug);
        let (hold, delete) = match round % 2 {
            0 => tokio::join!(hold, delete),
            _ => {
                let (delete, hold) = tokio::join!(delete, hold);
                (hold, delete)
            }
        };
        assert_ne!(hold.is_ok(), delete.is_ok(), "{hold:?} {delete:?}");
        held += i32::from(hold.is_ok());
        deleted += i32::from(delete.is_ok());
    }
    assert_eq!(held + deleted, 12);
});

both_engines!(a_deletion_that_is_killed_half_way_is_finished_by_another_node, |t| async {
    let b = bench(t).await;
    let other = b.a.endpoint(&b.first.by, "Other").await;
    let kept = b.event(&b.first.by, other).await;
    for _ in 0..4 {
        b.event(&b.acme.by, b.endpoint).await;
    }
    b.a.refuse(&b.acme.by, b.endpoint, b"forged").await;
    b.a.fail_all(&b.acme.by, "default", "it is not known here").await;
    let of = ReplayOf::Matching(crate::events::EventFilter::default());
    let asked = NewReplays { of, consumer: None, reason: None };
    b.a.app.create_replay_job(&b.acme.by, asked, None).await.unwrap();
    b.a.app.sweep_replay_jobs().await.unwrap();
    b.limit(Limited::Events, 100).await;
    let of_first = rows(&b, b.first.by.tenant()).await;
    assert!(rows(&b, b.id()).await > 30);

    b.a.app.delete_tenant(&b.admin, b.id(), "acme").await.unwrap();
    for _ in 0..3 {
        assert!(matches!(b.a.app.step_tenant_removal(b.id()).await.unwrap(), Step::Removed(_)));
    }
    let half = b.a.app.tenant_removal(&b.admin, b.id()).await.unwrap();
    assert!(half.rows_removed > 0 && half.finished_at.is_none() && half.events == 4);
    // That process is gone. What it left, another one finds for itself; what comes late goes as well.
    let node = b.a.second_node().await;
    b.a.app.flush_refusals().await;
    assert!(finish(&node, b.id()).await > 3);
    assert_eq!(rows(&b, b.id()).await, 0);
    assert_eq!(b.a.t.count("tenants").await, 1);
    assert_eq!(node.step_tenant_removal(b.id()).await.unwrap(), Step::Nothing);
    assert_eq!(node.work_off_tenant_removals().await.unwrap(), 0);

    // Nothing of the other tenant went, and the instance's log tells of both ends.
    assert_eq!(rows(&b, b.first.by.tenant()).await, of_first);
    assert!(node.payload(&b.first.by, kept, PayloadPart::Whole).await.is_ok());
    let log = b.a.app.instance_audit_log(&b.admin, None).await.unwrap();
    for action in ["tenant.delete", "tenant.deleted"] {
        let line = log.lines.iter().find(|line| line.action == action).unwrap();
        assert!(line.detail.contains("acme") && line.subject == b.id().to_string(), "{line:?}");
    }
    let done = b.a.app.tenants(&b.admin, "", None).await.unwrap().removals;
    assert!(done[0].finished_at.is_some() && done[0].rows_removed >= half.rows_removed);
});

both_engines!(two_nodes_at_one_deletion_do_it_once, |t| async {
    let b = bench(t).await;
    for _ in 0..6 {
        b.event(&b.acme.by, b.endpoint).await;
    }
    b.a.app.delete_tenant(&b.admin, b.id(), "acme").await.unwrap();
    let (one, other) = (b.a.app.clone(), b.a.second_node().await);
    let (one, other) = tokio::join!(async move { one.work_off_tenant_removals().await }, async move {
        other.work_off_tenant_removals().await
    },);
    one.unwrap();
    other.unwrap();
    finish_if_open(&b).await;
    assert_eq!(rows(&b, b.id()).await, 0);
    assert_eq!(b.a.t.count("instance_audit_log WHERE action = 'tenant.deleted'").await, 1);
});

/// Who came too late to a step leaves the rest to the next look.
async fn finish_if_open(b: &Bench) {
    while b.a.t.count("tenant_deletions WHERE finished_at IS NULL").await > 0 {
        b.a.app.work_off_tenant_removals().await.unwrap();
    }
}

both_engines!(what_is_refused_late_does_not_outlive_its_tenant, |t| async {
    let b = bench(t).await;
    let target = b.target(&b.a.app).await.unwrap();
    b.a.app.refusals.count(&target, "too_large", b.a.app.clock.now());
    b.a.app.delete_tenant(&b.admin, b.id(), "acme").await.unwrap();
    finish(&b.a.app, b.id()).await;
    b.a.app.flush_refusals().await;
    assert_eq!(rows(&b, b.id()).await, 0);
});

/// Rows of a tenant in all tables that have its things.
async fn rows(b: &Bench, tenant: TenantId) -> i64 {
    let id = match b.a.t.engine() {
        restante_store::Engine::Sqlite => format!("X'{}'", tenant.0.simple()),
        restante_store::Engine::Postgres => format!("CAST('{}' AS UUID)", tenant.0),
    };
    let mut rows = 0;
    for table in restante_store::tenant_removal::table_names() {
        rows += b.a.t.count(&format!("{table} WHERE tenant_id = {id}")).await;
    }
    rows
}
