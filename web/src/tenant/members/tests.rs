//! Members and grants as owners go through them in the browser.

use restante_core::access::Role;
use restante_store::both_engines;

use crate::testing::{PASSWORD, Site};

/// The path of a link that a page shows.
fn link(page: &str) -> String {
    let (_, rest) = page.split_once("<code>http://127.0.0.1:8080/links/").unwrap();
    format!("/links/{}", rest.split('<').next().unwrap())
}

both_engines!(an_owner_invites_changes_a_role_and_removes, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut owner = site.owner("acme").await;
    let page = owner.get("/t/acme/members").await;
    assert!(page.text.contains("Nobody is invited.") && page.text.contains("owner@acme.test"));
    let got = owner.post("/t/acme/members/invites", &[("email", "rubbish"), ("role", "operator")]).await;
    assert_eq!(got.status, 422);
    assert!(
        got.text.contains("value=\"rubbish\"") && got.text.contains("value=\"operator\" checked"),
        "{}",
        got.text
    );
    let got = owner.post("/t/acme/members/invites", &[("email", "bob@example.com"), ("role", "root")]).await;
    assert_eq!(got.status, 422);
    let got =
        owner.post("/t/acme/members/invites", &[("email", "bob@example.com"), ("role", "viewer")]).await;
    assert_eq!(got.status, 200);
    let mut bob = site.browser();
    let joined = bob.post(&link(&got.text), &[("password", PASSWORD)]).await;
    assert_eq!(joined.location(), "/t/acme");
    assert_eq!(bob.get("/t/acme/members").await.status, 403);

    let bob_id = site.a.app.person_of("bob@example.com").await.unwrap().unwrap();
    let at = |what: &str| format!("/t/acme/members/{bob_id}/{what}");
    assert_eq!(owner.post(&at("role"), &[("role", "owner")]).await.location(), "/t/acme/members?said=role");
    assert_eq!(bob.get("/t/acme/members").await.status, 200);
    let reset = owner.post(&at("reset-link"), &[]).await;
    assert!(site.browser().get(&link(&reset.text)).await.text.contains("bob@example.com"));
    assert_eq!(owner.post(&at("remove"), &[]).await.location(), "/t/acme/members?said=removed");
    assert_eq!(bob.get("/t/acme").await.status, 404);
    // Nobody is left but the owner, who stays.
    let ada = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    for (what, fields) in [("role", &[("role", "viewer")][..]), ("remove", &[])] {
        let got = owner.post(&format!("/t/acme/members/{ada}/{what}"), fields).await;
        assert_eq!(got.status, 409);
        assert!(got.text.contains("only owner"), "{}", got.text);
    }
    let log = owner.get("/t/acme/audit").await.text;
    for action in ["member.invite", "member.join", "member.role", "member.reset_link", "member.remove"] {
        assert!(log.contains(action), "{action}");
    }
    let only = owner.get("/t/acme/audit?action=member.role").await.text;
    assert!(only.contains("from: viewer") && !only.contains(">member.invite<"), "{only}");
    assert_eq!(owner.get("/t/acme/audit?before=rubbish").await.status, 400);
});

both_engines!(an_owner_who_steps_down_is_led_elsewhere, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.member("acme", Role::Owner).await;
    let mut owner = site.owner("acme").await;
    let ada = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let got = owner.post(&format!("/t/acme/members/{ada}/role"), &[("role", "viewer")]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/"));
    assert_eq!(owner.get("/t/acme/members").await.status, 403);
});

both_engines!(administrators_look_only_while_they_may, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    site.a.tenant("acme").await;
    let (mut admin, mut owner) = (site.owner("first").await, site.owner("acme").await);
    assert_eq!(admin.get("/t/acme").await.status, 404);
    let got =
        owner.post("/t/acme/grants", &[("hours", "many"), ("note", "\"><b>"), ("payloads", "yes")]).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("value=\"many\"") && !got.text.contains("<b>"), "{}", got.text);
    let got = owner.post("/t/acme/grants", &[("hours", "2"), ("note", "slow")]).await;
    assert_eq!(got.location(), "/t/acme/members?said=granted");
    assert_eq!(admin.get("/t/acme").await.status, 200);
    assert_eq!(admin.get("/t/acme/members").await.status, 403);
    let page = owner.get("/t/acme/members").await.text;
    let id = page.split("/t/acme/grants/").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let got = owner.post(&format!("/t/acme/grants/{id}/end"), &[]).await;
    assert_eq!(got.location(), "/t/acme/members?said=ended");
    assert_eq!(admin.get("/t/acme").await.status, 404);
});
