//! Recipes as providers answer them: those of the catalogue, and of providers that are not in it yet, to
//! show that the words suffice. The answers are written after the providers' pages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::catalogue::{Catalogue, Scheme};
use crate::secret::Secret;
use crate::time::Timestamp;
use crate::verify::{EventKey, identify_unverified};

const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);
const WINDOW: Window = Window { from: Timestamp::from_seconds(1_796_000_000), to: NOW };

fn catalogue(slug: &str) -> Recipe {
    Catalogue::builtin().get(slug).unwrap().recipe().unwrap().clone()
}

fn lister(recipe: &Recipe, options: Value, credentials: &[(&str, &str)]) -> Lister {
    lister_at(recipe, None, options, credentials).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn lister_at(
    recipe: &Recipe,
    base_url: Option<&str>,
    options: Value,
    credentials: &[(&str, &str)],
) -> Result<Lister, Vec<crate::problem::FieldError>> {
    let credentials: BTreeMap<String, Secret<String>> = credentials
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
        .collect();
    Lister::new(recipe, base_url, options.as_object().unwrap(), &credentials)
}

fn url(request: &ListRequest) -> String {
    request.location.url().to_string()
}

fn header<'r>(request: &'r ListRequest, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.expose().as_str())
}

/// The key that an entry gets by the rules of its provider.
fn key(
    slug: &str,
    lister: &Lister,
    entry: &Listed,
    whole: Option<&str>,
) -> (Option<String>, String, Option<String>) {
    let provider = Catalogue::builtin().get(slug).unwrap();
    let scheme = Scheme::compile(provider, &serde_json::Map::new()).unwrap();
    let endpoint = crate::verify::Endpoint {
        scheme: &scheme,
        keys: &[],
        url: "https://restante.example/in/x",
        endpoint_id: "ep_1",
        dedup_scope: None,
        body_bytes_max: 1 << 20,
    };
    let found = identify_unverified(&endpoint, &lister.event(entry, whole).unwrap());
    let [item] = found.items.as_slice() else { panic!("{} items", found.items.len()) };
    let EventKey::Known(key) = &item.event_key else { panic!("no key: {item:?}") };
    (item.event_id.clone(), key.clone(), item.event_type.clone())
}

