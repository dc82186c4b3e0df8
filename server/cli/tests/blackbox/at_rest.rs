//! What must stand nowhere in clear: not on the disk, not in the log, not in an answer that is not for
//! it. Each secret of a run is a word that exists once; afterwards every place is searched for each of
//! them, in clear and in the usual codings.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Map, Value, json};

use crate::support::{Answer, Api, Place, Sender, Server, get, send, until};

/// A secret, and what it is.
struct Canary {
    what: &'static str,
    text: String,
}

/// Every secret of one run, and what the run left behind.
struct Run {
    place: Place,
    server: Server,
    api: Api,
    canaries: Vec<Canary>,
    /// A word that stands in clear where names do, which shows that the search finds something.
    name: String,
    /// The event that holds the payload.
    event: String,
}

fn word(what: &'static str) -> Canary {
    let mut random = [0_u8; 12];
    getrandom::fill(&mut random).expect("randomness");
    Canary { what, text: format!("canary{}", hex::encode(random)) }
}

/// A text as it may stand in a file: itself, in hex of either case, and in base 64, whose letters
/// depend on where in a longer text it begins.
fn spellings(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned(), hex::encode(text), hex::encode_upper(text)];
    for shift in 0..3 {
        let bytes = [&b"xx"[..shift], text.as_bytes()].concat();
        let coded = STANDARD_NO_PAD.encode(bytes);
        // The first and the last letters depend on the neighbours as well.
        let whole = &coded[shift * 2..coded.len() - 4];
        all.push(whole.to_owned());
        all.push(whole.replace('+', "-").replace('/', "_"));
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

impl Run {
    /// A day in the life of a server: everything that takes a secret is given one, and fails once too.
    async fn on(place: Place) -> Self {
        let name = word("a name, which is no secret");
        let password = word("the owner's password");
        let arguments =
            ["bootstrap", "--tenant", "acme", "--email", "owner@acme.test", "--password-stdin", "--json"];
        let server = Server::start_with(&place, &[("RUST_LOG", "trace")]).await;
        let made = tokio::task::block_in_place(|| place.run(&arguments, &password.text));
        let made: Value = serde_json::from_str(&made).expect("JSON");
        let key = made["api_key"].as_str().expect("a key");
        let api = server.api(key);
        let mut canaries = vec![password, Canary { what: "the first API key", text: key.to_owned() }];
        let mut new = |what| {
            let canary = word(what);
            canaries.push(Canary { what, text: canary.text.clone() });
            canary.text
        };

        let signing = new("a signing secret");
        let sender = endpoint(&api, &name.text, "github", &signing, json!({})).await;
        let token = sender.path().rsplit('/').next().expect("a token").to_owned();
        let (payload, header) = (new("a payload"), new("a header's value"));
        let (query, other_bytes) = (new("a query"), new("other bytes of a known event"));
        let (forged, forged_header) = (new("a forged payload"), new("a forged header's value"));
        let body = |text: &str| json!({ "action": "opened", "secret": text }).to_string().into_bytes();
        let first =
            deliver(&server, &sender, &sender.signed("id-1", Some(&body(&payload))), &header, &query).await;
        let event = first.expect(200)["id"].as_str().expect("an id").to_owned();
        deliver(&server, &sender, &sender.signed("id-1", Some(&body(&other_bytes))), &header, "")
            .await
            .expect(200);
        let wrong = sender.signed_by("another secret", "id-2", Some(&body(&forged)));
        deliver(&server, &sender, &wrong, &forged_header, "").await.expect(401);

        // Schemes whose secret travels with each request, and an option that is a secret.
        let static_token = new("a static token");
        let verify = json!({ "verify": { "algorithm": "token", "header": "X-Token" } });
        let by_token = endpoint(&api, "token", "custom", &static_token, verify).await;
        deliver(&server, &by_token, &by_token.signed("", Some(b"{}")), "none", "").await.expect(200);
        let basic = new("a basic password");
        let verify = json!({ "verify": { "algorithm": "basic" } });
        let by_basic = endpoint(&api, "basic", "custom", &format!("user:{basic}"), verify).await;
        deliver(&server, &by_basic, &by_basic.signed("", Some(b"{}")), "none", "").await.expect(200);
        let verify_token = new("an option that is a secret");
        let app_secret = new("a second signing secret");
        endpoint(&api, "whatsapp", "whatsapp", &app_secret, json!({ "verify_token": verify_token })).await;
        // Secrets that are pasted in a coding, whose bytes are the key.
        let in_base64 = format!("whsec_{}", STANDARD.encode(new("a key that is pasted in base 64")));
        endpoint(&api, "base64", "standard-webhooks", &in_base64, json!({})).await;
        let in_hex = hex::encode(new("a key that is pasted in hex"));
        let verify =
            json!({ "verify": { "algorithm": "hmac-sha256", "header": "X-Sig", "secret_encoding": "hex" } });
        endpoint(&api, "hex", "custom", &in_hex, verify).await;
        let added = new("an added secret");
        let path = format!("/v1/endpoints/{}/secrets", sender.endpoint);
        api.post(&path, &json!({ "secret": added })).await;

        // A key that is made with an Idempotency-Key, whose answer is kept for a day.
        let asked = json!({ "name": name.text, "scopes": ["events:read"] });
        let kept = Request::post("/v1/keys")
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .header("idempotency-key", "once");
        let kept = kept.body(Full::new(Bytes::from(asked.to_string()))).expect("a request");
        let kept = send(server.address(), kept).await.expect("an answer").json();
        canaries
            .push(Canary { what: "a second API key", text: kept["key"].as_str().expect("a key").to_owned() });

        // The event is claimed and given back, and what is wrong is said.
        let claimed = api.claim("default", &json!({ "max": 1 })).await;
        let lease = claimed[0]["lease"].as_str().expect("a lease").to_owned();
        api.post(
            "/v1/consumers/default/nack",
            &json!({ "leases": [{ "lease": lease, "outcome": "retry" }] }),
        )
        .await;
        canaries.push(Canary { what: "a lease", text: lease });
        canaries.push(Canary { what: "the token in the URL", text: token });
        Self { place, server, api, canaries, name: name.text, event }
    }

    /// Fails where one of the secrets stands in what was found at a place.
    fn none_stands_in(&self, place: &str, bytes: &[u8]) {
        for canary in &self.canaries {
            for spelling in spellings(&canary.text) {
                assert!(!holds(bytes, &spelling), "{} stands in {place} as {spelling}", canary.what);
            }
        }
    }
}

async fn endpoint(api: &Api, name: &str, provider: &str, secret: &str, options: Value) -> Sender {
    let asked = json!({ "name": name, "provider": provider, "secrets": [secret], "options": options });
    let made = api.post("/v1/endpoints", &asked).await;
    let none = Map::new();
    Sender::new(provider, options.as_object().unwrap_or(&none), secret.to_owned(), &made)
}

async fn deliver(
    server: &Server,
    sender: &Sender,
    signed: &restante_core::verify::SignedRequest,
    header: &str,
    query: &str,
) -> Answer {
    let mut request = sender.request(signed);
    request.headers_mut().insert("x-canary", header.parse().expect("a header's value"));
    if !query.is_empty() {
        *request.uri_mut() = format!("{}?q={query}", sender.path()).parse().expect("a path");
    }
    send(server.address(), request).await.expect("an answer")
}

/// Every file below a folder, except for logs, which have a test of their own.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().expect("a name").to_string_lossy().into_owned();
        if entry.is_dir() {
            files(&entry, found);
        } else if !name.starts_with("server.log") {
            found.push((name, fs::read(&entry).expect("a file")));
        }
    }
}

