//! The first start.

use restante_core::token::LinkToken;
use restante_store::both_engines;

use super::super::{OpenLink, SetUp};
use super::*;

fn set_up(email: &str) -> SetUp {
    SetUp {
        email: email.to_owned(),
        password: Secret::new(PASSWORD.to_owned()),
        tenant_name: "Acme & Söhne".to_owned(),
        slug: String::new(),
    }
}

async fn do_it(a: &TestApp, link: &LinkToken, asked: SetUp) -> Result<super::super::SetUpDone, Problem> {
    a.app.set_up(link, asked, None).await.map_err(|error| problem::<()>(Err(error)))
}

both_engines!(a_link_makes_the_first_administrator_and_tenant_once, |t| async {
    let a = TestApp::new(t);
    assert!(a.app.needs_set_up().await.unwrap());
    let link = a.app.new_set_up_link().await.unwrap();
    assert_eq!(a.app.open_link(&link).await.unwrap(), Some(OpenLink::SetUp));
    assert!(!a.t.holds(link.expose()).await);
    let done = do_it(&a, &link, set_up(" Ada@Example.com ")).await.unwrap();
    assert_eq!(done.slug, "acme-s-hne");
    assert!(!a.app.needs_set_up().await.unwrap());
    let who = a.app.who(done.user, Some("acme-s-hne")).await.unwrap().unwrap();
    assert!(who.administrator && who.email == "ada@example.com");
    assert_eq!(who.here.unwrap().role(), Some(restante_core::access::Role::Owner));
    assert!(a.app.keys.of(done.tenant, &a.app.store).await.is_ok());
    assert!(sign_in(&a, "ada@example.com", PASSWORD).await.is_ok());
    assert_eq!(a.t.count("audit_log WHERE action = 'tenant.create'").await, 1);
    assert_eq!(a.t.count("instance_audit_log WHERE action = 'instance.set_up'").await, 1);
    // Neither again, nor anew.
    assert_eq!(a.app.open_link(&link).await.unwrap(), None);
    assert_eq!(do_it(&a, &link, set_up("bob@example.com")).await.unwrap_err().code, Code::Gone);
    assert_eq!(problem(a.app.new_set_up_link().await).code, Code::Conflict);
    assert_eq!(a.t.count("users").await, 1);
});

both_engines!(each_start_gives_a_link_and_all_of_them_end_with_the_first_that_is_used, |t| async {
    let a = TestApp::new(t);
    let (first, second) = (a.app.new_set_up_link().await.unwrap(), a.app.new_set_up_link().await.unwrap());
    do_it(&a, &first, set_up("ada@example.com")).await.unwrap();
    assert_eq!(do_it(&a, &second, set_up("bob@example.com")).await.unwrap_err().code, Code::Gone);
});

both_engines!(a_set_up_link_ends_after_a_day_and_an_invented_one_is_none, |t| async {
    let a = TestApp::new(t);
    let link = a.app.new_set_up_link().await.unwrap();
    let invented = LinkToken::new([1; 20]);
    assert_eq!(do_it(&a, &invented, set_up("ada@example.com")).await.unwrap_err().code, Code::Gone);
    a.t.clock.advance_seconds(24 * 60 * 60 - 1);
    assert!(a.app.open_link(&link).await.unwrap().is_some());
    a.t.clock.advance_seconds(1);
    assert_eq!(a.app.open_link(&link).await.unwrap(), None);
    assert_eq!(do_it(&a, &link, set_up("ada@example.com")).await.unwrap_err().code, Code::Gone);
});

both_engines!(a_fault_is_named_at_its_field_and_leaves_the_link_good, |t| async {
    let a = TestApp::new(t);
    let link = a.app.new_set_up_link().await.unwrap();
    let faulty = SetUp {
        email: "nobody".to_owned(),
        password: Secret::new("password1234".to_owned()),
        tenant_name: " ".to_owned(),
        slug: "Not A Slug".to_owned(),
    };
    let refused = do_it(&a, &link, faulty).await.unwrap_err();
    let pointers: Vec<&str> = refused.errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/email", "/password", "/tenant_name"]);
    let nameless = SetUp { tenant_name: "日本".to_owned(), ..set_up("ada@example.com") };
    assert_eq!(do_it(&a, &link, nameless).await.unwrap_err().errors[0].pointer, "/slug");
    assert_eq!(a.t.count("users").await, 0);
    do_it(&a, &link, set_up("ada@example.com")).await.unwrap();
});

both_engines!(of_two_who_set_up_at_once_one_does, |t| async {
    let a = TestApp::new(t);
    let other = a.second_node().await;
    let links = [a.app.new_set_up_link().await.unwrap(), a.app.new_set_up_link().await.unwrap()];
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let app = if number % 2 == 0 { a.app.clone() } else { other.clone() };
            let link = links[number / 2].clone();
            let asked = SetUp { slug: format!("t{number}"), ..set_up(&format!("p{number}@example.com")) };
            tokio::spawn(async move { app.set_up(&link, asked, None).await.is_ok() })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += i64::from(task.await.unwrap());
    }
    assert_eq!(done, 1);
    assert_eq!(a.t.count("users WHERE administrator").await, 1);
    assert_eq!((a.t.count("users").await, a.t.count("tenants").await), (1, 1));
});
