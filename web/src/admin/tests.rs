//! The administration as administrators go through it in the browser.

use restante_store::both_engines;

use crate::testing::Site;

both_engines!(an_administrator_finds_somebody_helps_them_and_shuts_them_out, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    site.a.tenant("acme").await;
    let (mut admin, mut ada) = (site.owner("first").await, site.owner("acme").await);
    assert_eq!(admin.get("/admin").await.status, 200);
    let found = admin.get("/admin/people?begins=owner@ac").await.text;
    assert!(found.contains("owner@acme.test") && !found.contains(">owner@first.test</a>"), "{found}");
    let id = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let at = |what: &str| format!("/admin/people/{id}{what}");
    assert!(admin.get(&at("")).await.text.contains("owner@acme.test"));

    let got = admin.post(&at("/reset-link"), &[]).await;
    assert!(got.text.contains("http://127.0.0.1:8080/links/"), "{}", got.text);
    assert_eq!(admin.post(&at("/end-sessions"), &[]).await.location(), format!("{}?said=ended", at("")));
    assert_eq!(ada.get("/account").await.status, 303);

    assert_eq!(admin.post(&at("/administrator"), &[("is", "yes")]).await.status, 303);
    let mut ada = site.owner("acme").await;
    assert_eq!(ada.get("/admin").await.status, 200);
    assert_eq!(admin.post(&at("/administrator"), &[("is", "no")]).await.status, 303);
    assert_eq!(ada.get("/admin").await.status, 404);
    assert_eq!(admin.post(&at("/administrator"), &[("is", "perhaps")]).await.status, 422);

    assert_eq!(
        admin.post(&at("/disabled"), &[("is", "yes")]).await.location(),
        format!("{}?said=disabled", at(""))
    );
    assert_eq!(ada.get("/account").await.status, 303);
    assert_eq!(ada.sign_in("owner@acme.test", crate::testing::PASSWORD).await.status, 403);
    assert_eq!(admin.post(&at("/disabled"), &[("is", "no")]).await.status, 303);
    assert_eq!(ada.sign_in("owner@acme.test", crate::testing::PASSWORD).await.status, 303);

    let log = admin.get("/admin/audit").await.text;
    for action in
        ["person.reset_link", "administrator.make", "administrator.revoke", "person.disable", "person.enable"]
    {
        assert!(log.contains(action), "{action}");
    }
});

both_engines!(the_last_administrator_is_told_why_they_stay, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    let mut admin = site.owner("first").await;
    let id = site.a.app.person_of("owner@first.test").await.unwrap().unwrap();
    let got = admin.post(&format!("/admin/people/{id}/administrator"), &[("is", "no")]).await;
    assert_eq!(got.status, 409);
    assert!(got.text.contains("only administrator"), "{}", got.text);
    let got = admin.post(&format!("/admin/people/{id}/disabled"), &[("is", "yes")]).await;
    assert_eq!(got.status, 409);
    assert_eq!(admin.get("/admin").await.status, 200);
});

both_engines!(signing_up_is_opened_and_closed, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    let mut admin = site.owner("first").await;
    admin.get("/admin").await;
    assert_eq!(admin.post("/admin/sign-up", &[("open", "yes")]).await.location(), "/admin?said=opened");
    assert_eq!(site.browser().get("/sign-up").await.status, 200);
    assert!(admin.get("/admin").await.text.contains("Signing up is open"));
    assert_eq!(admin.post("/admin/sign-up", &[("open", "no")]).await.location(), "/admin?said=closed");
    assert_eq!(site.browser().get("/sign-up").await.status, 404);
});

both_engines!(an_administrator_sees_the_keys_and_rotates_a_tenants, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    site.a.tenant("acme").await;
    let (mut admin, mut ada) = (site.owner("first").await, site.owner("acme").await);
    let page = admin.get("/admin/keys").await;
    let active = site.a.app.keys.ring().active_id().to_string();
    assert!(page.status == 200 && page.text.contains(&active), "{}", page.text);
    let rotation = [("tenant", "acme"), ("class", "payload")];
    assert_eq!(admin.post("/admin/keys/rotate", &rotation).await.location(), "/admin/keys?said=rotated");
    let tenant = site.a.app.tenant_of_slug("acme").await.unwrap();
    let keys = site.a.app.keys_of_tenant(tenant).await.unwrap();
    assert_eq!(keys.iter().map(|key| key.version).max(), Some(2));
    assert!(admin.get("/admin/audit").await.text.contains("keys.rotate"));
    assert!(ada.get("/t/acme/audit").await.text.contains("keys.rotate"), "and their own log has it");

    let wrong = admin.post("/admin/keys/rotate", &[("tenant", "nobody"), ("class", "payload")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("There is no tenant"), "{}", wrong.text);
    assert_eq!(
        admin.post("/admin/keys/rotate", &[("tenant", "acme"), ("class", "digest")]).await.status,
        422
    );
    assert_eq!(ada.get("/admin/keys").await.status, 404);
    assert_eq!(ada.post("/admin/keys/rotate", &rotation).await.status, 404);
    assert_eq!(site.a.app.keys_of_tenant(tenant).await.unwrap().len(), 4, "nobody else rotated anything");
});

both_engines!(an_administrator_sees_the_schedule_has_a_job_run_and_pauses_it, |t| async {
    let site = Site::new(t);
    site.a.tenant("first").await;
    site.a.tenant("acme").await;
    let (mut admin, mut other) = (site.owner("first").await, site.owner("acme").await);
    assert_eq!(other.get("/admin/schedule").await.status, 404);
    let list = admin.get("/admin/schedule").await.text;
    for job in restante_app::schedule::JOBS {
        assert!(list.contains(job.title), "{}", job.title);
    }
    assert_eq!(admin.get("/admin/schedule/nothing").await.status, 404);
    let at = "/admin/schedule/answers";
    assert!(admin.get(at).await.text.contains("It has not run yet."));
    assert_eq!(admin.post(&format!("{at}/run"), &[]).await.location(), format!("{at}?said=asked"));
    assert!(admin.get(at).await.text.contains("A run was asked for"));
    assert_eq!(admin.post(&format!("{at}/pause"), &[("paused", "yes")]).await.status, 303);
    assert!(admin.get("/admin/schedule").await.text.contains("soon"));
    assert_eq!(admin.post(&format!("{at}/pause"), &[("paused", "perhaps")]).await.status, 422);
    assert_eq!(other.post(&format!("{at}/run"), &[]).await.status, 404);
    let log = admin.get("/admin/audit").await.text;
    assert!(log.contains("job.run") && log.contains("job.pause"), "{log}");
});
