//! What the tests of isolation walk over: the routes of the running server's own description with a
//! right body for each, and tenants with one thing of each kind.

use std::collections::BTreeSet;

use restante_core::access::{API_ROUTES, Access};
use serde_json::{Value, json};

use crate::support::{Api, Place, Sender, Server, get, until};

/// A route that asks for a key, with the scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) scope: String,
}

/// The routes of the description that ask for a key.
pub(crate) async fn routes(server: &Server) -> Vec<Route> {
    let document = get(server.address(), "/openapi.json").await.expect("an answer").expect(200);
    let mut found = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let scope = operation["security"][0]["key"][0].as_str();
            assert_eq!(scope.is_some(), path.starts_with("/v1/"), "{method} {path}");
            let Some(scope) = scope else { continue };
            found.insert(Route {
                method: method.to_uppercase(),
                path: path.clone(),
                scope: scope.to_owned(),
            });
        }
    }
    let table = API_ROUTES.iter().filter_map(|route| match route.access {
        Access::Key(scope) => Some(Route {
            method: route.method.to_owned(),
            path: route.path.to_owned(),
            scope: scope.to_string(),
        }),
        _ => None,
    });
    assert_eq!(found, table.collect(), "what is described is what is guarded");
    found.into_iter().collect()
}

/// Whether a part of the path names something of a tenant's. The catalogue is everybody's.
pub(crate) fn names_something(route: &Route) -> bool {
    route.path.contains('{') && !route.path.contains("/providers/{name}")
}

/// A body with which a route's request is right, so that only what the path names can be wrong.
pub(crate) fn body(route: &Route) -> Option<Value> {
    let path = route.path.as_str();
    Some(match (route.method.as_str(), path.rsplit('/').next().unwrap_or_default()) {
        ("GET" | "DELETE", _) => return None,
        ("POST", "secrets") => json!({ "secret": "whsec_of_isolation", "retire_others_in_seconds": null }),
        ("POST", "test" | "claim" | "replay" | "verify" | "cancel") => json!({}),
        ("POST", "ack" | "nack" | "extend") => json!({ "leases": ["not a lease"] }),
        ("POST", "erase") if path == "/v1/events/{id}/erase" => json!({ "reason": "asked for" }),
        ("POST", "erase") => json!({ "confirm": "alpha", "reason": "asked for" }),
        ("POST", "holds") => json!({ "reason": "a dispute" }),
        ("POST", "runs") => json!({}),
        ("PUT", "reconciliation") => json!({ "credentials": { "api_key": "rk_of_isolation" } }),
        ("POST", "preview") | ("PUT", _) => json!({ "payload_days": 20 }),
        ("POST", "repair") => json!({ "event_id": "evt_repaired" }),
        ("POST", "settle") => json!({ "consumer": "default", "state": "processed" }),
        ("PATCH", _) if path == "/v1/endpoints/{id}" => json!({ "name": "changed" }),
        ("PATCH", _) if path == "/v1/consumers/{name}" => json!({ "max_attempts": 7 }),
        ("POST", "keys") => json!({ "name": "x", "scopes": ["events:read"] }),
        ("POST", "endpoints") => json!({ "name": "x", "provider": "github", "secrets": ["a long secret"] }),
        ("POST", "consumers") => json!({ "name": "another" }),
        ("POST", "replays") => json!({ "dry_run": true }),
        other => panic!("say here with which body {other:?} is right"),
    })
}

