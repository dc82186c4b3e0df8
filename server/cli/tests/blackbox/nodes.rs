//! Two servers on one PostgreSQL: together they behave as one, and either can die.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::stories::{FAILPOINT, begin, deliver, holds_it_once, outcome};
use crate::support::{Api, Gate, Place, Server, until};

postgres_alone!(copies_over_two_postgres_nodes_make_one_receipt, |place| async {
    const COPIES_A_NODE: usize = 100;
    let (one, api, sender, signed) = begin(&place, &[]).await;
    let other = Server::start(&place).await;
    let shared = Arc::new((sender, signed, Barrier::new(2 * COPIES_A_NODE)));
    let mut copies = JoinSet::new();
    for number in 0..2 * COPIES_A_NODE {
        let shared = Arc::clone(&shared);
        let address = if number % 2 == 0 { one.address() } else { other.address() };
        copies.spawn(async move {
            let (sender, signed, start) = &*shared;
            start.wait().await;
            sender.send(address, signed).await.expect("an answer")
        });
    }
    let outcomes: Vec<_> = copies.join_all().await.iter().map(outcome).collect();
    assert!(outcomes.iter().all(|(_, id)| *id == outcomes[0].1), "one id for all");
    let of = |wanted: &str| outcomes.iter().filter(|(status, _)| status == wanted).count();
    assert_eq!((of("accepted"), of("duplicate")), (1, 2 * COPIES_A_NODE - 1));
    holds_it_once(&api.at(&other), &outcomes[0].1, 2 * COPIES_A_NODE as u64).await;
});

/// Whether a session of this place's database waits for another one's lock.
fn somebody_waits_for_a_lock(place: &Place) -> bool {
    let database = place.database().expect("PostgreSQL");
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    database.rows(waiting) != [["0"]]
}

postgres_alone!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_copy_on_another_postgres_node_waits_for_the_first_ones_commit,
    |place| async {
        let gate = Gate::new().await;
        let (one, api, sender, signed) = begin(&place, &[(FAILPOINT, &gate.first_at("before_commit"))]).await;
        let other = Server::start(&place).await;
        let send = |to: &Server| tokio::spawn(crate::support::send(to.address(), sender.request(&signed)));
        let first = send(&one);
        let held = gate.arrived().await;
        let second = send(&other);
        until("the copy waits", async || somebody_waits_for_a_lock(&place).then_some(())).await;
        assert!(!first.is_finished() && !second.is_finished());
        // The first one's transaction ends with its node: then the copy is the first.
        one.kill();
        drop(held);
        assert!(first.await.expect("no panic").is_err());
        let (status, id) = outcome(&second.await.expect("no panic").expect("an answer"));
        assert_eq!(status, "accepted");
        assert_eq!(deliver(&other, &sender, &signed).await, ("duplicate".to_owned(), id.clone()));
        holds_it_once(&api.at(&other), &id, 2).await;
    }
);

/// Claims and acks until nothing is left; gives the ids.
async fn work_off(api: Api) -> Vec<Value> {
    let mut done = Vec::new();
    loop {
        let events = api.claim("default", &json!({ "max": 7 })).await;
        if events.is_empty() {
            return done;
        }
        assert!(api.ack("default", &events).await.iter().all(|status| status == "acked"));
        done.extend(events.iter().map(|event| event["id"].clone()));
    }
}

postgres_alone!(two_postgres_nodes_hand_each_event_to_one_worker, |place| async {
    const EVENTS: usize = 300;
    const WORKERS: usize = 8;
    let (one, api, sender, _) = begin(&place, &[]).await;
    let other = Server::start(&place).await;
    let mut stored = BTreeSet::new();
    for number in 0..EVENTS {
        let to = if number % 2 == 0 { &one } else { &other };
        let (status, id) = deliver(to, &sender, &sender.signed(&format!("evt_{number}"), None)).await;
        assert_eq!(status, "accepted");
        stored.insert(id.to_string());
    }
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        workers.spawn(work_off(api.at(if number % 2 == 0 { &one } else { &other })));
    }
    let handed_out = workers.join_all().await.concat();
    assert_eq!(handed_out.len(), EVENTS, "each once");
    assert_eq!(handed_out.iter().map(Value::to_string).collect::<BTreeSet<_>>(), stored);
});

postgres_alone!(a_claim_that_waits_at_one_postgres_node_gets_what_another_received, |place| async {
    let (one, api, sender, signed) = begin(&place, &[]).await;
    let other = Server::start(&place).await;
    let waiting = api.at(&other);
    let claim = tokio::spawn(async move { waiting.claim("default", &json!({ "wait_seconds": 30 })).await });
    until("the first look of the claim", async || {
        api.get("/v1/consumers/default").await["last_claim_at"].is_string().then_some(())
    })
    .await;
    let (_, id) = deliver(&one, &sender, &signed).await;
    let claimed = claim.await.expect("no panic");
    assert_eq!(claimed.iter().map(|event| &event["id"]).collect::<Vec<_>>(), [&id]);
});

postgres_alone!(a_key_that_is_revoked_at_one_postgres_node_stops_at_the_other, |place| async {
    let one = Server::start(&place).await;
    let other = Server::start(&place).await;
    let owner = one.tenant(&place, "acme");
    let made = owner.post("/v1/keys", &json!({ "name": "short", "scopes": ["events:read"] })).await;
    let key = other.api(made["key"].as_str().expect("a key"));
    key.get("/v1/events").await;
    let path = format!("/v1/keys/{}", made["id"].as_str().expect("an id"));
    owner.ask("DELETE", &path, None).await.expect(204);
    // It is promised within five seconds; how fast a test's machine is, is not.
    until("the end of the key", async || {
        let answer = key.ask("GET", "/v1/events", None).await;
        assert!(matches!(answer.status, 200 | 401), "{answer:?}");
        (answer.status == 401).then_some(())
    })
    .await;
    assert_eq!(key.at(&one).ask("GET", "/v1/events", None).await.status, 401);
    owner.at(&other).get("/v1/events").await;
});
