//! The bytes of one event, or of the whole request that it came in.

use bytes::Bytes;
use restante_core::id::{PayloadId, ReceiptId};
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;
use restante_store::events::{self, PayloadState, Slice};
use uuid::Uuid;

use super::{content, not_found};
use crate::{App, By};

/// Which bytes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadPart {
    /// The event's own.
    Event,
    /// The whole body of its request, as received.
    Whole,
    /// Other bytes that came under its key.
    Variant(Uuid),
}

/// Bytes as they came.
#[derive(Debug, Clone)]
pub struct Payload {
    /// The bytes.
    pub body: Bytes,
    /// The content type that the sender gave them.
    pub content_type: Option<String>,
}

impl App {
    /// The bytes of an event.
    ///
    /// # Errors
    /// Not found; gone where they are no longer kept.
    pub async fn payload(&self, by: &By, id: ReceiptId, part: PayloadPart) -> Result<Payload, StoreError> {
        let tenant = by.tenant();
        let keys = self.tenant_keys(tenant).await?;
        let (receipt, payload, slice) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let receipt = events::by_id(conn, tenant, id).await?.ok_or_else(not_found)?;
                    let (payload, slice): (PayloadId, Slice) = match part {
                        PayloadPart::Event | PayloadPart::Whole => (receipt.payload, receipt.slice),
                        PayloadPart::Variant(wanted) => {
                            let variants = events::variants_of_receipt(conn, tenant, id).await?;
                            let found = variants.into_iter().find(|variant| variant.id == wanted);
                            let found = found.ok_or_else(|| Problem::not_found("variant of this event"))?;
                            (found.payload, found.slice)
                        }
                    };
                    Ok((receipt, payload, slice))
                })
            })
            .await?;
        if receipt.payload_state != PayloadState::Stored {
            return Err(gone().into());
        }
        let record = self
            .store
            .read(move |conn| Box::pin(async move { events::payloads(conn, tenant, &[payload]).await }))
            .await?
            .pop()
            .ok_or_else(gone)?;
        let content = content::open_slice(&keys, &record, slice, part == PayloadPart::Whole)
            .map_err(|why| Problem::new(Code::Gone, why))?;
        Ok(Payload { body: content.body, content_type: receipt.content_type })
    }
}

fn gone() -> Problem {
    Problem::new(Code::Gone, "The payload of this event is no longer kept.")
}
