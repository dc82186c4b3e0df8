//! Tenants, keys and scopes on every route of the running server: what is another tenant's is answered
//! like what is not there, and nobody gets past a route without the key and the scope for it.

use std::collections::BTreeMap;

use http::Request;
use http_body_util::Full;
use restante_core::access::Scope;
use serde_json::{Value, json};

use crate::routes::{Route, Tenant, Things, body, names_something, routes};
use crate::support::{Answer, Api, Place, Server, send};

async fn two_tenants(place: &Place) -> (Server, Tenant, Tenant) {
    let server = Server::start(place).await;
    let alpha = Tenant::new(&server, place, "alpha").await;
    let beta = Tenant::new(&server, place, "beta").await;
    (server, alpha, beta)
}

async fn ask(api: &Api, route: &Route, things: &Things) -> Answer {
    api.ask(&route.method, &things.path(route), body(route).as_ref()).await
}

/// All that a caller sees of an answer, but for what is new in every one and what it asked for itself.
fn seen(answer: &Answer, things: &Things) -> (u16, BTreeMap<String, String>, String) {
    let headers =
        answer.headers.iter().filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), format!("{value:?}")));
    let mut said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Some(members) = said.as_object_mut() {
        assert!(members.remove("request_id").is_some(), "{answer:?}");
    }
    let mut text = said.to_string();
    for id in things.all() {
        text = text.replace(id, "…");
    }
    (answer.status, headers.collect(), text)
}

both_databases!(what_is_another_tenants_is_answered_like_what_is_not_there, |place| async {
    let (server, alpha, beta) = two_tenants(&place).await;
    let absent = alpha.things.absent();
    let routes: Vec<Route> = routes(&server).await.into_iter().filter(names_something).collect();
    assert!(routes.len() > 15, "{routes:?}");
    let before = alpha.state().await;
    for route in &routes {
        let theirs = ask(&beta.api, route, &alpha.things).await;
        let nobodys = ask(&beta.api, route, &absent).await;
        assert_eq!(theirs.status, 404, "{route:?}: {theirs:?}");
        assert_eq!(seen(&theirs, &alpha.things), seen(&nobodys, &absent), "{route:?}");
    }
    // A secret of theirs at an endpoint of one's own.
    for secret in [&alpha.things.secret, &absent.secret] {
        let path = format!("/v1/endpoints/{}/secrets/{secret}", beta.things.endpoint);
        assert_eq!(beta.api.ask("DELETE", &path, None).await.status, 404);
    }
    assert_eq!(alpha.state().await, before, "nothing of it has changed anything");

    // The owner finds all of it under the same paths. What takes things away comes last, the inner
    // before the outer.
    let takes_away = |route: &&Route| route.method == "DELETE" || route.path.ends_with("/erase");
    let (last, first): (Vec<_>, Vec<_>) = routes.iter().partition(takes_away);
    for route in first.into_iter().chain(last.into_iter().rev()) {
        let answer = ask(&alpha.api, route, &alpha.things).await;
        // There is nothing to repair, to settle or to stop.
        let waits = ["/repair", "/settle", "/cancel"].iter().any(|verb| route.path.ends_with(verb));
        // No provider is asked here: credentials are tried when they are saved.
        let is_reconciliation = route.path.contains("/reconciliation");
        assert!(
            answer.is_success()
                || (waits && answer.status == 409)
                || (is_reconciliation && [404, 409, 422].contains(&answer.status)),
            "{route:?}: {answer:?}"
        );
    }
});

both_databases!(without_a_key_no_route_tells_anything, |place| async {
    let (server, alpha, _) = two_tenants(&place).await;
    let absent = alpha.things.absent();
    let guessed = alpha.api.key().replace("rst_", "rst_0");
    for route in routes(&server).await {
        for authorization in [None, Some("Bearer"), Some("Basic YWxwaGE6"), Some(guessed.as_str())] {
            let mut answers = Vec::new();
            for things in [&alpha.things, &absent] {
                let mut request = Request::builder().method(route.method.as_str()).uri(things.path(&route));
                if let Some(value) = authorization {
                    request = request.header("authorization", value);
                }
                let request = request.body(Full::new("{rubbish".into())).expect("a request");
                let answer = send(server.address(), request).await.expect("an answer");
                assert_eq!(answer.status, 401, "{route:?}");
                assert!(answer.headers.contains_key("www-authenticate"), "{route:?}");
                answers.push(seen(&answer, things));
            }
            assert_eq!(answers[0], answers[1], "{route:?}");
        }
    }
});

both_databases!(a_key_without_the_scope_is_refused_on_every_route, |place| async {
    let (server, alpha, _) = two_tenants(&place).await;
    let absent = alpha.things.absent();
    let mut keys = BTreeMap::new();
    for scope in Scope::ALL {
        let others: Vec<_> =
            Scope::ALL.into_iter().filter(|other| *other != scope).map(Scope::as_str).collect();
        let asked = json!({ "name": "all but one", "scopes": others });
        let made = alpha.api.post("/v1/keys", &asked).await;
        keys.insert(scope.as_str(), server.api(made["key"].as_str().expect("a key")));
    }
    for route in routes(&server).await {
        let mut answers = Vec::new();
        for things in [&alpha.things, &absent] {
            let answer = ask(&keys[route.scope.as_str()], &route, things).await;
            assert_eq!(answer.expect(403)["type"], "/docs/errors/missing-scope", "{route:?}");
            answers.push(seen(&answer, things));
        }
        assert_eq!(answers[0], answers[1], "{route:?}");
    }
});

