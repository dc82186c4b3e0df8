//! The pages of API keys, search and settings as a browser opens them.

use restante_core::access::Role;
use restante_store::both_engines;

use crate::testing::Site;

both_engines!(a_key_is_shown_once_opens_what_it_says_and_is_revoked, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    let form = browser.get("/t/acme/keys/new?consumer=default").await.text;
    assert!(form.contains("value=\"default worker\""), "{form}");
    let none = browser.post("/t/acme/keys/new", &[("name", "kept")]).await;
    assert!(none.status == 422 && none.text.contains("value=\"kept\""), "{}", none.text);
    let made = browser
        .post("/t/acme/keys/new", &[("name", "worker"), ("scope", "events:consume"), ("ends", "30")])
        .await;
    assert_eq!(made.status, 200);
    let key = made.text.split("<code>rst_").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let principal = site.a.app.authenticate(&format!("rst_{key}")).await.unwrap();
    assert_eq!(principal.scopes.to_string(), "events:consume");
    let list = browser.get("/t/acme/keys").await.text;
    assert!(list.contains("worker") && !list.contains(&key) && list.contains("owner@acme.test"), "{list}");
    let row = list.split_once("worker").unwrap().1;
    let revoke = row.split("action=\"").find(|part| part.contains("/revoke\"")).unwrap();
    let gone = browser.post(revoke.split('"').next().unwrap(), &[]).await;
    assert_eq!(gone.location(), "/t/acme/keys?said=key-revoked");
    assert!(site.a.app.authenticate(&format!("rst_{key}")).await.is_err());
});

both_engines!(any_id_leads_to_its_thing_within_the_tenant_alone, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    site.a.tenant("beta").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    let sent = site.a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
    let receipt = sent.value.receipts[0].to_string();
    site.a.refuse(&tenant.by, endpoint, b"{}").await;
    let mut browser = site.owner("acme").await;
    let event = site.a.app.event(&tenant.by, sent.value.receipts[0], false).await.unwrap();
    let event_id = event.event.receipt.event_id.unwrap();
    for (query, place) in [
        (receipt.as_str(), format!("/t/acme/events/{receipt}")),
        (&event_id, format!("/t/acme/events/{receipt}")),
        (&endpoint.to_string(), format!("/t/acme/endpoints/{endpoint}")),
        ("default", "/t/acme/consumers/default".to_owned()),
    ] {
        assert_eq!(
            browser.get(&format!("/t/acme/search?q=%20{query}%20")).await.location(),
            place,
            "{query}"
        );
    }
    let found = browser.get("/t/acme/search?q=req_refused").await;
    assert!(found.location().starts_with("/t/acme/refusals/ep_"), "{}", found.text);
    for nothing in ["", "nothing%20of%20the%20kind", "rcp_00000000000000000000000000", "%3Cscript%3E"] {
        let got = browser.get(&format!("/t/acme/search?q={nothing}")).await;
        assert_eq!(got.status, 200, "{nothing}");
        assert!(!got.text.contains("<script>"));
    }
    let mut stranger = site.owner("beta").await;
    for query in [receipt.as_str(), &event_id, &endpoint.to_string(), "req_refused"] {
        assert!(
            stranger.get(&format!("/t/beta/search?q={query}")).await.text.contains("Nothing is found"),
            "{query}"
        );
    }
});

both_engines!(keys_and_settings_are_closed_to_strangers_and_made_by_those_who_may, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("beta").await;
    let mut stranger = site.owner("beta").await;
    for path in ["/keys", "/keys/new", "/settings", "/search?q=x"] {
        assert_eq!(stranger.get(&format!("/t/acme{path}")).await.status, 404, "{path}");
    }
    let mut viewer = site.owner("acme").await;
    let list = viewer.get("/t/acme/keys").await.text;
    let revoke = list.split("action=\"").find(|part| part.contains("/revoke\"")).unwrap();
    let revoke = revoke.split('"').next().unwrap().to_owned();
    assert_eq!(stranger.post(&revoke.replace("/t/acme", "/t/beta"), &[]).await.status, 404);
    site.a.t.execute(&format!("UPDATE members SET role = '{}'", Role::Viewer)).await;
    for path in ["/keys", "/settings", "/search?q=x"] {
        assert_eq!(viewer.get(&format!("/t/acme{path}")).await.status, 200, "{path}");
    }
    assert_eq!(viewer.get("/t/acme/keys/new").await.status, 403);
    assert_eq!(viewer.post("/t/acme/keys/new", &[("name", "x"), ("scope", "events:read")]).await.status, 403);
    assert_eq!(viewer.post(&revoke, &[]).await.status, 403);
});
