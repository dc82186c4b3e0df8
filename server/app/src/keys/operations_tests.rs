//! Changes of keys on both engines: what was sealed before each step opens after it.

use restante_core::id::EndpointId;
use restante_core::seal::{KEY_SETTLES_SECONDS, KekId, KeyClass, KeyRing, KeyState};
use restante_core::secret::Secret;
use restante_store::{StoreError, both_engines};

use super::Resealed;
use crate::App;
use crate::people::Actor;
use crate::people::SecondFactor;
use crate::testing::{TestApp, TestTenant};

/// The master key of every test's instance, and another.
const FIRST: [u8; 32] = [7; 32];
const NEXT: [u8; 32] = [8; 32];

fn id(key: [u8; 32]) -> KekId {
    KekId::of(&Secret::new(key))
}

fn ring(keys: &[[u8; 32]]) -> KeyRing {
    let keys: Vec<_> = keys.iter().map(|key| Secret::new(*key)).collect();
    KeyRing::new(&keys).unwrap()
}

/// What each master key wraps: keys of tenants, keys of people.
async fn wraps(app: &App) -> Vec<(KekId, u64, u64)> {
    let (keys, _) = app.master_keys_in_use().await.unwrap();
    keys.iter().map(|key| (key.id, key.tenant_keys, key.people)).collect()
}

/// The endpoint's token and secret, which only the tenant's key opens.
async fn opens(app: &App, tenant: &TestTenant, endpoint: EndpointId) {
    app.keys.forget(tenant.by.tenant());
    let shown = app.endpoint(&tenant.by, endpoint).await.unwrap();
    let token = shown.url.rsplit('/').next().unwrap();
    assert!(app.find_endpoint(token).await.unwrap().is_some());
}

both_engines!(everything_is_wrapped_anew_once_and_opens_without_the_old_master_key, |t| async {
    let a = TestApp::new(t);
    let (acme, beta) = (a.tenant("acme").await, a.tenant("beta").await);
    let endpoint = a.endpoint(&acme.by, "Payments").await;
    let person = a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let secret = a.app.begin_second_factor(person).await.unwrap();
    assert_eq!(wraps(&a.app).await, [(id(FIRST), 6, 1)]);

    a.app.keys.replace_ring(ring(&[NEXT, FIRST]));
    let gamma = a.tenant("gamma").await;
    assert_eq!(
        wraps(&a.app).await,
        [(id(NEXT), 3, 0), (id(FIRST), 6, 1)],
        "new ones are wrapped by the new key"
    );
    // Some are done and some are not, as a run leaves it that was killed.
    let mut steps = Vec::new();
    let done = a.app.rewrap_keys(&Actor::operator(), |so_far| steps.push(so_far)).await.unwrap();
    assert_eq!((done.rewrapped, done.verified), (7, 10));
    assert_eq!(steps.last(), Some(&7));
    assert_eq!(wraps(&a.app).await, [(id(NEXT), 9, 1), (id(FIRST), 0, 0)]);
    let again = a.app.rewrap_keys(&Actor::operator(), |_| {}).await.unwrap();
    assert_eq!((again.rewrapped, again.verified), (0, 10), "twice is once");

    a.app.keys.replace_ring(ring(&[NEXT]));
    opens(&a.app, &acme, endpoint).await;
    for tenant in [&beta, &gamma] {
        let made = a.endpoint(&tenant.by, "x").await;
        opens(&a.app, tenant, made).await;
    }
    let SecondFactor::Pending(kept) = a.app.second_factor(person).await.unwrap() else { panic!("it waits") };
    assert_eq!(kept.expose(), secret.expose());
    let lines =
        a.t.number("SELECT COUNT(*) FROM instance_audit_log WHERE action = 'master_key.rewrap'").await;
    assert_eq!(lines, 1, "a run that changed nothing is no change");
});

both_engines!(a_key_that_is_damaged_stops_the_rewrap_and_is_named, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await.by.tenant();
    // It authenticates its version.
    a.t.execute("UPDATE tenant_keys SET version = 5 WHERE class = 1").await;
    a.app.keys.replace_ring(ring(&[NEXT, FIRST]));
    let error = a.app.rewrap_keys(&Actor::operator(), |_| {}).await.unwrap_err().to_string();
    assert!(error.contains(&tenant.to_string()), "{error}");
    assert_eq!(wraps(&a.app).await, [(id(NEXT), 0, 0), (id(FIRST), 3, 0)]);
});