both_databases!(lists_and_figures_show_nothing_of_another_tenant, |place| async {
    let (server, alpha, beta) = two_tenants(&place).await;
    // Those of retention name nothing while nothing is due.
    let names_nothing = ["/v1/providers", "/v1/retention", "/v1/retention/preview", "/v1/retention/runs"];
    let of_a_tenant = |route: &Route| {
        route.method == "GET" && !route.path.contains('{') && !names_nothing.contains(&route.path.as_str())
    };
    let mut lists: Vec<String> = routes(&server)
        .await
        .iter()
        .filter(|route| of_a_tenant(route))
        .map(|route| route.path.clone())
        .collect();
    assert!(lists.len() >= 5, "{lists:?}");
    lists.push("/v1/events?include=payload".to_owned());
    for list in lists {
        for (own, other) in [(&alpha, &beta), (&beta, &alpha)] {
            let text = own.api.get(&list).await.to_string();
            let known = |tenant: &Tenant| tenant.words().iter().filter(|word| text.contains(**word)).count();
            assert!(known(own) > 0, "{list}: {text}");
            assert_eq!(known(other), 0, "{list}: {text}");
        }
    }
});

both_databases!(references_to_another_tenants_things_find_nothing, |place| async {
    let (_server, alpha, beta) = two_tenants(&place).await;
    let absent = alpha.things.absent();
    let (own, theirs) = (&beta.things, &alpha.things);
    for query in [format!("endpoint={}", theirs.endpoint), format!("event_id={}", alpha.event_id)] {
        assert_eq!(beta.api.get(&format!("/v1/events?{query}")).await["data"], json!([]), "{query}");
    }
    for filter in [json!({ "endpoint": theirs.endpoint }), json!({ "event_id": alpha.event_id })] {
        assert_eq!(beta.api.post("/v1/replays", &json!({ "filter": filter })).await["count"], 0, "{filter}");
    }
    let event = |verb: &str| format!("/v1/events/{}/{verb}", own.event);
    let naming = |things: &Things| {
        [
            ("/v1/replays".to_owned(), json!({ "consumer": things.consumer })),
            (event("replay"), json!({ "consumer": things.consumer })),
            (event("settle"), json!({ "consumer": things.consumer, "state": "failed" })),
        ]
    };
    for ((path, naming_theirs), (_, naming_nobodys)) in naming(theirs).into_iter().zip(naming(&absent)) {
        let found = beta.api.ask("POST", &path, Some(&naming_theirs)).await;
        let missed = beta.api.ask("POST", &path, Some(&naming_nobodys)).await;
        assert_eq!(found.status, 404, "{path}: {found:?}");
        assert_eq!(seen(&found, theirs), seen(&missed, &absent), "{path}");
    }
    let list = |things: &Things| format!("/v1/events?state=pending&consumer={}", things.consumer);
    let found = beta.api.ask("GET", &list(theirs), None).await;
    let missed = beta.api.ask("GET", &list(&absent), None).await;
    assert!(!found.is_success(), "there is no such consumer: {found:?}");
    assert_eq!(seen(&found, theirs), seen(&missed, &absent));
    // A filter by their endpoint is taken or not as one by nobody's is, and lets nothing through.
    let mut statuses = Vec::new();
    for (name, things) in [("peeks", theirs), ("misses", &absent)] {
        let filter = json!({ "endpoints": [things.endpoint] });
        let asked = json!({ "name": name, "filter": filter, "start": "beginning" });
        let answer = beta.api.ask("POST", "/v1/consumers", Some(&asked)).await;
        if answer.is_success() {
            assert!(beta.api.claim(name, &json!({ "wait_seconds": 2 })).await.is_empty());
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses[0], statuses[1]);
});

both_databases!(leases_and_cursors_of_another_tenant_are_unknown, |place| async {
    let (_server, alpha, beta) = two_tenants(&place).await;
    let claimed = alpha.api.claim("default", &json!({})).await;
    assert_eq!(claimed.len(), 1);
    for verb in ["ack", "nack", "extend"] {
        let asked = json!({ "leases": [claimed[0]["lease"]] });
        let said = beta.api.post(&format!("/v1/consumers/default/{verb}"), &asked).await;
        assert_eq!(said["results"][0]["status"], "unknown", "{verb}");
    }
    assert_eq!(alpha.api.ack("default", &claimed).await, ["acked"], "it was left alone");

    for list in ["/v1/keys?limit=1", "/v1/consumers?limit=1"] {
        let page = alpha.api.get(list).await;
        let cursor = page["next_cursor"].as_str().expect("there is more");
        let path = format!("{list}&cursor={cursor}");
        assert_eq!(beta.api.ask("GET", &path, None).await.expect(400)["type"], "/docs/errors/bad-cursor");
        alpha.api.get(&path).await;
    }
});

both_databases!(the_same_event_of_two_tenants_is_two_events, |place| async {
    let (server, alpha, beta) = two_tenants(&place).await;
    let mut ids = Vec::new();
    for tenant in [&alpha, &beta] {
        let signed = tenant.sender.signed("evt_of_both", None);
        let said = tenant.sender.send(server.address(), &signed).await.expect("an answer").expect(200);
        assert_eq!(said["status"], "accepted");
        let found = tenant.api.get("/v1/events?event_id=evt_of_both").await;
        assert_eq!((&found["data"][0]["id"], &found["data"][0]["deliveries"]), (&said["id"], &1.into()));
        ids.push(said["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    // One tenant's signature is worth nothing at the other's endpoint.
    let signed = alpha.sender.signed("evt_3", None);
    let answer = send(server.address(), beta.sender.request(&signed)).await.expect("an answer");
    assert_eq!(answer.status, 401);
});
