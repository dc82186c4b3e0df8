//! A node that stands still for longer than its leases, as a machine does that is paused or swaps.

use serde_json::{Value, json};

use crate::support::{Place, Server};

postgres_alone!(a_postgres_node_that_stood_still_is_fenced_off, |place| async {
    let one = Server::start(&place).await;
    let api = one.tenant(&place, "acme");
    let sender = api.endpoint("github").await;
    sender.send(one.address(), &sender.signed("id-1", None)).await.expect("an answer").expect(200);
    let two = Server::start(&place).await;

    let at_one = api.claim("default", &json!({ "lease_seconds": 1 })).await;
    one.signal("STOP");
    // It waits for the end of the lease, which the database decides.
    let at_two = api.at(&two).claim("default", &json!({ "wait_seconds": 30, "lease_seconds": 600 })).await;
    assert_eq!((at_two.len(), &at_two[0]["id"], &at_two[0]["attempt"]), (1, &at_one[0]["id"], &json!(2)));
    one.signal("CONT");
    // What it is asked now, it answers by the database and not by what it remembers.
    assert_eq!(api.ack("default", &at_one).await, ["expired"]);
    assert_eq!(api.ack("default", &at_two).await, ["acked"], "at either node");
    for node in [&one, &two] {
        assert_eq!(api.at(node).claim("default", &json!({})).await, Vec::<Value>::new());
    }
    let attempts = api.event(&at_one[0]["id"]).await["attempts"].clone();
    let outcomes: Vec<&Value> =
        attempts.as_array().expect("attempts").iter().map(|attempt| &attempt["outcome"]).collect();
    assert_eq!(outcomes, ["acked", "expired"], "the newest first");
});
