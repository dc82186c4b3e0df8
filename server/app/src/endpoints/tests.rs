//! Endpoints on both engines: what is kept, what is refused, and what another tenant sees of it.

use restante_core::problem::{Code, Problem};
use restante_core::token::IngestToken;
use restante_store::both_engines;
use restante_store::control::receiving::EndpointRecord;
use serde_json::json;

use super::*;
use crate::testing::{TestApp, TestTenant};
use crate::{By, Repeat};

const CANARY: &str = "canary-of-a-secret-0123456789";
/// A public key on P-256, as SendGrid shows it.
const SENDGRID_PUBLIC_KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeygdZ44fNgoxQmTNVzWmDL5FVH+mzlZPeMw774Wcm+ETtDdwGVTI39mSyiPwjpuLAam+rd3WZ02VE+4hji/2dA==";

fn github(secret: &str) -> NewEndpoint {
    NewEndpoint {
        name: "Repositories".to_owned(),
        provider: "github".to_owned(),
        secrets: vec![Secret::new(secret.to_owned())],
        options: Map::new(),
        dedup_scope: None,
        max_body_bytes: None,
        retention: None,
        enabled: true,
    }
}

fn receipts(days: u32) -> Option<Policy> {
    Some(Policy { receipt_days: Some(days), ..Policy::default() })
}

fn secret(text: &str, retire_others: Retire) -> NewSecret {
    NewSecret { secret: Secret::new(text.to_owned()), retire_others }
}

fn problem<T: std::fmt::Debug>(result: Result<T, restante_store::StoreError>) -> Problem {
    match result.unwrap_err() {
        restante_store::StoreError::Problem(problem) => problem,
        other => panic!("a failure and no refusal: {other}"),
    }
}

fn pointers(problem: &Problem) -> Vec<&str> {
    problem.errors.iter().map(|error| error.pointer.as_str()).collect()
}

async fn made(a: &TestApp, tenant: &TestTenant) -> Endpoint {
    a.app.create_endpoint(&tenant.by, github(CANARY), None).await.unwrap().value.endpoint
}

async fn record(a: &TestApp, endpoint: &Endpoint) -> Option<EndpointRecord> {
    let token = endpoint.url.rsplit('/').next().unwrap();
    let hash = IngestToken::parse(token).unwrap().hash();
    a.app.store.endpoint_by_token_hash(&hash).await.unwrap()
}

fn repeat(body: &str) -> Option<Repeat> {
    Some(Repeat::new("key-1".to_owned(), "POST", "/v1/endpoints", body.as_bytes()))
}

both_engines!(what_was_made_is_found_by_id_in_the_list_and_by_its_token, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = made(&a, &tenant).await;
    assert!(endpoint.url.starts_with("http://127.0.0.1:8080/in/"));
    assert_eq!(endpoint.secrets[0].hint, "…6789");
    assert_eq!(a.app.endpoint(&tenant.by, endpoint.id).await.unwrap(), endpoint);
    assert_eq!(a.app.endpoints(&tenant.by, None, 50).await.unwrap(), std::slice::from_ref(&endpoint));
    let found = record(&a, &endpoint).await.unwrap();
    assert_eq!((found.tenant, found.id), (tenant.by.tenant(), endpoint.id));
    assert_eq!((found.provider.as_str(), found.enabled, found.secrets.len()), ("github", true, 1));
    assert_eq!(a.t.count("audit_log WHERE action = 'endpoint.create'").await, 1);
});

both_engines!(neither_secret_nor_token_stands_in_the_database_in_clear, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let asked = github(CANARY);
    let endpoint = a.app.create_endpoint(&tenant.by, asked, repeat("{}")).await.unwrap().value.endpoint;
    let added = secret("another-canary-of-a-secret", Retire::Never);
    a.app.add_secret(&tenant.by, endpoint.id, added, None).await.unwrap();
    let token = endpoint.url.rsplit('/').next().unwrap();
    for canary in [CANARY, "another-canary-of-a-secret", token, tenant.api_key.expose()] {
        assert!(!a.t.holds(canary).await, "{canary}");
    }
    assert!(a.t.holds("Repositories").await, "the search finds what stands in clear");
    assert!(!format!("{endpoint:?}").contains(token));
});

