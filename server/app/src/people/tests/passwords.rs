//! New passwords: by a link, and by the person.

use restante_core::id::UserId;
use restante_core::token::TokenHash;
use restante_store::both_engines;

use super::super::{Actor, OpenLink, RESET_SECONDS, Session};
use super::*;

const NEW: &str = "another horse battery staple";

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

async fn owner(a: &TestApp, slug: &str) -> UserId {
    a.tenant(slug).await;
    a.app.person_of(&format!("owner@{slug}.test")).await.unwrap().unwrap()
}

async fn begin(a: &TestApp, user: UserId, id: u8) -> Session {
    let session = a.app.new_session(user, false, "");
    a.app.insert_session(TokenHash([id; 32]), session.clone()).await.unwrap();
    session
}

async fn lives(a: &TestApp, id: u8) -> bool {
    a.app.load_session(TokenHash([id; 32])).await.unwrap().is_some()
}

both_engines!(a_link_sets_a_password_once_and_ends_sessions_and_other_links, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    begin(&a, user, 1).await;
    let mark = a.app.signed_in(user, None).await.unwrap();
    let link = a.app.new_reset_link(&Actor::operator(), user, false).await.unwrap();
    let other = a.app.new_reset_link(&Actor::operator(), user, false).await.unwrap();
    let shown = OpenLink::Reset { email: "owner@acme.test".to_owned(), drops_second_factor: false };
    assert_eq!(a.app.open_link(&link).await.unwrap(), Some(shown));
    let refused = problem(a.app.reset_password(&link, secret("password1234"), None).await);
    assert_eq!(refused.errors[0].pointer, "/password");
    assert_eq!(a.app.reset_password(&link, secret(NEW), None).await.unwrap(), user);
    assert_eq!(sign_in(&a, "owner@acme.test", PASSWORD).await, Err(Code::Unauthorized));
    assert!(sign_in(&a, "owner@acme.test", NEW).await.is_ok());
    assert!(!lives(&a, 1).await);
    assert_eq!(a.t.count("devices").await, 0);
    assert!(a.app.signed_in(user, Some(mark.clone())).await.unwrap().hash() != mark.hash());
    for used in [link, other] {
        assert_eq!(a.app.open_link(&used).await.unwrap(), None);
        let again = problem(a.app.reset_password(&used, secret("yet another horse battery"), None).await);
        assert_eq!(again.code, Code::Gone);
    }
    assert_eq!(a.t.count("instance_audit_log WHERE action = 'password.reset'").await, 1);
});

both_engines!(a_link_for_a_password_ends_after_an_hour, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    let link = a.app.new_reset_link(&Actor::operator(), user, false).await.unwrap();
    a.t.clock.advance_seconds(RESET_SECONDS);
    assert_eq!(problem(a.app.reset_password(&link, secret(NEW), None).await).code, Code::Gone);
    let unknown = UserId(uuid::Uuid::nil());
    assert_eq!(problem(a.app.new_reset_link(&Actor::operator(), unknown, false).await).code, Code::NotFound);
});

both_engines!(of_two_who_use_a_link_at_once_one_sets_the_password, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    let other = a.second_node().await;
    let link = a.app.new_reset_link(&Actor::operator(), user, false).await.unwrap();
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let app = if number % 2 == 0 { a.app.clone() } else { other.clone() };
            let (link, new) = (link.clone(), secret(&format!("{NEW} number {number}")));
            tokio::spawn(async move { app.reset_password(&link, new, None).await.is_ok() })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += i64::from(task.await.unwrap());
    }
    assert_eq!(done, 1);
});