#[test]
fn stripe_is_asked_page_by_page_and_its_events_have_the_keys_of_its_webhooks() {
    let lister = lister(&catalogue("stripe"), json!({"account": "acct_1"}), &[("api_key", "rk_test_1 ")]);
    let first = lister.request(WINDOW, None, NOW).unwrap();
    assert_eq!(
        url(&first),
        "https://api.stripe.com/v1/events?limit=100&created%5Bgte%5D=1796000000&created%5Blte%5D=1796040000"
    );
    assert_eq!(header(&first, "authorization"), Some("Bearer rk_test_1"), "what is pasted loses its space");
    assert_eq!(header(&first, "stripe-account"), Some("acct_1"));
    let answer = r#"{"object":"list","has_more":true,"data":[{"id":"evt_2","type":"charge.succeeded","created":1796030000},
        {"id":"evt_1", "type":"charge.failed","created":1796020000}]}"#;
    let page = lister.page(&first.location, None, WINDOW, None, answer.as_bytes()).unwrap();
    assert_eq!(page.next.as_deref(), Some("c:evt_1"));
    assert_eq!(page.entries[1].at, Some(Timestamp::from_seconds(1_796_020_000)));
    assert_eq!(
        key("stripe", &lister, &page.entries[0], None),
        (Some("evt_2".to_owned()), "evt_2".to_owned(), Some("charge.succeeded".to_owned()))
    );
    let body = lister.event(&page.entries[1], None).unwrap().body;
    assert_eq!(&body[..], br#"{"id":"evt_1", "type":"charge.failed","created":1796020000}"#);
    let second = lister.request(WINDOW, page.next.as_deref(), NOW).unwrap();
    assert!(url(&second).ends_with("&starting_after=evt_1"), "{}", url(&second));
    let last =
        lister.page(&second.location, None, WINDOW, None, br#"{"has_more":false,"data":[{"id":"evt_0"}]}"#);
    assert_eq!(last.unwrap().next, None);
}

#[test]
fn types_are_asked_for_one_by_one() {
    let lister = lister(&catalogue("stripe"), json!({"types": ["a.b", "c.*"]}), &[("api_key", "k")]);
    let first = lister.request(WINDOW, None, NOW).unwrap();
    assert!(url(&first).ends_with("&types%5B%5D=a.b&types%5B%5D=c.*"), "{}", url(&first));
    assert_eq!(header(&first, "stripe-account"), None);
}

#[test]
fn github_is_read_back_to_the_window_and_its_deliveries_have_their_guid() {
    let options = json!({"owner": "o w", "repo": "r", "hook_id": 7});
    let lister = lister(&catalogue("github"), options, &[("token", "t")]);
    let first = lister.request(WINDOW, None, NOW).unwrap();
    assert_eq!(url(&first), "https://api.github.com/repos/o%20w/r/hooks/7/deliveries?per_page=100");
    assert_eq!(header(&first, "accept"), Some("application/vnd.github+json"));
    let answer = r#"[{"id":9007199254740993,"guid":"g-2","delivered_at":"2026-11-30T10:00:00Z","status_code":502,"event":"push"},
        {"id":5,"guid":"g-1","delivered_at":"2026-11-20T10:00:00Z","status_code":200,"event":"push"}]"#;
    let link =
        "<https://api.github.com/repos/o%20w/r/hooks/7/deliveries?per_page=100&cursor=v1_5>; rel=\"next\"";
    let page = lister.page(&first.location, None, WINDOW, Some(link), answer.as_bytes()).unwrap();
    assert_eq!(page.entries.len(), 1, "what lies before the window is not looked at");
    assert_eq!(page.next, None, "and ends it");
    let entry = &page.entries[0];
    assert_eq!(entry.arrived, Some(false));
    let item = |pointer: &str| entry.value(pointer);
    let fetch = lister.fetch(&item, NOW).unwrap().unwrap();
    assert!(url(&fetch).ends_with("/hooks/7/deliveries/9007199254740993"), "a number keeps its last digit");
    let again = lister.redeliver(&item, NOW).unwrap().unwrap();
    assert!(url(&again).ends_with("/deliveries/9007199254740993/attempts"));
    assert_eq!(again.method.as_str(), "POST");
    let whole = r#"{"request":{"headers":{"X-GitHub-Delivery":"g-2","X-GitHub-Event":"push","X-GitHub-Hook-ID":"7",
        "X-Hub-Signature-256":"sha256=00","content-type":"application/x-www-form-urlencoded"},"payload":{"ref":"x"}}}"#;
    let request = lister.event(entry, Some(whole)).unwrap();
    assert_eq!(&request.body[..], br#"{"ref":"x"}"#);
    assert_eq!(request.headers.first("x-github-hook-id"), Some(&b"7"[..]));
    assert_eq!(request.headers.first("x-hub-signature-256"), None, "it signs other bytes");
    assert_eq!(request.headers.first("content-type"), Some(&b"application/json"[..]));
    // The key is known before the payload is fetched.
    assert_eq!(key("github", &lister, entry, None).1, "g-2");
    assert_eq!(
        key("github", &lister, entry, Some(whole)),
        (Some("g-2".into()), "g-2".into(), Some("push".into()))
    );
}

#[test]
fn github_asks_for_what_its_place_needs() {
    let recipe = catalogue("github");
    let errors = lister_at(&recipe, None, json!({"target": "organization"}), &[("token", "t")]).unwrap_err();
    let places: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(places, ["/options/org", "/options/hook_id"]);
    let errors = lister_at(&recipe, None, json!({"target": "moon"}), &[]).unwrap_err();
    assert_eq!(errors[0].pointer, "/options/target");
    let errors = lister_at(&recipe, None, json!({"target": "app"}), &[("app_id", "1"), ("private_key", "x")])
        .unwrap_err();
    assert_eq!(errors[0].pointer, "/credentials");
    let enterprise = lister_at(
        &recipe,
        Some("https://github.acme.org/api/v3"),
        json!({"target": "organization", "org": "acme", "hook_id": "1"}),
        &[("token", "t")],
    );
    let first = enterprise.unwrap().request(WINDOW, None, NOW).unwrap();
    assert!(url(&first).starts_with("https://github.acme.org/api/v3/orgs/acme/hooks/1/deliveries?"));
}

