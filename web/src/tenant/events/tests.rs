//! The pages of events as a browser opens them, over events that took the whole road.

use restante_core::access::Role;
use restante_core::id::ReceiptId;
use restante_store::both_engines;

use crate::parts::samples::check;
use crate::testing::{Browser, Site};

/// A tenant with some events of the test sample, and a browser of its owner.
async fn with_events(
    site: &Site,
    slug: &str,
    count: usize,
) -> (restante_app::testing::TestTenant, Vec<ReceiptId>) {
    let tenant = site.a.tenant(slug).await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    let mut ids = Vec::new();
    for _ in 0..count {
        let sent = site.a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
        ids.push(sent.value.receipts[0]);
        site.a.t.clock.advance_seconds(1);
    }
    (tenant, ids)
}

async fn lines(site: &Site, action: &str) -> i64 {
    site.a.t.count(&format!("audit_log WHERE action = '{action}'")).await
}

both_engines!(a_person_finds_opens_and_replays_events, |t| async {
    let site = Site::new(t);
    let (_, ids) = with_events(&site, "acme", 3).await;
    let mut browser = site.owner("acme").await;
    let list = browser.get("/t/acme/events?type=invoice.*").await;
    assert_eq!(list.status, 200);
    check(&list.text.replacen("<script src=", "", 1));
    for id in &ids {
        assert!(list.text.contains(&format!("/t/acme/events/{id}")), "{}", list.text);
    }
    assert!(browser.get("/t/acme/events?state=failed").await.text.contains("No event matches"));
    assert!(browser.get("/t/acme/events?consumer=nobody").await.text.contains("no consumer of this name"));
    let newer = browser.live(&format!("/t/acme/events/newer?after={}", ids[0])).await;
    assert!(newer.text.contains("2 new events"), "{}", newer.text);
    assert_eq!(browser.live(&format!("/t/acme/events/newer?after={}", ids[2])).await.text.trim(), "");

    let event = format!("/t/acme/events/{}", ids[0]);
    let page = browser.get(&event).await;
    assert!(page.text.contains("took a test event") && !page.text.contains("whsec_"), "{}", page.text);
    assert_eq!(lines(&site, "payload.view").await, 0);
    let payload = browser.get(&format!("{event}/payload")).await;
    assert!(payload.text.contains("invoice.paid"), "{}", payload.text);
    assert_eq!(lines(&site, "payload.view").await, 1);
    let file = browser.get(&format!("{event}/payload/download?part=event")).await;
    assert_eq!(file.headers["content-type"], "application/octet-stream");
    assert!(file.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert!(file.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));

    // First the count, then, confirmed, the replay with who and why.
    let asked = format!("/t/acme/replays/new?event={}&event={}", ids[0], ids[1]);
    assert!(browser.get(&asked).await.text.contains("Replay 2 events"));
    assert_eq!(lines(&site, "event.replay").await, 0);
    let (first, second) = (ids[0].to_string(), ids[1].to_string());
    let fields = [("event", first.as_str()), ("event", &second), ("to", ""), ("reason", "why not")];
    let done = browser.post("/t/acme/replays", &fields).await;
    assert_eq!((done.status.as_u16(), done.location()), (303, "/t/acme/events?said=replayed&n=2"));
    assert_eq!(lines(&site, "event.replay").await, 2);
    assert!(browser.get(done.location()).await.text.contains("Replayed: 2 handoffs are pending again."));
    let history = browser.get(&event).await.text;
    assert!(history.contains("owner@acme.test") && history.contains("why not"), "{history}");
    let done =
        browser.post("/t/acme/replays", &[("all", "1"), ("type", "invoice.*"), ("to", "default")]).await;
    assert!(done.location().starts_with("/t/acme/replays/rpj_"), "{}", done.location());
    let wrong = browser.post("/t/acme/replays", &[("event", &first), ("to", "nobody")]).await;
    assert!(wrong.text.contains("There is no such consumer"), "{}", wrong.text);
});

