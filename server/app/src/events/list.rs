//! Lists of events, newest first, and how many a filter matches.

use std::collections::HashMap;

use restante_core::filter::TypeGlob;
use restante_core::handoff::State;
use restante_core::id::{EndpointId, ReceiptId, TenantId, uuid_v7_floor};
use restante_core::limits::{CLAIM_BODY_BYTES_MAX, PAGE_SIZE_MAX};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::events::{self, EventQuery, Receipt};
use restante_store::handoffs::{self, ReplayRecord};
use restante_store::{StoreError, consumers};
use uuid::Uuid;

use super::{Event, content};
use crate::{App, By};

/// Events that a count looks for at most; beyond that it says "at least".
const COUNT_MAX: u64 = 10_000;
/// Pages that a count reads at most.
const COUNT_PAGES_MAX: usize = 60;

/// What a list is asked for.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Of this endpoint, where they came in first.
    pub endpoint: Option<EndpointId>,
    /// Of this provider.
    pub provider: Option<String>,
    /// With a type like this; an event without a type never matches.
    pub event_type: Option<TypeGlob>,
    /// With this event id.
    pub event_id: Option<String>,
    /// With a handoff in this state, at any consumer or at the one below.
    pub state: Option<State>,
    /// With a handoff to the consumer of this name.
    pub consumer: Option<String>,
    /// Received at this moment or later, to the millisecond.
    pub received_after: Option<Timestamp>,
    /// Received before this moment, to the millisecond.
    pub received_before: Option<Timestamp>,
}

/// A page of a list.
#[derive(Debug)]
pub struct EventPage {
    /// The events.
    pub events: Vec<Event>,
    /// The last id of the page, when there may be more.
    pub next: Option<Uuid>,
}

impl App {
    /// A page of the tenant's events, newest first, those after `after` in that order. With contents
    /// a page ends after 8 MiB of bodies, but not before one event.
    ///
    /// # Errors
    /// A consumer that is not there, or what the database ran into.
    pub async fn events(
        &self,
        by: &By,
        filter: EventFilter,
        after: Option<Uuid>,
        limit: u32,
        with_content: bool,
    ) -> Result<EventPage, StoreError> {
        let tenant = by.tenant();
        let keys = self.tenant_keys(tenant).await?;
        let events::EventPage { mut receipts, mut next } = self.page(tenant, filter, after, limit).await?;
        let mut contents = HashMap::new();
        if with_content {
            let fitting = fitting(&receipts);
            if fitting < receipts.len() {
                receipts.truncate(fitting);
                next = receipts.last().map(|last| last.id.0);
            }
            contents = self.contents(tenant, &keys, &receipts).await?;
        }
        let ids: Vec<ReceiptId> = receipts.iter().map(|receipt| receipt.id).collect();
        let replays = self
            .store
            .read(move |conn| Box::pin(async move { handoffs::replays_latest(conn, tenant, &ids).await }))
            .await?;
        let mut replays: HashMap<ReceiptId, ReplayRecord> = replays.into_iter().collect();
        let events = receipts
            .into_iter()
            .map(|receipt| {
                let id = receipt.id;
                let content = contents.remove(&id).and_then(Result::ok);
                let mut event = content::event(tenant, &keys, receipt, content);
                event.replay = replays.remove(&id);
                event
            })
            .collect();
        Ok(EventPage { events, next })
    }

    /// How many of the tenant's events a filter matches, and whether that is all of them: it looks at
    /// a bounded number.
    ///
    /// # Errors
    /// A consumer that is not there, or what the database ran into.
    pub async fn count_events(&self, by: &By, filter: EventFilter) -> Result<(u64, bool), StoreError> {
        let (mut count, mut after) = (0, None);
        for _ in 0..COUNT_PAGES_MAX {
            let page = self.page(by.tenant(), filter.clone(), after, PAGE_SIZE_MAX).await?;
            count += page.receipts.len() as u64;
            after = page.next;
            if after.is_none() {
                return Ok((count, true));
            }
            if count >= COUNT_MAX {
                break;
            }
        }
        Ok((count, false))
    }

    async fn page(
        &self,
        tenant: TenantId,
        filter: EventFilter,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<events::EventPage, StoreError> {
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let consumer = match &filter.consumer {
                        Some(name) => {
                            let found = consumers::by_name(conn, tenant, name).await?;
                            let missing = "There is no consumer of this name in this tenant.";
                            Some(found.ok_or_else(|| Problem::field("consumer", missing))?.id)
                        }
                        None => None,
                    };
                    let query = EventQuery {
                        endpoint: filter.endpoint,
                        provider: filter.provider,
                        event_type: filter.event_type,
                        event_id: filter.event_id,
                        state: filter.state,
                        consumer,
                        from: filter.received_after.map(uuid_v7_floor),
                        until: filter.received_before.map(uuid_v7_floor),
                        after,
                        limit,
                    };
                    events::list(conn, tenant, &query).await
                })
            })
            .await
    }
}

/// How many receipts from the front have bytes that fit into one answer; at least one.
fn fitting(receipts: &[Receipt]) -> usize {
    let mut bytes = 0_u64;
    let too_large = receipts.iter().position(|receipt| {
        bytes = bytes.saturating_add(receipt.slice.length as u64);
        bytes > CLAIM_BODY_BYTES_MAX
    });
    too_large.map_or(receipts.len(), |place| place.max(1))
}
