//! The program as a process: started, waited for, stopped by signals, killed. It goes with the test,
//! also when the test fails; then it says what stands in its log.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::{Api, Place, http, until};

/// Lines of its log that a server shows when its test fails.
const LAST_LINES: usize = 30;
/// How endpoints' URLs begin: the same on every node and after every start, whatever the port.
pub(crate) const PUBLIC_URL: &str = "http://localhost";

/// A running server.
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
    address: SocketAddr,
}

impl Server {
    /// Starts one and waits until it can commit.
    pub(crate) async fn start(place: &Place) -> Self {
        Self::start_with(place, &[]).await
    }

    /// Starts one with variables of its own, such as `RESTANTE_FAILPOINT`.
    pub(crate) async fn start_with(place: &Place, variables: &[(&str, &str)]) -> Self {
        Self::start_under(place, &[], variables).await
    }

    /// The same, run by another program that hands its process over to it.
    pub(crate) async fn start_under(place: &Place, wrapper: &[&str], variables: &[(&str, &str)]) -> Self {
        let log = place.file("server.log");
        let file = File::create(&log).expect("a log");
        let mut command = place.command_under(wrapper);
        // The system chooses a free port, which the log tells.
        command.env("RESTANTE_LISTEN", "127.0.0.1:0").env("RESTANTE_PUBLIC_URL", PUBLIC_URL);
        command.envs(variables.iter().copied());
        command.arg("serve").stdin(Stdio::null());
        command.stdout(file.try_clone().expect("the same log")).stderr(file);
        let child = command.spawn().expect("the program starts");
        let mut server = Self { child, log, address: SocketAddr::from(([0; 4], 0)) };
        server.address = server.listens_at().await;
        until("a server that is ready", async || {
            let ready = http::get(server.address, "/readyz").await;
            ready.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await;
        server
    }

    async fn listens_at(&mut self) -> SocketAddr {
        until("a server that listens", async || {
            if let Some(status) = self.child.try_wait().expect("a child") {
                panic!("the server ended with {status} before it listened");
            }
            let log = self.log();
            let (_, rest) = log.split_once(" listens on http://")?;
            // Only a whole line holds the whole address.
            rest.split_once('\n')?.0.parse().ok()
        })
        .await
    }

    /// Where it is reached.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The API as the owner of a key sees it.
    pub(crate) fn api(&self, key: &str) -> Api {
        Api::new(self.address, key)
    }

    /// A new tenant's API, and its consumer `default`.
    pub(crate) fn tenant(&self, place: &Place, name: &str) -> Api {
        self.api(&place.bootstrap(name))
    }

    /// What it has written so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits for a text in the log.
    pub(crate) async fn logs(&self, text: &str) {
        until(text, async || self.log().contains(text).then_some(())).await;
    }

    /// SIGKILL; returns when it is gone.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// The id of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process().to_string()).status();
        assert!(sent.expect("kill starts").success(), "the server is there");
    }

    /// SIGTERM; returns at once.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        until("the server's end", async || self.child.try_wait().expect("a child")).await
    }

    /// SIGTERM, and waits for its end, which has to be a good one.
    pub(crate) async fn stop(mut self) {
        self.terminate();
        let status = self.ended().await;
        assert!(status.success(), "the server ended with {status}");
    }

    fn end(&mut self) {
        // Neither does anything to a process that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
            eprintln!("the last lines of the server at {}:\n{last}", self.address);
        }
    }
}
