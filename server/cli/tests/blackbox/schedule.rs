//! `restante schedule` beside a running server: the operator's way to what administrators see on the page.

use serde_json::{Value, json};

use crate::support::{Place, Server};

fn ask(place: &Place, arguments: &[&str]) -> String {
    tokio::task::block_in_place(|| place.run(&[&["schedule"], arguments].concat(), ""))
}

fn listed(place: &Place, job: &str) -> Value {
    let all: Value = serde_json::from_str(&ask(place, &["list", "--json"])).expect("JSON");
    let jobs = all["jobs"].as_array().expect("jobs");
    jobs.iter().find(|one| one["name"] == job).unwrap_or_else(|| panic!("{job} in {all}")).clone()
}

both_databases!(an_operator_looks_at_the_schedule_and_runs_pauses_and_resumes_a_job, |place| async {
    let server = Server::start(&place).await;
    server.tenant(&place, "acme");
    let job = listed(&place, "rollups");
    assert_eq!((&job["paused"], &job["running"]), (&json!(false), &json!(false)), "{job}");
    assert!(job["next_at"].is_string() && job["when"] == "each hour", "{job}");

    ask(&place, &["pause", "rollups"]);
    assert_eq!(listed(&place, "rollups")["paused"], json!(true));
    // A person's wish counts for a paused job as well, and a running server fulfils it.
    let ran: Value =
        serde_json::from_str(&ask(&place, &["run", "rollups", "--wait", "60", "--json"])).expect("JSON");
    assert_eq!((&ran["outcome"], &ran["asked_by"]), (&json!("done"), &json!("operator")), "{ran}");
    assert_eq!(ran["counts"][0], json!({ "what": "counters by the minute removed", "count": 0 }));
    let job = listed(&place, "rollups");
    assert_eq!((&job["last"]["id"], &job["paused"]), (&ran["id"], &json!(true)), "{job}");
    ask(&place, &["resume", "rollups"]);
    assert_eq!(listed(&place, "rollups")["paused"], json!(false));
    let text = ask(&place, &["list"]);
    assert!(text.contains("Remove what is no longer kept; each hour, next at"), "{text}");

    let mut command = place.command();
    command.args(["schedule", "run", "nothing"]);
    let refused = tokio::task::block_in_place(|| command.output().expect("it starts"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no such job"));
});

both_databases!(a_wish_without_a_server_is_kept_and_said_to_wait, |place| async {
    let server = Server::start(&place).await;
    server.stop().await;
    let mut command = place.command();
    command.args(["schedule", "run", "people"]);
    let asked = tokio::task::block_in_place(|| command.output().expect("it starts"));
    assert!(asked.status.success());
    assert!(String::from_utf8_lossy(&asked.stderr).contains("No server of this instance runs now"));
    assert!(listed(&place, "people")["asked_at"].is_string());
});
