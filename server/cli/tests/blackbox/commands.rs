//! The commands as a person or a script runs them: what they print, where, and how they end.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Map, Value, json};

use crate::support::{Place, Server, until};

/// Runs a command with these variables and this standard input.
fn run(place: &Place, arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Output {
    let mut command = place.command();
    command.args(arguments).envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // A command may end before it has read all.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("an end")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What a command says that ends with this status, and says nothing on standard output.
fn refusal(said: &Output, status: i32) -> String {
    assert_eq!(said.status.code(), Some(status), "{}", text(&said.stderr));
    assert_eq!(text(&said.stdout), "");
    let sentence = text(&said.stderr);
    assert!(!sentence.trim().is_empty() && !sentence.contains("panicked"), "{sentence}");
    sentence
}

const BOOTSTRAP: [&str; 6] =
    ["bootstrap", "--tenant", "acme", "--email", "owner@acme.test", "--password-stdin"];

#[test]
fn config_prints_what_is_in_force_and_masks_secrets() {
    let place = Place::sqlite();
    let url = "postgres://me:canary-password@127.0.0.1:1/restante?password=canary-password";
    let variables = [("RESTANTE_DATABASE_URL", url), ("RESTANTE_CONNECTIONS_MAX", "77")];
    for arguments in [&["config"][..], &["config", "--json"][..]] {
        let said = run(&place, arguments, &variables, "");
        let shown = text(&said.stdout);
        assert!(
            said.status.success() && shown.contains("77") && shown.contains("RESTANTE_CONNECTIONS_MAX"),
            "{shown}"
        );
        assert!(shown.contains("postgres://me:[secret]@127.0.0.1:1/restante"), "{shown}");
        assert!(!shown.contains("canary") && !text(&said.stderr).contains("canary"), "{shown}");
    }
    // A server that can't reach it does not tell the password either.
    let said = refusal(&run(&place, &["serve", "--listen", "127.0.0.1:0"], &variables, ""), 1);
    assert!(!said.contains("canary"), "{said}");
}

both_databases!(bootstrap_makes_a_tenant_once, |place| async {
    let arguments = [&BOOTSTRAP[..], &["--json"]].concat();
    // The newline that `echo` adds is no part of the password: without it this one is too short.
    let said = run(&place, &BOOTSTRAP, &[], "elevenchars\n");
    assert!(refusal(&said, 1).contains("12"), "{}", text(&said.stderr));
    let said = run(&place, &arguments, &[], "twelve chars\n");
    assert!(said.status.success(), "{}", text(&said.stderr));
    let made: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(
        (&made["tenant"]["slug"], &made["user"]["email"]),
        (&json!("acme"), &json!("owner@acme.test"))
    );
    let key = made["api_key"].as_str().expect("a key");
    assert!(key.starts_with("rst_") && made["tenant"]["id"].is_string() && made["user"]["id"].is_string());
    for (tenant, email) in [("acme", "other@acme.test"), ("other", "owner@acme.test")] {
        let again = ["bootstrap", "--tenant", tenant, "--email", email, "--password-stdin", "--json"];
        let said = run(&place, &again, &[], "another long password");
        refusal(&said, 1);
    }
    // Beside a running server, and the key works there at once.
    let server = Server::start(&place).await;
    assert_eq!(server.api(key).get("/v1/consumers").await["data"][0]["name"], "default");
    let said = run(
        &place,
        &["bootstrap", "--tenant", "second", "--email", "owner@second.test", "--password-stdin"],
        &[],
        "a third long password",
    );
    assert!(said.status.success());
    let key = text(&said.stdout);
    assert_eq!(key.lines().count(), 1, "the key alone is the result: {key}");
    server.api(key.trim()).get("/v1/endpoints").await;
});

#[test]
fn what_bootstrap_can_not_make_is_said_and_leaves_nothing() {
    let place = Place::sqlite();
    for (tenant, email, password, status) in [
        ("Acme Ltd", "owner@acme.test", "a long password", 1),
        ("acme", "no address", "a long password", 1),
        ("acme", "owner@acme.test", "short", 1),
        ("acme", "owner@acme.test", "", 1),
        ("acme", "owner@acme.test", &"x".repeat(70_000), 2),
    ] {
        let arguments = ["bootstrap", "--tenant", tenant, "--email", email, "--password-stdin"];
        let said = refusal(&run(&place, &arguments, &[], password), status);
        assert!(password.is_empty() || !said.contains(password), "{said}");
    }
    refusal(&run(&place, &["bootstrap", "--tenant", "acme"], &[], ""), 2);
    let said = run(&place, &BOOTSTRAP, &[], "a long password");
    assert!(said.status.success(), "nothing is in its way: {}", text(&said.stderr));
}

/// What `verify` says of the request that `sign` makes with these arguments.
fn verdict(place: &Place, sign: &[&str], options: &Value) -> Value {
    let signed = run(place, &[sign, &["--json"]].concat(), &[], "");
    let signed: Value = serde_json::from_slice(&signed.stdout).expect("JSON");
    let headers = signed["headers"].as_array().expect("headers");
    let headers: Map<String, Value> = headers
        .iter()
        .map(|header| (header[0].as_str().expect("a name").to_owned(), header[1].clone()))
        .collect();
    let after = |flag: &str| sign[sign.iter().position(|word| *word == flag).expect(flag) + 1];
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    let line = json!({
        "id": "signed", "provider": after("--provider"), "secrets": [after("--secret")], "extra": options,
        "at": now.as_secs(), "method": signed["method"], "url": signed["url"], "headers": headers,
        "body": signed["body"],
    });
    let said = run(place, &["verify", "--json-lines"], &[], &format!("{line}\n"));
    serde_json::from_slice(&said.stdout).expect("a verdict")
}

both_databases!(what_sign_prints_is_accepted_for_every_provider, |place| async {
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let names: Vec<String> = api.get("/v1/providers").await["data"]
        .as_array()
        .expect("providers")
        .iter()
        .map(|one| one["name"].as_str().expect("a name").to_owned())
        .collect();
    assert!(names.len() >= 10, "{names:?}");
    let verify = json!({ "verify": {
        "algorithm": "hmac-sha256", "header": "X-Sig", "event": { "id": { "json": "/id" } },
    } });
    let mut signed_for = 0;
    for name in names {
        let options = match name.as_str() {
            "custom" => verify.clone(),
            "whatsapp" => json!({ "verify_token": "a token that Meta sends back" }),
            _ => json!({}),
        };
        let secret = "whsec_c2VjcmV0LW9mLWEtdGVzdC1vZi1zaWdu";
        let asked = json!({ "name": name, "provider": name, "secrets": [secret], "options": options });
        let made = api.ask("POST", "/v1/endpoints", Some(&asked)).await;
        if made.status == 422 {
            // It signs with a private key, of which an endpoint holds the public half alone.
            let said = run(
                &place,
                &["sign", "--provider", &name, "--secret", secret, "--url", "http://a/in/b"],
                &[],
                "",
            );
            assert!(!said.status.success(), "{name}");
            continue;
        }
        let url = made.expect(201)["url"].as_str().expect("a URL").to_owned();
        let arguments = ["sign", "--provider", &name, "--secret", secret, "--url", &url, "--id", "id_1"];
        let text_of_options = options.to_string();
        let arguments = [&arguments[..], &["--options", &text_of_options]].concat();
        let verdict = verdict(&place, &arguments, &options);
        assert_eq!(verdict["verdict"], "accept", "{name}: {verdict}");
        let said = run(&place, &arguments, &[], "");
        assert!(said.status.success(), "{name}: {}", text(&said.stderr));
        // As printed, but for the address: the public one is nobody's here.
        let command =
            text(&said.stdout).replace("http://localhost/", &format!("http://{}/", server.address()));
        let shell = |command: &str| Command::new("sh").args(["-c", command]).output().expect("a shell");
        let first = text(&shell(&command).stdout);
        let stored = api.get("/v1/events?limit=1").await;
        assert_eq!(stored["data"][0]["provider"], name.as_str(), "{first}\n{command}");
        let count = api.events().await.len();
        // The same again is known, whatever the provider is told.
        shell(&command);
        assert_eq!(api.events().await.len(), count, "{name}");
        signed_for += 1;
    }
    assert!(signed_for >= 8, "{signed_for}");
    assert!(api.events().await.iter().all(|event| event["deliveries"] == 2));
});

#[test]
fn verify_gives_every_copied_vector_its_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/vectors");
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the vectors") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = std::fs::read_to_string(path).expect("vectors");
            lines.extend(text.lines().map(str::to_owned));
        }
    }
    assert!(lines.len() > 50, "{}", lines.len());
    let place = Place::sqlite();
    let input = lines.join("\n");
    let mut child = place
        .command()
        .args(["verify", "--json-lines"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // It answers while it reads, so somebody has to write meanwhile.
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()).expect("it reads"));
    let said = child.wait_with_output().expect("an end");
    writer.join().expect("all was written");
    assert!(said.status.success());
    let said = text(&said.stdout);
    let verdicts: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(verdicts.len(), lines.len());
    for (line, verdict) in lines.iter().zip(&verdicts) {
        let vector: Value = serde_json::from_str(line).expect("a vector");
        assert_eq!(
            (&verdict["id"], &verdict["verdict"]),
            (&vector["id"], &vector["expect"]["verdict"]),
            "{verdict}"
        );
        assert_eq!(verdict["reason"], vector["expect"]["reason"], "{verdict}");
        // A line that shows its secret would show it in a log as well.
        assert!(!verdict["explanation"].to_string().is_empty());
    }
    assert!(std::fs::read_dir(place.folder()).expect("a folder").next().is_none(), "it makes no data");
}