both_engines!(every_fault_is_named_and_nothing_is_stored_after_it, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let lines = a.t.count("audit_log").await;
    let good = || github(CANARY);
    let name = |name: &str| NewEndpoint { name: name.to_owned(), ..good() };
    let secrets = |secrets: &[&str]| NewEndpoint {
        secrets: secrets.iter().map(|secret| Secret::new((*secret).to_owned())).collect(),
        ..good()
    };
    for (asked, wanted) in [
        (name(""), vec!["/name"]),
        (name(&"a".repeat(121)), vec!["/name"]),
        (NewEndpoint { provider: "githup".to_owned(), ..good() }, vec!["/provider"]),
        (secrets(&[]), vec!["/secrets"]),
        (secrets(&["  "]), vec!["/secrets/0"]),
        (secrets(&["first-secret-1234", ""]), vec!["/secrets/1"]),
        (secrets(&[&"a".repeat(9_000)]), vec!["/secrets/0"]),
        (secrets(&["first-secret-1234"; 11]), vec!["/secrets"]),
        (NewEndpoint { max_body_bytes: Some(0), ..good() }, vec!["/max_body_bytes"]),
        (NewEndpoint { max_body_bytes: Some(1 << 40), ..good() }, vec!["/max_body_bytes"]),
        (NewEndpoint { retention: receipts(30), ..good() }, vec!["/retention/receipt_days"]),
        (NewEndpoint { max_body_bytes: Some(0), ..secrets(&[]) }, vec!["/max_body_bytes", "/secrets"]),
        (
            NewEndpoint { name: String::new(), provider: "nobody".to_owned(), ..good() },
            vec!["/name", "/provider"],
        ),
    ] {
        let refused = problem(a.app.create_endpoint(&tenant.by, asked, repeat("{}")).await);
        assert_eq!((refused.code, pointers(&refused)), (Code::Invalid, wanted), "{refused}");
        assert!(!format!("{refused:?}").contains("first-secret-1234"));
    }
    for table in ["endpoints", "endpoint_secrets", "idempotency_keys", "lookups WHERE kind = 'endpoint'"] {
        assert_eq!(a.t.count(table).await, 0, "{table}");
    }
    assert_eq!(a.t.count("audit_log").await, lines);
    let githup = NewEndpoint { provider: "githup".to_owned(), ..good() };
    assert!(problem(a.app.create_endpoint(&tenant.by, githup, None).await).detail.contains("github"));
});

both_engines!(another_tenants_endpoint_looks_absent_and_stays_as_it_is, |t| async {
    let a = TestApp::new(t);
    let (owner, other) = (a.tenant("owner").await, a.tenant("other").await);
    let endpoint = made(&a, &owner).await;
    let by = &other.by;
    let change = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    let kept = endpoint.secrets[0].id;
    let not_found = Problem::not_found("endpoint");
    assert_eq!(problem(a.app.endpoint(by, endpoint.id).await), not_found);
    assert_eq!(problem(a.app.update_endpoint(by, endpoint.id, change).await), not_found);
    assert_eq!(problem(a.app.delete_endpoint(by, endpoint.id).await), not_found);
    let new = secret("a-secret-of-a-stranger", Retire::AfterSeconds(0));
    assert_eq!(problem(a.app.add_secret(by, endpoint.id, new, None).await), not_found);
    assert_eq!(problem(a.app.delete_secret(by, endpoint.id, kept).await), not_found);
    assert!(a.app.endpoints(by, None, 50).await.unwrap().is_empty());
    assert_eq!(a.app.endpoint(&owner.by, endpoint.id).await.unwrap(), endpoint);
    // The same answer for an id that nobody has.
    let nobody = restante_core::id::EndpointId(uuid::Uuid::nil());
    assert_eq!(problem(a.app.endpoint(by, nobody).await), not_found);
});

