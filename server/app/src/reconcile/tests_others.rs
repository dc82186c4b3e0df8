//! The recipes of the other providers, end to end against answers written after their pages: what is
//! fetched and what is not, what is asked for again, what is compared.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use restante_core::id::EndpointId;
use restante_core::secret::Secret;
use restante_store::both_engines;
use restante_store::testing::TestStore;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::*;
use crate::App;
use crate::endpoints::NewEndpoint;
use crate::settings::Settings;
use crate::testing::{TestApp, TestTenant};

/// Answers by method and path with its query; anything else is a 404.
type Answers = BTreeMap<String, (u16, String, String)>;

#[derive(Clone)]
struct Server {
    base_url: String,
    asked: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<Answers>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { base_url, asked: Arc::default(), answers: Arc::default() };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                let mut chunk = [0_u8; 2048];
                while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                    match stream.read(&mut chunk).await {
                        Ok(0) | Err(_) => break,
                        Ok(read) => head.extend_from_slice(&chunk[..read]),
                    }
                }
                let head = String::from_utf8(head).unwrap();
                let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
                // A star answers what has the time in its address.
                let found = {
                    let answers = serving.answers.lock().unwrap();
                    answers.get(&line).or_else(|| answers.get("*")).cloned()
                };
                let (status, more, body) = found.unwrap_or((404, String::new(), "{}".to_owned()));
                serving.asked.lock().unwrap().push(line);
                let text =
                    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len());
                let _ = stream.write_all(text.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        server
    }

    fn answer(&self, line: &str, status: u16, more: &str, body: &Value) {
        let answer = (status, more.to_owned(), body.to_string());
        self.answers.lock().unwrap().insert(line.to_owned(), answer);
    }

    fn asked(&self, begins: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|line| line.starts_with(begins)).count()
    }
}

struct Bench {
    a: TestApp,
    tenant: TestTenant,
    endpoint: EndpointId,
    server: Server,
}

async fn bench(t: TestStore, provider: &str, secret: &str) -> Bench {
    let settings = Settings { outbound_allow: vec!["127.0.0.0/8".parse().unwrap()], ..Settings::default() };
    let a = TestApp::with_settings(t, settings);
    let tenant = a.tenant("acme").await;
    let asked = NewEndpoint {
        name: "One".to_owned(),
        provider: provider.to_owned(),
        secrets: vec![Secret::new(secret.to_owned())],
        options: Map::new(),
        dedup_scope: None,
        max_body_bytes: None,
        retention: None,
        enabled: true,
    };
    let endpoint = a.app.create_endpoint(&tenant.by, asked, None).await.unwrap().value.endpoint.id;
    Bench { a, tenant, endpoint, server: Server::start().await }
}

impl Bench {
    async fn set(&self, options: Value, credentials: &[(&str, &str)]) {
        let asked = ReconciliationAsked {
            credentials: credentials
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
                .collect(),
            base_url: Some(self.server.base_url.clone()),
            options: options.as_object().unwrap().clone(),
            ..ReconciliationAsked::default()
        };
        self.a.app.set_reconciliation(&self.tenant.by, self.endpoint, asked).await.unwrap();
    }

    async fn run(&self) -> Run {
        let app: &App = &self.a.app;
        let made =
            app.ask_reconciliation(&self.tenant.by, self.endpoint, AskedRun::default(), None).await.unwrap();
        let stop = watch::channel(false).1;
        let until = Instant::now() + Duration::from_secs(600);
        assert!(app.reconcile(self.tenant.by.tenant(), self.endpoint, &stop, until).await.unwrap().is_some());
        app.reconciliation_run(&self.tenant.by, self.endpoint, made.value).await.unwrap()
    }

    fn time(&self, seconds_ago: i64) -> String {
        self.a.app.clock.now().plus_seconds(-seconds_ago).to_string()
    }
}

const HOOK: &str = "/repos/acme/shop/hooks/7/deliveries";

