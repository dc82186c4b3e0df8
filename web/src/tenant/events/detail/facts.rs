//! What is known of an event, in words.

use restante_app::events::{EventDetail, PayloadState};
use restante_core::time::Timestamp;

use crate::parts::alien::Alien;
use crate::parts::amount::bytes;
use crate::parts::moment::{Moment, exact};
use crate::parts::shell::Shell;

/// What is known of an event.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) event_id: Option<Alien>,
    pub(super) receipt: String,
    pub(super) endpoint: String,
    pub(super) endpoint_href: String,
    pub(super) provider: String,
    pub(super) account: Option<Alien>,
    pub(super) api_version: Option<Alien>,
    pub(super) livemode: Option<&'static str>,
    pub(super) received: Moment,
    pub(super) received_exact: String,
    pub(super) occurred: Option<Moment>,
    pub(super) deliveries: u64,
    pub(super) size: String,
    pub(super) content_type: Option<Alien>,
    pub(super) sha256: Option<String>,
    pub(super) weak: Vec<&'static str>,
    pub(super) decoder: String,
    pub(super) payload: Option<&'static str>,
}

impl Facts {
    /// Of an event that came first by the endpoint of this name.
    pub(super) fn new(shell: &Shell, detail: &EventDetail, endpoint: &str, now: Timestamp) -> Self {
        let receipt = &detail.event.receipt;
        let text = |text: &Option<String>| text.as_deref().map(|text| Alien::cut(text, 300));
        Self {
            event_id: text(&receipt.event_id),
            receipt: receipt.id.to_string(),
            endpoint: endpoint.to_owned(),
            endpoint_href: shell.at(&format!("/endpoints/{}", receipt.endpoint)),
            provider: receipt.provider.clone(),
            account: text(&receipt.account),
            api_version: text(&receipt.api_version),
            livemode: receipt.livemode.map(|live| if live { "live" } else { "test mode of the provider" }),
            received: Moment::new(receipt.received_at, now),
            received_exact: exact(receipt.received_at),
            occurred: receipt.occurred_at.map(|at| Moment::new(at, now)),
            deliveries: receipt.deliveries,
            size: bytes(receipt.slice.length as u64),
            content_type: text(&receipt.content_type),
            sha256: detail
                .event
                .sha256
                .map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect()),
            weak: receipt.weak.split_whitespace().filter_map(weakness).collect(),
            decoder: receipt.decoder.clone(),
            payload: match receipt.payload_state {
                PayloadState::Stored => None,
                PayloadState::Removed => Some("removed by retention"),
                PayloadState::Erased => Some("erased on request"),
            },
        }
    }
}

/// What a scheme leaves unprotected, in a sentence.
fn weakness(word: &str) -> Option<&'static str> {
    match word {
        "body" => Some("the signature does not cover the body"),
        "id" => Some("the signature does not cover the event id"),
        "time" => Some("no time is signed"),
        _ => None,
    }
}