both_engines!(a_change_merges_and_leaves_the_rest, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let mut asked = github(CANARY);
    asked.options.insert("tolerance_seconds".to_owned(), json!(60));
    asked.options.insert("public_url".to_owned(), json!("https://hooks.example.com/x"));
    let before = a.app.create_endpoint(&tenant.by, asked, None).await.unwrap().value.endpoint;
    a.t.clock.advance_seconds(10);

    let same = a.app.update_endpoint(&tenant.by, before.id, EndpointChange::default()).await.unwrap();
    assert_eq!(same.endpoint, before);
    assert_eq!(a.t.count("audit_log WHERE action = 'endpoint.update'").await, 0);

    let change = EndpointChange {
        name: Some("New".to_owned()),
        provider: Some("github".to_owned()),
        options: Some(json!({"tolerance_seconds": null}).as_object().cloned()),
        max_body_bytes: Some(Some(5)),
        enabled: Some(false),
        ..EndpointChange::default()
    };
    let after = a.app.update_endpoint(&tenant.by, before.id, change).await.unwrap().endpoint;
    let wanted = Endpoint {
        name: "New".to_owned(),
        options: json!({"public_url": "https://hooks.example.com/x"}).as_object().cloned().unwrap(),
        max_body_bytes: Some(5),
        enabled: false,
        updated_at: a.app.clock.now(),
        ..before.clone()
    };
    assert_eq!(after, wanted);
    assert_eq!(a.app.endpoint(&tenant.by, before.id).await.unwrap(), wanted);
    assert!(!record(&a, &before).await.unwrap().enabled);

    let back =
        EndpointChange { max_body_bytes: Some(None), options: Some(None), ..EndpointChange::default() };
    let after = a.app.update_endpoint(&tenant.by, before.id, back).await.unwrap().endpoint;
    assert_eq!((after.max_body_bytes, after.options.len()), (None, 0));
});

both_engines!(a_change_that_breaks_a_rule_changes_nothing, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let before = made(&a, &tenant).await;
    for (change, pointer) in [
        (EndpointChange { name: Some(String::new()), ..EndpointChange::default() }, "/name"),
        (EndpointChange { provider: Some("stripe".to_owned()), ..EndpointChange::default() }, "/provider"),
        (EndpointChange { max_body_bytes: Some(Some(0)), ..EndpointChange::default() }, "/max_body_bytes"),
        (
            EndpointChange { retention: Some(receipts(30)), ..EndpointChange::default() },
            "/retention/receipt_days",
        ),
    ] {
        let change = EndpointChange { enabled: Some(false), ..change };
        let refused = problem(a.app.update_endpoint(&tenant.by, before.id, change).await);
        assert_eq!((refused.code, pointers(&refused)), (Code::Invalid, vec![pointer]));
    }
    assert_eq!(a.app.endpoint(&tenant.by, before.id).await.unwrap(), before);
});

both_engines!(the_scope_of_an_endpoint_that_holds_an_event_stays, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = made(&a, &tenant).await;
    let scope = |scope| EndpointChange { dedup_scope: Some(scope), ..EndpointChange::default() };
    let set = a.app.update_endpoint(&tenant.by, endpoint.id, scope(Some(DedupScope::Account))).await.unwrap();
    assert_eq!(set.endpoint.dedup_scope, Some(DedupScope::Account));
    a.hold_event(&tenant.by, endpoint.id).await;
    let other = scope(Some(DedupScope::Endpoint));
    let refused = problem(a.app.update_endpoint(&tenant.by, endpoint.id, other).await);
    assert_eq!((refused.code, pointers(&refused)), (Code::Invalid, vec!["/dedup_scope"]));
    let same = scope(Some(DedupScope::Account));
    assert!(a.app.update_endpoint(&tenant.by, endpoint.id, same).await.is_ok());
    let other_field = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    assert!(a.app.update_endpoint(&tenant.by, endpoint.id, other_field).await.is_ok());
});

both_engines!(old_secrets_end_when_they_were_told_to, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = made(&a, &tenant).await;
    let hints = async || -> Vec<String> {
        let now = a.app.endpoint(&tenant.by, endpoint.id).await.unwrap();
        now.secrets.into_iter().map(|secret| secret.hint).collect()
    };
    a.t.clock.advance_seconds(1);
    let second = secret("the-second-secret-2222", Retire::AfterSeconds(86_400));
    a.app.add_secret(&tenant.by, endpoint.id, second, None).await.unwrap();
    assert_eq!(hints().await, ["…6789", "…2222"]);
    a.t.clock.advance_seconds(1);
    // Another change can't let the first one live longer than it was given.
    let third = secret("the-third-secret-3333", Retire::AfterSeconds(10 * 86_400));
    a.app.add_secret(&tenant.by, endpoint.id, third, None).await.unwrap();
    a.t.clock.advance_seconds(86_398);
    assert_eq!(hints().await.len(), 3);
    a.t.clock.advance_seconds(1);
    assert_eq!(hints().await, ["…2222", "…3333"]);
    assert_eq!(a.t.count("endpoint_secrets").await, 3);
    let live = record(&a, &endpoint).await.unwrap().secrets;
    assert_eq!(live.iter().filter(|secret| secret.is_live(a.app.clock.now())).count(), 2);
    // The next change takes away what ended.
    let fourth = secret("the-fourth-secret-4444", Retire::Never);
    a.app.add_secret(&tenant.by, endpoint.id, fourth, None).await.unwrap();
    assert_eq!(a.t.count("endpoint_secrets").await, 3);
    let fifth = secret("the-fifth-secret-5555", Retire::AfterSeconds(0));
    a.app.add_secret(&tenant.by, endpoint.id, fifth, None).await.unwrap();
    assert_eq!(hints().await, ["…5555"]);
});

