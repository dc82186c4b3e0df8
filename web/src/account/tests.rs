//! Accounts as a browser goes through them.

use http::StatusCode;
use restante_app::people::Actor;
use restante_core::access::Role;
use restante_core::totp::TotpSecret;
use restante_store::both_engines;
use restante_store::testing::TestStore;

use crate::testing::{Browser, PASSWORD, Site};

const NEW: &str = "another horse battery staple";

fn secret_on(page: &str) -> TotpSecret {
    let (_, rest) = page.split_once("type the secret into it: <code>").unwrap();
    let text = rest.split('<').next().unwrap().replace(' ', "");
    // What an app does with base 32 (RFC 4648).
    let bits = text.bytes().fold((0_u128, Vec::new(), 0_u32), |(mut bits, mut bytes, mut count), c| {
        let digit = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == c).unwrap();
        bits = bits << 5 | digit as u128;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
        (bits, bytes, count)
    });
    TotpSecret::from_kept(&bits.1).unwrap()
}

/// Sets a second factor up, and gives its secret and the page with the recovery codes.
async fn enrol(site: &Site, browser: &mut Browser) -> (TotpSecret, String) {
    assert_eq!(browser.post("/account/second-factor", &[]).await.status, 303);
    let page = browser.get("/account/second-factor").await.text;
    let secret = secret_on(&page);
    let code = secret.code_at(site.a.app.clock.now());
    let got = browser.post("/account/second-factor/enable", &[("code", &code)]).await;
    assert_eq!(got.status, 200, "{}", got.text);
    (secret, got.text)
}

both_engines!(the_first_start_leads_from_the_console_to_the_dashboard, |t| async {
    let site = Site::new(t);
    let link = site.a.app.new_set_up_link().await.unwrap();
    let path = format!("/set-up/{}", link.expose());
    let mut browser = site.browser();
    assert!(browser.get(&path).await.text.contains("Set up Restante"));
    let faulty = [("email", "ada@example.com"), ("password", "password1234"), ("tenant_name", "Acme")];
    let got = browser.post(&path, &faulty).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("value=\"ada@example.com\"") && !got.text.contains("password1234"));
    let fields =
        [("email", "ada@example.com"), ("password", PASSWORD), ("tenant_name", "Acme"), ("slug", "")];
    let got = browser.post(&path, &fields).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/t/acme"));
    assert_eq!(browser.get("/t/acme").await.status, 200);
    // The link is over, for everybody.
    let got = site.browser().get(&path).await;
    assert_eq!(got.status, StatusCode::GONE);
    assert_eq!(site.browser().post(&path, &fields).await.status, StatusCode::GONE);
    assert_eq!(site.browser().get("/set-up/nonsense").await.status, StatusCode::GONE);
});

both_engines!(looking_at_a_link_does_not_use_it, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let user = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let link = site.a.app.new_reset_link(&Actor::operator(), user, false).await.unwrap();
    let path = format!("/links/{}", link.expose());
    for _ in 0..3 {
        assert!(site.browser().get(&path).await.text.contains("New password"));
    }
    let mut old = site.owner("acme").await;
    let mut browser = site.browser();
    assert_eq!(browser.post(&path, &[("password", "password1234")]).await.status, 422);
    let got = browser.post(&path, &[("password", NEW)]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/sign-in?said=password-set"));
    // It signs nobody in, and out who was.
    assert_eq!(browser.get("/account").await.status, 303);
    assert_eq!(old.get("/account").await.status, 303);
    assert_eq!(browser.get(&path).await.status, StatusCode::GONE);
    assert_eq!(browser.sign_in("owner@acme.test", NEW).await.status, 303);
});

