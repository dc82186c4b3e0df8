//! Where a list takes its candidates from: always an index that is in the order of ids, newest first.
//! What a source can't decide by its index, it decides in a window of a fixed number of rows, and
//! says how far it looked.

use std::collections::BTreeSet;

use restante_core::handoff::State;
use restante_core::id::{ConsumerId, EndpointId, TenantId};
use uuid::Uuid;

use super::sql;
use crate::engine::{Conn, Sql, StoreError, values};

/// The span of ids that is looked at: from `from` on, and before `before`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: Uuid,
    pub(super) before: Uuid,
}

/// Ids that may belong on the page, newest first.
pub(super) struct Candidates {
    pub(super) ids: Vec<Uuid>,
    /// The last id that was looked at; `None` when the span is exhausted.
    pub(super) looked_to: Option<Uuid>,
}

/// The index that a list walks.
#[derive(Debug)]
pub(super) enum Source {
    EventId(String),
    Handoffs { consumers: Vec<ConsumerId>, state: Option<State> },
    Endpoint(EndpointId),
    Newest,
}

impl Source {
    /// How many indexes are walked at once.
    pub(super) fn width(&self) -> u32 {
        match self {
            Self::Handoffs { consumers, .. } => u32::try_from(consumers.len()).unwrap_or(u32::MAX).max(1),
            Self::EventId(_) | Self::Endpoint(_) | Self::Newest => 1,
        }
    }

    pub(super) async fn next(
        &self,
        conn: &mut Conn<'_>,
        tenant: TenantId,
        span: Span,
        count: u32,
    ) -> Result<Candidates, StoreError> {
        let Span { from, before } = span;
        let rows = match self {
            Self::Handoffs { consumers, state } => {
                return handoffs(conn, tenant, consumers, *state, span, count).await;
            }
            Self::Newest => {
                conn.fetch_all(&sql::RECEIPTS_NEWEST, values![tenant, before, from, count]).await?
            }
            Self::Endpoint(endpoint) => {
                let values = values![tenant, before, from, count, *endpoint];
                conn.fetch_all(&sql::RECEIPTS_OF_ENDPOINT, values).await?
            }
            Self::EventId(event_id) => {
                let values = values![tenant, before, from, count, event_id.as_str()];
                conn.fetch_all(&sql::RECEIPTS_WITH_EVENT_ID, values).await?
            }
        };
        let ids = rows.iter().map(|row| row.uuid("id")).collect::<Result<Vec<_>, _>>()?;
        let looked_to = if ids.len() < count as usize { None } else { ids.last().copied() };
        Ok(Candidates { ids, looked_to })
    }
}

/// The receipts that any of the consumers has in the state, each once.
async fn handoffs(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumers: &[ConsumerId],
    state: Option<State>,
    span: Span,
    count: u32,
) -> Result<Candidates, StoreError> {
    let mut found = BTreeSet::new();
    let mut looked_to: Option<Uuid> = None;
    for consumer in consumers {
        let values = values![tenant, span.before, span.from, count, *consumer];
        let rows = conn.fetch_all(statement(state), values).await?;
        for row in &rows {
            let matches = match state {
                Some(wanted @ (State::Processed | State::Cancelled)) => {
                    row.int("state")? == i64::from(wanted.code())
                }
                _ => true,
            };
            if matches {
                found.insert(row.uuid("id")?);
            }
        }
        if let Some(last) = rows.last().filter(|_| rows.len() == count as usize) {
            // Beyond this a consumer was not looked at, so nothing older is known to be the next.
            looked_to = looked_to.max(Some(last.uuid("id")?));
        }
    }
    let ids = found.into_iter().rev().filter(|id| looked_to.is_none_or(|last| *id >= last)).collect();
    Ok(Candidates { ids, looked_to })
}

/// What is over has no index of its own: most of a consumer's handoffs are processed, and so is most
/// of any window of them.
const fn statement(state: Option<State>) -> &'static Sql {
    match state {
        Some(State::Pending) => &sql::HANDOFFS_NEWEST_PENDING,
        Some(State::Leased) => &sql::HANDOFFS_NEWEST_LEASED,
        Some(State::Failed) => &sql::HANDOFFS_NEWEST_FAILED,
        Some(State::Uncertain) => &sql::HANDOFFS_NEWEST_UNCERTAIN,
        Some(State::Processed | State::Cancelled) | None => &sql::HANDOFFS_NEWEST,
    }
}
