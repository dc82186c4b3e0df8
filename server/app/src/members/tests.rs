//! Members on both engines: invitations, roles, leaving, grants.

use restante_core::access::{Role, Scope};
use restante_core::id::UserId;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::{StoreError, both_engines};

use super::{GRANT_HOURS_MAX, INVITE_SECONDS, NewGrant};
use crate::By;
use crate::people::Standing;
use crate::testing::TestApp;

const PASSWORD: &str = "correct horse battery staple";

fn problem<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Problem {
    match result {
        Err(StoreError::Problem(problem)) => problem,
        other => panic!("no refusal: {other:?}"),
    }
}

fn password() -> Secret<String> {
    Secret::new(PASSWORD.to_owned())
}

/// The owner of a new tenant, as they act in the browser.
async fn owner(a: &TestApp, slug: &str) -> By {
    a.tenant(slug).await;
    let user = a.app.person_of(&format!("owner@{slug}.test")).await.unwrap().unwrap();
    acting(a, user, slug).await
}

async fn acting(a: &TestApp, user: UserId, slug: &str) -> By {
    a.app.who(user, Some(slug)).await.unwrap().unwrap().here.unwrap().by(user, Some("req_test".to_owned()))
}

/// A member of the tenant with a new account.
async fn member(a: &TestApp, by: &By, address: &str, role: Role) -> UserId {
    let invited = a.app.invite(by, address, role).await.unwrap();
    a.app.accept_as_new(&invited.link, password(), None).await.unwrap().user
}

both_engines!(an_invitation_makes_an_account_once, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let invited = a.app.invite(&by, " Bob@Example.com ", Role::Operator).await.unwrap();
    assert!(!a.t.holds(invited.link.expose()).await);
    let weak =
        problem(a.app.accept_as_new(&invited.link, Secret::new("password1234".to_owned()), None).await);
    assert_eq!(weak.errors[0].pointer, "/password");
    let accepted = a.app.accept_as_new(&invited.link, password(), None).await.unwrap();
    assert_eq!(accepted.slug, "acme");
    let here = a.app.who(accepted.user, Some("acme")).await.unwrap().unwrap().here.unwrap();
    assert_eq!(here.standing, Standing::Member(Role::Operator));
    let again = problem(a.app.accept_as_new(&invited.link, password(), None).await);
    assert_eq!(again.code, Code::Gone);
    assert_eq!(a.app.open_link(&invited.link).await.unwrap(), None);
    for action in ["member.invite", "member.join"] {
        assert_eq!(a.t.count(&format!("audit_log WHERE action = '{action}'")).await, 1, "{action}");
    }
});

both_engines!(an_invitation_ends_after_a_week_when_taken_back_and_when_there_is_a_newer_one, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let old = a.app.invite(&by, "bob@example.com", Role::Owner).await.unwrap();
    let new = a.app.invite(&by, "bob@example.com", Role::Viewer).await.unwrap();
    assert_eq!(problem(a.app.accept_as_new(&old.link, password(), None).await).code, Code::Gone);
    a.app.revoke_invite(&by, new.row.id).await.unwrap();
    assert_eq!(problem(a.app.accept_as_new(&new.link, password(), None).await).code, Code::Gone);
    assert_eq!(problem(a.app.revoke_invite(&by, new.row.id).await).code, Code::NotFound);
    let late = a.app.invite(&by, "bob@example.com", Role::Viewer).await.unwrap();
    assert_eq!(a.app.members(&by).await.unwrap().invites.len(), 1);
    a.t.clock.advance_seconds(INVITE_SECONDS);
    assert_eq!(problem(a.app.accept_as_new(&late.link, password(), None).await).code, Code::Gone);
    assert_eq!(a.app.members(&by).await.unwrap().invites, []);
    assert_eq!(a.t.count("users").await, 1);
});

both_engines!(who_has_an_account_joins_by_signing_in_and_by_nothing_else, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let other = owner(&a, "other").await;
    let (bob, carol) = (other.principal.user.unwrap(), by.principal.user.unwrap());
    let invited = a.app.invite(&by, "owner@other.test", Role::Developer).await.unwrap();
    assert!(a.app.has_account("owner@other.test").await.unwrap());
    // The link alone neither replaces the password nor signs in.
    assert_eq!(problem(a.app.accept_as_new(&invited.link, password(), None).await).code, Code::Conflict);
    assert_eq!(problem(a.app.accept_as(&invited.link, carol, None).await).code, Code::Conflict);
    let accepted = a.app.accept_as(&invited.link, bob, None).await.unwrap();
    assert_eq!(accepted.slug, "acme");
    assert_eq!(a.app.who(bob, None).await.unwrap().unwrap().tenants.len(), 2);
    assert_eq!(problem(a.app.accept_as(&invited.link, bob, None).await).code, Code::Gone);
    let twice = problem(a.app.invite(&by, "owner@other.test", Role::Viewer).await);
    assert_eq!(twice.errors[0].pointer, "/email");
});