both_engines!(a_form_that_is_sent_twice_replays_once, |t| async {
    let site = Site::new(t);
    let (_, ids) = with_events(&site, "acme", 2).await;
    let mut browser = site.owner("acme").await;
    let once = |page: &str| {
        let (_, rest) = page.split_once("name=\"once\" value=\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let (first, second) = (ids[0].to_string(), ids[1].to_string());
    let asked = format!("/t/acme/replays/new?event={first}&event={second}");
    let number = once(&browser.get(&asked).await.text);
    let picked = [("once", &*number), ("event", &*first), ("event", &*second), ("reason", "twice")];
    let mut other = browser.clone();
    let (one, two) =
        tokio::join!(browser.post("/t/acme/replays", &picked), other.post("/t/acme/replays", &picked));
    assert_eq!((one.location(), two.location()), ("/t/acme/events?said=replayed&n=2", one.location()));
    assert_eq!((site.a.t.count("replays").await, lines(&site, "event.replay").await), (2, 2));
    // Another reason is another replay, and so is the same from a page of its own.
    let reason = [("once", &*number), ("event", &*first), ("reason", "again")];
    browser.post("/t/acme/replays", &reason).await;
    assert_eq!(site.a.t.count("replays").await, 3);

    let number = once(&browser.get("/t/acme/replays/new?all=1").await.text);
    let all = [("once", &*number), ("all", "1")];
    let (one, two) =
        (browser.post("/t/acme/replays", &all).await, browser.post("/t/acme/replays", &all).await);
    assert_eq!(one.location(), two.location());
    assert_eq!(site.a.t.count("replay_jobs").await, 1);
});

both_engines!(what_waits_for_a_person_is_settled_and_what_has_no_id_is_repaired, |t| async {
    let site = Site::new(t);
    let (tenant, ids) = with_events(&site, "acme", 2).await;
    site.a.fail_all(&tenant.by, "default", "<b>no paper</b>").await;
    let mut browser = site.owner("acme").await;
    let event = format!("/t/acme/events/{}", ids[0]);
    let page = browser.get(&event).await.text;
    assert!(page.contains("Settle at default") && page.contains("&lt;b&gt;no paper"), "{page}");
    let wrong = browser.post(&format!("{event}/settle"), &[("consumer", "default")]).await;
    assert_eq!(wrong.status, 422);
    let fields = [("consumer", "default"), ("settlement", "processed"), ("note", "by hand")];
    let done = browser.post(&format!("{event}/settle"), &fields).await;
    assert_eq!(done.location(), format!("{event}?said=settled"));
    let page = browser.get(done.location()).await.text;
    assert!(
        page.contains("Settled.") && page.contains("by hand") && !page.contains("Settle at default"),
        "{page}"
    );
    let again = browser.post(&format!("{event}/settle"), &fields).await;
    assert!(again.text.contains("only a failed or uncertain one"), "{}", again.text);

    let repair = format!("/t/acme/events/{}/repair", ids[1]);
    let refused = browser.post(&repair, &[("event_id", "evt_9"), ("event_type", "")]).await;
    assert_eq!(refused.status, 422, "nothing is to be repaired");
    site.a.t.execute("UPDATE receipts SET reason = 'envelope'").await;
    let page = browser.get(&format!("/t/acme/events/{}", ids[1])).await.text;
    assert!(page.contains("This event needs a repair"), "{page}");
    let empty = browser.post(&repair, &[("event_id", " "), ("event_type", "kept")]).await;
    assert!(empty.text.contains("value=\"kept\"") && empty.status == 422, "{}", empty.text);
    let done = browser.post(&repair, &[("event_id", "evt_9"), ("event_type", "invoice.paid")]).await;
    assert_eq!(done.location(), format!("/t/acme/events/{}?said=repaired", ids[1]));
});

// Everything that a viewer must not do, and everything of another tenant.
both_engines!(events_are_closed_to_viewers_payloads_and_to_strangers_altogether, |t| async {
    let site = Site::new(t);
    let (_, ids) = with_events(&site, "acme", 1).await;
    site.a.tenant("beta").await;
    let id = ids[0].to_string();
    let reads = ["/events".to_owned(), format!("/events/{id}"), "/events/newer".to_owned()];
    let more = [
        format!("/events/{id}/payload"),
        format!("/events/{id}/payload/download"),
        "/replays/new".to_owned(),
    ];
    let posts = [format!("/events/{id}/settle"), format!("/events/{id}/repair"), "/replays".to_owned()];
    let mut stranger = site.owner("beta").await;
    for path in reads.iter().chain(&more) {
        assert_eq!(stranger.get(&format!("/t/acme{path}")).await.status, 404, "{path}");
    }
    // The event of another tenant is not there, and looks like one that never was.
    let foreign = stranger.get(&format!("/t/beta/events/{id}")).await;
    assert_eq!(
        (foreign.status.as_u16(), foreign.text),
        (404, stranger.get("/t/beta/events/nothing").await.text)
    );
    assert_eq!(stranger.get(&format!("/t/beta/events/{id}/payload")).await.status, 404);
    for path in &posts {
        assert_eq!(stranger.post(&format!("/t/acme{path}"), &[]).await.status, 404, "{path}");
    }
    let mut viewer = site.owner("acme").await;
    site.a.t.execute(&format!("UPDATE members SET role = '{}'", Role::Viewer)).await;
    for path in &reads {
        assert_eq!(viewer.get(&format!("/t/acme{path}")).await.status, 200, "{path}");
    }
    for path in &more {
        assert_eq!(viewer.get(&format!("/t/acme{path}")).await.status, 403, "{path}");
    }
    for path in &posts {
        assert_eq!(viewer.post(&format!("/t/acme{path}"), &[]).await.status, 403, "{path}");
    }
    let mut nobody: Browser = site.browser();
    for path in reads.iter().chain(&more) {
        assert!(nobody.get(&format!("/t/acme{path}")).await.location().starts_with("/sign-in"), "{path}");
    }
    assert_eq!(lines(&site, "payload.view").await, 0);
});