both_engines!(secrets_stay_in_the_order_of_the_request, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let secrets = (0..10).map(|number| Secret::new(format!("a-good-secret-{number:04}"))).collect();
    let asked = NewEndpoint { secrets, ..github(CANARY) };
    let made = a.app.create_endpoint(&tenant.by, asked, None).await.unwrap().value.endpoint;
    let hints: Vec<String> = made.secrets.iter().map(|secret| secret.hint.clone()).collect();
    assert_eq!(hints, (0..10).map(|number| format!("…{number:04}")).collect::<Vec<_>>());
    assert_eq!(a.app.endpoint(&tenant.by, made.id).await.unwrap(), made);
});

both_engines!(an_endpoint_keeps_a_secret_and_holds_ten_at_most, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = made(&a, &tenant).await;
    let first = endpoint.secrets[0].id;
    let refused = problem(a.app.delete_secret(&tenant.by, endpoint.id, first).await);
    assert_eq!(refused.code, Code::Conflict);
    for bad in ["", "  ", &"a".repeat(9_000)] {
        let bad = secret(bad, Retire::AfterSeconds(0));
        let refused = problem(a.app.add_secret(&tenant.by, endpoint.id, bad, None).await);
        assert_eq!(pointers(&refused), ["/secret"]);
    }
    let too_long = secret("a-good-secret-1234", Retire::AfterSeconds(u32::MAX));
    let refused = problem(a.app.add_secret(&tenant.by, endpoint.id, too_long, None).await);
    assert_eq!(pointers(&refused), ["/retire_others_in_seconds"]);
    assert_eq!(a.app.endpoint(&tenant.by, endpoint.id).await.unwrap(), endpoint);

    for number in 2..=10 {
        let new = secret(&format!("a-good-secret-{number:04}"), Retire::Never);
        a.app.add_secret(&tenant.by, endpoint.id, new, None).await.unwrap();
    }
    let eleventh = secret("a-good-secret-0011", Retire::Never);
    let refused = problem(a.app.add_secret(&tenant.by, endpoint.id, eleventh, None).await);
    assert_eq!(pointers(&refused), ["/secret"]);
    a.app.delete_secret(&tenant.by, endpoint.id, first).await.unwrap();
    assert_eq!(a.app.endpoint(&tenant.by, endpoint.id).await.unwrap().secrets.len(), 9);
    let again = problem(a.app.delete_secret(&tenant.by, endpoint.id, first).await);
    assert_eq!(again, Problem::not_found("secret"));
});

both_engines!(a_deleted_endpoint_is_gone_and_its_secrets_too, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = made(&a, &tenant).await;
    a.app.delete_endpoint(&tenant.by, endpoint.id).await.unwrap();
    assert_eq!(record(&a, &endpoint).await, None);
    assert_eq!(a.t.count("endpoint_secrets").await, 0);
    assert_eq!(a.t.count("endpoints").await, 1, "its receipts still name it");
    let not_found = Problem::not_found("endpoint");
    assert_eq!(problem(a.app.endpoint(&tenant.by, endpoint.id).await), not_found);
    assert_eq!(problem(a.app.delete_endpoint(&tenant.by, endpoint.id).await), not_found);
    assert!(a.app.endpoints(&tenant.by, None, 50).await.unwrap().is_empty());
});