both_engines!(of_four_who_accept_one_invitation_at_once_one_joins, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let node = a.second_node().await;
    let invited = a.app.invite(&by, "bob@example.com", Role::Viewer).await.unwrap();
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let app = if number % 2 == 0 { a.app.clone() } else { node.clone() };
            let link = invited.link.clone();
            tokio::spawn(async move { app.accept_as_new(&link, password(), None).await.is_ok() })
        })
        .collect();
    let mut joined = 0;
    for task in tasks {
        joined += i64::from(task.await.unwrap());
    }
    assert_eq!(joined, 1);
    assert_eq!(a.t.count("users WHERE email = 'bob@example.com'").await, 1);
    assert_eq!(a.t.count("audit_log WHERE action = 'member.join'").await, 1);
});

both_engines!(a_role_changes_and_the_last_owner_stays, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let ada = by.principal.user.unwrap();
    for role in [Role::Viewer, Role::Developer] {
        assert_eq!(problem(a.app.set_member_role(&by, ada, role).await).code, Code::Conflict);
    }
    assert_eq!(problem(a.app.remove_member(&by, ada).await).code, Code::Conflict);
    let bob = member(&a, &by, "bob@example.com", Role::Viewer).await;
    a.app.set_member_role(&by, bob, Role::Owner).await.unwrap();
    a.app.set_member_role(&by, ada, Role::Viewer).await.unwrap();
    // From now on it is the other one who decides, and stays.
    assert_eq!(problem(a.app.set_member_role(&by, bob, Role::Viewer).await).code, Code::MissingScope);
    let by_bob = acting(&a, bob, "acme").await;
    assert_eq!(problem(a.app.remove_member(&by_bob, bob).await).code, Code::Conflict);
    a.app.remove_member(&by_bob, ada).await.unwrap();
    assert_eq!(a.app.who(ada, Some("acme")).await.unwrap().unwrap().here, None);
    assert_eq!(problem(a.app.remove_member(&by_bob, ada).await).code, Code::NotFound);
    assert_eq!(a.t.count("audit_log WHERE action IN ('member.role', 'member.remove')").await, 3);
});

both_engines!(of_two_owners_who_remove_each_other_at_once_one_stays, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let ada = by.principal.user.unwrap();
    let bob = member(&a, &by, "bob@example.com", Role::Owner).await;
    let by_bob = acting(&a, bob, "acme").await;
    let node = a.second_node().await;
    let one = tokio::spawn({
        let app = a.app.clone();
        async move { app.remove_member(&by, bob).await.is_ok() }
    });
    let other = tokio::spawn(async move { node.remove_member(&by_bob, ada).await.is_ok() });
    let removed = i64::from(one.await.unwrap()) + i64::from(other.await.unwrap());
    assert_eq!(removed, 1);
    assert_eq!(a.t.count("members WHERE role = 'owner'").await, 1);
});

both_engines!(only_owners_manage_members_and_no_key_does, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let by = acting(&a, a.app.person_of("owner@acme.test").await.unwrap().unwrap(), "acme").await;
    let bob = member(&a, &by, "bob@example.com", Role::Developer).await;
    for not_owner in [acting(&a, bob, "acme").await, tenant.by] {
        assert_eq!(problem(a.app.members(&not_owner).await).code, Code::MissingScope);
        let invited = a.app.invite(&not_owner, "eve@example.com", Role::Viewer).await;
        assert_eq!(problem(invited).code, Code::MissingScope);
        assert_eq!(
            problem(a.app.set_member_role(&not_owner, bob, Role::Owner).await).code,
            Code::MissingScope
        );
        assert_eq!(problem(a.app.remove_member(&not_owner, bob).await).code, Code::MissingScope);
        let grant = NewGrant { payloads: true, hours: 1, note: String::new() };
        assert_eq!(problem(a.app.grant(&not_owner, grant).await).code, Code::MissingScope);
        assert_eq!(
            problem(a.app.audit_log(&not_owner, Default::default(), None).await).code,
            Code::MissingScope
        );
    }
    assert_eq!(a.t.count("invites WHERE email = 'eve@example.com'").await, 0);
});

