//! What tests of this crate and of those to its right stand on: the verbs over a fresh database, with
//! a clock that is moved by hand. It is compiled only with the feature `testing`.
#![expect(clippy::expect_used, reason = "a test that can't prepare its instance has to end there")]

use std::sync::Arc;

use restante_core::handoff::Nack;
use restante_core::id::{EndpointId, PayloadId, ReceiptId};
use restante_core::request::{HeaderList, Request};
use restante_core::seal::KeyRing;
use restante_core::secret::Secret;
use restante_core::verify::{Endpoint, Reply, SignRequest, sign};
use restante_store::testing::TestStore;
use restante_store::{Delivery, NewReceipt, SealedPayload, consumers, handoffs};

use crate::endpoints::NewEndpoint;
use crate::random::SystemRandom;
use crate::receive::{Incoming, Target};
use crate::settings::Settings;
use crate::{App, By, Setup};

/// The verbs over a database of their own, which goes when this is dropped.
pub struct TestApp {
    /// The verbs.
    pub app: App,
    /// The database and the clock.
    pub t: TestStore,
}

/// A tenant of a test, as its owner's API key with every scope acts in it.
pub struct TestTenant {
    /// The caller.
    pub by: By,
    /// The API key.
    pub api_key: Secret<String>,
}

impl TestApp {
    /// Makes a tenant.
    pub async fn tenant(&self, slug: &str) -> TestTenant {
        let password = Secret::new("correct horse battery staple".to_owned());
        let email = format!("owner@{slug}.test");
        let made = self.app.bootstrap(slug, &email, password).await.expect("a tenant");
        let principal = self.app.authenticate(made.api_key.expose()).await.expect("its key");
        let by = By { principal, request_id: Some("req_test".to_owned()) };
        TestTenant { by, api_key: made.api_key }
    }

    /// An instance with the usual settings and nothing in it.
    pub fn new(t: TestStore) -> Self {
        Self::with_settings(t, Settings::default())
    }

    /// An instance with other settings.
    pub fn with_settings(t: TestStore, settings: Settings) -> Self {
        let app = node(&t, t.store.clone(), settings);
        Self { app, t }
    }

    /// Makes an endpoint for Stripe with one secret.
    pub async fn endpoint(&self, by: &By, name: &str) -> EndpointId {
        let asked = NewEndpoint {
            name: name.to_owned(),
            provider: "stripe".to_owned(),
            secrets: vec![Secret::new("whsec_c2VjcmV0LW9mLWEtdGVzdA".to_owned())],
            options: serde_json::Map::new(),
            dedup_scope: None,
            max_body_bytes: None,
            retention: None,
            enabled: true,
        };
        self.app.create_endpoint(by, asked, None).await.expect("an endpoint").value.endpoint.id
    }

    /// Has an endpoint refuse a request with such a body, and keeps it.
    pub async fn refuse(&self, by: &By, endpoint: EndpointId, body: &'static [u8]) {
        let header = ("stripe-signature".to_owned(), bytes::Bytes::from_static(b"t=1,v1=00"));
        let request = Request {
            method: "POST".to_owned(),
            headers: HeaderList(vec![header]),
            body: bytes::Bytes::from_static(body),
            ..Request::default()
        };
        self.receive(by, endpoint, request, "req_refused").await;
        self.app.flush_refusals().await;
    }

    /// Has an endpoint receive a request.
    pub async fn receive(&self, by: &By, endpoint: EndpointId, request: Request, request_id: &str) -> Reply {
        let target = self.target(by, endpoint).await;
        let incoming = Incoming {
            request,
            received_at: self.app.clock.now(),
            request_id: request_id.to_owned(),
            trace_id: None,
            peer: None,
            held: None,
        };
        self.app.receive(&target, incoming).await
    }

    /// A request that is signed now, as the endpoint expects it but with that secret.
    pub async fn signed(&self, by: &By, endpoint: EndpointId, secret: &str, body: Option<&[u8]>) -> Request {
        let target = self.target(by, endpoint).await;
        let known = target.for_verification();
        let keys = [known.scheme.key(secret).expect("a key")];
        let asked = SignRequest { body, sample: None, id: None, event_type: None, at: self.app.clock.now() };
        sign(&Endpoint { keys: &keys, ..known }, &asked).expect("a signed request").into_request()
    }

    async fn target(&self, by: &By, endpoint: EndpointId) -> Arc<Target> {
        let url = self.app.endpoint(by, endpoint).await.expect("the endpoint").url;
        let token = url.rsplit('/').next().unwrap_or_default();
        self.app.find_endpoint(token).await.expect("a look-up").expect("a target")
    }

    /// Fails all that waits at a consumer, with the same error.
    pub async fn fail_all(&self, by: &By, consumer: &str, error: &str) {
        let tenant = by.tenant();
        let (consumer, error) = (consumer.to_owned(), error.to_owned());
        let randoms: Vec<_> = (0..100).map(|_| self.app.random.bytes()).collect();
        let work = self.app.store.write(move |conn| {
            Box::pin(async move {
                let found = consumers::by_name(conn, tenant, &consumer).await?.expect("the consumer");
                let claim = handoffs::Claim { randoms, lease_seconds: 60, handler_version: None };
                let leases = handoffs::claim(conn, &found, claim).await?.leases;
                let nacks = leases.into_iter().map(|lease| handoffs::LeaseNack {
                    token: Some(lease.token),
                    asked: Nack::Failed,
                    retry_in_seconds: None,
                    error: Some(error.clone()),
                    remote_operation_id: None,
                    random: 7,
                });
                handoffs::nack(conn, &found, nacks.collect()).await.map(|_| ())
            })
        });
        work.await.expect("failed handoffs");
    }

    /// Has an endpoint hold an event, as one that came in.
    pub async fn hold_event(&self, by: &By, endpoint: EndpointId) {
        let now = self.app.clock.now();
        let id = ReceiptId::new(now, self.app.random.bytes());
        let payload = SealedPayload {
            id: PayloadId(id.0),
            headers_sealed: vec![0; 48],
            body_sealed: vec![0; 48],
            decoded_sealed: None,
        };
        let receipt = NewReceipt {
            id,
            scope: String::new(),
            event_key: id.to_string(),
            event_id: Some(id.to_string()),
            event_type: None,
            account: None,
            api_version: None,
            livemode: None,
            occurred_at: None,
            decoder: "test/1".to_owned(),
            slice_decoded: false,
            slice_offset: 0,
            slice_length: 0,
            content_type: None,
            body_mac: vec![0; 36],
            sha256_sealed: vec![0; 80],
            ambiguous: false,
            id_unsigned: false,
            weak: String::new(),
            reason: None,
        };
        let delivery = Delivery {
            tenant: by.tenant(),
            endpoint,
            seen: None,
            provider: "test".to_owned(),
            received_at: now,
            origin: "delivery",
            compares_bodies: true,
            request_id: None,
            secret: None,
            payload,
            receipts: vec![receipt],
        };
        self.app.store.commit(delivery).await.expect("a commit");
    }

    /// Another node of the same instance: the same database and master key, nothing else in common.
    pub async fn second_node(&self) -> App {
        node(&self.t, self.t.second().await, self.app.settings.clone())
    }
}

fn node(t: &TestStore, store: restante_store::Store, settings: Settings) -> App {
    let clock = Arc::new(t.clock.clone());
    let ring = KeyRing::new(&[Secret::new([7; 32])]).expect("one master key");
    App::new(Setup { store, clock, random: Arc::new(SystemRandom), settings, master_keys: ring })
}
