//! Tenants as an administrator goes through them in the browser.

use restante_store::both_engines;

use crate::testing::{PASSWORD, Site};

both_engines!(a_tenant_is_made_accepted_limited_suspended_and_deleted, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    let mut admin = site.owner("first").await;
    assert!(admin.get("/admin/tenants").await.text.contains("first"));
    admin.get("/admin/tenants/new").await;
    let got = admin.post("/admin/tenants/new", &[("name", ""), ("owner", "x")]).await;
    assert_eq!(got.status, 422);
    let made = [("name", "Gamma"), ("slug", ""), ("owner", "eve@example.com")];
    let got = admin.post("/admin/tenants/new", &made).await;
    let link = got.text.split("http://127.0.0.1:8080").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let at = got.text.split("href=\"/admin/tenants/ten_").nth(1).unwrap().split('"').next().unwrap();
    let at = format!("/admin/tenants/ten_{at}");
    assert!(admin.get(&at).await.text.contains("Nobody has accepted"));

    let mut eve = site.browser();
    eve.get(&link).await;
    assert_eq!(eve.post(&link, &[("password", PASSWORD)]).await.status, 303);
    assert_eq!(eve.get("/t/gamma").await.status, 200);
    assert!(admin.get(&at).await.text.contains("eve@example.com"));

    let got = admin.post(&format!("{at}/limits"), &[("payload_bytes", "ten"), ("events", "-")]).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("10 GiB") && got.text.contains("value=\"ten\""), "{}", got.text);
    let limits = [("payload_bytes", "10 GiB"), ("events", "0"), ("members", "1")];
    assert_eq!(admin.post(&format!("{at}/limits"), &limits).await.location(), format!("{at}?said=limited"));
    assert!(admin.get(&at).await.text.contains("value=\"10 GiB\""));
    assert!(admin.get("/admin/tenants").await.text.contains("Near a limit"));
    // Its people are told on every page, and see all of them among the settings.
    assert!(eve.get("/t/gamma/endpoints").await.text.contains("store nothing until there is room"));
    assert!(eve.get("/t/gamma/settings").await.text.contains("10 GiB"));

    assert_eq!(
        admin.post(&format!("{at}/suspend"), &[("because", "the <invoice>")]).await.location(),
        format!("{at}?said=suspended")
    );
    let told = eve.get("/t/gamma/endpoints").await.text;
    assert!(told.contains("suspended") && told.contains("the &#60;invoice&#62;"), "{told}");
    assert_eq!(admin.post(&format!("{at}/resume"), &[]).await.location(), format!("{at}?said=resumed"));
    let got = admin.post(&format!("{at}/names"), &[("name", "Delta"), ("slug", "first")]).await;
    assert_eq!(got.status, 422);
    let names = [("name", "Delta"), ("slug", "delta")];
    assert_eq!(admin.post(&format!("{at}/names"), &names).await.location(), format!("{at}?said=named"));
    assert_eq!(eve.get("/t/delta").await.status, 200);
    assert_eq!(eve.get("/t/gamma").await.status, 404);

    let got = admin.post(&format!("{at}/delete"), &[("typed_name", "gamma")]).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("nothing was deleted"));
    // What is held is not deleted, and the page says what has to happen first.
    let hold = [("what", ""), ("reason", "the <court>")];
    assert_eq!(eve.post("/t/delta/retention/holds", &hold).await.status, 303);
    let got = admin.post(&format!("{at}/delete"), &[("typed_name", "delta")]).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("This tenant is held since") && got.text.contains("hld_"), "{}", got.text);
    assert!(!got.text.contains("court"), "the reason is the tenant's");
    let page = eve.get("/t/delta/retention").await.text;
    let hold = page.split("/retention/holds/").nth(1).unwrap().split('/').next().unwrap().to_owned();
    assert_eq!(eve.post(&format!("/t/delta/retention/holds/{hold}/release"), &[]).await.status, 303);
    let got = admin.post(&format!("{at}/delete"), &[("typed_name", "delta")]).await;
    assert_eq!(got.location(), format!("{at}/removal"));
    assert!(admin.get(&format!("{at}/removal")).await.text.contains("hx-trigger"));
    assert!(admin.get("/admin/tenants").await.text.contains("under way"));
    assert_eq!(admin.get(&at).await.status, 404);
    assert_eq!(eve.get("/t/delta").await.status, 404);
    assert_eq!(eve.get("/account").await.status, 200);
});