#[test]
fn twilio_is_asked_by_the_day_and_a_message_has_the_key_of_its_callback() {
    let lister = lister(&catalogue("twilio"), json!({"account_sid": "AC1"}), &[("auth_token", "t")]);
    let first = lister.request(WINDOW, None, NOW).unwrap();
    assert_eq!(
        url(&first),
        "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json?PageSize=100&DateSent%3E=2026-11-30&DateSent%3C=2026-12-01"
    );
    assert_eq!(header(&first, "authorization"), Some("Basic QUMxOnQ="));
    let answer = r#"{"messages":[{"sid":"SM1","status":"delivered","account_sid":"AC1","from":"+1555","to":"+1556","body":"a & b",
        "date_sent":"Mon, 30 Nov 2026 05:01:45 +0000","error_code":null,"api_version":"2010-04-01"}],
        "next_page_uri":"/2010-04-01/Accounts/AC1/Messages.json?PageSize=100&Page=1&PageToken=PASM1"}"#;
    let page = lister.page(&first.location, None, WINDOW, None, answer.as_bytes()).unwrap();
    let next = lister.request(WINDOW, page.next.as_deref(), NOW).unwrap();
    assert!(
        url(&next).starts_with("https://api.twilio.com/2010-04-01/")
            && url(&next).ends_with("PageToken=PASM1")
    );
    let (id, listed, kind) = key("twilio", &lister, &page.entries[0], None);
    assert_eq!((id.as_deref(), kind.as_deref()), (Some("SM1"), Some("delivered")));
    // What Twilio posts, by the same rules.
    let provider = Catalogue::builtin().get("twilio").unwrap();
    let scheme = Scheme::compile(provider, &serde_json::Map::new()).unwrap();
    let endpoint = crate::verify::Endpoint {
        scheme: &scheme,
        keys: &[],
        url: "https://x.example/",
        endpoint_id: "ep_1",
        dedup_scope: None,
        body_bytes_max: 1 << 20,
    };
    let posted = crate::request::Request {
        method: "POST".into(),
        body: bytes::Bytes::from_static(b"SmsSid=SM1&MessageStatus=delivered&MessageSid=SM1&AccountSid=AC1"),
        ..Default::default()
    };
    let found = identify_unverified(&endpoint, &posted);
    assert_eq!(found.items[0].event_key, EventKey::Known(listed));
}

#[test]
fn shopify_is_compared_and_its_shop_can_be_no_other_place() {
    let recipe = catalogue("shopify");
    let with = |shop: &str| lister_at(&recipe, None, json!({"shop": shop}), &[("access_token", "shpat_1")]);
    let lister = with("acme.myshopify.com").unwrap();
    let first = lister.request(WINDOW, None, NOW).unwrap();
    assert!(url(&first).starts_with(
        "https://acme.myshopify.com/admin/api/2026-07/orders.json?limit=250&updated_at_min=2026-11-30T"
    ));
    assert_eq!(header(&first, "x-shopify-access-token"), Some("shpat_1"));
    let page = lister.page(
        &first.location,
        None,
        WINDOW,
        None,
        br#"{"orders":[{"id":1,"updated_at":"2026-11-30T10:00:00-05:00"}]}"#,
    );
    assert_eq!(page.unwrap().entries[0].id.as_deref(), Some("1"));
    assert_eq!(lister.filled(&recipe.compare.clone().unwrap().event_type).as_deref(), Some("orders/*"));
    for shop in ["evil.example/x", "a@b", "127.1", "a:80", ""] {
        assert!(with(shop).is_err(), "{shop}");
    }
}