both_databases!(healthcheck_tells_a_server_that_is_ready_from_one_that_is_not_there, |place| async {
    let server = Server::start(&place).await;
    let address = server.address().to_string();
    let ask = || run(&place, &["healthcheck"], &[("RESTANTE_LISTEN", &address)], "");
    let said = ask();
    assert_eq!((said.status.code(), text(&said.stdout).trim()), (Some(0), "ready"));
    server.stop().await;
    let sentence = refusal(&ask(), 1);
    assert!(sentence.contains(&address), "{sentence}");
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn demo_shows_its_commands_and_leaves_nothing_behind() {
    let place = Place::sqlite();
    let folders = |what: &Path| {
        let entries = std::fs::read_dir(what).expect("a folder");
        entries.flatten().filter(|entry| entry.path().is_dir()).count()
    };
    let mut command = place.command();
    let (out, err) = (place.file("out"), place.file("err"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    // Its throw-away folder is made in the system's temporary one, which is this one here.
    command.arg("demo").args(["--listen", "127.0.0.1:0"]).env("TMPDIR", place.folder());
    let mut demo = command.stdout(file(&out)).stderr(file(&err)).spawn().expect("the program starts");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    // What it introduces, and then the three kinds of requests.
    until("the demo's traffic", async || {
        let said = read(&err);
        ["a new event", "the same again", "a forged one"].iter().all(|what| said.contains(what)).then_some(())
    })
    .await;
    let introduction = read(&out);
    for line in [
        "Restante's demo runs on http://127.0.0.1:",
        "  rst_",
        "/in/",
        "/v1/consumers/default/claim",
        "restante sign",
    ] {
        assert!(introduction.contains(line), "{line}: {introduction}");
    }
    for said in ["200 accepted", "200 duplicate", "401 signature"] {
        assert!(read(&err).contains(said), "{said}: {}", read(&err));
    }
    // A command that it prints works as it stands there.
    let line =
        introduction.lines().find(|line| line.contains("/v1/stats?")).expect("the figures").trim().to_owned();
    let stats = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    let stats: Value = serde_json::from_slice(&stats.stdout).expect("JSON");
    assert_eq!(stats["endpoints"].as_array().expect("endpoints").len(), 6);
    assert_eq!(folders(place.folder()), 1);
    let sent = Command::new("kill").arg("-TERM").arg(demo.id().to_string()).status();
    assert!(sent.expect("kill starts").success());
    let status = until("the demo's end", async || demo.try_wait().expect("a child")).await;
    assert!(status.success(), "{status}: {}", read(&err));
    assert_eq!(folders(place.folder()), 0, "its folder is gone");
}
