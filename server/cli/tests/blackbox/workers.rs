//! The workers on a consumer's page, run as they stand there: copied out of the page, with the address and the
//! name that it filled in, and with nothing but a key beside them. Each works off what waits.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use http_body_util::Full;
use serde_json::json;

use crate::support::{Api, Place, Server, say_skipped, send, until};

const PASSWORD: &str = "correct+horse+battery+staple";
/// What waits for each worker.
const EVENTS: u64 = 3;
/// How long it may take.
const WORKER_MAX: std::time::Duration = std::time::Duration::from_secs(50);

/// A worker in a process group of its own, which goes with the test: what it started would claim on.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}

/// A server that is reached at its public address, which is what pages show.
async fn reachable(place: &Place) -> Server {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = socket.local_addr().expect("an address").to_string();
    drop(socket);
    let public = format!("http://{address}");
    Server::start_with(place, &[("RESTANTE_LISTEN", &address), ("RESTANTE_PUBLIC_URL", &public)]).await
}

async fn sign_in(server: &Server) -> String {
    let form = format!("email=owner@acme.test&password={PASSWORD}");
    let request = Request::post("/sign-in")
        .header("sec-fetch-site", "same-origin")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Full::new(Bytes::from(form)))
        .expect("a request");
    let answer = send(server.address(), request).await.expect("an answer");
    assert_eq!(answer.status, 303, "{answer:?}");
    let cookies = answer.headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    let session =
        cookies.filter_map(|cookie| cookie.split(';').next()).find(|one| one.starts_with("restante="));
    session.expect("a session").to_owned()
}

/// The worker as a person copies it from the page.
async fn copied(server: &Server, session: &str, language: &str) -> String {
    let path = format!("/t/acme/consumers/only-this?worker={language}");
    let request = Request::get(path).header(COOKIE, session).body(Full::default()).expect("a request");
    let answer = send(server.address(), request).await.expect("an answer");
    let page = String::from_utf8(answer.body.to_vec()).expect("text");
    let (_, rest) = page.split_once("aria-label=\"The worker\"><code>").expect("the worker");
    let mut text = rest.split_once("</code>").expect("its end").0.to_owned();
    for (written, meant) in [
        ("&lt;", "<"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ] {
        text = text.replace(written, meant);
    }
    text
}

async fn settled(api: &Api) -> u64 {
    let stats = api.get("/v1/stats?window=1h").await;
    let consumers = stats["consumers"].as_array().expect("consumers");
    let this = consumers.iter().find(|one| one["name"] == "only-this").expect("the consumer");
    this["processed"].as_u64().expect("a number")
}

both_databases!(each_worker_of_the_page_works_off_what_waits_as_it_was_copied, |place| async {
    let server = reachable(&place).await;
    let api = server.tenant(&place, "acme");
    api.post("/v1/consumers", &json!({ "name": "only-this" })).await;
    let key = api.post("/v1/keys", &json!({ "name": "worker", "scopes": ["events:consume"] })).await;
    let key = key["key"].as_str().expect("a key");
    let endpoint = api.endpoint("stripe").await.endpoint;
    let session = sign_in(&server).await;
    let mut done = 0;
    for (language, program, file) in
        [("curl", "bash", "worker.sh"), ("node", "node", "worker.mjs"), ("python", "python3", "worker.py")]
    {
        let probe = if language == "curl" { "curl" } else { program };
        let is_there =
            Command::new(probe).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !is_there.is_ok_and(|status| status.success()) {
            say_skipped(
                "each_worker_of_the_page_works_off_what_waits_as_it_was_copied",
                &format!("needs {probe}"),
            );
            continue;
        }
        for _ in 0..EVENTS {
            api.post(&format!("/v1/endpoints/{endpoint}/test"), &json!({})).await;
        }
        let text = copied(&server, &session, language).await;
        assert!(text.contains(&server.address().to_string()), "{text}");
        let path = place.folder().join(file);
        fs::write(&path, text).expect("a file");
        let told = place.file(language);
        let log = fs::File::create(&told).expect("a log");
        let mut command = Command::new(program);
        command
            .arg(&path)
            .env("KEY", key)
            .env_remove("HERE")
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("the same log"))
            .stdout(log);
        command.process_group(0);
        let worker = Worker(command.spawn().expect("a worker"));
        done += EVENTS;
        let ended = tokio::time::timeout(WORKER_MAX, async {
            until(&format!("the worker in {language}"), async || (settled(&api).await == done).then_some(()))
                .await;
        });
        assert!(ended.await.is_ok(), "{language}: {}", fs::read_to_string(&told).unwrap_or_default());
        drop(worker);
    }
    assert!(done > 0, "no worker could be run");
});
