//! One event with all that is known of it: its bytes, the sender's attempts, the handoffs, and what
//! people did.

use restante_core::id::ReceiptId;
use restante_core::limits::CLAIM_BODY_BYTES_MAX;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::events::{self, DeliveryRecord, PayloadState, VariantRecord};
use restante_store::handoffs::{self, AttemptRecord, HandoffRecord, ReplayRecord, SettlementRecord};
use uuid::Uuid;

use super::{Content, Event, content, not_found};
use crate::{App, By};

/// An event with its history.
#[derive(Debug)]
pub struct EventDetail {
    /// The event.
    pub event: Event,
    /// Its handoffs, one a consumer.
    pub handoffs: Vec<HandoffRecord>,
    /// The attempts that have ended, newest first.
    pub attempts: Vec<AttemptRecord>,
    /// The repeated deliveries, oldest first. The first delivery is the receipt itself.
    pub repeats: Vec<DeliveryRecord>,
    /// The replays, newest first.
    pub replays: Vec<ReplayRecord>,
    /// The settlements, newest first.
    pub settlements: Vec<SettlementRecord>,
    /// The other bodies that came under its key.
    pub variants: Vec<Variant>,
}

/// Other bytes that came under the key of an event.
#[derive(Debug)]
pub struct Variant {
    /// Its id.
    pub id: Uuid,
    /// When it came.
    pub received_at: Timestamp,
    /// How many bytes it has.
    pub size: usize,
    /// Its headers and bytes, where they were asked for and are not too large for this answer.
    pub content: Option<Content>,
}

impl App {
    /// An event with its history, and with the bytes where they are asked for.
    ///
    /// # Errors
    /// Not found.
    pub async fn event(&self, by: &By, id: ReceiptId, with_content: bool) -> Result<EventDetail, StoreError> {
        let tenant = by.tenant();
        let keys = self.tenant_keys(tenant).await?;
        let (mut detail, variants) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let receipt = events::by_id(conn, tenant, id).await?.ok_or_else(not_found)?;
                    let variants = match receipt.diverged {
                        true => events::variants_of_receipt(conn, tenant, id).await?,
                        false => Vec::new(),
                    };
                    let repeats = match receipt.deliveries {
                        0 | 1 => Vec::new(),
                        _ => events::deliveries_of_receipt(conn, tenant, id).await?,
                    };
                    let detail = EventDetail {
                        event: Event { receipt, sha256: None, content: None, replay: None },
                        handoffs: handoffs::handoffs_of_receipt(conn, tenant, id).await?,
                        attempts: handoffs::attempts_of_receipt(conn, tenant, id).await?,
                        repeats,
                        replays: handoffs::replays_of_receipt(conn, tenant, id).await?,
                        settlements: handoffs::settlements_of_receipt(conn, tenant, id).await?,
                        variants: Vec::new(),
                    };
                    Ok((detail, variants))
                })
            })
            .await?;
        let receipt = detail.event.receipt;
        let stored = receipt.payload_state == PayloadState::Stored;
        let mut contents = match with_content && stored {
            true => self.contents(tenant, &keys, std::slice::from_ref(&receipt)).await?,
            false => std::collections::HashMap::new(),
        };
        let own = contents.remove(&id).and_then(Result::ok);
        let mut room = CLAIM_BODY_BYTES_MAX.saturating_sub(receipt.slice.length as u64);
        for variant in variants {
            let size = variant.slice.length as u64;
            let content = match with_content && stored && size <= room {
                true => self.variant_content(tenant, &keys, variant).await?,
                false => None,
            };
            if content.is_some() {
                room -= size;
            }
            detail.variants.push(Variant {
                id: variant.id,
                received_at: variant.received_at,
                size: variant.slice.length,
                content,
            });
        }
        detail.event = content::event(tenant, &keys, receipt, own);
        detail.event.replay = detail.replays.first().cloned();
        Ok(detail)
    }

    async fn variant_content(
        &self,
        tenant: restante_core::id::TenantId,
        keys: &restante_core::seal::TenantKeyset,
        variant: VariantRecord,
    ) -> Result<Option<Content>, StoreError> {
        let record = self
            .store
            .read(move |conn| {
                Box::pin(async move { events::payloads(conn, tenant, &[variant.payload]).await })
            })
            .await?
            .pop();
        Ok(record.and_then(|record| content::open_slice(keys, &record, variant.slice, false).ok()))
    }
}