/// A provider's name, recipe, options, credentials, an answer of it, and what is asked for next.
type Other =
    (&'static str, Value, Value, &'static [(&'static str, &'static str)], &'static str, Option<&'static str>);

/// Providers that are not in the catalogue yet: facts from their pages.
fn others() -> Vec<Other> {
    vec![
        (
            "square",
            json!({
                "base_url": "https://connect.squareup.com", "method": "POST", "path": "/v2/events",
                "body": {"limit": "{page_size}", "cursor": "{cursor}",
                         "query": {"filter": {"created_at": {"start_at": "{from}", "end_at": "{to}"}}}},
                "auth": {"bearer": "{access_token}"}, "time_unit": "rfc3339", "order": "newest_first",
                "reaches_seconds": 2_419_200, "page_size": 100, "next": {"token": {"at": "/cursor"}},
                "event": {"entries": "/events", "id": "/event_id", "type": "/type", "at": "/created_at", "at_unit": "rfc3339"},
                "credential": [{"name": "access_token", "title": "access token"}]
            }),
            json!({}),
            &[("access_token", "t")],
            r#"{"events":[{"event_id":"e1","type":"payment.created","created_at":"2026-11-30T10:00:00Z"}],"cursor":"next1"}"#,
            Some("c:next1"),
        ),
        (
            "paypal",
            json!({
                "base_url": "https://api-m.paypal.com", "path": "/v1/notifications/webhooks-events",
                "query": [["page_size", "{page_size}"], ["start_time", "{from}"], ["end_time", "{to}"]],
                "auth": {"bearer": "{access_token}"}, "time_unit": "rfc3339", "order": "newest_first",
                "reaches_seconds": 2_592_000, "page_size": 100, "next": {"links": {"at": "/links"}},
                "event": {"entries": "/events", "id": "/id", "type": "/event_type", "at": "/create_time", "at_unit": "rfc3339",
                          "redeliver": "/v1/notifications/webhooks-events/{item:/id}/resend"},
                "credential": [{"name": "access_token", "title": "access token"}]
            }),
            json!({}),
            &[("access_token", "t")],
            r#"{"events":[{"id":"e1","event_type":"X","create_time":"2026-11-30T10:00:00Z"}],
                "links":[{"rel":"self","href":"https://api-m.paypal.com/a"},{"rel":"next","href":"https://api-m.paypal.com/b?page=2"}]}"#,
            Some("u:https://api-m.paypal.com/b?page=2"),
        ),
        (
            "workos",
            json!({
                "base_url": "https://api.workos.com", "path": "/events",
                "query": [["limit", "{page_size}"], ["events[]", "{events}"], ["range_start", "{from}"], ["range_end", "{to}"], ["after", "{cursor}"]],
                "auth": {"bearer": "{api_key}"}, "time_unit": "rfc3339", "order": "oldest_first",
                "reaches_seconds": 2_592_000, "page_size": 100, "next": {"token": {"at": "/list_metadata/after"}},
                "event": {"entries": "/data", "id": "/id", "type": "/event", "at": "/created_at", "at_unit": "rfc3339"},
                "credential": [{"name": "api_key", "title": "API key"}],
                "option": [{"name": "events", "title": "event types", "help": "WorkOS wants them named."}]
            }),
            json!({"events": "dsync.user.created,user.created"}),
            &[("api_key", "k")],
            r#"{"data":[{"id":"event_1","event":"user.created","created_at":"2026-11-30T10:00:00.000Z"}],"list_metadata":{"after":"event_1"}}"#,
            Some("c:event_1"),
        ),
        (
            "okta",
            json!({
                "base_url": "https://{domain}", "path": "/api/v1/logs",
                "query": [["since", "{from}"], ["until", "{to}"], ["limit", "{page_size}"], ["filter", "{filter}"]],
                "auth": {"header": ["Authorization", "SSWS {api_token}"]}, "time_unit": "rfc3339", "order": "oldest_first",
                "reaches_seconds": 7_776_000, "page_size": 1_000, "next": "link_header",
                "event": {"id": "/uuid", "type": "/eventType", "at": "/published", "at_unit": "rfc3339",
                          "envelope": ["{\"data\":{\"events\":[", "]}}"]},
                "credential": [{"name": "api_token", "title": "API token"}],
                "option": [{"name": "domain", "title": "Okta domain"}, {"name": "filter", "title": "filter", "optional": true}]
            }),
            json!({"domain": "acme.okta.com"}),
            &[("api_token", "t")],
            r#"[{"uuid":"u-1","eventType":"user.session.start","published":"2026-11-30T10:00:00.000Z"}]"#,
            None,
        ),
        (
            "resend",
            json!({
                "base_url": "https://api.resend.com", "path": "/webhooks/{webhook}/events",
                "query": [["limit", "{page_size}"], ["after", "{cursor}"]],
                "auth": {"bearer": "{api_key}"}, "order": "newest_first", "reaches_seconds": 604_800, "page_size": 100,
                "next": {"last_entry": {"at": "/id", "more": "/has_more"}},
                "event": {"entries": "/data", "id": "/id", "type": "/type", "at": "/created_at", "at_unit": "rfc3339",
                          "fetch": "/webhooks/{webhook}/events/{item:/id}", "body": "/payload",
                          "headers": {"svix-id": "{item:/id}"}, "redeliver": "/webhooks/{webhook}/events/{item:/id}/replay"},
                "credential": [{"name": "api_key", "title": "API key"}],
                "option": [{"name": "webhook", "title": "webhook"}]
            }),
            json!({"webhook": "wh_1"}),
            &[("api_key", "re_1")],
            r#"{"data":[{"id":"msg_1","type":"email.sent","created_at":"2026-11-30T10:00:00Z","status":"failed"}],"has_more":true}"#,
            Some("c:msg_1"),
        ),
    ]
}

