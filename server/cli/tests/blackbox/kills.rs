//! `kill -9` at any moment: what was acknowledged is there after the next start, once and with its
//! bytes; what was acked stays done; what was leased stays leased.
//!
//! `RESTANTE_TEST_KILLS` is the number of kills for each database; `RESTANTE_LONG=1` means many.

use serde_json::json;

use crate::support::{Load, Place, Server, Traffic, random_below};

const KILLS: usize = 3;
const KILLS_LONG: usize = 40;
/// Answers to the load before a kill: at least, and so many more at most.
const ANSWERS_MIN: usize = 20;
const ANSWERS_MORE: usize = 250;

fn kills() -> usize {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let asked = variable("RESTANTE_TEST_KILLS");
    if asked.is_empty() {
        return if variable("RESTANTE_LONG") == "1" { KILLS_LONG } else { KILLS };
    }
    asked.parse().expect("RESTANTE_TEST_KILLS is a number")
}

both_databases!(what_was_acknowledged_is_stored_after_a_kill, |place| async {
    let mut server = Server::start(&place).await;
    let traffic = Traffic::of(server.tenant(&place, "acme")).await;
    for _ in 0..kills() {
        let mut load = Load::begin(&traffic, &[&server]);
        load.acknowledged(ANSWERS_MIN + random_below(ANSWERS_MORE)).await;
        server.kill();
        load.end().await;
        server = Server::start(&place).await;
    }
    traffic.ledger.settle(&traffic.api.at(&server)).await;
});

postgres_alone!(what_one_postgres_node_acknowledged_outlives_it_on_the_other, |place| async {
    let mut one = Server::start(&place).await;
    let mut other = Server::start(&place).await;
    let traffic = Traffic::of(one.tenant(&place, "acme")).await;
    for _ in 0..kills() {
        let mut load = Load::begin(&traffic, &[&one, &other]);
        load.acknowledged(ANSWERS_MIN + random_below(ANSWERS_MORE)).await;
        one.kill();
        // The other one goes on, for senders and workers of both.
        load.acknowledged(ANSWERS_MIN + random_below(ANSWERS_MORE)).await;
        load.end().await;
        (one, other) = (other, Server::start(&place).await);
    }
    traffic.ledger.settle(&traffic.api.at(&one)).await;
});

both_databases!(a_lease_outlives_a_kill, |place| async {
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    sender.send(server.address(), &sender.signed("evt_1", None)).await.expect("an answer").expect(200);
    let claimed = api.claim("default", &json!({ "lease_seconds": 3_600 })).await;
    assert_eq!(claimed.len(), 1);
    server.kill();

    let server = Server::start(&place).await;
    let api = api.at(&server);
    let empty = api.post("/v1/consumers/default/claim", &json!({})).await;
    assert_eq!((&empty["events"], &empty["leased"]), (&json!([]), &1.into()), "it is held");
    assert_eq!(api.ack("default", &claimed).await, ["acked"], "and its holder can end it");
    let empty = api.post("/v1/consumers/default/claim", &json!({})).await;
    assert_eq!((&empty["events"], &empty["leased"]), (&json!([]), &0.into()));
    let detail = api.event(&claimed[0]["id"]).await;
    assert_eq!(detail["handoffs"][0]["state"], "processed");
});
