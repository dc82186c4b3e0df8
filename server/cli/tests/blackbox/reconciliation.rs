//! Reconciliation with whole processes: `restante reconcile run` beside a server, and two servers of which one dies in
//! the middle of a page.

use std::collections::BTreeSet;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::stories::FAILPOINT;
use crate::support::stripe::{ALLOWED, KEY, Stripe};
use crate::support::{Api, Place, Sender, Server, until};

async fn set(api: &Api, sender: &Sender, stripe: &Stripe) {
    let asked = json!({ "base_url": stripe.base_url, "credentials": { "api_key": KEY } });
    let path = format!("/v1/endpoints/{}/reconciliation", sender.endpoint);
    api.ask("PUT", &path, Some(&asked)).await.expect(200);
}

async fn send(server: &Server, sender: &Sender, id: &str, body: &[u8]) -> Value {
    sender.send(server.address(), &sender.signed(id, Some(body))).await.expect("an answer").expect(200)
}

/// `restante reconcile run`, to its end, whatever it is.
fn try_run(place: &Place, endpoint: &str, more: &[&str], failpoint: Option<&str>) -> Output {
    let mut command = place.command();
    command.env(ALLOWED.0, ALLOWED.1).args(["reconcile", "run", "--tenant", "acme", "--endpoint", endpoint]);
    command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(order) = failpoint {
        command.env(FAILPOINT, order);
    }
    tokio::task::block_in_place(|| command.output().expect("it starts"))
}

fn run(place: &Place, endpoint: &str, more: &[&str]) -> Value {
    let said = try_run(place, endpoint, &[&["--json"], more].concat(), None);
    assert!(said.status.success(), "{said:?}");
    serde_json::from_slice(&said.stdout).expect("JSON")
}

async fn ids(api: &Api) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut path = "/v1/events?limit=250".to_owned();
    loop {
        let page = api.get(&path).await;
        let data = page["data"].as_array().expect("a page");
        ids.extend(data.iter().map(|event| event["event_id"].as_str().expect("an id").to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/events?limit=250&cursor={cursor}"),
            None => return ids,
        }
    }
}

/// What is here is what the provider lists, each once.
async fn holds_exactly(api: &Api, stripe: &Stripe) {
    let here = ids(api).await;
    let set: BTreeSet<&String> = here.iter().collect();
    assert_eq!(set.len(), here.len(), "one is here twice");
    assert_eq!(set, stripe.ids().iter().collect());
}