both_engines!(a_second_factor_is_asked_for_and_a_recovery_code_stands_in, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let (secret, page) = enrol(&site, &mut site.owner("acme").await).await;
    let recovery = page.split("<li><code>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    site.a.t.clock.advance_seconds(60);

    let mut browser = site.browser();
    let fields = [("email", "owner@acme.test"), ("password", PASSWORD), ("next", "/t/acme?window=1h")];
    let got = browser.post("/sign-in", &fields).await;
    assert_eq!(got.location(), "/sign-in/code?next=%2Ft%2Facme%3Fwindow%3D1h");
    // The half session opens nothing but the next step.
    for path in ["/", "/t/acme", "/account", "/sign-in"] {
        let got = browser.get(path).await;
        assert!(
            got.status == 200 && path != "/t/acme" && path != "/account" || got.location() == "/sign-in/code",
            "{path}"
        );
        assert!(!got.text.contains("owner@acme.test"), "{path}");
    }
    let got = browser.get("/sign-in/code?next=%2Ft%2Facme%3Fwindow%3D1h").await;
    assert!(got.text.contains("value=\"/t/acme?window=1h\""), "{}", got.text);
    assert_eq!(browser.post("/sign-in/code", &[("code", "000000")]).await.status, 422);
    let before = browser.cookies["restante"].clone();
    let code = secret.code_at(site.a.app.clock.now());
    let got = browser.post("/sign-in/code", &[("code", &code), ("next", "/t/acme?window=1h")]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/t/acme?window=1h"));
    assert_ne!(browser.cookies["restante"], before);
    assert_eq!(browser.get("/t/acme").await.status, 200);

    let mut again = site.browser();
    again.sign_in("owner@acme.test", PASSWORD).await;
    assert_eq!(again.post("/sign-in/code", &[("code", &code)]).await.status, 422);
    assert_eq!(again.post("/sign-in/code", &[("code", &recovery)]).await.status, 303);
    let mut third = site.browser();
    third.sign_in("owner@acme.test", PASSWORD).await;
    assert_eq!(third.post("/sign-in/code", &[("code", &recovery)]).await.status, 422);
});

both_engines!(what_would_hurt_most_asks_for_the_password_and_keeps_the_form, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    enrol(&site, &mut browser).await;
    site.a.t.clock.advance_seconds(16 * 60);
    let before = browser.cookies["restante"].clone();
    let typed = [("note", "\"><b>kept"), ("note", "twice")];
    let got = browser.post("/account/second-factor/remove", &typed).await;
    assert_eq!(got.status, 403);
    assert!(got.text.contains("Is it still you?") && !got.text.contains("<b>"), "{}", got.text);
    assert_eq!(got.text.matches("name=\"note\"").count(), 2);
    assert_eq!(site.a.t.count("second_factors").await, 1);
    let wrong = [("confirm_password", "wrong horse battery staple"), ("note", "kept")];
    let got = browser.post("/account/second-factor/remove", &wrong).await;
    assert_eq!(got.status, 403);
    assert!(got.text.contains("not your password") && got.text.contains("value=\"kept\""), "{}", got.text);
    assert!(!got.text.contains("wrong horse"));
    let got = browser.post("/account/second-factor/remove", &[("confirm_password", PASSWORD)]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/account?said=factor-off"));
    assert_eq!(site.a.t.count("second_factors").await, 0);
    // The proof made a new id, and counts for a while.
    assert_ne!(browser.cookies["restante"], before);
    assert_eq!(browser.post("/account/second-factor", &[]).await.status, 303);
});

both_engines!(a_changed_password_signs_out_everywhere_else, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let (mut here, mut elsewhere) = (site.owner("acme").await, site.owner("acme").await);
    here.get("/account").await;
    let got = here.post("/account/password", &[("old_password", "x"), ("new_password", NEW)]).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("id=\"old_password-fault\""), "{}", got.text);
    let got = here.post("/account/password", &[("old_password", PASSWORD), ("new_password", NEW)]).await;
    assert_eq!(got.location(), "/account?said=password");
    assert!(here.get("/account?said=password").await.text.contains("The password is changed."));
    assert_eq!(elsewhere.get("/account").await.status, 303);
});

both_engines!(sessions_are_listed_and_ended, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("other").await;
    let (mut here, mut elsewhere) = (site.owner("acme").await, site.owner("acme").await);
    let stranger = site.owner("other").await;
    let page = here.get("/account").await.text;
    assert_eq!(page.matches("/account/sessions/ses_").count(), 1);
    let path =
        page.split("action=\"/account/sessions/").nth(2).unwrap().split('"').next().unwrap().to_owned();
    let path = format!("/account/sessions/{path}");
    // Another person's session is none.
    assert_eq!(stranger.clone().post(&path, &[]).await.status, 404);
    assert_eq!(here.post(&path, &[]).await.location(), "/account?said=session");
    assert_eq!(elsewhere.get("/account").await.status, 303);
    assert_eq!(here.post("/account/sessions/nonsense/end", &[]).await.status, 404);
    let mut third = site.owner("acme").await;
    assert_eq!(here.post("/account/sessions/end-others", &[]).await.location(), "/account?said=others");
    assert_eq!(third.get("/account").await.status, 303);
    assert_eq!(here.get("/account").await.status, 200);
});