#[test]
fn the_words_say_other_providers_as_well() {
    for (name, words, options, credentials, answer, next) in others() {
        let recipe: Recipe = serde_json::from_value(words).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(recipe.faults(), [] as [String; 0], "{name}");
        let lister = lister(&recipe, options, credentials);
        let first = lister.request(WINDOW, None, NOW).unwrap();
        let link = "<https://other.example.org/x>; rel=\"self\"";
        let page = lister.page(&first.location, None, WINDOW, Some(link), answer.as_bytes()).unwrap();
        assert_eq!(page.entries.len(), 1, "{name}");
        assert!(
            page.entries[0].id.is_some()
                && page.entries[0].at.is_some()
                && page.entries[0].event_type.is_some()
        );
        assert_eq!(page.next.as_deref(), next, "{name}");
        if next.is_some() {
            let second = lister.request(WINDOW, page.next.as_deref(), NOW).unwrap();
            assert_ne!((url(&second), &second.body), (url(&first), &first.body), "{name}");
        }
        // And as TOML, as the catalogue has it.
        let value = toml::Value::try_from(&recipe).unwrap();
        assert_eq!(<Recipe as serde::Deserialize>::deserialize(value).unwrap(), recipe, "{name}");
    }
}

#[test]
fn a_body_is_filled_in_with_numbers_as_numbers_and_without_what_is_not_there() {
    let (_, words, options, credentials, _, _) = others().remove(0);
    let lister = lister(&serde_json::from_value(words).unwrap(), options, credentials);
    let body: Value =
        serde_json::from_str(&lister.request(WINDOW, None, NOW).unwrap().body.unwrap()).unwrap();
    assert_eq!(body["limit"], json!(100));
    assert!(body.get("cursor").is_none());
    assert_eq!(body["query"]["filter"]["created_at"]["end_at"], json!(NOW.to_string()));
    let body: Value =
        serde_json::from_str(&lister.request(WINDOW, Some("c:x"), NOW).unwrap().body.unwrap()).unwrap();
    assert_eq!(body["cursor"], json!("x"));
}

