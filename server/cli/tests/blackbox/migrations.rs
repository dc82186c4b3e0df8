//! The program killed while it makes its tables: the next start finishes, whatever was done by then.

use std::process::Stdio;

use crate::support::{Place, Server, say_skipped, until};

/// Every so many of the moments at which SQLite keeps what was written, a start is killed.
const EVERY: usize = 4;
/// More than a start has of such moments.
const MOMENTS_MAX: usize = 400;

/// Takes an event, as a server does whose tables are whole.
async fn works(place: &Place) {
    let server = Server::start(place).await;
    let api = server.tenant(place, "acme");
    let sender = api.endpoint("stripe").await;
    sender.send(server.address(), &sender.signed("evt_1", None)).await.expect("an answer").expect(200);
    assert_eq!(api.events().await.len(), 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_is_killed_between_or_within_migrations_is_finished_by_the_next() {
    let name = "a_start_that_is_killed_between_or_within_migrations_is_finished_by_the_next";
    if !crate::disk_errors::may_trace() {
        return say_skipped(name, "no strace that may trace");
    }
    let mut killed = 0;
    for moment in (1..MOMENTS_MAX).step_by(EVERY) {
        let place = Place::sqlite();
        let inject = format!("inject=fsync,fdatasync:signal=KILL:when={moment}");
        let wrapper = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", &inject];
        let mut command = place.command_under(&wrapper);
        // It makes the tables, says what it would serve with, and ends.
        command.args(["bootstrap", "--tenant", "early", "--email", "owner@early.test", "--password-stdin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("strace starts");
        let mut input = child.stdin.take().expect("a pipe");
        let _ = std::io::Write::write_all(&mut input, crate::support::PASSWORD.as_bytes());
        drop(input);
        let ended = tokio::task::block_in_place(|| child.wait()).expect("an end");
        works(&place).await;
        if ended.success() {
            break;
        }
        killed += 1;
    }
    assert!(killed > 2, "{killed} starts were killed, which is not the middle of anything");
}

postgres_alone!(a_start_that_is_killed_within_a_migration_is_finished_by_the_next, |place| async {
    let database = place.database().expect("a database");
    let mut other = database.session();
    // A name that a late migration makes, held by a transaction that is open: that migration waits.
    other.run("BEGIN");
    other.run("CREATE TABLE replay_jobs (n integer)");
    let mut command = place.command();
    command.env("RESTANTE_LISTEN", "127.0.0.1:0").arg("serve").stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    until("a migration that waits", async || {
        let waiting = database.rows(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        (waiting[0][0] != "0").then_some(())
    })
    .await;
    let done = database.rows("SELECT count(*) FROM _sqlx_migrations");
    assert_ne!(done[0][0], "0", "earlier migrations are done");
    child.kill().expect("it is there");
    child.wait().expect("an end");
    other.run("ROLLBACK");
    works(&place).await;
});