both_engines!(an_invitation_leads_a_new_person_and_a_known_one_into_the_tenant, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("other").await;
    let ada = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let by = site.a.app.who(ada, Some("acme")).await.unwrap().unwrap().here.unwrap().by(ada, None);
    let invite = async |email: &str| {
        let invited = site.a.app.invite(&by, email, Role::Viewer).await.unwrap();
        format!("/links/{}", invited.link.expose())
    };
    // New.
    let path = invite("bob@example.com").await;
    let mut bob = site.browser();
    assert!(bob.get(&path).await.text.contains("Make the account and join"));
    let got = bob.post(&path, &[("password", NEW)]).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/t/acme"));
    assert!(bob.get("/t/acme").await.text.contains("viewer"));
    assert_eq!(site.browser().get(&path).await.status, StatusCode::GONE);
    // Known, and signed out: no password of the link's holder changes anything.
    let path = invite("owner@other.test").await;
    let mut carol = site.browser();
    let got = carol.get(&path).await;
    assert!(got.text.contains(&format!("/sign-in?next={path}")) && !got.text.contains("new-password"));
    assert_eq!(carol.post(&path, &[("password", NEW)]).await.status, 409);
    let fields = [("email", "owner@other.test"), ("password", PASSWORD), ("next", path.as_str())];
    assert_eq!(carol.post("/sign-in", &fields).await.location(), path);
    assert!(carol.get(&path).await.text.contains("Join"));
    // Signed in as somebody else.
    assert!(bob.get(&path).await.text.contains("You are signed in as bob@example.com"));
    assert_eq!(bob.post(&path, &[]).await.status, 409);
    assert_eq!(carol.post(&path, &[]).await.location(), "/t/acme");
    assert_eq!(carol.get("/t/acme").await.status, 200);
});

both_engines!(a_link_of_the_demo_signs_in_once, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let user = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let link = site.a.app.new_sign_in_link(user).await.unwrap();
    let path = format!("/links/{}", link.expose());
    let mut browser = site.browser();
    assert!(browser.get(&path).await.text.contains("owner@acme.test"));
    assert_eq!(browser.post(&path, &[]).await.location(), "/");
    assert_eq!(browser.get("/").await.location(), "/t/acme");
    assert_eq!(site.browser().post(&path, &[]).await.status, StatusCode::GONE);
});

both_engines!(signing_up_is_not_there_until_it_is_opened, |t| async {
    let site = Site::new(t);
    let mut browser = site.browser();
    let fields = [("email", "eve@example.com"), ("password", PASSWORD), ("tenant_name", "Eve"), ("slug", "")];
    assert_eq!(browser.get("/sign-up").await.status, 404);
    assert_eq!(browser.post("/sign-up", &fields).await.status, 404);
    assert!(!browser.get("/sign-in").await.text.contains("/sign-up"));
    site.a.app.set_sign_up(&Actor::operator(), true).await.unwrap();
    assert!(browser.get("/sign-in").await.text.contains("/sign-up"));
    assert_eq!(
        browser.post("/sign-up", &[("email", "x"), ("password", ""), ("tenant_name", "")]).await.status,
        422
    );
    let got = browser.post("/sign-up", &fields).await;
    assert_eq!((got.status.as_u16(), got.location()), (303, "/t/eve"));
    assert_eq!(browser.get("/t/eve").await.status, 200);
});

#[tokio::test]
async fn no_page_of_an_account_holds_its_secrets() {
    let site = Site::new(TestStore::sqlite().await);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    let (secret, _) = enrol(&site, &mut browser).await;
    for path in ["/account", "/account/second-factor", "/t/acme"] {
        let text = browser.get(path).await.text;
        assert!(!text.contains(&secret.text()) && !text.contains(PASSWORD), "{path}");
        assert!(!text.contains(&browser.cookies["restante"]), "{path}");
    }
}
