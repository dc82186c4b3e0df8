//! A test event: a sample of the provider, signed with the endpoint's own secret, sent through the
//! path that a delivery takes. Where only a public key is held nobody here can sign, so the sample
//! enters behind verification, and the answer says so.

use restante_core::id::{EndpointId, ReceiptId};
use restante_core::problem::{Code, Problem};
use restante_core::seal::Place;
use restante_core::verify::{SignRequest, sample, sign};
use restante_store::StoreError;
use restante_store::control::endpoints;

use super::read::not_found;
use crate::receive::{Ending, Incoming, Road};
use crate::tenant_keys::unreadable;
use crate::{App, By};

/// What to send.
#[derive(Debug, Clone, Default)]
pub struct TestEvent {
    /// One of the provider's samples by its name; `None` is the first.
    pub sample: Option<String>,
    /// The event's type; `None` keeps the sample's.
    pub event_type: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    ) -> Result<TestEventSent, StoreError> {
        let token = self.token_of(by, id).await?;
        let target = self.find_endpoint(&token).await?.ok_or_else(not_found)?;
        if target.gate("POST").is_some() {
            return Err(conflict(
                "The endpoint is disabled, or its tenant suspended, so it takes no events now.",
            ));
        }
        let now = self.clock.now();
        let event_id = format!("test_{:032x}", u128::from_be_bytes(self.random.bytes()));
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
            Ok(signed) => (signed, Road::SignedTest, None),
            Err(why) => (plain, Road::UnsignedTest, Some(why)),
        };
        let incoming = Incoming {
            request: made.into_request(),
            received_at: now,
            request_id: by.request_id.clone().unwrap_or_default(),
            trace_id: None,
            peer: None,
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
    async fn token_of(&self, by: &By, id: EndpointId) -> Result<String, StoreError> {
        let tenant = by.tenant();
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
