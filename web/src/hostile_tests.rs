//! What senders and people write, over the whole road and back on every page: it is only ever text.

use std::fs;
use std::path::{Path, PathBuf};

use restante_store::both_engines;
use serde_json::json;

use crate::parts::samples::check;
use crate::testing::{Browser, Site};

/// The secret of `TestApp::endpoint`.
const SECRET: &str = "whsec_c2VjcmV0LW9mLWEtdGVzdA";

/// What a sender would like to be run (NEG-DASH-001, -004, -005, -006).
const TRIES: [&str; 4] =
    ["<script>alert(1)</script>", "javascript:alert(1)", "{{7*7}}{% raw %}", "\"'><svg onload=alert(1)>"];

async fn page(browser: &mut Browser, path: &str) -> String {
    let got = browser.get(path).await;
    assert_eq!(got.status, 200, "{path}: {}", got.text);
    let policy = got.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    // As text it is no address that anything leads to.
    for attribute in ["href=\"javascript:", "src=\"javascript:", "action=\"javascript:"] {
        assert!(!got.text.contains(attribute), "{path}");
    }
    check(&got.text.replacen("<script src=", "", 1).replace("javascript:alert", ""));
    got.text
}

both_engines!(what_a_sender_wrote_is_text_on_every_page_that_shows_it, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let by = &tenant.by;
    let endpoint = site.a.endpoint(by, "Payments").await;
    let mut browser = site.owner("acme").await;
    for text in TRIES {
        let body =
            json!({ "id": format!("evt_{text}"), "type": text, "account": text, "data": { text: text } })
                .to_string();
        let mut request = site.a.signed(by, endpoint, SECRET, Some(body.as_bytes())).await;
        request.headers.0.push(("x-note".to_owned(), text.into()));
        let reply = site.a.receive(by, endpoint, request, "req_hostile").await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        site.a.fail_all(by, "default", text).await;
        let said: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        let event = said["id"].as_str().unwrap();
        let forged = site.a.signed(by, endpoint, "whsec_b3RoZXI", Some(body.as_bytes())).await;
        site.a.receive(by, endpoint, forged, "req_forged").await;
        site.a.app.flush_refusals().await;
        let refusal = site.a.app.refusals(by, None).await.unwrap()[0].id;
        let q = serde_urlencoded::to_string([("q", text), ("event_id", text)]).unwrap();
        let mut shown = 0;
        for path in [
            "/t/acme".to_owned(),
            "/t/acme/events".to_owned(),
            format!("/t/acme/events?{q}"),
            format!("/t/acme/events/{event}"),
            format!("/t/acme/events/{event}/payload"),
            format!("/t/acme/events/{event}/payload?view=raw"),
            format!("/t/acme/events/{event}/payload?view=hex"),
            format!("/t/acme/replays/new?event={event}"),
            "/t/acme/failures".to_owned(),
            "/t/acme/refusals".to_owned(),
            format!("/t/acme/refusals/{endpoint}/{refusal}"),
            format!("/t/acme/endpoints/{endpoint}"),
            format!("/t/acme/endpoints/new?{q}"),
            "/t/acme/consumers/default".to_owned(),
            "/t/acme/audit".to_owned(),
        ] {
            let text = page(&mut browser, &path).await;
            shown += usize::from(text.contains("alert") || text.contains("7*7"));
        }
        assert!(shown >= 6, "{text} is there to be seen: {shown}");
        site.a.t.clock.advance_seconds(1);
    }
});

both_engines!(what_is_searched_for_is_compared_as_it_is_written, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let endpoint = site.a.endpoint(&tenant.by, "Payments").await;
    site.a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
    let mut browser = site.owner("acme").await;
    let long = "x".repeat(10 * 1024);
    for text in ["'; DROP TABLE receipts; --", "%", "_", "\\", "\0", "test\0", "test_%", &long] {
        let query = serde_urlencoded::to_string([("q", text)]).unwrap();
        let got = browser.get(&format!("/t/acme/search?{query}")).await;
        assert!(matches!(got.status.as_u16(), 200 | 404), "{text:?}: {} {}", got.status, got.location());
        for name in ["event_id", "type", "provider", "consumer"] {
            let query = serde_urlencoded::to_string([(name, text)]).unwrap();
            let got = browser.get(&format!("/t/acme/events?{query}")).await;
            assert!(matches!(got.status.as_u16(), 200 | 422), "{name} {text:?}: {}", got.status);
            assert!(!got.text.contains("/t/acme/events/rcp_"), "{name} {text:?} matches nothing");
        }
    }
    assert!(browser.get("/t/acme/events").await.text.contains("/t/acme/events/rcp_"));
});

fn templates(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { templates(&path, found) } else { found.push(path) }
    }
}

/// A template without what the engine puts in place, since that is escaped for where it stands.
fn markup(source: &str) -> String {
    let mut rest = source;
    let mut markup = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        markup.push_str(before);
        let end = match after.as_bytes().first() {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => "#}",
            _ => {
                markup.push('{');
                rest = after;
                continue;
            }
        };
        rest = after.split_once(end).unwrap().1;
    }
    markup + rest
}

#[test]
fn no_template_lets_a_value_through_or_writes_an_attribute_without_quotes() {
    let mut found = Vec::new();
    templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates"), &mut found);
    assert!(found.len() > 50, "{}", found.len());
    for path in found {
        let source = fs::read_to_string(&path).unwrap();
        let name = path.display();
        for filter in ["|safe", "| safe", "|escape(\"none\")"] {
            assert!(!source.contains(filter), "{name}: {filter}");
        }
        for tag in
            markup(&source).split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0.to_owned()))
        {
            // Between quotes anything may stand.
            for outside in tag.split(['"', '\'']).step_by(2) {
                for (place, _) in outside.match_indices('=') {
                    assert_eq!(place + 1, outside.len(), "{name}: an attribute without quotes in <{tag}>");
                }
                let handler =
                    outside.split_whitespace().any(|word| word.starts_with("on") && word.ends_with('='));
                assert!(!handler, "{name}: a handler in <{tag}>");
                assert!(!outside.contains("style="), "{name}: a style in <{tag}>");
            }
        }
    }
}