both_databases!(a_run_by_hand_inserts_what_never_came_and_its_status_tells_how_it_ended, |place| async {
    let stripe = Stripe::start().await;
    let server = Server::start_with(&place, &[ALLOWED]).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    let unset = try_run(&place, &sender.endpoint, &[], None);
    assert_eq!(unset.status.code(), Some(1), "{unset:?}");
    set(&api, &sender, &stripe).await;
    send(&server, &sender, "evt_came", &stripe.happens("evt_came")).await;
    for number in 0..3 {
        stripe.happens(&format!("evt_lost_{number}"));
    }
    let done = run(&place, &sender.endpoint, &[]);
    assert_eq!(
        (&done["outcome"], &done["listed"], &done["known"], &done["inserted"], &done["too_old"]),
        (&json!("done"), &json!(4), &json!(1), &json!(3), &json!(0)),
        "{done}"
    );
    holds_exactly(&api, &stripe).await;
    assert_eq!(api.claim("default", &json!({ "max": 10 })).await.len(), 4);
    let path = format!("/v1/endpoints/{}/reconciliation/runs", sender.endpoint);
    assert_eq!(api.get(&path).await["data"][0]["id"], done["id"]);
    let again = try_run(&place, &sender.endpoint, &[], None);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(said.contains("4 listed, 4 here already, 0 inserted"), "{said}");
    // A stretch of one's own.
    let done =
        run(&place, &sender.endpoint, &["--from", "2020-01-01T00:00:00Z", "--to", "2020-01-02T00:00:00Z"]);
    assert!(done["to"].as_str().is_some_and(|to| to.starts_with("2020-01-02T00:00:00")), "{done}");
    assert_eq!(done["listed"], json!(0));
    for (wrong, status, word) in [
        (vec!["--from", "yesterday"], 2, "RFC 3339"),
        (vec!["--to", "2020-01-02T00:00:00Z"], 2, "--from"),
        (vec!["--from", "2999-01-01T00:00:00Z"], 1, "future"),
        (vec!["--from", "2020-01-02T00:00:00Z", "--to", "2020-01-01T00:00:00Z"], 1, "after the beginning"),
    ] {
        let said = try_run(&place, &sender.endpoint, &wrong, None);
        assert_eq!(said.status.code(), Some(status), "{said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains(word), "{said:?}");
    }
    assert_eq!(try_run(&place, "nonsense", &[], None).status.code(), Some(2));
    // A run that did not come to its end says why, without the key.
    stripe.revoke();
    let said = try_run(&place, &sender.endpoint, &[], None);
    assert_eq!(said.status.code(), Some(1));
    let why = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(why.contains("refuses the credentials") && !why.contains(KEY), "{why}");
});

/// As if so much time had passed for those who hold something.
fn leases_run_out(place: &Place) {
    let database = place.database().expect("PostgreSQL");
    database.rows("UPDATE reconciliations SET lease_until = 0 WHERE lease_until IS NOT NULL");
    database.rows("UPDATE jobs SET lease_until = 0 WHERE lease_until IS NOT NULL");
}

postgres_alone!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    two_postgres_nodes_do_a_run_once_and_one_takes_over_from_the_other_in_mid_page,
    |place| async {
        let stripe = Stripe::start().await;
        let one = Server::start_with(&place, &[ALLOWED, (FAILPOINT, "reconciliation_page:abort@2")]).await;
        let api = one.tenant(&place, "acme");
        let sender = api.endpoint("stripe").await;
        set(&api, &sender, &stripe).await;
        for number in 0..250 {
            let id = format!("evt_{number:04}");
            let body = stripe.happens(&id);
            if number % 2 == 0 {
                send(&one, &sender, &id, &body).await;
            }
        }
        // Asked for at the one that ticks alone: it dies with its second page written and not committed.
        let path = format!("/v1/endpoints/{}/reconciliation/runs", sender.endpoint);
        let run = api.post(&path, &json!({})).await;
        let mut one = one;
        assert!(!one.ended().await.success());
        let pages = stripe.pages();
        let other = Server::start_with(&place, &[ALLOWED]).await;
        let third = Server::start_with(&place, &[ALLOWED]).await;
        let api = api.at(&other);
        let path = format!("{path}/{}", run["id"].as_str().expect("an id"));
        let left = api.get(&path).await;
        assert_eq!(
            (&left["listed"], &left["inserted"]),
            (&json!(100), &json!(50)),
            "one page is whole: {left}"
        );
        leases_run_out(&place);
        // Both are told; one of them does it.
        let asked = json!({});
        let all = format!("/v1/endpoints/{}/reconciliation/runs", sender.endpoint);
        let (second, waits) = tokio::join!(api.post(&all, &asked), {
            let third = api.at(&third);
            let all = all.clone();
            async move { third.post(&all, &json!({})).await }
        });
        for run in [&run, &second, &waits] {
            let path = format!("{all}/{}", run["id"].as_str().expect("an id"));
            let done = until("the end of a run", async || {
                let run = api.get(&path).await;
                run["outcome"].is_string().then_some(run)
            })
            .await;
            assert_eq!(done["outcome"], json!("done"), "{done}");
        }
        let done = api.get(&path).await;
        assert_eq!((&done["listed"], &done["inserted"]), (&json!(250), &json!(125)), "{done}");
        holds_exactly(&api, &stripe).await;
        // Two pages that were left, and three for each of the two others: nobody did one twice.
        assert_eq!(stripe.pages() - pages, 2 + 3 + 3);
    }
);

postgres_alone!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    a_run_that_is_killed_in_mid_page_again_and_again_ends_with_the_providers_postgres_list,
    |place| async {
        let long = std::env::var("RESTANTE_LONG").is_ok_and(|value| value == "1");
        let (events, kills) = if long { (5_000, 50) } else { (400, 6) };
        let stripe = Stripe::start().await;
        let server = Server::start_with(&place, &[ALLOWED]).await;
        let api = server.tenant(&place, "acme");
        let sender = api.endpoint("stripe").await;
        set(&api, &sender, &stripe).await;
        let id = |number: usize| format!("evt_{number:05}");
        for number in 0..events / 2 {
            send(&server, &sender, &id(number), &stripe.happens(&id(number))).await;
        }
        // It is down for the other half.
        server.stop().await;
        for number in events / 2..events {
            stripe.happens(&id(number));
        }
        let mut killed = 0;
        for kill in 0..kills {
            // Within the first page that it writes, or after one or two were committed.
            let order = format!("reconciliation_page:abort@{}", 1 + kill % 3);
            let said = try_run(&place, &sender.endpoint, &[], Some(&order));
            // One that ends by itself has a status.
            killed += u32::from(said.status.code().is_none());
            leases_run_out(&place);
            if kill % 4 == 3 {
                // Of those that wait behind the one that is killed there may be a few alone.
                let waiting = "UPDATE reconciliation_runs SET finished_at = asked_at, outcome = 'failed' WHERE started_at IS NULL";
                place.database().expect("PostgreSQL").rows(waiting);
            }
        }
        assert_eq!(killed, kills, "each of them was killed");
        // The last one does what waits before it as well.
        run(&place, &sender.endpoint, &[]);
        let server = Server::start_with(&place, &[ALLOWED]).await;
        let api = api.at(&server);
        let runs = format!("/v1/endpoints/{}/reconciliation/runs?limit=100", sender.endpoint);
        holds_exactly(&api, &stripe).await;
        let page = api.get(&runs).await;
        let runs = page["data"].as_array().expect("runs");
        let sum: u64 = runs.iter().map(|run| run["inserted"].as_u64().expect("a count")).sum();
        assert_eq!(sum as usize, events - events / 2, "each was counted once");
        let rows = place.database().expect("PostgreSQL").rows("SELECT count(*) FROM receipts");
        assert_eq!(rows, [[events.to_string()]]);
    }
);