/// Every row of every table, as text; bytes stand there in hex.
fn rows(place: &Place) -> Vec<(String, Vec<u8>)> {
    let Some(database) = place.database() else { return Vec::new() };
    let tables = database.rows("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'");
    assert!(tables.len() > 10, "{tables:?}");
    let text = |table: &str| {
        let rows = database.rows(&format!("SELECT CAST(t AS text) FROM {table} AS t"));
        rows.concat().join("\n").into_bytes()
    };
    tables.into_iter().map(|table| (table[0].clone(), text(&table[0]))).collect()
}

both_databases!(nothing_secret_stands_on_the_disk_in_clear, |place| async {
    let mut run = Run::on(place).await;
    // Refusals are written down within a second.
    until("the refusal in the figures", async || {
        let stats = run.api.get("/v1/stats?window=1h").await;
        let counted =
            stats["endpoints"].as_array().expect("a list").iter().any(|one| one["rejected"] != json!({}));
        counted.then_some(())
    })
    .await;
    for is_running in [true, false] {
        if !is_running {
            run.server.terminate();
            assert!(run.server.ended().await.success());
        }
        let mut found = rows(&run.place);
        files(run.place.folder(), &mut found);
        for (place, bytes) in &found {
            run.none_stands_in(place, bytes);
        }
        let in_clear = found.iter().any(|(_, bytes)| holds(bytes, &run.name));
        assert!(in_clear, "the search finds what is no secret");
    }
});

