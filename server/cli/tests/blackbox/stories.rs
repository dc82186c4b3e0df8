//! The five stories that every receiver of webhooks has to survive: copies at once, a lost answer, a
//! rollback, a crash after the commit, a replay by hand; with their neighbours.

use restante_core::verify::SignedRequest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use std::sync::Arc;

use crate::support::{Answer, Api, Gate, Held, Place, Sender, Server, WAIT_MAX, get, until};

/// The variable that makes the program fail or wait at a point of the commit.
pub(crate) const FAILPOINT: &str = "RESTANTE_FAILPOINT";

/// A server with a tenant, its endpoint for Stripe, and an event signed for it.
pub(crate) async fn begin(place: &Place, variables: &[(&str, &str)]) -> (Server, Api, Sender, SignedRequest) {
    let server = Server::start_with(place, variables).await;
    let api = server.tenant(place, "acme");
    let sender = api.endpoint("stripe").await;
    let signed = sender.signed("evt_1", None);
    (server, api, sender, signed)
}

/// Sends an event; gives what the answer calls it and its id.
pub(crate) async fn deliver(server: &Server, sender: &Sender, signed: &SignedRequest) -> (String, Value) {
    outcome(&sender.send(server.address(), signed).await.expect("an answer"))
}

pub(crate) fn outcome(answer: &Answer) -> (String, Value) {
    let said = answer.expect(200);
    (said["status"].as_str().expect("a status").to_owned(), said["id"].clone())
}

/// Demands that the instance holds the one event of this id, delivered so often, and hands it out
/// once: a second claim finds nothing while the first one's lease runs, and nothing after the ack.
pub(crate) async fn holds_it_once(api: &Api, id: &Value, deliveries: u64) {
    let events = api.events().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((&events[0]["id"], &events[0]["deliveries"]), (id, &deliveries.into()));
    assert_eq!(events[0]["diverged"], false);
    let detail = api.event(id).await;
    assert_eq!(detail["handoffs"].as_array().map(Vec::len), Some(1), "{detail}");
    let claimed = api.claim("default", &json!({})).await;
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    assert_eq!((&claimed[0]["id"], &claimed[0]["attempt"]), (id, &1.into()));
    assert!(api.claim("default", &json!({})).await.is_empty());
    assert_eq!(api.ack("default", &claimed).await, ["acked"]);
    assert!(api.claim("default", &json!({})).await.is_empty());
}

/// Sends an event and hangs up while the server waits at the gate: no answer came, and none can come
/// any more.
async fn hang_up(server: &Server, sender: &Sender, signed: &SignedRequest, gate: &Gate) -> Held {
    let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
    stream.write_all(&sender.bytes(signed)).await.expect("it is taken");
    let held = gate.arrived().await;
    // At once and for both directions: who closes its own alone may still read an answer.
    stream.set_zero_linger().expect("a socket");
    drop(stream);
    held
}

/// Reads to the end of a connection. One that was reset and one that was closed are the same to a sender.
async fn nothing_comes_back(mut stream: TcpStream) {
    let mut said = Vec::new();
    let _ = tokio::time::timeout(WAIT_MAX, stream.read_to_end(&mut said)).await.expect("an end");
    assert!(said.is_empty(), "{}", String::from_utf8_lossy(&said));
}

/// Sends an event to a server that goes down over it: nothing comes back.
async fn crash(server: &mut Server, sender: &Sender, signed: &SignedRequest) {
    let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
    stream.write_all(&sender.bytes(signed)).await.expect("it is taken");
    assert!(!server.ended().await.success(), "it was to crash");
    nothing_comes_back(stream).await;
}

/// Records that wait for a committer, by the server's own figure.
async fn queue_depth(server: &Server) -> u32 {
    let figures = get(server.address(), "/metrics").await.expect("an answer").body;
    let figures = String::from_utf8_lossy(&figures).into_owned();
    let depth = figures.lines().find_map(|line| line.strip_prefix("restante_queue_depth "));
    depth.and_then(|depth| depth.parse().ok()).expect("a number")
}