/// A tenant, and one thing of each kind in it.
pub(crate) struct Tenant {
    pub(crate) api: Api,
    pub(crate) sender: Sender,
    pub(crate) things: Things,
    /// The id that the sender gave the event.
    pub(crate) event_id: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Things {
    pub(crate) endpoint: String,
    pub(crate) secret: String,
    pub(crate) consumer: String,
    pub(crate) event: String,
    pub(crate) key: String,
    pub(crate) refusal: String,
    pub(crate) replay: String,
    pub(crate) hold: String,
}

impl Tenant {
    pub(crate) async fn new(server: &Server, place: &Place, name: &str) -> Self {
        let api = server.tenant(place, name);
        let sender = api.endpoint("stripe").await;
        let second = json!({ "secret": "whsec_the_second_one", "retire_others_in_seconds": null });
        let secret = api.post(&format!("/v1/endpoints/{}/secrets", sender.endpoint), &second).await;
        let consumer = format!("only-{name}");
        api.post("/v1/consumers", &json!({ "name": consumer })).await;
        let key = api.post("/v1/keys", &json!({ "name": name, "scopes": ["events:read"] })).await;
        let event_id = format!("evt_of_{name}");
        let signed = sender.signed(&event_id, None);
        let event = sender.send(server.address(), &signed).await.expect("an answer").expect(200);
        let forged = sender.signed_by("whsec_of_somebody_else", "evt_forged", None);
        sender.send(server.address(), &forged).await.expect("an answer").expect(401);
        let refusals = format!("/v1/endpoints/{}/refusals", sender.endpoint);
        let refusal = until("the refusal", async || {
            api.get(&refusals).await["data"].as_array().and_then(|kept| kept.first().cloned())
        })
        .await;
        let replay = json!({ "filter": { "provider": "nobody" }, "dry_run": false });
        let replay = api.post("/v1/replays", &replay).await;
        let id = |made: &Value| made["id"].as_str().expect("an id").to_owned();
        let endpoint = sender.endpoint.clone();
        // Of another endpoint, so that the event can be erased.
        let other = api.endpoint("stripe").await.endpoint;
        let held = json!({ "endpoint": other, "reason": "a dispute" });
        let hold = api.post("/v1/retention/holds", &held).await;
        let things = Things {
            endpoint,
            secret: id(&secret),
            consumer,
            event: id(&event),
            key: id(&key),
            refusal: id(&refusal),
            replay: id(&replay),
            hold: id(&hold),
        };
        Self { api, sender, things, event_id }
    }

    /// What tells that something is this tenant's.
    pub(crate) fn words(&self) -> Vec<&str> {
        let mut words = self.things.all().to_vec();
        words.extend([self.sender.path(), &self.event_id]);
        words
    }

    /// All that can be read of a tenant's things.
    pub(crate) async fn state(&self) -> Vec<Value> {
        let Things { endpoint, event, .. } = &self.things;
        let mut state = Vec::new();
        for path in [
            "/v1/keys".to_owned(),
            "/v1/endpoints".to_owned(),
            format!("/v1/endpoints/{endpoint}"),
            "/v1/consumers".to_owned(),
            format!("/v1/events/{event}"),
            "/v1/stats?window=1h".to_owned(),
            format!("/v1/endpoints/{endpoint}/refusals"),
            "/v1/replays".to_owned(),
            "/v1/retention".to_owned(),
            "/v1/retention/holds".to_owned(),
        ] {
            state.push(self.api.get(&path).await);
        }
        // When a key was used is told to the minute, and reading uses one.
        for key in state[0]["data"].as_array_mut().expect("keys") {
            key["last_used_at"] = Value::Null;
        }
        for consumer in state[5]["consumers"].as_array_mut().expect("consumers") {
            consumer["oldest_pending_seconds"] = Value::Null;
        }
        state
    }
}

impl Things {
    /// The ids and names.
    pub(crate) fn all(&self) -> [&str; 8] {
        [
            &self.endpoint,
            &self.secret,
            &self.consumer,
            &self.event,
            &self.key,
            &self.refusal,
            &self.replay,
            &self.hold,
        ]
    }

    /// Ids of the same kinds that nothing has: the last character is another one.
    pub(crate) fn absent(&self) -> Self {
        let other = |id: &str| {
            let (rest, last) = id.split_at(id.len() - 1);
            format!("{rest}{}", if last == "0" { "1" } else { "0" })
        };
        Self {
            endpoint: other(&self.endpoint),
            secret: other(&self.secret),
            consumer: other(&self.consumer),
            event: other(&self.event),
            key: other(&self.key),
            refusal: other(&self.refusal),
            replay: other(&self.replay),
            hold: other(&self.hold),
        }
    }

    pub(crate) fn path(&self, route: &Route) -> String {
        let id = match route.path.split('/').nth(2) {
            Some("events") => &self.event,
            Some("keys") => &self.key,
            Some("replays") => &self.replay,
            Some("retention") => &self.hold,
            _ => &self.endpoint,
        };
        let path = route.path.replace("{id}", id);
        let named = if path.contains("/providers/") { "stripe" } else { &self.consumer };
        let path = path.replace("{name}", named).replace("{secret}", &self.secret);
        // No provider is asked in a test, so nobody has a run; its id is of the right form.
        let path = path.replace("{run}", &self.endpoint.replacen("ep_", "rcr_", 1));
        let path = path.replace("{refusal}", &self.refusal);
        assert!(!path.contains('{'), "say here what is named in {path}");
        path
    }
}