both_engines!(a_repeated_post_gets_the_first_answer_and_makes_nothing, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let create = async |by: &By, body: &str| a.app.create_endpoint(by, github(CANARY), repeat(body)).await;
    let first = create(&tenant.by, "{1}").await.unwrap();
    assert!(!first.repeated);
    a.t.clock.advance_seconds(24 * 3_600);
    let second = create(&tenant.by, "{1}").await.unwrap();
    assert!(second.repeated);
    assert_eq!(second.value, first.value);
    let other = problem(create(&tenant.by, "{2}").await);
    assert_eq!(other.code, Code::Invalid);
    assert_eq!(a.t.count("endpoints").await, 1);

    // A day and a second later the key is free.
    a.t.clock.advance_seconds(1);
    let third = create(&tenant.by, "{2}").await.unwrap();
    assert!(!third.repeated && third.value.endpoint.id != first.value.endpoint.id);
    assert!(create(&tenant.by, "{2}").await.unwrap().repeated);
    assert_eq!((a.t.count("endpoints").await, a.t.count("idempotency_keys").await), (2, 1));

    // Another API key of the same tenant, and another tenant, have keys of their own.
    let every = crate::api_keys::NewApiKey {
        name: "second".to_owned(),
        scopes: tenant.by.principal.scopes,
        expires_at: None,
    };
    let made = a.app.create_api_key(&tenant.by, every, None).await.unwrap().value;
    let colleague = By { principal: a.app.authenticate(made.key.expose()).await.unwrap(), request_id: None };
    assert!(!create(&colleague, "{2}").await.unwrap().repeated);
    assert!(!create(&a.tenant("other").await.by, "{2}").await.unwrap().repeated);
});

both_engines!(of_twenty_equal_posts_at_once_one_makes_something, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let other_node = a.second_node().await;
    let posts = (0..20).map(|number| {
        let app = if number % 2 == 0 { a.app.clone() } else { other_node.clone() };
        let by = tenant.by.clone();
        tokio::spawn(async move { app.create_endpoint(&by, github(CANARY), repeat("{}")).await.unwrap() })
    });
    let posts: Vec<_> = posts.collect();
    let mut answers = Vec::new();
    for post in posts {
        answers.push(post.await.unwrap());
    }
    assert_eq!(answers.iter().filter(|answer| !answer.repeated).count(), 1);
    assert!(answers.iter().all(|answer| answer.value == answers[0].value));
    assert_eq!(a.t.count("endpoints").await, 1);
    assert_eq!(a.t.count("audit_log WHERE action = 'endpoint.create'").await, 1);
});

both_engines!(pages_follow_each_other_from_the_newest_on, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.insert(0, made(&a, &tenant).await.id);
        a.t.clock.advance_seconds(1);
    }
    let mut seen = Vec::new();
    while let page @ [.., last] =
        &a.app.endpoints(&tenant.by, seen.last().map(|id: &EndpointId| id.0), 2).await.unwrap()[..]
    {
        assert!(page.len() <= 2 && page.last() == Some(last));
        seen.extend(page.iter().map(|endpoint| endpoint.id));
    }
    assert_eq!(seen, all);
});

both_engines!(every_change_tells_commits_that_something_changed, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let version = async || a.t.number("SELECT config_version FROM tenants").await;
    let before = version().await;
    let endpoint = made(&a, &tenant).await;
    let created = version().await;
    a.app.delete_endpoint(&tenant.by, endpoint.id).await.unwrap();
    assert!(before < created && created < version().await);
});

fn of_provider(provider: &restante_core::catalogue::Provider) -> NewEndpoint {
    let options = match provider.slug.as_str() {
        "custom" => json!({"verify": {
            "algorithm": "hmac-sha256", "header": "X-Signature", "event": {"id": {"json": "/id"}}
        }}),
        "whatsapp" => json!({"verify_token": "canary-of-a-verify-token"}),
        _ => json!({}),
    };
    let secret = match provider.slug.as_str() {
        "sendgrid" => SENDGRID_PUBLIC_KEY,
        _ => provider.secret_hint().1,
    };
    NewEndpoint {
        provider: provider.slug.clone(),
        options: options.as_object().cloned().unwrap(),
        secrets: vec![Secret::new(secret.to_owned())],
        ..github("")
    }
}