both_databases!(twenty_copies_at_once_make_one_receipt_and_one_handoff, |place| async {
    const COPIES: usize = 20;
    let (server, api, sender, signed) = begin(&place, &[]).await;
    let (sender, signed, start) = (Arc::new(sender), Arc::new(signed), Arc::new(Barrier::new(COPIES)));
    let mut copies = JoinSet::new();
    for _ in 0..COPIES {
        let (sender, signed, start) = (Arc::clone(&sender), Arc::clone(&signed), Arc::clone(&start));
        let address = server.address();
        copies.spawn(async move {
            start.wait().await;
            sender.send(address, &signed).await.expect("an answer")
        });
    }
    let outcomes: Vec<_> = copies.join_all().await.iter().map(outcome).collect();
    let id = &outcomes[0].1;
    assert!(outcomes.iter().all(|(_, other)| other == id), "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|(status, _)| status == "accepted").count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|(status, _)| status == "duplicate").count(), COPIES - 1);
    holds_it_once(&api, id, COPIES as u64).await;
    let figures = &api.get("/v1/stats?window=1h").await["endpoints"][0];
    let counted = ["deliveries", "accepted", "duplicates"].map(|name| figures[name].as_u64());
    assert_eq!(counted, [Some(20), Some(1), Some(19)], "{figures}");
});

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    an_answer_lost_after_the_commit_makes_the_retry_a_duplicate,
    |place| async {
        let gate = Gate::new().await;
        let (server, api, sender, signed) =
            begin(&place, &[(FAILPOINT, &gate.first_at("after_commit"))]).await;
        let held = hang_up(&server, &sender, &signed, &gate).await;
        let stored = api.events().await;
        assert_eq!(stored.len(), 1, "it is committed before anybody is answered");
        let id = stored[0]["id"].clone();
        drop(held);
        assert_eq!(deliver(&server, &sender, &signed).await, ("duplicate".to_owned(), id.clone()));
        holds_it_once(&api, &id, 2).await;
    }
);

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_sender_that_hangs_up_has_its_event_stored_all_the_same,
    |place| async {
        let gate = Gate::new().await;
        let (server, api, sender, signed) =
            begin(&place, &[(FAILPOINT, &gate.first_at("before_commit"))]).await;
        let held = hang_up(&server, &sender, &signed, &gate).await;
        assert!(api.events().await.is_empty(), "it is under way");
        drop(held);
        let stored = until("the event", async || api.events().await.first().cloned()).await;
        assert_eq!(deliver(&server, &sender, &signed).await, ("duplicate".to_owned(), stored["id"].clone()));
        holds_it_once(&api, &stored["id"], 2).await;
    }
);

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_rolled_back_commit_leaves_the_id_free_for_the_retry,
    |place| async {
        let (server, api, sender, signed) = begin(&place, &[(FAILPOINT, "before_commit:error@1")]).await;
        let refused = sender.send(server.address(), &signed).await.expect("an answer");
        assert_eq!((refused.status, &refused.json()["reason"]), (503, &"unavailable".into()));
        assert!(refused.headers.contains_key("retry-after"));
        assert!(api.events().await.is_empty(), "nothing of it is stored");
        assert!(api.claim("default", &json!({})).await.is_empty(), "and nothing handed out");
        let (status, id) = deliver(&server, &sender, &signed).await;
        assert_eq!(status, "accepted");
        holds_it_once(&api, &id, 1).await;
    }
);

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_crash_before_the_commit_leaves_the_id_free_for_the_retry,
    |place| async {
        let (mut server, api, sender, signed) = begin(&place, &[(FAILPOINT, "before_commit:abort@1")]).await;
        crash(&mut server, &sender, &signed).await;
        let server = Server::start(&place).await;
        let api = api.at(&server);
        assert!(api.events().await.is_empty(), "nothing of it is stored");
        let (status, id) = deliver(&server, &sender, &signed).await;
        assert_eq!(status, "accepted");
        holds_it_once(&api, &id, 1).await;
    }
);

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_crash_after_the_commit_makes_the_retry_a_duplicate,
    |place| async {
        let (mut server, api, sender, signed) = begin(&place, &[(FAILPOINT, "after_commit:abort@1")]).await;
        crash(&mut server, &sender, &signed).await;
        let server = Server::start(&place).await;
        let api = api.at(&server);
        let id = api.events().await[0]["id"].clone();
        assert_eq!(deliver(&server, &sender, &signed).await, ("duplicate".to_owned(), id.clone()));
        holds_it_once(&api, &id, 2).await;
    }
);

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_duplicate_is_not_answered_before_the_first_is_committed,
    |place| async {
        let gate = Gate::new().await;
        let (server, api, sender, signed) =
            begin(&place, &[(FAILPOINT, &gate.first_at("before_commit"))]).await;
        let (sender, address) = (Arc::new(sender), server.address());
        let send = || {
            let (sender, signed) = (Arc::clone(&sender), signed.clone());
            tokio::spawn(async move { sender.send(address, &signed).await })
        };
        let first = send();
        let held = gate.arrived().await;
        let before = queue_depth(&server).await;
        let second = send();
        let waits = async || (queue_depth(&server).await > before).then_some(());
        until("the copy waits for its commit", waits).await;
        assert!(api.events().await.is_empty(), "the first is written and not committed");
        assert!(!first.is_finished() && !second.is_finished());
        // Had one of them been answered, this would make a lie of it.
        server.kill();
        drop(held);
        assert!(first.await.expect("no panic").is_err() && second.await.expect("no panic").is_err());
        let server = Server::start(&place).await;
        let api = api.at(&server);
        assert!(api.events().await.is_empty());
        let (status, id) = deliver(&server, &sender, &signed).await;
        assert_eq!(status, "accepted");
        holds_it_once(&api, &id, 1).await;
    }
);

both_databases!(a_replay_by_hand_hands_an_event_out_once_more_and_marks_it, |place| async {
    let (server, api, sender, signed) = begin(&place, &[]).await;
    let (_, id) = deliver(&server, &sender, &signed).await;
    let claimed = api.claim("default", &json!({})).await;
    assert_eq!((claimed.len(), &claimed[0]["replay"]), (1, &Value::Null));
    assert_eq!(api.ack("default", &claimed).await, ["acked"]);
    assert!(api.claim("default", &json!({})).await.is_empty());

    let path = format!("/v1/events/{}/replay", id.as_str().expect("an id"));
    let answer = api.ask("POST", &path, Some(&json!({ "reason": "the books were wrong" }))).await;
    assert_eq!(answer.expect(202), json!({ "handoffs": 1 }));
    let again = api.claim("default", &json!({})).await;
    assert_eq!(again.len(), 1);
    assert_eq!((&again[0]["id"], &again[0]["attempt"]), (&id, &2.into()));
    assert_eq!(again[0]["body"], claimed[0]["body"]);
    let replay = &again[0]["replay"];
    assert_eq!(replay["reason"], "the books were wrong");
    assert!(replay["by"].as_str().is_some_and(|by| by.starts_with("key_")), "{replay}");
    assert!(replay["at"].is_string());
    assert!(api.claim("default", &json!({})).await.is_empty());
    assert_eq!(api.ack("default", &again).await, ["acked"]);
    assert!(api.claim("default", &json!({})).await.is_empty());
});
