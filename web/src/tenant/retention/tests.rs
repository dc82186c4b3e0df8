//! The pages of retention as a browser opens them.

use restante_core::access::Role;
use restante_store::both_engines;

use crate::parts::samples::HOSTILE;
use crate::testing::Site;

both_engines!(a_policy_is_looked_at_and_then_saved, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, HOSTILE.split('\u{202e}').next().unwrap()).await;
    let mut browser = site.owner("acme").await;
    let page = browser.get("/t/acme/retention").await.text;
    assert!(
        page.contains("kept for 30 days") && page.contains("known as a duplicate for 400 days"),
        "{page}"
    );
    crate::parts::samples::check(&page);
    let refused = browser.post("/t/acme/retention/preview", &[("receipt_days", "30")]).await;
    assert!(refused.status == 422 && refused.text.contains("31 or more"), "{}", refused.text);
    let refused = browser.post("/t/acme/retention/preview", &[("payload_days", "soon")]).await;
    assert!(refused.status == 422 && refused.text.contains("value=\"soon\""), "{}", refused.text);
    let fields = [("payload_days", "7"), ("receipt_days", "60")];
    let look = browser.post("/t/acme/retention/preview", &fields).await;
    assert!(look.status == 200 && look.text.contains("Save the policy"), "{}", look.text);
    assert!(browser.get("/t/acme/retention").await.text.contains("kept for 30 days"), "nothing is saved yet");
    let saved = browser.post("/t/acme/retention", &fields).await;
    assert_eq!(saved.location(), "/t/acme/retention?said=retention-saved", "{}", saved.text);
    assert!(browser.get(saved.location()).await.text.contains("kept for 7 days"));

    let own = format!("/t/acme/endpoints/{endpoint}/retention");
    let page = browser.get(&own).await.text;
    assert!(page.contains("the tenant&#39;s policy"), "{page}");
    assert!(page.contains("docs.stripe.com"));
    let refused = browser.post(&own, &[("receipt_days", "3")]).await;
    assert!(refused.status == 422 && refused.text.contains("id=\"receipt_days-fault\""), "{}", refused.text);
    let look = browser.post(&format!("{own}/preview"), &[("receipt_days", "3")]).await;
    assert!(look.status == 422 && look.text.contains("id=\"receipt_days-fault\""), "{}", look.text);
    let fields = [("payload_days", "3")];
    let look = browser.post(&format!("{own}/preview"), &fields).await;
    assert!(look.status == 200 && look.text.contains(&format!("action=\"{own}\"")), "{}", look.text);
    assert!(!browser.get(&own).await.text.contains("this endpoint&#39;s policy"), "nothing is saved yet");
    let saved = browser.post(&own, &fields).await;
    let page = browser.get(saved.location()).await.text;
    assert!(page.contains("this endpoint&#39;s policy") && page.contains("placeholder=\"60\""), "{page}");
});

both_engines!(holds_are_made_and_released_and_payloads_erased, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    site.a.hold_event(&tenant.by, endpoint).await;
    let mut browser = site.owner("acme").await;
    let wrong = browser.post("/t/acme/retention/holds", &[("what", "nonsense"), ("reason", "x")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("what-fault"), "{}", wrong.text);
    let what = endpoint.to_string();
    let held = browser.post("/t/acme/retention/holds", &[("what", &what), ("reason", HOSTILE)]).await;
    let page = browser.get(held.location().split('#').next().unwrap()).await.text;
    assert!(page.contains("the endpoint Payments") && page.contains(">held</span>"), "{page}");
    crate::parts::samples::check(&page);
    let release = page.split("/retention/holds/").nth(1).unwrap().split('"').next().unwrap();
    let released = browser.post(&format!("/t/acme/retention/holds/{release}"), &[]).await;
    assert_eq!(released.location(), "/t/acme/retention?said=released#holds");
    let wrong = browser.post("/t/acme/retention/erase", &[("confirm", "beta"), ("reason", "x")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("confirm-fault"), "{}", wrong.text);
    site.a.t.clock.advance_seconds(1);
    let fields = [("confirm", "acme"), ("reason", "the contract ended")];
    let erased = browser.post("/t/acme/retention/erase", &fields).await;
    assert_eq!(erased.location(), "/t/acme/retention?said=erased-all&n=1", "{}", erased.text);
    assert_eq!(site.a.t.count("payloads").await, 0);
});

both_engines!(retention_is_closed_to_strangers_and_changed_by_those_who_may, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    site.a.tenant("beta").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    let pages = ["/retention".to_owned(), format!("/endpoints/{endpoint}/retention")];
    let own = format!("/endpoints/{endpoint}/retention/preview");
    let posts = ["/retention", "/retention/preview", "/retention/holds", "/retention/erase", &own];
    let mut stranger = site.owner("beta").await;
    for path in &pages {
        assert_eq!(stranger.get(&format!("/t/acme{path}")).await.status, 404, "{path}");
    }
    let mut viewer = site.owner("acme").await;
    site.a.t.execute(&format!("UPDATE members SET role = '{}'", Role::Viewer)).await;
    for path in &pages {
        assert_eq!(viewer.get(&format!("/t/acme{path}")).await.status, 200, "{path}");
    }
    for path in posts {
        assert_eq!(viewer.post(&format!("/t/acme{path}"), &[]).await.status, 403, "{path}");
    }
});
