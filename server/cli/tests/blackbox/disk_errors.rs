//! A disk that reports an error when it is told to keep what was written. Nobody knows then what it
//! holds, so the server ends, and reads the disk anew when it is started again.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use restante_core::verify::SignedRequest;

use crate::support::sender::stripe_body;
use crate::support::{Place, Sender, Server, say_skipped};

/// Senders at the same time, so that a group waits for the disk while the one before it fails.
const SENDERS: usize = 8;
/// Events of one sender at most. Long before that many the fault has come.
const SENT_MAX: usize = 1_000;

/// Whether a process may be traced here.
pub(crate) fn may_trace() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-D", "-f", "-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
}

fn event(sender: &Sender, id: &str) -> SignedRequest {
    sender.signed(id, Some(&stripe_body(id, "a memo")))
}

/// Sends from several connections until each of them gets no 2xx any more; gives the ids that were
/// acknowledged and those that were not.
async fn send_to_the_end(server: &Server, sender: &Arc<Sender>) -> (Vec<String>, Vec<String>) {
    let address = server.address();
    let one = |name: usize| {
        let sender = Arc::clone(sender);
        tokio::spawn(async move {
            let mut acknowledged = Vec::new();
            for number in 0..SENT_MAX {
                let id = format!("evt_{name}_{number}");
                match sender.send(address, &event(&sender, &id)).await {
                    Ok(answer) if answer.is_success() => acknowledged.push(id),
                    Ok(answer) => {
                        assert_eq!(answer.status, 503, "{answer:?}");
                        return (acknowledged, id);
                    }
                    Err(_) => return (acknowledged, id),
                }
            }
            panic!("the disk never failed");
        })
    };
    let running: Vec<_> = (0..SENDERS).map(one).collect();
    let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
    for one in running {
        let (some, last) = one.await.expect("a sender");
        acknowledged.extend(some);
        refused.push(last);
    }
    (acknowledged, refused)
}

/// The `number`th call of a thread that is to keep what was written fails: of any file, or of one.
async fn ends_and_loses_nothing(file: Option<&str>, number: u32) {
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = Arc::new(api.endpoint("stripe").await);
    server.stop().await;

    let trace = place.file("trace").display().to_string();
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={number}");
    let file = file.map(|name| place.folder().join(name).display().to_string());
    // The tracer is no parent of the server, so that the server's id and end are its own.
    let mut wrapper = vec!["strace", "-D", "-f", "-o", &trace, "-e", "trace=fsync,fdatasync", "-e", &inject];
    if let Some(file) = &file {
        wrapper.extend(["-P", file]);
    }
    let mut server = Server::start_under(&place, &wrapper, &[]).await;
    let (acknowledged, refused) = send_to_the_end(&server, &sender).await;
    let status = server.ended().await;
    assert_eq!(status.code(), Some(1), "{status}");
    server.logs("The server ends here").await;
    assert!(!acknowledged.is_empty(), "it worked before");
    nothing_is_kept_after_the_fault(&fs::read_to_string(&trace).expect("a trace"));

    let server = Server::start(&place).await;
    let api = api.at(&server);
    let stored: Vec<String> = api
        .events()
        .await
        .iter()
        .map(|event| event["event_id"].as_str().expect("an id").to_owned())
        .collect();
    for id in &acknowledged {
        assert_eq!(stored.iter().filter(|stored| *stored == id).count(), 1, "{id} was acknowledged");
    }
    for id in &stored {
        assert!(acknowledged.contains(id) || refused.contains(id), "{id} was never sent");
    }
    // The retry of what got no 2xx is new, or it was stored all the same.
    for id in &refused {
        let answer = sender.send(server.address(), &event(&sender, id)).await.expect("an answer").expect(200);
        assert_eq!(answer["status"] == "duplicate", stored.contains(id), "{id}");
    }
    assert_eq!(api.events().await.len(), acknowledged.len() + refused.len());
    server.stop().await;
}

/// The thread whose call failed makes no other that succeeds: it would be for a commit after the fault.
fn nothing_is_kept_after_the_fault(trace: &str) {
    let calls: Vec<(&str, &str)> = trace.lines().filter_map(|line| line.split_once(' ')).collect();
    let failed = calls.iter().position(|(_, call)| call.contains("(INJECTED)")).expect("a fault");
    let thread = calls[failed].0;
    for (other, call) in &calls[failed + 1..] {
        assert!(*other != thread || !call.ends_with(" = 0"), "{call} came after the fault");
    }
}

/// The twentieth call of the connection that writes: some commit, a while after the start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_fsync_of_a_commit_ends_the_server_and_loses_nothing() {
    if !may_trace() {
        return say_skipped(
            "a_failed_fsync_of_a_commit_ends_the_server_and_loses_nothing",
            "no strace that may trace",
        );
    }
    ends_and_loses_nothing(None, 20).await;
}

/// The database itself is written to when the write-ahead log is copied into it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_fsync_of_a_checkpoint_ends_the_server_and_loses_nothing() {
    if !may_trace() {
        return say_skipped(
            "a_failed_fsync_of_a_checkpoint_ends_the_server_and_loses_nothing",
            "no strace that may trace",
        );
    }
    ends_and_loses_nothing(Some("restante.db"), 1).await;
}
