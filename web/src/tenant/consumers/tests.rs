//! The pages of consumers and failures as a browser opens them.

use restante_core::access::Role;
use restante_store::both_engines;

use crate::testing::Site;

both_engines!(a_consumer_is_made_changed_paused_and_deleted_by_its_name, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await.to_string();
    let mut browser = site.owner("acme").await;
    let wrong = browser.post("/t/acme/consumers/new", &[("name", "Not A Name"), ("types", "kept.*")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("value=\"kept.*\""), "{}", wrong.text);
    let fields =
        [("name", "billing"), ("types", "invoice.*, push"), ("endpoint", &endpoint), ("start", "beginning")];
    let made = browser.post("/t/acme/consumers/new", &fields).await;
    assert_eq!(made.location(), "/t/acme/consumers/billing#worker", "{}", made.text);
    let page = browser.get("/t/acme/consumers/billing?worker=python").await.text;
    assert!(page.contains("invoice.*, push of one endpoint"), "{page}");
    assert!(page.contains("http://127.0.0.1:8080/v1/consumers/billing"), "{page}");
    assert!(browser.get("/t/acme/consumers").await.text.contains("/t/acme/consumers/billing"));
    let twice = browser.post("/t/acme/consumers/new", &fields).await;
    assert!(twice.status == 422 && twice.text.contains("already"), "{}", twice.text);

    let edit = "/t/acme/consumers/billing/edit";
    assert!(browser.get(edit).await.text.contains("value=\"invoice.*, push\""));
    let foreign = browser.post(edit, &[("endpoint", "ep_01m860m1cse8nrbxg8207ndkpd")]).await;
    assert!(foreign.status == 422 && foreign.text.contains("no such endpoint"), "{}", foreign.text);
    let saved = browser.post(edit, &[("types", ""), ("max_attempts", "3")]).await;
    assert!(browser.get(saved.location()).await.text.contains("every event"));
    let paused = browser.post("/t/acme/consumers/billing/pause", &[]).await;
    assert!(browser.get(paused.location()).await.text.contains("nothing is lost"));
    browser.post("/t/acme/consumers/billing/resume", &[]).await;
    let kept = browser.post("/t/acme/consumers/billing/delete", &[("typed_name", "bill")]).await;
    assert_eq!(kept.status, 422);
    let gone = browser.post("/t/acme/consumers/billing/delete", &[("typed_name", "billing")]).await;
    assert_eq!(gone.location(), "/t/acme/consumers?said=consumer-deleted&n=0");
    assert_eq!(browser.get("/t/acme/consumers/billing").await.status, 404);
});

both_engines!(failures_are_grouped_replayed_and_settled, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    for _ in 0..2 {
        site.a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
    }
    site.a.fail_all(&tenant.by, "default", "timeout after 17 ms").await;
    let mut browser = site.owner("acme").await;
    let page = browser.get("/t/acme/failures").await.text;
    assert!(page.contains("timeout after 17 ms") && page.contains("<span class=\"count\">2"), "{page}");
    let ids: Vec<String> = page
        .split("name=\"event\" value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 2);
    let query = format!("to=default&event={}&event={}", ids[0], ids[1]);
    assert!(browser.get(&format!("/t/acme/replays/new?{query}")).await.text.contains("Replay 2 events"));
    assert!(
        browser
            .get(&format!("/t/acme/failures/settle?{query}"))
            .await
            .text
            .contains("Settle 2 events at default")
    );
    let confirm = "/t/acme/failures/settle/confirmed";
    let unsaid = browser.post(confirm, &[("to", "default"), ("event", &ids[0])]).await;
    assert_eq!(unsaid.status, 422);
    let fields = [
        ("to", "default"),
        ("event", &ids[0]),
        ("event", &ids[1]),
        ("settlement", "failed"),
        ("note", "known"),
    ];
    let done = browser.post(confirm, &fields).await;
    assert_eq!(done.location(), "/t/acme/failures?said=settled-many&n=2", "{}", done.text);
    let page = browser.get(done.location()).await.text;
    assert!(
        page.contains("2 handoffs wait for nobody any more") && page.contains("Nothing waits for a person"),
        "{page}"
    );
});

both_engines!(consumers_and_failures_are_closed_to_strangers_and_changed_by_those_who_may, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.tenant("beta").await;
    let reads = ["/consumers", "/consumers/default", "/failures"];
    let writes = ["/consumers/new", "/consumers/default/edit"];
    let posts = [
        "/consumers/new",
        "/consumers/default/edit",
        "/consumers/default/pause",
        "/consumers/default/resume",
        "/consumers/default/delete",
        "/failures/settle/confirmed",
    ];
    let mut stranger = site.owner("beta").await;
    for path in reads.iter().chain(&writes) {
        assert_eq!(stranger.get(&format!("/t/acme{path}")).await.status, 404, "{path}");
    }
    let mut viewer = site.owner("acme").await;
    site.a.t.execute(&format!("UPDATE members SET role = '{}'", Role::Viewer)).await;
    for path in &reads {
        assert_eq!(viewer.get(&format!("/t/acme{path}")).await.status, 200, "{path}");
    }
    for path in writes.iter().chain(&["/failures/settle"]) {
        assert_eq!(viewer.get(&format!("/t/acme{path}")).await.status, 403, "{path}");
    }
    for path in &posts {
        assert_eq!(
            viewer.post(&format!("/t/acme{path}"), &[("typed_name", "default")]).await.status,
            403,
            "{path}"
        );
    }
    assert_eq!(site.a.t.count("consumers WHERE deleted_at IS NULL").await, 2);
});