both_engines!(every_provider_takes_its_own_test_events, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let mut unsigned = Vec::new();
    let mut receipts = std::collections::BTreeSet::new();
    let mut sent_events = 0;
    for provider in restante_core::catalogue::Catalogue::builtin().all() {
        let made = a.app.create_endpoint(&tenant.by, of_provider(provider), None).await;
        let id = made.unwrap_or_else(|error| panic!("{}: {error}", provider.slug)).value.endpoint.id;
        for _ in 0..2 {
            let sent = a.app.send_test_event(&tenant.by, id, TestEvent::default(), None).await;
            let sent = sent.unwrap_or_else(|error| panic!("{}: {error}", provider.slug)).value;
            assert!(!sent.receipts.is_empty(), "{}", provider.slug);
            sent_events += sent.receipts.len();
            receipts.extend(sent.receipts);
            assert_eq!(sent.verified, sent.note.is_none());
            if !sent.verified && !unsigned.contains(&provider.slug.as_str()) {
                unsigned.push(provider.slug.as_str());
            }
        }
    }
    assert_eq!(unsigned, ["sendgrid"], "its endpoint holds a public key");
    assert_eq!(receipts.len(), sent_events, "each is an event of its own");
    let stored = i64::try_from(sent_events).unwrap();
    assert_eq!(a.t.count("receipts WHERE origin = 'test' AND reason IS NULL").await, stored);
    assert_eq!(a.t.count("handoffs WHERE state = 0").await, stored, "the default consumer gets them");
});

both_engines!(a_test_event_with_a_key_is_sent_once_by_every_provider, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let mut endpoints: Vec<NewEndpoint> =
        restante_core::catalogue::Catalogue::builtin().all().map(of_provider).collect();
    // A sender without ids, each of whose deliveries is an event of its own.
    endpoints.push(NewEndpoint {
        provider: "custom".to_owned(),
        options: json!({"verify": {"algorithm": "token", "header": "X-Token"}}).as_object().cloned().unwrap(),
        ..github(CANARY)
    });
    for asked in endpoints {
        let slug = asked.provider.clone();
        let id = a.app.create_endpoint(&tenant.by, asked, None).await.unwrap().value.endpoint.id;
        let send = async |body: &str| {
            let repeat = Repeat::new(id.to_string(), "POST", "/test", body.as_bytes());
            a.app.send_test_event(&tenant.by, id, TestEvent::default(), Some(repeat)).await
        };
        let before = a.t.count("receipts").await;
        let first = send("").await.unwrap_or_else(|error| panic!("{slug}: {error}"));
        let made = a.t.count("receipts").await;
        assert!(!first.repeated && made > before, "{slug}");
        let second = send("").await.unwrap();
        assert_eq!((second.repeated, &second.value), (true, &first.value), "{slug}");
        assert_eq!(problem(send("{}").await).code, Code::Invalid, "{slug}");
        // As if the process had ended between the event and its answer, and come back a while later.
        a.t.execute("DELETE FROM idempotency_keys").await;
        a.t.clock.advance_seconds(7);
        let third = send("").await.unwrap();
        assert_eq!((third.repeated, &third.value), (false, &first.value), "{slug}");
        assert!(send("").await.unwrap().repeated, "{slug}");
        assert_eq!(a.t.count("receipts").await, made, "{slug}");
    }
});

both_engines!(of_twenty_equal_test_events_at_once_one_comes_in, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let id = made(&a, &tenant).await.id;
    let sent = (0..20).map(|_| {
        let (app, by) = (a.app.clone(), tenant.by.clone());
        let repeat = Some(Repeat::new("key-1".to_owned(), "POST", "/test", b""));
        tokio::spawn(async move { app.send_test_event(&by, id, TestEvent::default(), repeat).await.unwrap() })
    });
    let mut receipts = std::collections::BTreeSet::new();
    let mut firsts = 0;
    for task in sent.collect::<Vec<_>>() {
        let made = task.await.unwrap();
        receipts.extend(made.value.receipts);
        firsts += usize::from(!made.repeated);
    }
    assert_eq!((receipts.len(), firsts, a.t.count("receipts").await), (1, 1, 1));
});