fn github(b: &Bench) {
    let entry = |id: u64, guid: &str, ago: i64, status: u16| json!({"id": id, "guid": guid, "delivered_at": b.time(ago), "redelivery": false, "status_code": status, "event": "push"});
    let next = format!("link: <{}{HOOK}?per_page=100&cursor=v1_2>; rel=\"next\"\r\n", b.server.base_url);
    let first = json!([entry(4, "g-4", 10, 502), entry(3, "g-3", 20, 200)]);
    b.server.answer(&format!("GET {HOOK}?per_page=100"), 200, &next, &first);
    // Sent twice under one guid; then what lies before the window.
    let second =
        json!([entry(2, "g-3", 30, 502), entry(1, "g-1", 40, 200), entry(0, "g-0", 30 * 86_400, 200)]);
    b.server.answer(&format!("GET {HOOK}?per_page=100&cursor=v1_2"), 200, "", &second);
    for (id, guid) in [(4, "g-4"), (3, "g-3"), (2, "g-3"), (1, "g-1")] {
        let headers =
            json!({"X-GitHub-Delivery": guid, "X-GitHub-Event": "push", "X-Hub-Signature-256": "sha256=00"});
        let whole = json!({"id": id, "guid": guid, "request": {"headers": headers, "payload": {"ref": "refs/heads/main", "n": id}}});
        b.server.answer(&format!("GET {HOOK}/{id}"), 200, "", &whole);
        b.server.answer(&format!("POST {HOOK}/{id}/attempts"), 202, "", &json!({}));
    }
}

both_engines!(github_deliveries_are_fetched_once_each_and_only_when_they_are_missing, |t| async {
    let b = bench(t, "github", "a secret of a test").await;
    github(&b);
    b.set(json!({"owner": "acme", "repo": "shop", "hook_id": "7"}), &[("token", "t")]).await;
    let run = b.run().await;
    assert_eq!(run.row.outcome.as_deref(), Some("done"), "{:?}", run.row.error);
    assert_eq!((run.row.inserted, run.row.known, run.row.listed), (3, 1, 4));
    assert_eq!(b.server.asked(&format!("GET {HOOK}/")), 3, "g-3 was known when it was listed again");
    assert_eq!(b.a.t.count("receipts WHERE event_id IN ('g-1', 'g-3', 'g-4') AND type = 'push'").await, 3);
    let run = b.run().await;
    assert_eq!((run.row.inserted, run.row.known), (0, 4));
    assert_eq!(b.server.asked(&format!("GET {HOOK}/")), 3, "what is here is not fetched");
    assert_eq!(b.server.asked("POST"), 0);
});

both_engines!(github_is_asked_to_send_again_what_it_saw_fail, |t| async {
    let b = bench(t, "github", "a secret of a test").await;
    github(&b);
    let options = json!({"owner": "acme", "repo": "shop", "hook_id": "7", "redeliver": "yes"});
    b.set(options, &[("token", "t")]).await;
    let run = b.run().await;
    assert_eq!((run.row.redelivered, run.row.inserted), (1, 2), "{:?}", run.row.error);
    assert_eq!(b.server.asked(&format!("POST {HOOK}/4/attempts")), 1);
    assert_eq!(b.a.t.count("receipts WHERE event_id = 'g-4'").await, 0, "it comes by webhook, signed");
});

both_engines!(a_delivery_whose_payload_is_gone_costs_the_others_nothing, |t| async {
    let b = bench(t, "github", "a secret of a test").await;
    github(&b);
    b.server.answer(&format!("GET {HOOK}/4"), 410, "", &json!({}));
    b.set(json!({"owner": "acme", "repo": "shop", "hook_id": "7"}), &[("token", "t")]).await;
    let run = b.run().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted, run.row.failed), (Some("done"), 2, 1));
});

