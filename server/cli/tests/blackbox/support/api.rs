//! The API as the owner of a key calls it. What a test does not look at has to succeed here.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::Full;
use serde_json::{Map, Value, json};

use super::{Answer, NoAnswer, Sender, Server, send};

/// The most that one page of a list shows.
const PAGE_MAX: usize = 250;

/// A server and a key.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    address: SocketAddr,
    key: String,
}

impl Api {
    pub(super) fn new(address: SocketAddr, key: &str) -> Self {
        Self { address, key: key.to_owned() }
    }

    /// The same key at another server.
    pub(crate) fn at(&self, server: &Server) -> Self {
        server.api(&self.key)
    }

    /// The key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Sends a request; a body goes as JSON.
    pub(crate) async fn try_ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, NoAnswer> {
        let mut request =
            Request::builder().method(method).uri(path).header(AUTHORIZATION, format!("Bearer {}", self.key));
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        send(self.address, request.body(Full::new(body)).expect("a request")).await
    }

    /// The same of a server that has to answer.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.try_ask(method, path, body).await.expect("an answer")
    }

    /// Gets what has to be there.
    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ask("GET", path, None).await.expect(200)
    }

    /// Posts what has to succeed.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.ask("POST", path, Some(body)).await;
        assert!(answer.is_success(), "POST {path}: {answer:?}");
        answer.json()
    }

    /// Makes an endpoint for a provider of the catalogue that takes any text as its secret.
    pub(crate) async fn endpoint(&self, provider: &str) -> Sender {
        self.endpoint_with(provider, &Map::new()).await
    }

    /// The same with options.
    pub(crate) async fn endpoint_with(&self, provider: &str, options: &Map<String, Value>) -> Sender {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).expect("randomness");
        let secret = format!("whsec_{}", hex::encode(random));
        let asked =
            json!({ "name": "a test's", "provider": provider, "secrets": [secret], "options": options });
        let made = self.post("/v1/endpoints", &asked).await;
        Sender::new(provider, options, secret, &made)
    }

    /// Claims; gives the events.
    pub(crate) async fn claim(&self, consumer: &str, asked: &Value) -> Vec<Value> {
        let answer = self.post(&format!("/v1/consumers/{consumer}/claim"), asked).await;
        answer["events"].as_array().expect("events").clone()
    }

    /// Acks the leases of claimed events; gives what became of each.
    pub(crate) async fn ack(&self, consumer: &str, events: &[Value]) -> Vec<String> {
        let leases: Vec<&Value> = events.iter().map(|event| &event["lease"]).collect();
        let answer = self.post(&format!("/v1/consumers/{consumer}/ack"), &json!({ "leases": leases })).await;
        let results = answer["results"].as_array().expect("results");
        results.iter().map(|one| one["status"].as_str().expect("a status").to_owned()).collect()
    }

    /// Every event with its headers and bytes, the newest first.
    pub(crate) async fn events(&self) -> Vec<Value> {
        let first = format!("/v1/events?include=payload&limit={PAGE_MAX}");
        let mut found = Vec::new();
        let mut path = first.clone();
        loop {
            let page = self.get(&path).await;
            found.extend(page["data"].as_array().expect("a page").iter().cloned());
            match page["next_cursor"].as_str() {
                Some(cursor) => path = format!("{first}&cursor={cursor}"),
                None => return found,
            }
        }
    }

    /// One event with its history.
    pub(crate) async fn event(&self, id: &Value) -> Value {
        self.get(&format!("/v1/events/{}", id.as_str().expect("an id"))).await
    }

    /// The bytes of an event, as they were received.
    pub(crate) async fn payload(&self, id: &Value) -> Bytes {
        let path = format!("/v1/events/{}/payload", id.as_str().expect("an id"));
        let answer = self.ask("GET", &path, None).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}
