//! A machine's clock that is wrong, or jumps while the server runs. On PostgreSQL the database's clock
//! decides about leases, whatever the node's says; on SQLite the machine's clock is the database's.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Api, Place, Sender, Server, get, say_skipped};

/// The library that lies about the time, where the package `faketime` puts it.
fn library() -> Option<String> {
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib")
        .map(|entries| entries.flatten().map(|entry| entry.path().join("faketime")).collect())
        .unwrap_or_default();
    folders.extend(["/usr/lib/faketime", "/usr/local/lib/faketime"].map(PathBuf::from));
    let found =
        folders.into_iter().map(|folder| folder.join("libfaketime.so.1")).find(|path| path.is_file())?;
    Some(found.display().to_string())
}

/// A server whose clock the test sets. Only its wall clock: what measures time goes on as it did.
struct OddClock {
    server: Server,
    api: Api,
    sender: Sender,
    /// Holds how far the clock is off, such as `+3600`.
    file: PathBuf,
}

impl OddClock {
    async fn on(place: &Place, name: &str) -> Option<Self> {
        let Some(library) = library() else {
            say_skipped(name, "no libfaketime, which the package faketime has");
            return None;
        };
        let file = place.file("clock");
        fs::write(&file, "+0").expect("a file");
        let path = file.display().to_string();
        let variables = [
            ("LD_PRELOAD", library.as_str()),
            ("FAKETIME_TIMESTAMP_FILE", path.as_str()),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let server = Server::start_with(place, &variables).await;
        let api = server.tenant(place, "acme");
        // GitHub signs no time, so that the clock says nothing about what is accepted.
        let sender = api.endpoint("github").await;
        Some(Self { server, api, sender, file })
    }

    /// The clock jumps: it is `offset` off from now on, such as `+3600`.
    fn jump(&self, offset: &str) {
        // Renamed into place, so that nobody reads half of it.
        let new = self.file.with_extension("new");
        fs::write(&new, offset).expect("a file");
        fs::rename(&new, &self.file).expect("a file");
    }

    async fn deliver(&self, id: &str) {
        let answer = self.sender.send(self.server.address(), &self.sender.signed(id, None)).await;
        assert_eq!(answer.expect("an answer").expect(200)["status"], "accepted");
    }

    /// The offset that the server shows of its own clock.
    async fn received_at(&self, id: &str) -> String {
        let found = self.api.get(&format!("/v1/events?event_id={id}")).await;
        found["data"][0]["received_at"].as_str().expect("a time").to_owned()
    }
}

postgres_alone!(a_nodes_clock_that_jumps_changes_no_lease, |place| async {
    let Some(odd) = OddClock::on(&place, "a_nodes_clock_that_jumps_changes_no_lease").await else { return };
    odd.deliver("id-1").await;
    let held = odd.api.claim("default", &json!({ "lease_seconds": 600 })).await;
    assert_eq!(held.len(), 1);
    for offset in ["+3600", "-3600", "+34560000"] {
        odd.jump(offset);
        // What comes in meanwhile is handed out; what is held is not.
        let id = format!("id{}", offset.replace('+', ""));
        odd.deliver(&id).await;
        let claimed = odd.api.claim("default", &json!({ "lease_seconds": 600 })).await;
        assert_eq!(claimed.len(), 1, "{offset}: {claimed:?}");
        assert_eq!(claimed[0]["event_id"], id);
        assert_eq!(odd.api.ack("default", &claimed).await, ["acked"]);
    }
    assert!(odd.received_at("id3600").await > odd.received_at("id-3600").await, "the clock did jump");
    assert_eq!(odd.api.ack("default", &held).await, ["acked"]);
    assert!(odd.api.claim("default", &json!({})).await.is_empty());
    let found = odd.api.events().await;
    assert_eq!(found.len(), 4, "nothing is lost");
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_back_on_sqlite_hands_no_lease_out_twice() {
    let place = Place::sqlite();
    let name = "a_clock_that_jumps_back_on_sqlite_hands_no_lease_out_twice";
    let Some(odd) = OddClock::on(&place, name).await else { return };
    odd.deliver("id-1").await;
    odd.deliver("id-2").await;
    let held = odd.api.claim("default", &json!({ "max": 1, "lease_seconds": 60 })).await;
    odd.jump("-3600");
    // The second one waits for an hour that has been already, and comes as soon as the clock is right.
    odd.deliver("id-3").await;
    let claimed = odd.api.claim("default", &json!({})).await;
    assert!(claimed.iter().all(|event| event["id"] != held[0]["id"]), "{claimed:?}");
    assert_eq!(odd.api.ack("default", &held).await, ["acked"]);
    odd.api.ack("default", &claimed).await;
    odd.jump("+0");
    let rest = odd.api.claim("default", &json!({})).await;
    assert!(rest.iter().all(|event| event["id"] != held[0]["id"]), "{rest:?}");
    assert_eq!(claimed.len() + rest.len(), 2, "nothing is lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_forward_on_sqlite_ends_leases_and_fences_their_holders() {
    let place = Place::sqlite();
    let name = "a_clock_that_jumps_forward_on_sqlite_ends_leases_and_fences_their_holders";
    let Some(odd) = OddClock::on(&place, name).await else { return };
    odd.deliver("id-1").await;
    let long = odd.api.claim("default", &json!({ "lease_seconds": 7_200 })).await;
    odd.deliver("id-2").await;
    let short = odd.api.claim("default", &json!({ "lease_seconds": 60 })).await;
    odd.jump("+3600");
    let again = odd.api.claim("default", &json!({ "wait_seconds": 30 })).await;
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0]["id"], short[0]["id"], "the longer lease still holds");
    // Two have it, and one of them counts.
    assert_eq!(odd.api.ack("default", &short).await, ["expired"]);
    assert_eq!(odd.api.ack("default", &again).await, ["acked"]);
    assert_eq!(odd.api.ack("default", &long).await, ["acked"]);
    assert!(odd.api.claim("default", &json!({})).await.is_empty());
}

both_databases!(a_clock_that_is_two_hours_off_refuses_signed_times_and_shows_it, |place| async {
    let name = "a_clock_that_is_two_hours_off_refuses_signed_times_and_shows_it";
    let Some(odd) = OddClock::on(&place, name).await else { return };
    let stripe = odd.api.endpoint("stripe").await;
    let send =
        async || stripe.send(odd.server.address(), &stripe.signed("evt_1", None)).await.expect("an answer");
    odd.jump("+7200");
    for _ in 0..3 {
        assert_eq!(send().await.expect(401)["reason"], "timestamp");
    }
    let figures = get(odd.server.address(), "/metrics").await.expect("an answer");
    let figures = String::from_utf8_lossy(&figures.body).into_owned();
    assert!(
        figures.contains(r#"restante_rejected_total{reason="timestamp_out_of_tolerance"} 3"#),
        "{figures}"
    );
    // The sender tries again when the clock is right.
    odd.jump("+0");
    assert_eq!(send().await.expect(200)["status"], "accepted");
});

both_databases!(no_date_is_too_far_for_the_server, |place| async {
    let Some(odd) = OddClock::on(&place, "no_date_is_too_far_for_the_server").await else { return };
    // 2038, when 32 bits of seconds are full, and the last second that has four digits for its year.
    for (number, moment) in ["@2038-01-19 03:14:08", "@9999-12-31 23:59:58"].into_iter().enumerate() {
        odd.jump(moment);
        odd.deliver(&format!("id-{number}")).await;
        let claimed = odd.api.claim("default", &json!({ "lease_seconds": 43_200 })).await;
        let extend = json!({ "leases": [claimed[0]["lease"]], "lease_seconds": 43_200 });
        let said = odd.api.post("/v1/consumers/default/extend", &extend).await;
        assert_eq!(said["results"][0]["status"], "extended", "{said}");
        assert_eq!(odd.api.ack("default", &claimed).await, ["acked"]);
        odd.api.get("/v1/stats?window=7d").await;
    }
    assert_eq!(odd.api.events().await.len(), 2);
    assert!(!odd.server.log().contains("panicked"), "{}", odd.server.log());
});