both_engines!(an_owner_helps_who_belongs_to_this_tenant_alone, |t| async {
    let a = TestApp::new(t);
    // The first one administers the instance.
    owner(&a, "first").await;
    let acme = a.tenant("acme").await;
    let ada = a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let bob = owner(&a, "other").await;
    let mut by = acme.by.clone();
    by.principal.user = Some(ada);
    let made = a.app.new_member_reset_link(&by, ada).await.unwrap();
    assert_eq!(a.app.reset_password(&made, secret(NEW), None).await.unwrap(), ada);
    // A stranger is none of theirs.
    assert_eq!(problem(a.app.new_member_reset_link(&by, bob).await).code, Code::NotFound);
    // Once somebody belongs elsewhere too, neither a new link nor an old one opens their account.
    let old = a.app.new_member_reset_link(&by, ada).await.unwrap();
    a.t.execute(
        "INSERT INTO members (tenant_id, user_id, role, created_at) SELECT t.id, u.id, 'viewer', 0 \
             FROM tenants AS t, users AS u WHERE t.slug = 'other' AND u.email = 'owner@acme.test'",
    )
    .await;
    assert_eq!(problem(a.app.new_member_reset_link(&by, ada).await).code, Code::Conflict);
    assert_eq!(problem(a.app.reset_password(&old, secret(NEW), None).await).code, Code::Conflict);
    // An administrator's account is not the owner's to open either.
    a.t.execute("DELETE FROM members WHERE role = 'viewer'").await;
    a.t.execute("UPDATE users SET administrator = TRUE WHERE email = 'owner@acme.test'").await;
    assert_eq!(problem(a.app.new_member_reset_link(&by, ada).await).code, Code::Conflict);
});

both_engines!(changing_the_password_keeps_this_session_and_ends_the_others, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    let (session, actor) = (begin(&a, user, 1).await, Actor::person(user, None));
    begin(&a, user, 2).await;
    let change = async |old: &str, new: &str| {
        a.app.change_password(&actor, session.id, secret(old), secret(new)).await
    };
    assert_eq!(problem(change("wrong horse battery staple", NEW).await).errors[0].pointer, "/old_password");
    assert_eq!(problem(change(PASSWORD, PASSWORD).await).errors[0].pointer, "/new_password");
    assert_eq!(problem(change(PASSWORD, "owner@acme.test").await).errors[0].pointer, "/new_password");
    assert!(lives(&a, 2).await);
    change(PASSWORD, NEW).await.unwrap();
    assert!(lives(&a, 1).await && !lives(&a, 2).await);
    assert!(sign_in(&a, "owner@acme.test", NEW).await.is_ok());
    assert!(!a.t.holds(NEW).await);
    assert_eq!(a.t.count("instance_audit_log WHERE action = 'password.change'").await, 1);
});

both_engines!(who_is_asked_again_has_a_few_attempts, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    let session = begin(&a, user, 1).await;
    for _ in 0..4 {
        let refused = a.app.confirm_person(user, session.id, secret("wrong horse battery staple")).await;
        assert_eq!(problem(refused).errors[0].pointer, "/password");
    }
    a.app.confirm_person(user, session.id, secret(PASSWORD)).await.unwrap();
    for _ in 0..5 {
        let _ = a.app.confirm_person(user, session.id, secret("wrong horse battery staple")).await;
    }
    let refused = a.app.confirm_person(user, session.id, secret(PASSWORD)).await;
    assert_eq!(problem(refused).code, Code::RateLimited);
});

both_engines!(a_person_sees_their_sessions_and_ends_them, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    let (actor, own) = (Actor::person(user, None), begin(&a, user, 1).await);
    let second = begin(&a, user, 2).await;
    begin(&a, user, 3).await;
    let foreign = begin(&a, owner(&a, "other").await, 4).await;
    assert_eq!(a.app.sessions_of(user).await.unwrap().len(), 3);
    assert_eq!(problem(a.app.end_own_session(&actor, foreign.id).await).code, Code::NotFound);
    a.app.end_own_session(&actor, second.id).await.unwrap();
    assert!(!lives(&a, 2).await && lives(&a, 3).await && lives(&a, 4).await);
    assert_eq!(a.app.end_other_sessions(&actor, own.id).await.unwrap(), 1);
    assert!(lives(&a, 1).await && !lives(&a, 3).await && lives(&a, 4).await);
});

both_engines!(a_sign_in_link_signs_in_once, |t| async {
    let a = TestApp::new(t);
    let user = owner(&a, "acme").await;
    let link = a.app.new_sign_in_link(user).await.unwrap();
    let shown = OpenLink::SignIn { email: "owner@acme.test".to_owned() };
    assert_eq!(a.app.open_link(&link).await.unwrap(), Some(shown));
    // It is none for a password.
    assert_eq!(problem(a.app.reset_password(&link, secret(NEW), None).await).code, Code::Gone);
    assert_eq!(a.app.take_sign_in_link(&link).await.unwrap(), user);
    assert_eq!(problem(a.app.take_sign_in_link(&link).await).code, Code::Gone);
});
