//! PostgreSQL out of reach: cut off, silent, or with the one answer lost that says whether a commit
//! happened. A sender is told within four seconds to come again, and the server finds back by itself.

use std::time::{Duration, Instant};

use restante_core::verify::SignedRequest;
use serde_json::{Value, json};

use crate::support::proxy::{Proxy, Way};
use crate::support::sender::stripe_body;
use crate::support::{Answer, Api, Place, Sender, Server, get, until};

/// The contract gives four seconds from the last byte to the answer; the rest is for a busy machine.
const ANSWERED_WITHIN: Duration = Duration::from_secs(6);

/// A server whose way to its database goes through a proxy, with a tenant and two endpoints, the
/// second of which nobody has used yet.
struct Behind {
    proxy: Proxy,
    server: Server,
    api: Api,
    sender: Sender,
    unused: Sender,
}

impl Behind {
    async fn a_proxy(place: &Place) -> Self {
        let url = place.database().expect("a database").url();
        let (user, rest) = url.split_once('@').expect("a user");
        let (target, name) = rest.split_once('/').expect("a name");
        let proxy = Proxy::start(target);
        // The proxy reads what passes, so nothing may be encrypted.
        let url = format!("{user}@{}/{name}?sslmode=disable", proxy.address());
        let server = Server::start_with(place, &[("RESTANTE_DATABASE_URL", &url)]).await;
        let api = server.tenant(place, "acme");
        let (sender, unused) = (api.endpoint("stripe").await, api.endpoint("stripe").await);
        let behind = Self { proxy, server, api, sender, unused };
        behind.deliver("evt_before").await.expect(200);
        behind
    }

    async fn deliver(&self, id: &str) -> Answer {
        self.deliver_by(&self.sender, id).await
    }

    async fn deliver_by(&self, sender: &Sender, id: &str) -> Answer {
        sender.send(self.server.address(), &event(sender, id)).await.expect("an answer")
    }

    /// Delivers what can't be kept now.
    async fn is_told_to_come_again(&self, sender: &Sender, id: &str) {
        let sent = Instant::now();
        let answer = self.deliver_by(sender, id).await;
        let took = sent.elapsed();
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
        assert_eq!(answer.json()["reason"], "unavailable");
        assert!(took < ANSWERED_WITHIN, "the answer took {took:?}");
    }

    /// What holds as long as the database is away, however it is.
    async fn is_away(&self) {
        for number in 0..2 {
            self.is_told_to_come_again(&self.sender, &format!("evt_away_{number}")).await;
        }
        // Where the endpoint itself has to be looked up.
        self.is_told_to_come_again(&self.unused, "evt_away_unused").await;
        // What was found out a second ago may still be told.
        let ready = until("a server that is not ready", async || {
            let ready = get(self.server.address(), "/readyz").await.expect("an answer");
            (ready.status == 503).then_some(ready)
        })
        .await;
        assert_eq!(get(self.server.address(), "/healthz").await.expect("an answer").status, 200);
        let asked = self.api.ask("GET", "/v1/endpoints", None).await;
        assert_eq!(asked.status, 503, "{asked:?}");
        for answer in [ready, asked] {
            let said = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(!said.contains("127.0.0.1") && !said.contains("postgres"), "{said}");
        }
    }

    /// It works again, by itself; each event is there once.
    async fn is_back(&self) {
        let after = |sender: &Sender, id: &'static str| {
            let request = sender.request(&event(sender, id));
            let address = self.server.address();
            async move {
                let answer = crate::support::send(address, request).await.expect("an answer");
                assert!([200, 503].contains(&answer.status), "{answer:?}");
                answer.is_success().then_some(())
            }
        };
        until("a server that is back", || after(&self.sender, "evt_after")).await;
        until("an endpoint that is found", || after(&self.unused, "evt_after_unused")).await;
        until("a server that is ready", async || {
            (get(self.server.address(), "/readyz").await.expect("an answer").status == 200).then_some(())
        })
        .await;
        let retried = ["evt_before", "evt_away_0", "evt_away_1"];
        for id in retried {
            self.deliver(id).await.expect(200);
        }
        self.deliver_by(&self.unused, "evt_away_unused").await.expect(200);
        let events = self.api.events().await;
        let mut ids: Vec<&str> =
            events.iter().map(|event| event["event_id"].as_str().expect("an id")).collect();
        ids.sort_unstable();
        let mut wanted = vec!["evt_after", "evt_after_unused", "evt_away_unused"];
        wanted.extend(retried);
        wanted.sort_unstable();
        assert_eq!(ids, wanted);
    }

    /// What stands in the database, asked by another way.
    fn receipts(place: &Place, id: &str) -> String {
        let rows = place
            .database()
            .expect("a database")
            .rows(&format!("SELECT count(*) FROM receipts WHERE event_id = '{id}'"));
        rows[0][0].clone()
    }
}

fn event(sender: &Sender, id: &str) -> SignedRequest {
    sender.signed(id, Some(&stripe_body(id, "a memo")))
}

postgres_alone!(a_database_that_is_cut_off_is_503_and_the_server_heals, |place| async {
    let behind = Behind::a_proxy(&place).await;
    behind.proxy.set(Way::Cut);
    behind.is_away().await;
    behind.proxy.set(Way::Open);
    behind.is_back().await;
    behind.server.stop().await;
});

