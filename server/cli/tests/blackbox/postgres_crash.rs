//! PostgreSQL itself killed, without room, or waiting for a standby: on a cluster of the test's own,
//! whose commits reach the disk as in earnest.

use serde_json::json;

use crate::disk_full::{event, holds_exactly, send_until_refused};
use crate::support::{Cluster, Load, Place, Server, SmallDisk, Traffic, random_below, say_skipped, until};

/// Kills of one test. Each costs PostgreSQL a recovery.
const KILLS: usize = 3;
/// Answers to the load before a kill: at least, and so many more at most.
const ANSWERS_MIN: usize = 20;
const ANSWERS_MORE: usize = 150;
/// A new cluster with small segments takes a third of this.
const DISK_BYTES: usize = 160 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_outlives_a_kill_of_postgres() {
    let Some(cluster) = Cluster::start() else { return };
    let place = Place::on(&cluster);
    let server = Server::start(&place).await;
    let traffic = Traffic::of(server.tenant(&place, "acme")).await;
    for _ in 0..KILLS {
        let mut load = Load::begin_sending(&traffic, &[&server]);
        load.acknowledged(ANSWERS_MIN + random_below(ANSWERS_MORE)).await;
        cluster.kill();
        cluster.revive();
        // The same server goes on by itself.
        load.acknowledged(ANSWERS_MIN).await;
        load.end().await;
    }
    traffic.ledger.settle(&traffic.api).await;
    server.stop().await;
}

/// What a claim hands out has reached the disk, so that a crash forgets neither the event nor the lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_of_postgres_a_claim_holds_and_the_work_ends_once() {
    let Some(cluster) = Cluster::start() else { return };
    let place = Place::on(&cluster);
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    for round in 0..KILLS {
        let sent = event(&sender, &format!("evt_{round}"));
        until("a delivery that is taken", async || {
            let answer = sender.send(server.address(), &sent).await.expect("an answer");
            assert!([200, 503].contains(&answer.status), "{answer:?}");
            answer.is_success().then_some(())
        })
        .await;
        let held = api.claim("default", &json!({ "lease_seconds": 600 })).await;
        assert_eq!(held.len(), 1);
        cluster.kill();
        cluster.revive();
        let asked = json!({ "lease_seconds": 600 });
        let again = until("a server that is back", async || {
            let answer = api.ask("POST", "/v1/consumers/default/claim", Some(&asked)).await;
            (answer.status != 503).then(|| answer.expect(200))
        })
        .await;
        assert_eq!(again["events"], json!([]), "the lease holds");
        assert_eq!(api.ack("default", &held).await, ["acked"]);
        assert_eq!(api.event(&held[0]["id"]).await["handoffs"][0]["state"], "processed");
    }
    assert_eq!(api.events().await.len(), KILLS);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_postgres_is_503_and_heals() {
    let started = Cluster::start_on(|folder| SmallDisk::over(folder, DISK_BYTES));
    let Some((cluster, disk)) = started else {
        return say_skipped(
            "a_full_disk_of_postgres_is_503_and_heals",
            "no PostgreSQL of its own, or no right to mount a small file system",
        );
    };
    let place = Place::on(&cluster);
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;

    disk.fill();
    let mut acknowledged = send_until_refused(&server, &sender, "full").await;
    let refused = format!("evt_full_{}", acknowledged.len());
    let mut refused_too = Vec::new();
    for number in 0..20 {
        let id = format!("evt_while_{number}");
        match sender.send(server.address(), &event(&sender, &id)).await.expect("an answer").status {
            200 => acknowledged.push(id),
            status => {
                assert_eq!(status, 503);
                refused_too.push(id);
            }
        }
    }

    disk.make_room();
    // Without room for its log PostgreSQL may have ended.
    cluster.revive();
    let again = event(&sender, &refused);
    until("a server that has healed", async || {
        let answer = sender.send(server.address(), &again).await.expect("an answer");
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        answer.is_success().then_some(())
    })
    .await;
    acknowledged.push(refused);
    // Of what was answered 503 nobody knows whether it was stored, until it is sent again.
    let refused_too: Vec<&str> = refused_too.iter().map(String::as_str).collect();
    holds_exactly(&api, &sender, &acknowledged, &refused_too).await;
    for id in refused_too {
        sender.send(server.address(), &event(&sender, id)).await.expect("an answer").expect(200);
        acknowledged.push(id.to_owned());
    }
    holds_exactly(&api, &sender, &acknowledged, &[]).await;
    assert_eq!(api.events().await.len(), acknowledged.len());
    server.stop().await;
    drop((place, cluster, disk));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_synchronous_standby_of_postgres_is_away_nothing_is_acknowledged() {
    let Some(cluster) = Cluster::start() else { return };
    let place = Place::on(&cluster);
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    sender.send(server.address(), &event(&sender, "evt_before")).await.expect("an answer").expect(200);

    let database = place.database().expect("a database");
    let standby = |name: &str| {
        database.rows(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
        database.rows("SELECT pg_reload_conf()");
    };
    standby("nobody");
    until("a commit that waits for the standby", async || {
        let answer = sender.send(server.address(), &event(&sender, "evt_1")).await.expect("an answer");
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        // The setting reaches a running connection a moment later.
        (answer.status == 503).then(|| assert!(answer.headers.contains_key("retry-after"), "{answer:?}"))
    })
    .await;
    for id in ["evt_1", "evt_2", "evt_3"] {
        let answer = sender.send(server.address(), &event(&sender, id)).await.expect("an answer");
        assert_eq!(answer.status, 503, "{answer:?}");
    }

    standby("");
    for id in ["evt_before", "evt_1", "evt_2", "evt_3"] {
        until("a delivery that is taken", async || {
            let answer = sender.send(server.address(), &event(&sender, id)).await.expect("an answer");
            assert!([200, 503].contains(&answer.status), "{answer:?}");
            answer.is_success().then_some(())
        })
        .await;
    }
    let events = api.events().await;
    let mut ids: Vec<&str> = events.iter().map(|event| event["event_id"].as_str().expect("an id")).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["evt_1", "evt_2", "evt_3", "evt_before"], "each is there once");
    server.stop().await;
}
