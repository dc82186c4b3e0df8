//! Sessions as a browser has them: coming, going, and what must not happen.

use http::header::SET_COOKIE;
use restante_app::settings::Settings;
use restante_store::both_engines;
use restante_store::testing::TestStore;

use crate::testing::{PASSWORD, Site};

both_engines!(signing_in_leads_to_the_page_that_was_wanted_and_signing_out_ends_it, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.browser();
    let got = browser.get("/t/acme?window=1h").await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/sign-in?next=%2Ft%2Facme%3Fwindow%3D1h"));
    let got = browser.get(got.location()).await;
    assert!(got.text.contains("name=\"next\" value=\"/t/acme?window=1h\""), "{}", got.text);
    let fields = [("email", "owner@acme.test"), ("password", PASSWORD), ("next", "/t/acme?window=1h")];
    let got = browser.post("/sign-in", &fields).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/t/acme?window=1h"));
    let got = browser.get("/t/acme").await;
    assert_eq!(got.status, 200);
    assert!(got.text.contains("<small>owner</small>"), "{}", got.text);
    assert_eq!(browser.get("/").await.location(), "/t/acme");
    assert_eq!(browser.get("/sign-in?next=/t/acme").await.location(), "/t/acme");

    let stolen = browser.clone();
    let got = browser.post("/sign-out", &[]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/sign-in?said=signed-out"));
    for mut signed_out in [browser, stolen] {
        assert_eq!(signed_out.get("/t/acme").await.status, 303);
    }
    assert_eq!(site.a.t.count("sessions").await, 0);
});

both_engines!(the_cookie_is_not_what_the_database_holds, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let browser = site.owner("acme").await;
    let id = &browser.cookies["restante"];
    assert!(!site.a.t.holds(id).await);
    assert_eq!(site.a.t.count("sessions").await, 1);
    assert!(!site.a.t.holds(&browser.cookies["restante-device"]).await);
});

both_engines!(a_session_that_was_planted_is_not_the_one_that_is_signed_in, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("evil").await;
    // One that the server has never seen, and one of somebody else.
    let unknown = "AAAAAAAAAAAAAAAAAAAAAA".to_owned();
    let of_evil = site.owner("evil").await.cookies["restante"].clone();
    for planted in [unknown, of_evil] {
        let mut victim = site.browser();
        victim.cookies.insert("restante".to_owned(), planted.clone());
        victim.sign_in("owner@acme.test", PASSWORD).await;
        assert_ne!(victim.cookies["restante"], planted);
        assert_eq!(victim.get("/t/acme").await.status, 200);
        let mut attacker = site.browser();
        attacker.cookies.insert("restante".to_owned(), planted);
        assert_eq!(attacker.get("/t/acme").await.status, 303);
    }
});

both_engines!(switching_the_tenant_gives_a_new_id_and_the_old_one_is_dead, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("other").await;
    site.a
        .t
        .execute(
            "INSERT INTO members (tenant_id, user_id, role, created_at) SELECT t.id, u.id, 'viewer', 0 \
             FROM tenants AS t, users AS u WHERE t.slug = 'other' AND u.email = 'owner@acme.test'",
        )
        .await;
    let mut browser = site.owner("acme").await;
    let old = browser.clone();
    let got = browser.post("/t/other/enter", &[]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/t/other"));
    assert_ne!(browser.cookies["restante"], old.cookies["restante"]);
    assert_eq!(browser.get("/").await.location(), "/t/other");
    assert_eq!(old.clone().get("/t/acme").await.status, 303);
    // The page of the other tenant that is still open goes on: its form has the same token.
    browser.csrf = old.csrf;
    assert_eq!(browser.post("/t/acme/enter", &[]).await.location(), "/t/acme");
});

both_engines!(a_form_without_the_token_or_from_elsewhere_changes_nothing, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("evil").await;
    let mut browser = site.owner("acme").await;
    let evil = site.owner("evil").await;
    let own: &[(&str, &str)] = &[("sec-fetch-site", "same-origin")];
    let token = browser.csrf.clone();
    for (fields, headers) in [
        (vec![], own),
        (vec![("csrf", "")], own),
        (vec![("csrf", evil.csrf.as_str())], own),
        (vec![("csrf", token.as_str())], &[][..]),
        (vec![("csrf", token.as_str())], &[("sec-fetch-site", "cross-site")][..]),
        (vec![("csrf", token.as_str())], &[("sec-fetch-site", "same-site")][..]),
        (vec![("csrf", token.as_str())], &[("origin", "https://evil.example")][..]),
        (vec![("csrf", token.as_str())], &[("origin", "null")][..]),
    ] {
        let got = browser.post_as_is("/sign-out", &fields, headers).await;
        assert_eq!(got.status, 403, "{fields:?} {headers:?}");
        assert!(got.text.contains("Nothing was done."), "{}", got.text);
    }
    assert_eq!(browser.get("/t/acme").await.status, 200);
    // A browser that says only where from, and a script with the header.
    let got = browser
        .clone()
        .post_as_is("/t/acme/enter", &[("csrf", &token)], &[("origin", "http://127.0.0.1:8080")])
        .await;
    assert_eq!(got.status, 303);
});