both_engines!(a_test_event_that_cannot_come_in_says_why, |t| async {
    let a = TestApp::new(t);
    let (tenant, other) = (a.tenant("acme").await, a.tenant("other").await);
    let endpoint = made(&a, &tenant).await;
    let send = async |by: &By, asked| problem(a.app.send_test_event(by, endpoint.id, asked, None).await);
    assert_eq!(send(&other.by, TestEvent::default()).await, Problem::not_found("endpoint"));
    let unknown = TestEvent { sample: Some("nothing".to_owned()), event_type: None };
    assert_eq!(pointers(&send(&tenant.by, unknown).await), ["/sample"]);
    let off = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    a.app.update_endpoint(&tenant.by, endpoint.id, off).await.unwrap();
    assert_eq!(send(&tenant.by, TestEvent::default()).await.code, Code::Conflict);
    assert_eq!(a.t.count("receipts").await, 0);
});

both_engines!(a_secret_option_is_sealed_and_shown_as_a_hint, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let whatsapp = restante_core::catalogue::Catalogue::builtin().get("whatsapp").unwrap();
    let made = a.app.create_endpoint(&tenant.by, of_provider(whatsapp), None).await.unwrap().value.endpoint;
    assert_eq!(Value::Object(made.options.clone()), json!({"verify_token": {"hint": "…oken"}}));
    assert_eq!(a.app.endpoint(&tenant.by, made.id).await.unwrap(), made);
    assert!(!a.t.holds("canary-of-a-verify-token").await);
    assert!(record(&a, &made).await.unwrap().options_sealed.is_some());

    let patch = |options: Value| EndpointChange {
        options: Some(options.as_object().cloned()),
        ..EndpointChange::default()
    };
    // What a client read and sends back would replace the secret by its hint.
    let refused = problem(a.app.update_endpoint(&tenant.by, made.id, patch(json!(made.options))).await);
    assert_eq!(pointers(&refused), ["/options/verify_token"]);
    // Another option leaves it as it is, and a new value takes its place.
    let kept = patch(json!({"public_url": "https://hooks.example.com/x"}));
    let kept = a.app.update_endpoint(&tenant.by, made.id, kept).await.unwrap().endpoint;
    assert_eq!(kept.options["verify_token"], json!({"hint": "…oken"}));
    let new = patch(json!({"verify_token": "another-canary-of-a-token-77"}));
    let new = a.app.update_endpoint(&tenant.by, made.id, new).await.unwrap().endpoint;
    assert_eq!(new.options["verify_token"], json!({"hint": "…n-77"}));
    assert!(!a.t.holds("another-canary-of-a-token-77").await);
    // A deleted endpoint keeps no sealed option either.
    a.app.delete_endpoint(&tenant.by, made.id).await.unwrap();
    assert_eq!(a.t.count("endpoints WHERE options_sealed IS NOT NULL").await, 0);
});

