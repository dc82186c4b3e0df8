//! Refused requests as a browser opens them.

use restante_app::endpoints::{NewSecret, Retire};
use restante_core::access::Role;
use restante_core::secret::Secret;
use restante_store::both_engines;

use crate::testing::Site;

const SECRET: &str = "whsec_canary0secret0of0the0pages";

both_engines!(a_refused_request_is_verified_again_and_becomes_its_event, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    let request = site.a.signed(&tenant.by, endpoint, SECRET, None).await;
    site.a.receive(&tenant.by, endpoint, request, "req_refused").await;
    site.a.app.flush_refusals().await;
    let refusal = site.a.app.refusals(&tenant.by, None).await.unwrap()[0].id;
    let path = format!("/t/acme/refusals/{endpoint}/{refusal}");
    let mut browser = site.owner("acme").await;
    let page = browser.get(&path).await.text;
    assert!(page.contains("Verify again under today’s secrets"), "{page}");

    let still = browser.post(&format!("{path}/verify"), &[]).await;
    assert_eq!(still.status, 200);
    assert!(still.text.contains("Still refused: "), "{}", still.text);

    let secret = NewSecret { secret: Secret::new(SECRET.to_owned()), retire_others: Retire::Never };
    site.a.app.add_secret(&tenant.by, endpoint, secret, None).await.unwrap();
    site.a.t.clock.advance_seconds(7_200);
    let mut browser = site.owner("acme").await;
    let entered = browser.post(&format!("{path}/verify"), &[]).await;
    assert!(entered.location().ends_with("?said=verified"), "{}", entered.text);
    let event = browser.get(entered.location()).await.text;
    assert!(event.contains("authentic after all") && event.contains("invoice.paid"), "{event}");
    let page = browser.get(&path).await.text;
    assert!(page.contains("Look at its event") && !page.contains("Verify again"), "{page}");
    let again = browser.post(&format!("{path}/verify"), &[]).await;
    assert!(again.location().ends_with("?said=verified-known"), "{}", again.location());

    // Who may not replay sees no button.
    let viewer = site.member("acme", Role::Viewer).await;
    let mut viewer = site.signed_in(viewer).await;
    assert_eq!(viewer.get(&path).await.status, 403);
    assert_eq!(viewer.post(&format!("{path}/verify"), &[]).await.status, 403);
    assert_eq!(site.a.t.count("receipts").await, 1);
});
