//! A page of events, newest first. It is short, and still says where to go on, when its filters
//! matched little of what one call may look at; so no call reads a table that grows without bound.
//!
//! What was committed before the first page is on one of the pages, because nothing moves within the
//! order of ids; what comes while the pages are read may be missing.

use std::collections::{HashMap, HashSet};

use restante_core::filter::TypeGlob;
use restante_core::handoff::State;
use restante_core::id::{ConsumerId, EndpointId, ReceiptId, TenantId};
use uuid::Uuid;

use super::record::{Receipt, by_ids};
use super::source::{Source, Span};
use super::sql;
use crate::engine::{Conn, StoreError, values};

/// Candidates that are looked at together when filters may leave few of them.
const WINDOW: u32 = 500;
/// Candidates that one page looks at, at most.
const LOOKED_AT_MAX: usize = 5_000;
/// Consumers that a list by state alone asks, the newest ones.
const CONSUMERS_MAX: u32 = 200;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Of this endpoint, where they came in first.
    pub endpoint: Option<EndpointId>,
    /// Of this provider.
    pub provider: Option<String>,
    /// With a type like this.
    pub event_type: Option<TypeGlob>,
    /// With this event id.
    pub event_id: Option<String>,
    /// With a handoff in this state, at any consumer or at the one below.
    pub state: Option<State>,
    /// With a handoff to this consumer.
    pub consumer: Option<ConsumerId>,
    /// From this id on (the smallest of a moment).
    pub from: Option<Uuid>,
    /// Before this id (the smallest of a moment).
    pub until: Option<Uuid>,
    /// After the last id of the page before.
    pub after: Option<Uuid>,
    /// How many.
    pub limit: u32,
}

/// A page.
#[derive(Debug, Clone)]
pub struct EventPage {
    /// The receipts, newest first.
    pub receipts: Vec<Receipt>,
    /// Where the next page begins; `None` when nothing is left.
    pub next: Option<Uuid>,
}

/// A page of events.
///
/// # Errors
/// What the database ran into.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    query: &EventQuery,
) -> Result<EventPage, StoreError> {
    let limit = query.limit as usize;
    let source = source(conn, tenant, query).await?;
    let width = source.width();
    let count = if query.filters_rows(&source) { (WINDOW / width).max(50) } else { query.limit + 1 };
    let start = [query.until, query.after].into_iter().flatten().min().unwrap_or(Uuid::max());
    let mut span = Span { from: query.from.unwrap_or(Uuid::nil()), before: start };
    let mut page = EventPage { receipts: Vec::new(), next: None };
    let mut looked_at = 0;
    loop {
        let candidates = source.next(conn, tenant, span, count).await?;
        looked_at += (count * width) as usize;
        for receipt in matching(conn, tenant, query, &source, &candidates.ids).await? {
            if page.receipts.len() == limit {
                page.next = page.receipts.last().map(|last| last.id.0);
                return Ok(page);
            }
            page.receipts.push(receipt);
        }
        let Some(last) = candidates.looked_to else { return Ok(page) };
        if page.receipts.len() == limit || looked_at >= LOOKED_AT_MAX {
            page.next = Some(last);
            return Ok(page);
        }
        span.before = last;
    }
}

/// The narrowest index.
async fn source(conn: &mut Conn<'_>, tenant: TenantId, query: &EventQuery) -> Result<Source, StoreError> {
    if let Some(event_id) = &query.event_id {
        return Ok(Source::EventId(event_id.clone()));
    }
    match (query.consumer, query.state) {
        (Some(consumer), state) => Ok(Source::Handoffs { consumers: vec![consumer], state }),
        (None, Some(state)) => {
            let rows = conn.fetch_all(&sql::CONSUMERS_EVER, values![tenant, CONSUMERS_MAX]).await?;
            let consumers =
                rows.iter().map(|row| row.uuid("id").map(ConsumerId)).collect::<Result<_, _>>()?;
            Ok(Source::Handoffs { consumers, state: Some(state) })
        }
        (None, None) => Ok(query.endpoint.map_or(Source::Newest, Source::Endpoint)),
    }
}

impl EventQuery {
    /// Whether candidates may turn out not to match.
    const fn filters_rows(&self, source: &Source) -> bool {
        let by_row = self.provider.is_some() || self.event_type.is_some();
        match source {
            Source::Endpoint(_) | Source::Newest => by_row,
            Source::Handoffs { state, .. } => {
                by_row
                    || self.endpoint.is_some()
                    || matches!(state, Some(State::Processed | State::Cancelled))
            }
            Source::EventId(_) => true,
        }
    }

    fn matches(&self, receipt: &Receipt) -> bool {
        let text = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
        };
        self.endpoint.is_none_or(|endpoint| receipt.endpoint == endpoint)
            && text(&self.provider, Some(&receipt.provider))
            && text(&self.event_id, receipt.event_id.as_deref())
            && self.event_type.as_ref().is_none_or(|glob| {
                receipt.event_type.as_deref().is_some_and(|event_type| glob.matches(event_type))
            })
    }
}

/// The rows of the candidates that match, in their order.
async fn matching(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    query: &EventQuery,
    source: &Source,
    ids: &[Uuid],
) -> Result<Vec<Receipt>, StoreError> {
    let ids: Vec<ReceiptId> = ids.iter().copied().map(ReceiptId).collect();
    let handed = match source {
        Source::EventId(_) if query.consumer.is_some() || query.state.is_some() => {
            Some(handed(conn, tenant, query, &ids).await?)
        }
        _ => None,
    };
    let found = by_ids(conn, tenant, &ids).await?;
    let mut found: HashMap<ReceiptId, Receipt> =
        found.into_iter().map(|receipt| (receipt.id, receipt)).collect();
    Ok(ids
        .iter()
        .filter(|id| handed.as_ref().is_none_or(|handed| handed.contains(*id)))
        .filter_map(|id| found.remove(id))
        .filter(|receipt| query.matches(receipt))
        .collect())
}

/// Those of the receipts that have a handoff as asked for.
async fn handed(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    query: &EventQuery,
    ids: &[ReceiptId],
) -> Result<HashSet<ReceiptId>, StoreError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let mut handed = HashSet::new();
    for row in conn.fetch_all(&sql::HANDOFFS_OF_RECEIPTS, values![tenant, ids]).await? {
        let consumer = ConsumerId(row.uuid("consumer_id")?);
        let state = row.int("state")?;
        if query.consumer.is_none_or(|wanted| wanted == consumer)
            && query.state.is_none_or(|wanted| i64::from(wanted.code()) == state)
        {
            handed.insert(ReceiptId(row.uuid("id")?));
        }
    }
    Ok(handed)
}