both_databases!(nothing_secret_stands_in_the_log_at_any_level, |place| async {
    let run = Run::on(place).await;
    // Keys that are none, in the places where a key belongs.
    let mut canaries = Vec::new();
    for (header, shape) in
        [("authorization", "Bearer rst_"), ("authorization", "Basic "), ("cookie", "restante=")]
    {
        let canary = word("a key that is none");
        let request = Request::get("/v1/events").header(header, format!("{shape}{}", canary.text));
        let request = request.body(Full::default()).expect("a request");
        send(run.server.address(), request).await.expect("an answer").expect(401);
        canaries.push(canary);
    }
    let rubbish = word("a body that is no JSON");
    let request = Request::post("/v1/endpoints").header("authorization", format!("Bearer {}", run.api.key()));
    let request = request.header("content-type", "application/json");
    let request =
        request.body(Full::new(Bytes::from(format!("{{\"name\": {}", rubbish.text)))).expect("a request");
    send(run.server.address(), request).await.expect("an answer").expect(400);
    canaries.push(rubbish);
    let run = Run { canaries: run.canaries.into_iter().chain(canaries).collect(), ..run };
    run.server.terminate();
    run.server.logs("\"stopped\"").await;
    let log = run.server.log();
    for shown in [r#""level":"DEBUG""#, r#""message":"delivery""#, r#""message":"request""#] {
        assert!(log.contains(shown), "{shown} is in the log: {log}");
    }
    run.none_stands_in("the log", log.as_bytes());
});

both_databases!(no_answer_shows_a_secret_that_it_is_not_for, |place| async {
    let run = Run::on(place).await;
    let endpoint =
        run.api.get("/v1/endpoints?limit=1").await["data"][0]["id"].as_str().expect("an id").to_owned();
    let mut answers = Vec::new();
    for path in
        ["/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/docs/api", "/nothing", "/in/nothing"]
    {
        answers.push((path.to_owned(), get(run.server.address(), path).await.expect("an answer")));
    }
    for path in [
        "/v1/keys",
        "/v1/consumers",
        "/v1/consumers/default",
        "/v1/providers",
        "/v1/providers/github",
        "/v1/events",
        "/v1/stats?window=1h",
        "/v1/nothing",
        "/v1/events?cursor=rubbish",
    ] {
        answers.push((path.to_owned(), run.api.ask("GET", path, None).await));
    }
    // Events without the scope for payloads.
    let asked = json!({ "name": "reader", "scopes": ["events:read", "config:read"] });
    let key = run.api.post("/v1/keys", &asked).await["key"].as_str().expect("a key").to_owned();
    let reader = run.server.api(&key);
    let detail = format!("/v1/events/{}", run.event);
    for path in [detail.clone(), format!("{detail}/payload"), "/v1/events?include=payload".to_owned()] {
        let answer = reader.ask("GET", &path, None).await;
        answers.push((path, answer));
    }
    let rejected = run.api.ask("POST", "/v1/endpoints", Some(&json!({ "name": 5 }))).await;
    answers.push(("a refused endpoint".to_owned(), rejected));
    for (path, answer) in &answers {
        run.none_stands_in(path, &answer.body);
        run.none_stands_in(path, format!("{:?}", answer.headers).as_bytes());
    }
    // The URL of an endpoint is shown to who may read the configuration: it is pasted at the provider.
    let token =
        run.canaries.iter().position(|canary| canary.what == "the token in the URL").expect("a token");
    let mut run = run;
    run.canaries.remove(token);
    for path in ["/v1/endpoints".to_owned(), format!("/v1/endpoints/{endpoint}")] {
        let answer = reader.ask("GET", &path, None).await;
        assert_eq!(answer.status, 200, "{path}");
        run.none_stands_in(&path, &answer.body);
    }
    // And the payload is there for who may read it.
    let whole = run.api.event(&json!(run.event)).await.to_string();
    let payload = run.canaries.iter().find(|canary| canary.what == "a payload").expect("a payload");
    assert!(whole.contains(&payload.text));
});

postgres_alone!(no_nonce_is_drawn_twice, |place| async {
    // The same bytes again and again, before and after a start.
    let mut server = Server::start(&place).await;
    let mut api = server.tenant(&place, "acme");
    let sender = api.endpoint("github").await;
    for number in 0..60 {
        if number == 30 {
            server.stop().await;
            server = Server::start(&place).await;
            api = api.at(&server);
        }
        let signed = sender.signed(&format!("id-{number}"), Some(b"{}"));
        sender.send(server.address(), &signed).await.expect("an answer").expect(200);
    }
    // A sealed field has its nonce in the bytes from the ninth on (docs/decisions/0003-sealing.md).
    let nonces =
        |column: &str, table: &str| format!("SELECT substring({column} from 9 for 24) AS nonce FROM {table}");
    let all = [
        nonces("body_sealed", "payloads"),
        nonces("headers_sealed", "payloads"),
        nonces("sha256_sealed", "receipts"),
        nonces("secret_sealed", "endpoint_secrets"),
        nonces("token_sealed", "endpoints"),
    ]
    .join(" UNION ALL ");
    let rows = place
        .database()
        .expect("a database")
        .rows(&format!("SELECT count(*), count(DISTINCT nonce), min(length(nonce)) FROM ({all}) AS nonces"));
    assert_eq!(rows, [["182", "182", "24"]]);
});
