//! The demo's senders: each with its endpoint and secret. They sign as the provider would, and deliver
//! either straight to the verb that receives (the week that has passed) or through the socket (now).

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use restante_app::endpoints::NewEndpoint;
use restante_app::receive::Incoming;
use restante_app::{App, By};
use restante_core::catalogue::{Catalogue, Scheme};
use restante_core::limits::BODY_BYTES_CEILING_DEFAULT;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::verify::{Endpoint, SignRequest, SignedRequest, sign};
use serde_json::Value;

use super::dice::Dice;
use super::kinds::{Event, Kind, uuid};
use super::random_hex;
use crate::client::{self, Answer};
use crate::failure::Failure;

/// One sender with its endpoint.
pub(super) struct Sender {
    pub(super) kind: &'static Kind,
    pub(super) secret: String,
    pub(super) url: String,
    scheme: Scheme,
}

impl Sender {
    /// Makes the endpoint.
    pub(super) async fn set_up(app: &App, by: &By, kind: &'static Kind) -> Result<Self, Failure> {
        let provider = Catalogue::builtin()
            .get(kind.provider)
            .ok_or_else(|| Failure::new(format!("The catalogue lacks {}.", kind.provider)))?;
        let options = kind.options();
        let scheme = Scheme::compile(provider, &options)
            .map_err(|_| Failure::new(format!("The demo's options for {} are wrong.", kind.provider)))?;
        let secret = format!("{}{}", kind.secret_prefix, random_hex::<16>()?);
        let asked = NewEndpoint {
            name: kind.name.to_owned(),
            provider: kind.provider.to_owned(),
            secrets: vec![Secret::new(secret.clone())],
            options,
            dedup_scope: None,
            max_body_bytes: None,
            retention: None,
            enabled: true,
        };
        let made = app.create_endpoint(by, asked, None).await?.value.endpoint;
        Ok(Self { kind, secret, url: made.url, scheme })
    }

    /// An event as the provider signs it at a time.
    pub(super) fn sign(
        &self,
        event: &Event,
        at: Timestamp,
        dice: &mut Dice,
    ) -> Result<SignedRequest, Failure> {
        self.signed(event, at, &self.secret, dice)
    }

    /// An event as somebody signs it who does not know the secret.
    pub(super) fn forge(
        &self,
        event: &Event,
        at: Timestamp,
        dice: &mut Dice,
    ) -> Result<SignedRequest, Failure> {
        let guessed = format!("{}{}", self.kind.secret_prefix, random_hex::<16>()?);
        self.signed(event, at, &guessed, dice)
    }

    fn signed(
        &self,
        event: &Event,
        at: Timestamp,
        secret: &str,
        dice: &mut Dice,
    ) -> Result<SignedRequest, Failure> {
        let key = self.scheme.key(secret).map_err(Failure::new)?;
        let endpoint = Endpoint {
            scheme: &self.scheme,
            keys: &[key],
            url: &self.url,
            endpoint_id: "",
            dedup_scope: None,
            body_bytes_max: BODY_BYTES_CEILING_DEFAULT,
        };
        let request = SignRequest {
            body: Some(event.body.as_bytes()),
            sample: None,
            id: Some(&event.id),
            event_type: Some(event.event_type),
            at,
        };
        let mut signed = sign(&endpoint, &request).map_err(Failure::new)?;
        for (name, value) in self.kind.headers {
            let value = value.replace("$uuid", &uuid(dice));
            signed.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            signed.headers.push(((*name).to_owned(), value));
        }
        Ok(signed)
    }

    /// Delivers to the verb that receives; gives the status that the sender gets.
    pub(super) async fn deliver(
        &self,
        app: &App,
        signed: SignedRequest,
        received_at: Timestamp,
        request_id: String,
    ) -> Result<u16, Failure> {
        let token = self.url.rsplit('/').next().unwrap_or_default();
        let target = app.find_endpoint(token).await?;
        let target = target.ok_or_else(|| Failure::new("The demo's endpoint is gone."))?;
        let incoming = Incoming {
            request: signed.into_request(),
            received_at,
            request_id,
            trace_id: None,
            peer: None,
            held: None,
        };
        Ok(app.receive(&Arc::clone(&target), incoming).await.status)
    }

    /// Sends a request through the socket, and gives the answer in a few words.
    pub(super) async fn send(&self, address: SocketAddr, signed: SignedRequest) -> Result<String, Failure> {
        let method = signed.method.parse().unwrap_or(Method::POST);
        let path = self.url.find("/in/").and_then(|at| self.url.get(at..)).unwrap_or_default();
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &signed.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(signed.body)))
            .map_err(|error| Failure::new(error.to_string()))?;
        let Answer { status, body } = client::send(address, request).await?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        // Some providers are answered with another body, or with none.
        let word = body["reason"].as_str().or_else(|| body["status"].as_str()).unwrap_or("");
        Ok(format!("{} {word}", status.as_u16()).trim_end().to_owned())
    }
}