postgres_alone!(a_database_that_falls_silent_is_503_and_the_server_heals, |place| async {
    let behind = Behind::a_proxy(&place).await;
    behind.proxy.set(Way::Silent);
    behind.is_away().await;
    behind.proxy.set(Way::Open);
    behind.is_back().await;
    behind.server.stop().await;
});

// As after a firewall that has lost its memory, or a failover to a machine that knows nothing of them.
postgres_alone!(connections_that_died_in_silence_are_replaced, |place| async {
    let behind = Behind::a_proxy(&place).await;
    behind.proxy.set(Way::Silent);
    behind.is_away().await;
    behind.proxy.forget_connections();
    behind.is_back().await;
    behind.server.stop().await;
});

// An operator who restarts PostgreSQL, or throws its users out.
postgres_alone!(connections_that_the_database_ends_are_replaced, |place| async {
    let behind = Behind::a_proxy(&place).await;
    for number in 0..3 {
        let ended = place.database().expect("a database").rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        assert!(!ended.is_empty(), "there were connections");
        let id = format!("evt_{number}");
        until("a delivery that is taken", async || {
            let answer = behind.deliver(&id).await;
            assert!([200, 503].contains(&answer.status), "{answer:?}");
            answer.is_success().then_some(())
        })
        .await;
    }
    assert_eq!(behind.api.events().await.len(), 4);
    behind.server.stop().await;
});

postgres_alone!(a_lock_that_another_holds_is_503_and_not_waited_for, |place| async {
    let behind = Behind::a_proxy(&place).await;
    let mut other = place.database().expect("a database").session();
    other.run("BEGIN");
    other.run("LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE");
    for number in 0..2 {
        behind.is_told_to_come_again(&behind.sender, &format!("evt_{number}")).await;
    }
    other.run("ROLLBACK");
    for number in 0..2 {
        assert_eq!(behind.deliver(&format!("evt_{number}")).await.expect(200)["status"], "accepted");
    }
    behind.server.stop().await;
});

postgres_alone!(a_commit_whose_answer_was_lost_is_503_and_its_retry_is_a_duplicate, |place| async {
    let behind = Behind::a_proxy(&place).await;
    behind.proxy.set(Way::CutAfterCommit);
    behind.is_told_to_come_again(&behind.sender, "evt_1").await;
    assert!(behind.proxy.commits_lost() > 0, "the fault came");
    assert_eq!(Behind::receipts(&place, "evt_1"), "1", "it was committed");
    behind.proxy.set(Way::Open);
    let retry = behind.deliver("evt_1").await.expect(200);
    assert_eq!(retry["status"], "duplicate");
    assert_eq!(Behind::receipts(&place, "evt_1"), "1");
    // Its consumer gets it once.
    let claimed = behind.api.claim("default", &json!({})).await;
    let of_it: Vec<&Value> = claimed.iter().filter(|event| event["id"] == retry["id"]).collect();
    assert_eq!((of_it.len(), &of_it[0]["deliveries"]), (1, &json!(2)));
    behind.server.stop().await;
});

postgres_alone!(a_commit_that_never_arrived_is_503_and_its_retry_is_new, |place| async {
    let behind = Behind::a_proxy(&place).await;
    behind.proxy.set(Way::CutBeforeCommit);
    behind.is_told_to_come_again(&behind.sender, "evt_1").await;
    assert!(behind.proxy.commits_lost() > 0, "the fault came");
    assert_eq!(Behind::receipts(&place, "evt_1"), "0");
    behind.proxy.set(Way::Open);
    assert_eq!(behind.deliver("evt_1").await.expect(200)["status"], "accepted");
    assert_eq!(Behind::receipts(&place, "evt_1"), "1");
    behind.server.stop().await;
});

postgres_alone!(an_ack_whose_answer_was_lost_is_acked_when_it_is_repeated, |place| async {
    let behind = Behind::a_proxy(&place).await;
    let claimed = behind.api.claim("default", &json!({})).await;
    assert_eq!(claimed.len(), 1);
    behind.proxy.set(Way::CutAfterCommit);
    let asked = json!({ "leases": [claimed[0]["lease"]] });
    let answer = behind.api.ask("POST", "/v1/consumers/default/ack", Some(&asked)).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    behind.proxy.set(Way::Open);
    assert_eq!(behind.api.ack("default", &claimed).await, ["acked"]);
    assert_eq!(behind.api.claim("default", &json!({})).await, Vec::<Value>::new());
    behind.server.stop().await;
});

postgres_alone!(a_change_and_its_line_in_the_audit_log_are_both_there_or_neither_is, |place| async {
    let behind = Behind::a_proxy(&place).await;
    let count = || {
        let database = place.database().expect("a database");
        let rows = database.rows(
            "SELECT (SELECT count(*) FROM api_keys), (SELECT count(*) FROM audit_log WHERE action = 'key.create')",
        );
        let number = |text: &str| text.parse::<u32>().expect("a number");
        (number(&rows[0][0]), number(&rows[0][1]))
    };
    let (keys, lines) = count();
    for (way, made) in [(Way::CutBeforeCommit, 0), (Way::CutAfterCommit, 1)] {
        behind.proxy.set(way);
        let asked = json!({ "name": "a key", "scopes": ["events:read"] });
        let answer = behind.api.ask("POST", "/v1/keys", Some(&asked)).await;
        assert_eq!(answer.status, 503, "{answer:?}");
        behind.proxy.set(Way::Open);
        assert_eq!(count(), (keys + made, lines + made), "{way:?}");
    }
    behind.server.stop().await;
});
