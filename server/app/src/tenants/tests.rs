//! `bootstrap` on both engines: all of it or nothing, and one first administrator.

use restante_core::access::Scopes;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::{StoreError, both_engines};

use super::Bootstrapped;
use crate::App;
use crate::testing::TestApp;

const PASSWORD: &str = "canary horse battery staple";

async fn bootstrap(app: &App, slug: &str, email: &str) -> Result<Bootstrapped, Problem> {
    let made = app.bootstrap(slug, email, Secret::new(format!("{PASSWORD}\n"))).await;
    made.map_err(|error| match error {
        StoreError::Problem(problem) => problem,
        other => panic!("a failure and no refusal: {other}"),
    })
}

/// The rows of every table that bootstrap writes to.
async fn rows(a: &TestApp) -> Vec<i64> {
    let mut rows = Vec::new();
    for table in
        ["tenants", "users", "members", "tenant_keys", "api_keys", "lookups", "consumers", "audit_log"]
    {
        rows.push(a.t.count(table).await);
    }
    rows
}

both_engines!(a_tenant_comes_with_owner_keys_consumer_and_api_key, |t| async {
    let a = TestApp::new(t);
    let made = bootstrap(&a.app, "acme", " Ada@Example.com ").await.unwrap();
    assert_eq!((made.slug.as_str(), made.email.as_str()), ("acme", "ada@example.com"));
    assert!(made.administrator);
    let principal = a.app.authenticate(made.api_key.expose()).await.unwrap();
    assert_eq!((principal.tenant, principal.scopes), (made.tenant, Scopes::ALL));
    assert_eq!(rows(&a).await, [1, 1, 1, 3, 1, 1, 1, 1]);
    assert_eq!(a.t.count("consumers WHERE name = 'default'").await, 1);
    assert_eq!(a.t.count("members WHERE role = 'owner'").await, 1);
    assert!(a.app.keys.of(made.tenant, &a.app.store).await.is_ok());
    assert!(!a.t.holds(PASSWORD).await);
});

both_engines!(a_name_or_address_that_exists_is_refused_and_leaves_nothing, |t| async {
    let a = TestApp::new(t);
    bootstrap(&a.app, "acme", "ada@example.com").await.unwrap();
    let before = rows(&a).await;
    for (slug, email, word) in
        [("acme", "bob@example.com", "acme"), ("other", "ADA@example.com", "ada@example.com")]
    {
        let refused = bootstrap(&a.app, slug, email).await.unwrap_err();
        assert_eq!(refused.code, Code::Conflict);
        assert!(refused.detail.contains(word), "{refused}");
    }
    assert_eq!(rows(&a).await, before);
});

both_engines!(what_cannot_be_is_named_and_leaves_nothing, |t| async {
    let a = TestApp::new(t);
    let pointers = async |slug: &str, email: &str, password: &str| -> Vec<String> {
        match a.app.bootstrap(slug, email, Secret::new(password.to_owned())).await.unwrap_err() {
            StoreError::Problem(problem) => {
                assert!(!problem.detail.contains(password) || password.is_empty());
                problem.errors.into_iter().map(|error| error.pointer).collect()
            }
            other => panic!("{other}"),
        }
    };
    assert_eq!(pointers("", "a@b.c", PASSWORD).await, ["/tenant"]);
    assert_eq!(pointers("Acme", "a@b.c", PASSWORD).await, ["/tenant"]);
    assert_eq!(pointers(&"a".repeat(65), "a@b.c", PASSWORD).await, ["/tenant"]);
    for email in ["", "a", "@b", "a@", "a b@c.d", "a@b@c", &format!("{}@b.c", "a".repeat(254))] {
        assert_eq!(pointers("acme", email, PASSWORD).await, ["/email"], "{email}");
    }
    assert_eq!(pointers("acme", "a@b.c", "short\n").await, ["/password"]);
    assert_eq!(pointers("A", "", "").await, ["/tenant", "/email", "/password"]);
    assert_eq!(rows(&a).await, [0; 8]);
});

both_engines!(of_four_first_owners_at_once_one_becomes_administrator, |t| async {
    let a = TestApp::new(t);
    let other_node = a.second_node().await;
    let all = (0..4).map(|number| {
        let app = if number % 2 == 0 { a.app.clone() } else { other_node.clone() };
        tokio::spawn(async move {
            bootstrap(&app, &format!("t{number}"), &format!("owner{number}@example.com")).await.unwrap()
        })
    });
    let all: Vec<_> = all.collect();
    let mut administrators = 0;
    for one in all {
        administrators += i64::from(one.await.unwrap().administrator);
    }
    assert_eq!(administrators, 1);
    assert_eq!(a.t.count("users WHERE administrator").await, 1);
});
