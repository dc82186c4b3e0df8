//! The operator's check on both engines: it finds nothing where nothing is wrong, and each fault.

use restante_core::seal::KeyClass;
use restante_store::both_engines;

use crate::check::CheckReport;
use crate::testing::TestApp;

async fn report(a: &TestApp) -> CheckReport {
    a.app.check(&mut |_| {}).await.unwrap()
}

/// An instance with a tenant, an endpoint, and a refused request; its payloads are none that open.
async fn instance(t: restante_store::testing::TestStore) -> TestApp {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    a.endpoint(&tenant.by, "Payments").await;
    a
}

both_engines!(a_sound_instance_has_no_faults, |t| async {
    let a = instance(t).await;
    let found = report(&a).await;
    assert_eq!(found.faults, Vec::<String>::new());
    assert_eq!(found.opened, 2, "the endpoint's token and secret");
    assert_eq!((found.counts["tenants"], found.counts["keys of tenants"]), (1, 3));
    assert_eq!(found.file_checked, a.t.engine() == restante_store::Engine::Sqlite);
});

both_engines!(what_does_not_open_and_what_is_missing_is_found, |t| async {
    let a = instance(t).await;
    let tenant = a.tenant("beta").await;
    let endpoint = a.endpoint(&tenant.by, "Mail").await;
    a.hold_event(&tenant.by, endpoint).await;
    let found = report(&a).await;
    assert_eq!(found.faults.len(), 2, "headers and body are no sealed fields: {:?}", found.faults);
    assert_eq!((found.counts["payloads"], found.counts["receipts"], found.counts["handoffs"]), (1, 1, 1));

    a.t.execute("DELETE FROM payloads").await;
    let found = report(&a).await;
    assert!(
        found.faults.len() == 1 && found.faults[0].contains("says that its payload is stored"),
        "{found:?}"
    );
    a.t.execute("UPDATE receipts SET payload_state = 'removed'").await;
    assert_eq!(report(&a).await.faults, Vec::<String>::new(), "a tombstone is whole");
    a.t.execute("DELETE FROM receipts").await;
    let found = report(&a).await;
    assert!(found.faults.len() == 1 && found.faults[0].contains("has no receipt"), "{found:?}");
    a.t.execute("DELETE FROM handoffs").await;

    a.hold_event(&tenant.by, endpoint).await;
    a.t.execute("DELETE FROM receipts").await;
    let found = report(&a).await;
    assert!(found.faults.iter().any(|fault| fault.contains("belongs to no receipt")), "{found:?}");
    a.t.execute("DELETE FROM payloads").await;
    a.t.execute("DELETE FROM handoffs").await;

    // The key of one class stands as that of another version.
    a.t.execute("UPDATE tenant_keys SET version = 5 WHERE class = 2").await;
    let found = report(&a).await;
    let class = KeyClass::Digest.as_str();
    assert_eq!(found.faults.len(), 2, "{found:?}");
    assert!(found.faults.iter().all(|fault| fault.contains(&format!("the {class} key 5"))), "{found:?}");
});

both_engines!(many_faults_are_counted_and_a_few_are_named, |t| async {
    let a = instance(t).await;
    let tenant = a.tenant("beta").await;
    let endpoint = a.endpoint(&tenant.by, "Mail").await;
    for _ in 0..15 {
        a.hold_event(&tenant.by, endpoint).await;
    }
    a.t.execute("DELETE FROM payloads").await;
    let found = report(&a).await;
    assert_eq!(found.faults.len(), 11);
    assert_eq!(found.faults[10], "5 more receipts");
});
