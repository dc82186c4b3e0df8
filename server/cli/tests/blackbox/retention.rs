//! `restante retention run` beside a running server: what goes, what stays, and that a run may end anywhere.

use std::process::Stdio;

use restante_core::time::Timestamp;
use serde_json::{Value, json};

use crate::stories::FAILPOINT;
use crate::support::{Api, Place, Sender, Server};

/// Days ahead, as the flag takes it.
fn in_days(days: i64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let seconds = i64::try_from(now.as_secs()).expect("not yet");
    Timestamp::from_seconds(seconds).plus_seconds(days * 86_400).to_string()
}

fn run(place: &Place, arguments: &[&str]) -> Value {
    let arguments = [&["retention", "run", "--json"], arguments].concat();
    serde_json::from_str(&tokio::task::block_in_place(|| place.run(&arguments, ""))).expect("JSON")
}

async fn send(server: &Server, sender: &Sender, id: &str) -> Value {
    sender.send(server.address(), &sender.signed(id, None)).await.expect("an answer").expect(200)
}

async fn work(api: &Api) -> usize {
    let claimed = api.claim("default", &json!({ "max": 500 })).await;
    assert!(api.ack("default", &claimed).await.iter().all(|result| result == "acked"));
    claimed.len()
}

both_databases!(a_run_by_hand_makes_tombstones_and_says_what_it_did, |place| async {
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    let first = send(&server, &sender, "evt_1").await;
    assert_eq!(work(&api).await, 1);
    send(&server, &sender, "evt_waits").await;
    let path = format!("/v1/events/{}", first["id"].as_str().expect("an id"));

    let at = in_days(31);
    assert_eq!(api.get(&path).await["payload_removed_at"], Value::Null, "it is stored");
    let looked = run(&place, &["--at", &at, "--dry-run"]);
    assert_eq!((&looked["payloads"], &looked["kept"]["pending"]), (&json!(1), &json!(1)), "{looked}");
    assert_eq!(api.ask("GET", &format!("{path}/payload"), None).await.status, 200, "a look removes nothing");
    let done = run(&place, &["--at", &at]);
    assert_eq!((&done["payloads"], &done["keys"]), (&json!(1), &json!(0)), "{done}");
    assert_eq!(api.ask("GET", &format!("{path}/payload"), None).await.status, 410);
    let event = api.get(&path).await;
    assert_eq!((&event["payload_state"], &event["event_id"]), (&json!("removed"), &json!("evt_1")));
    let removed_at = event["payload_removed_at"].as_str().and_then(Timestamp::parse_rfc3339);
    assert!(removed_at.is_some_and(|at| at.to_string() < in_days(1)), "{event}");
    assert!(event["sha256"].is_string() && event["size"].as_u64() > Some(0), "{event}");
    let again = send(&server, &sender, "evt_1").await;
    assert_eq!((&again["status"], &again["id"]), (&json!("duplicate"), &first["id"]));
    let runs = api.get("/v1/retention/runs").await;
    assert_eq!((&runs["data"][0]["cause"], &runs["data"][0]["outcome"]), (&json!("command"), &json!("done")));
    assert_eq!(runs["data"][0]["endpoints"][0]["payloads"], json!(1));
    assert_eq!(work(&api).await, 1, "what waits is handed out");
});

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_run_that_is_killed_in_every_batch_leaves_whole_events_and_the_next_one_goes_on,
    |place| async {
        let server = Server::start(&place).await;
        let api = server.tenant(&place, "acme");
        let mut senders = Vec::new();
        for _ in 0..3 {
            senders.push(api.endpoint("github").await);
        }
        for (place, sender) in senders.iter().enumerate() {
            for number in 0..10 {
                send(&server, sender, &format!("evt_{place}_{number}")).await;
            }
        }
        assert_eq!(work(&api).await, 30);
        for (place, sender) in senders.iter().enumerate() {
            send(&server, sender, &format!("evt_waits_{place}")).await;
        }
        // Where an id is not signed, a key stays while the secret of its day verifies; deleted endpoints have none.
        for sender in &senders {
            api.ask("DELETE", &format!("/v1/endpoints/{}", sender.endpoint), None).await;
        }
        let at = in_days(500);
        // Three batches of payloads and three of keys; the first that is passed is the one that is killed.
        for passed in [1, 1, 2, 2, 3, 1] {
            let mut command = place.command();
            command.args(["retention", "run", "--at", &at]);
            command.env(FAILPOINT, format!("retention_batch:abort@{passed}"));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let ended = tokio::task::block_in_place(|| command.status().expect("it starts"));
            assert!(!ended.success());
            for event in api.events().await {
                let path = format!("/v1/events/{}/payload", event["id"].as_str().expect("an id"));
                let status = api.ask("GET", &path, None).await.status;
                let stored = event["payload_state"] == json!("stored");
                assert_eq!(status, if stored { 200 } else { 410 }, "{event}");
            }
        }
        run(&place, &["--at", &at]);
        let left = api.events().await;
        assert_eq!(left.len(), 3, "{left:?}");
        assert!(left.iter().all(|event| event["payload_state"] == json!("stored")));
        assert_eq!(work(&api).await, 3, "nothing that waited was touched");
        let twice = run(&place, &["--at", &at]);
        assert_eq!((&twice["payloads"], &twice["keys"]), (&json!(3), &json!(3)));
        assert_eq!(api.events().await.len(), 0);
    }
);
