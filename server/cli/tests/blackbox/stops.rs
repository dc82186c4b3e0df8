//! SIGTERM: what is under way is finished, what was acknowledged is stored, the exit is a good one,
//! and the next start goes on.

use serde_json::json;

use crate::stories::{FAILPOINT, begin, deliver, holds_it_once, outcome};
use crate::support::{Gate, Load, Place, Server, Traffic, until};

both_databases!(what_was_acknowledged_is_stored_after_a_stop_under_load, |place| async {
    let mut server = Server::start(&place).await;
    let traffic = Traffic::of(server.tenant(&place, "acme")).await;
    for _ in 0..2 {
        let mut load = Load::begin(&traffic, &[&server]);
        load.acknowledged(150).await;
        server.stop().await;
        load.end().await;
        server = Server::start(&place).await;
    }
    traffic.ledger.settle(&traffic.api.at(&server)).await;
});

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_stop_finishes_what_is_under_way,
    |place| async {
        let gate = Gate::new().await;
        let (server, api, sender, signed) =
            begin(&place, &[(FAILPOINT, &gate.first_at("before_commit"))]).await;
        let address = server.address();
        let answer = tokio::spawn({
            let request = sender.request(&signed);
            crate::support::send(address, request)
        });
        let held = gate.arrived().await;
        server.terminate();
        server.logs("stopping").await;
        drop(held);
        let answer = answer.await.expect("no panic").expect("an answer");
        let (status, id) = outcome(&answer);
        assert_eq!(status, "accepted");
        let mut server = server;
        assert!(server.ended().await.success());

        let server = Server::start(&place).await;
        assert_eq!(deliver(&server, &sender, &signed).await, ("duplicate".to_owned(), id.clone()));
        holds_it_once(&api.at(&server), &id, 2).await;
    }
);

both_databases!(a_claim_that_waits_is_answered_at_the_stop, |place| async {
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let claim = tokio::spawn({
        let api = api.clone();
        async move {
            api.try_ask("POST", "/v1/consumers/default/claim", Some(&json!({ "wait_seconds": 30 }))).await
        }
    });
    until("the first look of the claim", async || {
        api.get("/v1/consumers/default").await["last_claim_at"].is_string().then_some(())
    })
    .await;
    server.stop().await;
    let answer = claim.await.expect("no panic").expect("an answer");
    assert_eq!(answer.expect(200)["events"], json!([]));
});