both_engines!(the_sign_in_form_of_another_site_signs_nobody_in, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.browser();
    let fields = [("email", "owner@acme.test"), ("password", PASSWORD)];
    for headers in [&[][..], &[("sec-fetch-site", "cross-site")][..], &[("origin", "null")][..]] {
        assert_eq!(browser.post_as_is("/sign-in", &fields, headers).await.status, 403);
    }
    assert!(browser.cookies.is_empty());
});

both_engines!(an_idle_session_ends_and_a_page_that_refreshes_itself_does_not_keep_it, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    for _ in 0..3 {
        site.a.t.clock.advance_seconds(20 * 60);
        assert_eq!(browser.get("/t/acme").await.status, 200);
    }
    for status in [200, 303] {
        site.a.t.clock.advance_seconds(20 * 60);
        assert_eq!(browser.live("/t/acme").await.status, status);
    }
});

both_engines!(
    who_is_not_allowed_learns_nothing_of_another_tenant_and_what_is_missing_in_their_own,
    |t| async {
        let site = Site::new(t);
        site.a.tenant("acme").await;
        site.a.tenant("other").await;
        let mut browser = site.owner("acme").await;
        let (foreign, absent) = (browser.get("/t/other").await, browser.get("/t/nothing").await);
        assert_eq!((foreign.status.as_u16(), absent.status.as_u16()), (404, 404));
        assert_eq!(foreign.text, absent.text);
        assert_eq!(browser.post("/t/other/enter", &[]).await.status, 404);
    }
);

both_engines!(a_role_that_changes_counts_at_the_next_request, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    site.a.t.execute("UPDATE members SET role = 'viewer'").await;
    assert!(browser.get("/t/acme").await.text.contains("<small>viewer</small>"));
    site.a.t.execute("DELETE FROM members").await;
    assert_eq!(browser.get("/t/acme").await.status, 404);
});

#[tokio::test]
async fn with_encryption_the_cookie_demands_it_and_another_address_is_explained() {
    let settings = Settings { public_url: "https://hooks.example.com".to_owned(), ..Settings::default() };
    let site = Site::with_settings(TestStore::sqlite().await, settings);
    site.a.tenant("acme").await;
    let mut lost = site.browser();
    lost.host = "10.0.0.5:8080".to_owned();
    let got = lost.get("/sign-in").await;
    assert!(
        got.text.contains("https://hooks.example.com/sign-in") && !got.text.contains("<input"),
        "{}",
        got.text
    );
    let got = lost.sign_in("owner@acme.test", PASSWORD).await;
    assert_eq!(got.status, 403);
    assert!(got.text.contains("https://hooks.example.com/sign-in"));
    assert!(lost.cookies.is_empty());

    let mut browser = site.browser();
    browser.host = "hooks.example.com".to_owned();
    assert!(browser.get("/sign-in").await.text.contains("name=\"password\""));
    let got = browser.sign_in("owner@acme.test", PASSWORD).await;
    assert_eq!(got.status, 303);
    let cookies: Vec<&str> =
        got.headers.get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().unwrap()).collect();
    assert_eq!(cookies.len(), 2);
    for cookie in cookies {
        assert!(cookie.starts_with("__Host-restante"), "{cookie}");
        for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        assert!(!cookie.contains("Domain"), "{cookie}");
    }
}

#[tokio::test]
async fn a_wrong_sign_in_keeps_what_was_typed_but_not_the_password() {
    let site = Site::new(TestStore::sqlite().await);
    site.a.tenant("acme").await;
    let mut browser = site.browser();
    let fields = [("email", "\"><b>@acme.test"), ("password", "canary-password"), ("next", "//evil.example")];
    let got = browser.post("/sign-in", &fields).await;
    assert_eq!(got.status, 403);
    assert!(
        got.text.contains("&#34;&#62;&#60;b&#62;@acme.test") && !got.text.contains("<b>"),
        "{}",
        got.text
    );
    assert!(!got.text.contains("canary-password") && !got.text.contains("evil.example"));
    for _ in 0..10 {
        browser.sign_in("owner@acme.test", "wrong horse battery").await;
    }
    let got = browser.sign_in("owner@acme.test", PASSWORD).await;
    assert_eq!(got.status, 429);
    assert!(got.text.contains("15 minutes"), "{}", got.text);
}
