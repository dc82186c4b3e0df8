//! The administration of people on both engines.

use restante_core::id::UserId;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::token::TokenHash;
use restante_store::{StoreError, both_engines};

use super::SignUp;
use crate::people::Actor;
use crate::testing::TestApp;

fn problem<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Problem {
    match result {
        Err(StoreError::Problem(problem)) => problem,
        other => panic!("no refusal: {other:?}"),
    }
}

async fn owner(a: &TestApp, slug: &str) -> UserId {
    a.tenant(slug).await;
    a.app.person_of(&format!("owner@{slug}.test")).await.unwrap().unwrap()
}

fn person(user: UserId) -> Actor {
    Actor::person(user, None)
}

both_engines!(people_are_listed_by_address_page_by_page_with_their_tenants, |t| async {
    let a = TestApp::new(t);
    let admin = person(owner(&a, "acme").await);
    for number in 0..120 {
        a.t
            .execute(&format!(
                "INSERT INTO users (id, email, administrator, created_at) VALUES ({}, 'p{number:03}@x.test', FALSE, 0)",
                match a.t.engine() {
                    restante_store::Engine::Sqlite => format!("X'{number:032x}'"),
                    restante_store::Engine::Postgres => format!("CAST('{number:032x}' AS UUID)"),
                }
            ))
            .await;
    }
    let mut after = None;
    let mut seen = Vec::new();
    loop {
        let page = a.app.people(&admin, "", after.as_deref()).await.unwrap();
        seen.extend(page.people.iter().map(|(person, _)| person.email.clone()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 121);
    assert!(seen.is_sorted());
    let some = a.app.people(&admin, "P01", None).await.unwrap();
    assert_eq!(some.people.len(), 10);
    let ada = a.app.people(&admin, "owner@acme", None).await.unwrap();
    assert_eq!(ada.people[0].1[0].slug, "acme");
    assert_eq!(a.app.people(&admin, "nobody", None).await.unwrap().people.len(), 0);
    assert_eq!(a.app.people(&admin, "%", None).await.unwrap().people.len(), 0);
});

both_engines!(only_administrators_administer, |t| async {
    let a = TestApp::new(t);
    let ada = owner(&a, "acme").await;
    let bob = owner(&a, "other").await;
    let actor = person(bob);
    assert_eq!(problem(a.app.people(&actor, "", None).await).code, Code::MissingScope);
    assert_eq!(problem(a.app.person(&actor, ada).await).code, Code::MissingScope);
    assert_eq!(problem(a.app.set_administrator(&actor, bob, true).await).code, Code::MissingScope);
    assert_eq!(problem(a.app.set_disabled(&actor, ada, true).await).code, Code::MissingScope);
    assert_eq!(problem(a.app.end_sessions_of(&actor, ada).await).code, Code::MissingScope);
    assert_eq!(problem(a.app.set_sign_up(&actor, true).await).code, Code::MissingScope);
    assert_eq!(problem(a.app.instance_audit_log(&actor, None).await).code, Code::MissingScope);
    assert_eq!(a.t.count("users WHERE administrator").await, 1);
});

both_engines!(the_last_administrator_stays, |t| async {
    let a = TestApp::new(t);
    let (ada, bob) = (owner(&a, "acme").await, owner(&a, "other").await);
    assert_eq!(problem(a.app.set_administrator(&person(ada), ada, false).await).code, Code::Conflict);
    assert_eq!(problem(a.app.set_disabled(&Actor::operator(), ada, true).await).code, Code::Conflict);
    a.app.set_administrator(&person(ada), bob, true).await.unwrap();
    let node = a.second_node().await;
    let one = tokio::spawn({
        let app = a.app.clone();
        async move { app.set_administrator(&person(ada), bob, false).await.is_ok() }
    });
    let other = tokio::spawn(async move { node.set_administrator(&person(bob), ada, false).await.is_ok() });
    assert!(one.await.unwrap() ^ other.await.unwrap());
    assert_eq!(a.t.count("users WHERE administrator").await, 1);
});

both_engines!(a_disabled_account_loses_its_sessions_and_links_at_once, |t| async {
    let a = TestApp::new(t);
    let (ada, bob) = (owner(&a, "acme").await, owner(&a, "other").await);
    let session = a.app.new_session(bob, false, "");
    a.app.insert_session(TokenHash([1; 32]), session).await.unwrap();
    let link = a.app.new_reset_link(&person(ada), bob, false).await.unwrap();
    assert_eq!(problem(a.app.set_disabled(&person(ada), ada, true).await).code, Code::Conflict);
    a.app.set_disabled(&person(ada), bob, true).await.unwrap();
    assert_eq!(a.t.count("sessions").await, 0);
    assert_eq!(a.app.open_link(&link).await.unwrap(), None);
    assert_eq!(problem(a.app.set_administrator(&person(ada), bob, true).await).code, Code::Conflict);
    a.app.set_disabled(&person(ada), bob, false).await.unwrap();
    assert_eq!(a.app.person(&person(ada), bob).await.unwrap().0.disabled_at, None);
    assert_eq!(a.t.count("instance_audit_log WHERE action LIKE 'person.%able'").await, 2);
});

both_engines!(an_administrator_ends_somebodys_sessions, |t| async {
    let a = TestApp::new(t);
    let (ada, bob) = (owner(&a, "acme").await, owner(&a, "other").await);
    for (number, user) in [(1, ada), (2, bob), (3, bob)] {
        a.app.insert_session(TokenHash([number; 32]), a.app.new_session(user, false, "")).await.unwrap();
    }
    assert_eq!(a.app.end_sessions_of(&person(ada), bob).await.unwrap(), 2);
    assert_eq!(a.t.count("sessions").await, 1);
    let unknown = UserId(uuid::Uuid::nil());
    assert_eq!(problem(a.app.end_sessions_of(&person(ada), unknown).await).code, Code::NotFound);
});

both_engines!(strangers_sign_up_only_while_it_is_open, |t| async {
    let a = TestApp::new(t);
    let ada = owner(&a, "acme").await;
    let asked = |email: &str| SignUp {
        email: email.to_owned(),
        password: Secret::new("correct horse battery staple".to_owned()),
        tenant_name: "Eve's shop".to_owned(),
        slug: String::new(),
        address: [192, 0, 2, 7].into(),
    };
    assert!(!a.app.sign_up_is_open().await.unwrap());
    assert_eq!(problem(a.app.sign_up(asked("eve@example.com"), None).await).code, Code::NotFound);
    a.app.set_sign_up(&person(ada), true).await.unwrap();
    assert!(a.app.sign_up_is_open().await.unwrap());
    let done = a.app.sign_up(asked("eve@example.com"), None).await.unwrap();
    assert_eq!(done.slug, "eve-s-shop");
    let who = a.app.who(done.user, Some("eve-s-shop")).await.unwrap().unwrap();
    assert!(!who.administrator && who.here.is_some() && who.tenants.len() == 1);
    let taken =
        problem(a.app.sign_up(SignUp { slug: "eve2".to_owned(), ..asked("eve@example.com") }, None).await);
    assert_eq!(taken.errors[0].pointer, "/email");
    assert_eq!(problem(a.app.sign_up(asked("eva@example.com"), None).await).code, Code::Conflict);
    a.app.set_sign_up(&person(ada), false).await.unwrap();
    assert_eq!(problem(a.app.sign_up(asked("eva@example.com"), None).await).code, Code::NotFound);
    assert_eq!(a.t.count("tenants").await, 2);
});

both_engines!(who_signs_up_again_and_again_waits, |t| async {
    let a = TestApp::new(t);
    a.app.set_sign_up(&Actor::operator(), true).await.unwrap();
    let asked = || SignUp {
        email: "rubbish".to_owned(),
        password: Secret::new(String::new()),
        tenant_name: String::new(),
        slug: String::new(),
        address: [192, 0, 2, 7].into(),
    };
    for _ in 0..30 {
        assert_eq!(problem(a.app.sign_up(asked(), None).await).code, Code::Invalid);
    }
    assert_eq!(problem(a.app.sign_up(asked(), None).await).code, Code::RateLimited);
});

both_engines!(what_has_run_out_is_removed_and_what_lives_stays, |t| async {
    let a = TestApp::new(t);
    let ada = owner(&a, "acme").await;
    a.app.insert_session(TokenHash([1; 32]), a.app.new_session(ada, false, "")).await.unwrap();
    a.app.signed_in(ada, None).await.unwrap();
    a.app.new_reset_link(&Actor::operator(), ada, false).await.unwrap();
    assert_eq!(a.app.sweep().await.unwrap().forgotten, 0);
    a.t.clock.advance_seconds(31 * 60);
    a.app.insert_session(TokenHash([2; 32]), a.app.new_session(ada, false, "")).await.unwrap();
    assert_eq!(a.app.sweep().await.unwrap().forgotten, 1);
    assert_eq!(a.t.count("sessions").await, 1);
    a.t.clock.advance_seconds(91 * 86_400);
    assert_eq!(a.app.sweep().await.unwrap().forgotten, 3);
    assert_eq!(
        (a.t.count("sessions").await, a.t.count("devices").await, a.t.count("links").await),
        (0, 0, 0)
    );
});