both_engines!(a_rotated_key_seals_once_every_node_has_it, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let other = a.second_node().await;
    let old = a.endpoint(&tenant.by, "Old").await;
    // The other node holds the keys from before.
    opens(&other, &tenant, old).await;
    let id = tenant.by.tenant();
    assert_eq!(a.app.rotate_tenant_key(&Actor::operator(), id, KeyClass::Secrets).await.unwrap(), 2);
    let shown = a.app.keys_of_tenant(id).await.unwrap();
    let of_secrets: Vec<_> = shown
        .iter()
        .filter(|key| key.class == KeyClass::Secrets)
        .map(|key| (key.version, key.state, key.seals))
        .collect();
    assert_eq!(of_secrets, [(1, KeyState::DecryptOnly, true), (2, KeyState::Active, false)]);
    let young = a.endpoint(&tenant.by, "Young").await;
    let shown = other.endpoint(&tenant.by, young).await.unwrap();
    assert_eq!(shown.name, "Young", "a node with the keys from before opens what is sealed now");

    a.t.clock.advance_seconds(KEY_SETTLES_SECONDS);
    let new = a.endpoint(&tenant.by, "New").await;
    assert_eq!(versions(&a, "token_sealed", "endpoints").await, [1, 1, 2]);
    for endpoint in [old, young, new] {
        assert!(other.endpoint(&tenant.by, endpoint).await.is_ok());
        opens(&a.app, &tenant, endpoint).await;
    }
});

/// The versions of keys that sealed a column, sorted.
async fn versions(a: &TestApp, column: &str, table: &str) -> Vec<i64> {
    let mut found = Vec::new();
    for version in 1..=3_u8 {
        let bytes = match a.t.engine() {
            restante_store::Engine::Sqlite => format!("X'000000{version:02x}'"),
            restante_store::Engine::Postgres => format!("'\\x000000{version:02x}'::bytea"),
        };
        let count = format!("SELECT COUNT(*) FROM {table} WHERE substr({column}, 5, 4) = {bytes}");
        for _ in 0..a.t.number(&count).await {
            found.push(i64::from(version));
        }
    }
    found
}

both_engines!(secrets_are_sealed_anew_and_their_old_key_is_destroyed_when_nobody_can_use_it, |t| async {
    let a = TestApp::new(t);
    let (tenant, other) = (a.tenant("acme").await, a.tenant("beta").await);
    let endpoint = a.endpoint(&tenant.by, "Payments").await;
    let untouched = a.endpoint(&other.by, "Elsewhere").await;
    let (operator, id) = (Actor::operator(), tenant.by.tenant());
    let nothing = a.app.reseal_secrets(&operator, id).await.unwrap();
    assert_eq!(nothing, Resealed { version: 1, ..Resealed::default() });

    a.app.rotate_tenant_key(&operator, id, KeyClass::Secrets).await.unwrap();
    let refused = a.app.reseal_secrets(&operator, id).await;
    assert!(matches!(refused, Err(StoreError::Problem(_))), "it does not seal yet: {refused:?}");
    a.t.clock.advance_seconds(KEY_SETTLES_SECONDS);
    let done = a.app.reseal_secrets(&operator, id).await.unwrap();
    assert_eq!((done.version, done.resealed), (2, 2), "a token and a secret");
    assert!(done.destroyed.is_empty() && done.destroy_from.is_some(), "{done:?}");
    assert_eq!(versions(&a, "token_sealed", "endpoints").await, [1, 2], "the other tenant's is as it was");

    a.t.clock.advance_seconds(240);
    let done = a.app.reseal_secrets(&operator, id).await.unwrap();
    assert_eq!((done.resealed, done.destroyed), (0, vec![1]));
    let states: Vec<_> = a.app.keys_of_tenant(id).await.unwrap();
    let old = states.iter().find(|key| key.class == KeyClass::Secrets && key.version == 1).unwrap();
    assert_eq!((old.state, old.wrapped_by), (KeyState::Destroyed, None));
    opens(&a.app, &tenant, endpoint).await;
    opens(&a.app, &other, untouched).await;
    assert_eq!(a.app.reseal_secrets(&operator, id).await.unwrap().destroyed, Vec::<u32>::new());
    let lines = a.t.number("SELECT COUNT(*) FROM audit_log WHERE action = 'keys.destroy'").await;
    assert_eq!(lines, 1);
});

