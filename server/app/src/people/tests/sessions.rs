//! How long sessions live, and that what has ended stays ended.

use restante_core::token::TokenHash;
use restante_store::both_engines;

use super::super::{IDLE_SECONDS_MAX, Session, TOTAL_SECONDS_MAX};
use super::*;

const ID: TokenHash = TokenHash([7; 32]);

async fn signed_in(a: &TestApp) -> Session {
    a.tenant("acme").await;
    let user = sign_in(a, "owner@acme.test", PASSWORD).await.unwrap().user;
    let session = a.app.new_session(user, false, "Firefox on Linux");
    a.app.insert_session(ID, session.clone()).await.unwrap();
    session
}

both_engines!(a_session_that_is_used_lives_on_and_ends_after_half_a_day, |t| async {
    let a = TestApp::new(t);
    let session = signed_in(&a).await;
    assert_eq!(a.app.load_session(ID).await.unwrap(), Some(session.clone()));
    let steps = TOTAL_SECONDS_MAX / (IDLE_SECONDS_MAX - 60);
    for _ in 0..steps {
        a.t.clock.advance_seconds(IDLE_SECONDS_MAX - 60);
        let found = a.app.load_session(ID).await.unwrap().unwrap();
        a.app.session_seen(ID, &found).await.unwrap();
    }
    a.t.clock.set(session.signed_in_at.plus_seconds(TOTAL_SECONDS_MAX - 1));
    assert!(a.app.load_session(ID).await.unwrap().is_some());
    a.t.clock.advance_seconds(1);
    assert_eq!(a.app.load_session(ID).await.unwrap(), None);
});

both_engines!(a_session_that_is_not_used_ends_after_half_an_hour, |t| async {
    let a = TestApp::new(t);
    signed_in(&a).await;
    a.t.clock.advance_seconds(IDLE_SECONDS_MAX - 1);
    assert!(a.app.load_session(ID).await.unwrap().is_some());
    a.t.clock.advance_seconds(1);
    assert_eq!(a.app.load_session(ID).await.unwrap(), None);
});

both_engines!(use_is_written_once_a_minute, |t| async {
    let a = TestApp::new(t);
    let session = signed_in(&a).await;
    a.t.clock.advance_seconds(59);
    a.app.session_seen(ID, &session).await.unwrap();
    assert_eq!(a.app.load_session(ID).await.unwrap().unwrap().seen_at, session.seen_at);
    a.t.clock.advance_seconds(1);
    a.app.session_seen(ID, &session).await.unwrap();
    assert_eq!(a.app.load_session(ID).await.unwrap().unwrap().seen_at, session.seen_at.plus_seconds(60));
});

both_engines!(saving_changes_a_session_and_never_brings_one_back, |t| async {
    let a = TestApp::new(t);
    let session = signed_in(&a).await;
    let tenant = a.app.who(session.user, Some("acme")).await.unwrap().unwrap().here.unwrap().tenant;
    let changed = Session { current_tenant: Some(tenant), ..session };
    assert!(a.app.save_session(ID, &changed).await.unwrap());
    assert_eq!(a.app.load_session(ID).await.unwrap(), Some(changed.clone()));
    a.app.end_session(ID).await.unwrap();
    assert!(!a.app.save_session(ID, &changed).await.unwrap());
    assert_eq!(a.app.load_session(ID).await.unwrap(), None);
    assert_eq!(a.t.count("sessions").await, 0);
});

both_engines!(a_session_ends_when_its_person_is_disabled, |t| async {
    let a = TestApp::new(t);
    signed_in(&a).await;
    a.t.execute("UPDATE users SET disabled_at = 1").await;
    assert_eq!(a.app.load_session(ID).await.unwrap(), None);
});

both_engines!(a_session_that_waits_for_a_code_waits_ten_minutes, |t| async {
    let a = TestApp::new(t);
    let session = signed_in(&a).await;
    let half = TokenHash([8; 32]);
    let waiting = a.app.new_session(session.user, true, "");
    assert!(!waiting.is_confirmed(waiting.signed_in_at));
    a.app.insert_session(half, waiting).await.unwrap();
    a.t.clock.advance_seconds(10 * 60 - 1);
    assert!(a.app.load_session(half).await.unwrap().is_some());
    a.t.clock.advance_seconds(1);
    assert_eq!(a.app.load_session(half).await.unwrap(), None);
    assert!(a.app.load_session(ID).await.unwrap().is_some());
});

both_engines!(two_sessions_never_share_an_id, |t| async {
    let a = TestApp::new(t);
    let session = signed_in(&a).await;
    let again = a.app.insert_session(ID, a.app.new_session(session.user, false, "")).await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "{again:?}");
});

both_engines!(who_is_where_is_asked_anew_each_time, |t| async {
    let a = TestApp::new(t);
    let session = signed_in(&a).await;
    a.tenant("other").await;
    let who = a.app.who(session.user, Some("acme")).await.unwrap().unwrap();
    assert_eq!(who.tenants.iter().map(|tenant| tenant.slug.as_str()).collect::<Vec<_>>(), ["acme"]);
    assert_eq!(who.here.unwrap().role(), Some(restante_core::access::Role::Owner));
    assert_eq!(a.app.who(session.user, Some("other")).await.unwrap().unwrap().here, None);
    assert_eq!(a.app.who(session.user, Some("nowhere")).await.unwrap().unwrap().here, None);
    a.t.execute("UPDATE members SET role = 'viewer'").await;
    let here = a.app.who(session.user, Some("acme")).await.unwrap().unwrap().here.unwrap();
    assert_eq!(here.scopes, restante_core::access::Role::Viewer.scopes());
});
