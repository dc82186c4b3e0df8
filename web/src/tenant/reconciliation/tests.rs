//! Reconciliation as people see it in the browser.

use restante_store::both_engines;

use crate::testing::Site;

both_engines!(an_owner_sees_what_can_be_asked_and_is_told_what_is_missing, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    site.a.tenant("beta").await;
    let mut ada = site.owner("acme").await;
    let overview = ada.get("/t/acme").await.text;
    assert!(overview.contains("Gaps can’t be noticed at"), "{overview}");
    let list = ada.get("/t/acme/reconciliation").await.text;
    assert!(list.contains("Payments") && list.contains("not set up"), "{list}");
    let at = format!("/t/acme/endpoints/{endpoint}/reconciliation");
    let page = ada.get(&at).await.text;
    assert!(page.contains("Restricted API key") && page.contains("Connected account"), "{page}");
    let got = ada.post(&at, &[("enabled", "yes"), ("option-account", "acct_typed")]).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("The restricted API key is missing."), "{}", got.text);
    assert!(got.text.contains("acct_typed"), "what was typed stays");
    // An inner address is not called.
    let typed =
        [("enabled", "yes"), ("credential-api_key", "rk_test_canary_1"), ("base_url", "http://127.0.0.1:9")];
    let got = ada.post(&at, &typed).await;
    assert_eq!(got.status, 422);
    assert!(
        got.text.contains("RESTANTE_OUTBOUND_ALLOW_CIDRS") && !got.text.contains("canary"),
        "{}",
        got.text
    );
    assert_eq!(ada.post(&format!("{at}/run"), &[]).await.status, 404, "nothing is set");
    assert_eq!(ada.get(&format!("{at}/runs/rcr_nothing")).await.status, 404);
    let mut stranger = site.owner("beta").await;
    assert_eq!(stranger.get(&at).await.status, 404);
});