#[test]
fn an_element_stands_in_the_envelope_of_a_delivery() {
    let (_, words, options, credentials, answer, _) = others().remove(3);
    let lister = lister(&serde_json::from_value(words).unwrap(), options, credentials);
    let first = lister.request(WINDOW, None, NOW).unwrap();
    let page = lister.page(&first.location, None, WINDOW, None, answer.as_bytes()).unwrap();
    let body = lister.event(&page.entries[0], None).unwrap().body;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["data"]["events"][0]["uuid"], json!("u-1"));
}

#[test]
fn a_next_page_on_another_host_is_not_followed() {
    let lister = lister(&catalogue("twilio"), json!({"account_sid": "AC1"}), &[("auth_token", "t")]);
    let first = lister.request(WINDOW, None, NOW).unwrap();
    for to in ["https://evil.example.org/x", "//evil.example.org/x", "http://api.twilio.com/x"] {
        let answer = json!({"messages": [{"sid": "SM1"}], "next_page_uri": to}).to_string();
        assert!(lister.page(&first.location, None, WINDOW, None, answer.as_bytes()).is_err(), "{to}");
        assert!(lister.request(WINDOW, Some(&format!("u:{to}")), NOW).is_err(), "{to}");
    }
}

#[test]
fn what_is_no_page_is_said_so() {
    let lister = lister(&catalogue("stripe"), json!({}), &[("api_key", "k")]);
    let at = lister.request(WINDOW, None, NOW).unwrap().location;
    // More is said to follow, and there is nothing to go on from: no end, or a gap would be called looked at.
    assert!(lister.page(&at, None, WINDOW, None, br#"{"data":[],"has_more":true}"#).is_err());
    assert_eq!(lister.page(&at, None, WINDOW, None, br#"{"data":[],"has_more":false}"#).unwrap().next, None);
    let broken: [&[u8]; 7] = [
        b"",
        b"<html>",
        b"{\"data\":[{\"id\":\"e",
        b"{}",
        b"{\"data\":{}}",
        b"\xff",
        br#"{"data":[{"x":1}],"has_more":true}"#,
    ];
    for answer in broken {
        assert!(lister.page(&at, None, WINDOW, None, answer).is_err(), "{answer:?}");
    }
    let many = format!("{{\"data\":[{}0]}}", "0,".repeat(ITEMS_PER_PAGE_MAX));
    assert!(lister.page(&at, None, WINDOW, None, many.as_bytes()).is_err());
    assert!(
        lister.page(&at, None, WINDOW, None, br#"{"data":[{"x":1}],"has_more":false}"#).unwrap().entries[0]
            .id
            .is_none()
    );
}

#[test]
fn faults_of_a_recipe_are_told_when_it_is_saved() {
    let good = others().remove(2).1;
    let with = |pointer: &str, value: Value| {
        let mut words = good.clone();
        *words.pointer_mut(pointer).unwrap() = value;
        serde_json::from_value::<Recipe>(words).unwrap().faults()
    };
    assert!(with("/path", json!("events"))[0].contains("slash"));
    assert!(with("/path", json!("/{nothing}"))[0].contains("nothing"));
    assert!(with("/path", json!("/{api_key}"))[0].contains("auth alone"));
    assert!(with("/event/id", json!("id"))[0].contains("pointer"));
    assert!(with("/page_size", json!(0))[0].contains("1 to"));
    assert!(with("/next", json!("single"))[0].contains("cursor"));
    assert!(with("/query/2/1", json!("x"))[0].contains("filter by time"));
    assert!(serde_json::from_value::<Recipe>(json!({"path": "/"})).is_err());
}

#[test]
fn missing_and_unknown_values_are_told_with_their_place() {
    let errors =
        lister_at(&catalogue("stripe"), Some("http://x.y/#z"), json!({"accont": "a"}), &[("key", "x")])
            .unwrap_err();
    let places: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(places, ["/options/accont", "/credentials/key", "/credentials/api_key", "/base_url"]);
}