both_engines!(shopify_orders_without_a_webhook_are_reported_and_not_inserted, |t| async {
    let b = bench(t, "shopify", "a secret of a test").await;
    b.a.app.send_test_event(&b.tenant.by, b.endpoint, Default::default(), None).await.unwrap();
    let keys = b.a.app.tenant_keys(b.tenant.by.tenant()).await.unwrap();
    let id: restante_core::id::ReceiptId = {
        let tenant = b.tenant.by.tenant();
        let query = restante_store::events::EventQuery { limit: 1, ..Default::default() };
        let read = b.a.app.store.read(move |conn| {
            Box::pin(async move { restante_store::events::list(conn, tenant, &query).await })
        });
        read.await.unwrap().receipts[0].id
    };
    let events = b.a.app.events_with_content(b.tenant.by.tenant(), &keys, &[id]).await.unwrap();
    let body = events[&id].as_ref().ok().and_then(|event| event.content.as_ref()).unwrap().body.clone();
    let told = restante_core::reconcile::text_at(&String::from_utf8_lossy(&body), "/id").unwrap();
    // The times stand in the address, so every address gets the same answer.
    let orders = json!({"orders": [{"id": told.parse::<u64>().unwrap(), "updated_at": b.time(5)}, {"id": 999, "updated_at": b.time(4)}]});
    b.server.answer("*", 200, "", &orders);
    b.set(json!({"shop": "acme.myshopify.com"}), &[("access_token", "shpat_1")]).await;
    let run = b.run().await;
    assert_eq!(run.row.outcome.as_deref(), Some("done"), "{:?}", run.row.error);
    assert_eq!((run.row.listed, run.row.missing, run.row.inserted), (2, 1, 0));
    assert_eq!(run.found[0].event_id.as_deref(), Some("999"));
    assert_eq!(b.a.t.count("receipts").await, 1);
    // What an event told of that can't be read any more is not known, and not called missing.
    b.a.app.erase_event(&b.tenant.by, id, false, "asked for").await.unwrap();
    let run = b.run().await;
    assert_eq!((run.row.listed, run.row.missing, run.row.too_old), (2, 0, 2));
});

both_engines!(twilio_messages_that_never_arrived_get_the_key_of_their_callback, |t| async {
    let b = bench(t, "twilio", "9f86d081884c7d659a2feaa0c55ad015").await;
    let message = json!({"sid": "SM1", "status": "delivered", "account_sid": "AC1", "from": "+1555", "to": "+1556", "body": "a & b",
        "date_sent": "Mon, 30 Nov 2026 05:01:45 +0000", "api_version": "2010-04-01"});
    b.server.answer("*", 200, "", &json!({"messages": [message], "next_page_uri": null}));
    b.set(json!({"account_sid": "AC1"}), &[("auth_token", "t")]).await;
    assert_eq!(b.run().await.row.inserted, 1);
    assert_eq!(
        b.a.t.count("receipts WHERE event_id = 'SM1' AND type = 'delivered' AND account = 'AC1'").await,
        1
    );
    assert_eq!(b.run().await.row.known, 1);
});

both_engines!(a_sender_of_ones_own_is_asked_by_a_recipe_of_ones_own, |t| async {
    let b = bench(t, "standard-webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").await;
    let recipe = json!({
        "base_url": "https://api.acme.example.org", "path": "/events",
        "query": [["since", "{from}"], ["offset", "{cursor}"], ["limit", "{page_size}"]],
        "auth": {"header": ["X-Key", "{key}"]}, "time_unit": "rfc3339", "order": "oldest_first", "reaches_seconds": 86_400,
        "page_size": 2, "next": "offset",
        "event": {"id": "/id", "type": "/type", "headers": {"webhook-id": "{item:/id}"}},
        "credential": [{"name": "key", "title": "key"}]
    });
    b.server.answer("*", 200, "", &json!([{"id": "msg_1", "type": "a"}]));
    b.set(json!({"recipe": recipe}), &[("key", "k")]).await;
    let run = b.run().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted), (Some("done"), 1), "{:?}", run.row);
    assert_eq!(b.a.t.count("receipts WHERE event_key = 'msg_1'").await, 1);
});