both_engines!(an_option_that_is_not_known_is_refused_with_null_as_with_a_value, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let asked =
        |options: Value| NewEndpoint { options: options.as_object().cloned().unwrap(), ..github(CANARY) };
    for name in ["zz", "verify", "Public_url", ""] {
        let refused = problem(a.app.create_endpoint(&tenant.by, asked(json!({ name: null })), None).await);
        assert_eq!(pointers(&refused), [format!("/options/{name}")]);
    }
    assert_eq!(a.t.count("endpoints").await, 0);
    // A known one may be null, which is as if it was left out.
    let null = json!({"public_url": null, "tolerance_seconds": null});
    let github = a.app.create_endpoint(&tenant.by, asked(null), None).await.unwrap().value.endpoint;
    assert_eq!(github.options, Map::new());

    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "separator": ",", "batch": "/all",
        "timestamp": {"entry": "t=", "unit": "ms"}, "signed": "{timestamp}.{body}",
        "event": {"id": {"json": "/id"}, "type": {"json": "/type"}}});
    let custom = NewEndpoint { provider: "custom".to_owned(), ..asked(json!({ "verify": verify })) };
    let custom = a.app.create_endpoint(&tenant.by, custom, None).await.unwrap().value.endpoint;
    let change = async |id, options: Value| {
        let options = Some(options.as_object().cloned());
        let change = EndpointChange { options, ..EndpointChange::default() };
        a.app.update_endpoint(&tenant.by, id, change).await
    };
    for (id, options, at) in [
        (github.id, json!({"zz": null}), "/zz"),
        (github.id, json!({"public_url": null, "zz": null}), "/zz"),
        (github.id, json!({"public_url": "https://a.example/", "zz": null}), "/zz"),
        (github.id, json!({"verify": null}), "/verify"),
        (custom.id, json!({"zz": null}), "/zz"),
        (custom.id, json!({"verify": {"zz": null}}), "/verify/zz"),
        (custom.id, json!({"verify": {"Batch": null}}), "/verify/Batch"),
        (custom.id, json!({"verify": {"timestamp": {"zz": null}}}), "/verify/timestamp/zz"),
        (custom.id, json!({"verify": {"event": {"ident": null}}}), "/verify/event/ident"),
        (custom.id, json!({"verify": {"event": {"id": {"jsn": null}}}}), "/verify/event/id/jsn"),
        (custom.id, json!({"verify": {"event": {"id": {"unit": null}}}}), "/verify/event/id/unit"),
        (
            custom.id,
            json!({"verify": {"event": {"occurred_at": {"zz": null}}}}),
            "/verify/event/occurred_at/zz",
        ),
    ] {
        let refused = problem(change(id, options.clone()).await);
        assert!(pointers(&refused).contains(&format!("/options{at}").as_str()), "{options}: {refused:?}");
    }
    for (endpoint, wanted) in [(&github, json!({})), (&custom, json!({ "verify": verify }))] {
        let now = a.app.endpoint(&tenant.by, endpoint.id).await.unwrap();
        assert_eq!((Value::Object(now.options), now.updated_at), (wanted, endpoint.updated_at));
    }

    // What is known goes, and what is known and isn't there does no harm.
    let patch = json!({"tolerance_seconds": null, "verify": {"batch": null, "compressed_body": null,
        "timestamp": {"unit": null, "json": null}, "event": {"account": null, "type": null,
        "id": {"json": null, "header": "X-Id"}}}});
    let now = change(custom.id, patch).await.unwrap().endpoint;
    let left = json!({"verify": {"algorithm": "hmac-sha256", "header": "X-Sig", "separator": ",",
        "timestamp": {"entry": "t="}, "signed": "{timestamp}.{body}", "event": {"id": {"header": "X-Id"}}}});
    assert_eq!(Value::Object(now.options), left);
});

both_engines!(options_that_leave_a_secret_unusable_are_refused, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let custom = restante_core::catalogue::Catalogue::builtin().get("custom").unwrap();
    let made = a.app.create_endpoint(&tenant.by, of_provider(custom), None).await.unwrap().value.endpoint;
    let hex = EndpointChange {
        options: Some(json!({"verify": {"secret_encoding": "hex"}}).as_object().cloned()),
        ..EndpointChange::default()
    };
    let refused = problem(a.app.update_endpoint(&tenant.by, made.id, hex).await);
    assert_eq!(pointers(&refused), ["/options"]);
    assert!(refused.detail.contains("…text"), "{refused}");
    assert!(!refused.detail.contains("a-long-random-text"));
    assert_eq!(a.app.endpoint(&tenant.by, made.id).await.unwrap(), made);
    let wrong = EndpointChange {
        options: Some(json!({"verify": {"header": "X Signature"}}).as_object().cloned()),
        ..EndpointChange::default()
    };
    let refused = problem(a.app.update_endpoint(&tenant.by, made.id, wrong).await);
    assert_eq!(pointers(&refused), ["/options/verify/header"]);
});

both_engines!(an_endpoint_without_a_secret_waits_for_it_disabled, |t| async {
    let a = TestApp::new(t);
    let by = a.tenant("acme").await.by;
    let asked = NewEndpoint { secrets: Vec::new(), enabled: false, ..github("") };
    let made = a.app.create_endpoint(&by, asked, None).await.unwrap().value.endpoint;
    assert!(!made.enabled && made.secrets.is_empty());
    let enable = || EndpointChange { enabled: Some(true), ..EndpointChange::default() };
    let refused = a.app.update_endpoint(&by, made.id, enable()).await.unwrap_err().into_problem();
    assert_eq!(refused.errors[0].pointer, "/enabled");
    let secret = NewSecret {
        secret: Secret::new("a secret that came later".to_owned()),
        retire_others: Retire::Never,
    };
    a.app.add_secret(&by, made.id, secret, None).await.unwrap();
    assert!(a.app.update_endpoint(&by, made.id, enable()).await.unwrap().endpoint.enabled);
    let at_once = NewEndpoint { secrets: Vec::new(), ..github("") };
    assert!(a.app.create_endpoint(&by, at_once, None).await.is_err());
});
