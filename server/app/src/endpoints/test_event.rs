//! A test event: a sample of the provider, signed with the endpoint's own secret, sent through the
//! path that a delivery takes. Where only a public key is held nobody here can sign, so the sample
//! enters behind verification, and the answer says so.
//!
//! It is committed as deliveries are, apart from the answer that is kept under an `Idempotency-Key`. So
//! its id comes from that key: if the process ends between the two, the same request makes no second
//! event, because the unique key of events knows the first one.

use restante_core::id::{EndpointId, ReceiptId, TenantId};
use restante_core::problem::{Code, Problem};
use restante_core::seal::Place;
use restante_core::verify::{SignRequest, sample, sign};
use restante_store::StoreError;
use restante_store::control::endpoints;
use serde::{Deserialize, Serialize};

use super::read::not_found;
use crate::idempotency::Once;
use crate::receive::{Ending, Incoming, Road};
use crate::tenant_keys::unreadable;
use crate::{App, By, Made, Repeat};

/// What to send.
#[derive(Debug, Clone, Default)]
pub struct TestEvent {
    /// One of the provider's samples by its name; `None` is the first.
    pub sample: Option<String>,
    /// The event's type; `None` keeps the sample's.
    pub event_type: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestEventSent {
    /// Its receipts.
    pub receipts: Vec<ReceiptId>,
    /// Whether it was signed and verified.
    pub verified: bool,
    /// Why it wasn't.
    pub note: Option<String>,
}

impl App {
    /// Sends a test event to an endpoint. Each is an event of its own.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's; a conflict when the endpoint takes no deliveries or
    /// refuses its own signature.
    pub async fn send_test_event(
        &self,
        by: &By,
        id: EndpointId,
        asked: TestEvent,
        repeat: Option<Repeat>,
    ) -> Result<Made<TestEventSent>, StoreError> {
        let now = self.clock.now();
        let keys = self.tenant_keys(by.tenant()).await?;
        let once = Once::new(self, by, repeat, &keys, now);
        let (once, made) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let made = once.kept(conn).await?;
                    Ok((once, made))
                })
            })
            .await?;
        if let Some(made) = made {
            return Ok(made);
        }
        let number = once.bits().unwrap_or_else(|| u128::from_be_bytes(self.random.bytes()));
        let sent = self.send_test_event_as(by, id, &asked, number).await?;
        if !once.is_asked() {
            return Ok(Made { value: sent, repeated: false });
        }
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    // The same request may have come twice at once; then both get the answer of one.
                    match once.begin(conn).await? {
                        Some(made) => Ok(made),
                        None => once.keep(conn, sent).await,
                    }
                })
            })
            .await
    }

    /// Sends the test event of that number. The same number again is the same event.
    async fn send_test_event_as(
        &self,
        by: &By,
        id: EndpointId,
        asked: &TestEvent,
        number: u128,
    ) -> Result<TestEventSent, StoreError> {
        let token = self.token_of(by.tenant(), id).await?;
        let target = self.find_endpoint(&token).await?.ok_or_else(not_found)?;
        if target.gate("POST").is_some() {
            return Err(conflict(
                "The endpoint takes no events now: it is disabled, or its tenant is suspended or at a limit.",
            ));
        }
        let now = self.clock.now();
        let event_id = format!("test_{number:032x}");
        let request = SignRequest {
            body: None,
            sample: asked.sample.as_deref(),
            id: Some(&event_id),
            event_type: asked.event_type.as_deref(),
            at: now,
        };
        let endpoint = target.for_verification();
        // A sample that isn't known fails both ways; what only can't be signed fails the first one alone.
        let plain = sample(&endpoint, &request).map_err(|detail| Problem::field("/sample", detail))?;
        let (made, road, note) = match sign(&endpoint, &request) {
            Ok(signed) => (signed, Road::SignedTest { number }, None),
            Err(why) => (plain, Road::UnsignedTest { number }, Some(why)),
        };
        let incoming = Incoming {
            request: made.into_request(),
            received_at: now,
            request_id: by.request_id.clone().unwrap_or_default(),
            trace_id: None,
            peer: None,
            held: None,
        };
        match self.take(road, &target, incoming).await.ending {
            Ending::Committed(committed) => Ok(TestEventSent {
                receipts: committed.receipts.iter().map(|receipt| receipt.id).collect(),
                verified: note.is_none(),
                note,
            }),
            Ending::Rejected(rejection) => Err(conflict(&format!(
                "The endpoint refused its own test event ({}): {}",
                rejection.reason.as_str(),
                rejection.explanation
            ))),
            Ending::Handshake => {
                Err(conflict("The sample is a handshake, which is answered and not stored."))
            }
            Ending::Failed => Err(Problem::new(
                Code::Unavailable,
                "The test event could not be committed now. Try again in a few seconds.",
            )
            .into()),
        }
    }

    /// The token in the endpoint's URL.
    pub(crate) async fn token_of(&self, tenant: TenantId, id: EndpointId) -> Result<String, StoreError> {
        let row = self.store.read(move |conn| Box::pin(endpoints::get(conn, tenant, id))).await?;
        let row = row.ok_or_else(not_found)?;
        let keys = self.tenant_keys(tenant).await?;
        let place = Place::endpoint_token(id);
        let token = keys.open(&place, &row.token_sealed).map_err(|error| unreadable(&place, &error))?;
        String::from_utf8(token).map_err(|error| unreadable(&place, &error.utf8_error()))
    }
}

fn conflict(sentence: &str) -> StoreError {
    Problem::new(Code::Conflict, sentence).into()
}