both_engines!(another_tenants_invitations_members_and_grants_are_not_there, |t| async {
    let a = TestApp::new(t);
    let acme = owner(&a, "acme").await;
    let other = owner(&a, "other").await;
    let invited = a.app.invite(&acme, "bob@example.com", Role::Viewer).await.unwrap();
    let asked = NewGrant { payloads: false, hours: 1, note: String::new() };
    let grant = a.app.grant(&acme, asked).await.unwrap();
    let ada = acme.principal.user.unwrap();
    assert_eq!(problem(a.app.revoke_invite(&other, invited.row.id).await).code, Code::NotFound);
    assert_eq!(problem(a.app.end_grant(&other, grant.id).await).code, Code::NotFound);
    assert_eq!(problem(a.app.remove_member(&other, ada).await).code, Code::NotFound);
    assert_eq!(problem(a.app.set_member_role(&other, ada, Role::Viewer).await).code, Code::NotFound);
    let seen = a.app.members(&other).await.unwrap();
    assert_eq!((seen.members.len(), seen.invites.len(), seen.grants.len()), (1, 0, 0));
});

both_engines!(an_administrator_sees_a_tenant_only_while_it_lets_them, |t| async {
    let a = TestApp::new(t);
    // The first one administers the instance.
    let admin = owner(&a, "first").await.principal.user.unwrap();
    let acme = owner(&a, "acme").await;
    let here = async || a.app.who(admin, Some("acme")).await.unwrap().unwrap().here;
    assert_eq!(here().await, None);
    for hours in [0, GRANT_HOURS_MAX + 1] {
        let asked = NewGrant { payloads: false, hours, note: String::new() };
        assert_eq!(problem(a.app.grant(&acme, asked).await).errors[0].pointer, "/hours");
    }
    let look = NewGrant { payloads: false, hours: 2, note: "slow consumer".to_owned() };
    let first = a.app.grant(&acme, look).await.unwrap();
    let seen = here().await.unwrap();
    assert_eq!((seen.role(), seen.standing), (None, Standing::Granted(first.ends_at)));
    assert!(seen.scopes.contains(Scope::EventsRead) && !seen.scopes.contains(Scope::PayloadsRead));
    let payloads = NewGrant { payloads: true, hours: 1, note: String::new() };
    let second = a.app.grant(&acme, payloads).await.unwrap();
    let seen = here().await.unwrap();
    assert!(seen.scopes.contains(Scope::PayloadsRead));
    for never in [Scope::EventsReplay, Scope::ConfigWrite, Scope::EventsConsume] {
        assert!(!seen.scopes.contains(never), "{never}");
    }
    a.app.end_grant(&acme, second.id).await.unwrap();
    assert!(!here().await.unwrap().scopes.contains(Scope::PayloadsRead));
    a.t.clock.advance_seconds(2 * 60 * 60);
    assert_eq!(here().await, None);
    assert_eq!(problem(a.app.end_grant(&acme, first.id).await).code, Code::NotFound);
    // A grant is for administrators and for nobody else.
    let look = NewGrant { payloads: false, hours: 2, note: String::new() };
    a.app.grant(&acme, look).await.unwrap();
    a.t.execute("UPDATE users SET administrator = FALSE").await;
    assert_eq!(here().await, None);
    assert_eq!(a.t.count("audit_log WHERE action LIKE 'grant.%'").await, 4);
});

both_engines!(the_log_shows_who_did_what_page_by_page, |t| async {
    let a = TestApp::new(t);
    let by = owner(&a, "acme").await;
    let ada = by.principal.user.unwrap();
    for number in 0..60 {
        a.t.clock.advance_seconds(1);
        a.app.invite(&by, &format!("p{number}@example.com"), Role::Viewer).await.unwrap();
    }
    let of = |of| a.app.audit_log(&by, of, None);
    let first = of(crate::administration::AuditOf::All).await.unwrap();
    assert_eq!(first.lines.len(), 50);
    assert_eq!(first.people[&ada.to_string()], "owner@acme.test");
    assert_eq!(first.lines[0].request_id.as_deref(), Some("req_test"));
    let rest = a.app.audit_log(&by, Default::default(), first.next).await.unwrap();
    assert_eq!((rest.lines.len(), rest.next), (11, None));
    assert_eq!(rest.lines.last().unwrap().action, "tenant.create");
    let own = of(crate::administration::AuditOf::Actor(ada.to_string())).await.unwrap();
    assert!(own.lines.iter().all(|line| line.action == "member.invite"));
    let made = of(crate::administration::AuditOf::Action("tenant.create".to_owned())).await.unwrap();
    assert_eq!(made.lines.len(), 1);
});