both_engines!(a_key_that_something_is_sealed_under_is_not_destroyed, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    a.endpoint(&tenant.by, "Payments").await;
    let id = tenant.by.tenant();
    a.app.rotate_tenant_key(&Actor::operator(), id, KeyClass::Secrets).await.unwrap();
    a.t.clock.advance_seconds(1_000);
    for column in ["token_sealed", "options_sealed"] {
        let bytes = match a.t.engine() {
            restante_store::Engine::Sqlite => "X'4501010000000001ff'",
            restante_store::Engine::Postgres => "'\\x4501010000000001ff'::bytea",
        };
        a.t.execute(&format!("UPDATE endpoints SET {column} = {bytes}")).await;
        let refused = a.app.reseal_secrets(&Actor::operator(), id).await;
        assert!(refused.is_err(), "what does not open stops it: {refused:?}");
        let states = a.app.keys_of_tenant(id).await.unwrap();
        assert!(states.iter().all(|key| key.state != KeyState::Destroyed));
    }
});

both_engines!(the_digest_key_does_not_rotate, |t| async {
    let a = TestApp::new(t);
    let id = a.tenant("acme").await.by.tenant();
    let refused = a.app.rotate_tenant_key(&Actor::operator(), id, KeyClass::Digest).await;
    assert!(matches!(refused, Err(StoreError::Problem(_))), "{refused:?}");
});

both_engines!(the_schedule_finishes_what_a_rotation_of_keys_left_half_done, |t| async {
    let a = TestApp::new(t);
    let (acme, beta) = (a.tenant("acme").await, a.tenant("beta").await);
    let endpoint = a.endpoint(&acme.by, "Payments").await;
    let untouched = a.endpoint(&beta.by, "Elsewhere").await;
    let counts = async || -> Vec<u64> {
        // The newest run is known by its time.
        a.t.clock.advance_seconds(1);
        a.app.ask_job(&Actor::operator(), "keys").await.unwrap();
        a.app.do_job("keys").await;
        let (_, runs) = a.app.scheduled_job(&Actor::operator(), "keys").await.unwrap();
        runs[0].report.as_ref().unwrap().counts.iter().map(|(_, count)| *count).collect()
    };
    assert_eq!(counts().await, [0, 0, 0, 0], "there is nothing to finish");

    // A new master key was activated, and nobody ran the rest; a tenant's key was rotated, and nobody sealed anew.
    a.app.keys.replace_ring(ring(&[NEXT, FIRST]));
    a.app.rotate_tenant_key(&Actor::operator(), acme.by.tenant(), KeyClass::Secrets).await.unwrap();
    assert_eq!(counts().await, [6, 0, 0, 1], "the new key of the tenant does not seal yet");
    assert_eq!(wraps(&a.app).await, [(id(NEXT), 7, 0), (id(FIRST), 0, 0)]);
    a.t.clock.advance_seconds(KEY_SETTLES_SECONDS);
    assert_eq!(counts().await, [0, 2, 0, 1], "a token and a secret; the older key may be in use elsewhere");
    a.t.clock.advance_seconds(240);
    assert_eq!(counts().await, [0, 0, 1, 0]);
    assert_eq!(counts().await, [0, 0, 0, 0]);
    assert_eq!(versions(&a, "token_sealed", "endpoints").await, [1, 2], "the other tenant's is as it was");
    a.app.keys.replace_ring(ring(&[NEXT]));
    opens(&a.app, &acme, endpoint).await;
    opens(&a.app, &beta, untouched).await;
    let by_itself = "SELECT COUNT(*) FROM instance_audit_log WHERE actor = 'schedule' AND action IN ('master_key.rewrap', 'keys.destroy')";
    assert_eq!(a.t.number(by_itself).await, 2);
});

// Two servers that wrap by different keys would undo each other's work for ever.
both_engines!(nothing_is_wrapped_anew_while_a_server_wraps_by_another_key, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let node = a.second_node().await;
    crate::nodes::Node::new(node, "no-such-file".into(), "test").beat().await.unwrap();
    a.app.keys.replace_ring(ring(&[NEXT, FIRST]));
    a.app.ask_job(&Actor::operator(), "keys").await.unwrap();
    a.app.do_job("keys").await;
    let (_, runs) = a.app.scheduled_job(&Actor::operator(), "keys").await.unwrap();
    let report = runs[0].report.clone().unwrap();
    assert_eq!(report.counts[0].1, 0);
    assert!(report.notes[0].contains("key file of each"), "{report:?}");
    assert_eq!(wraps(&a.app).await, [(id(NEXT), 0, 0), (id(FIRST), 3, 0)]);
});
