//! One box for any id: an event's own or its receipt's, an endpoint's, a consumer's name, a request's.

use restante_core::id::{EndpointId, ReceiptId, RefusalId, uuid_v7_floor};
use restante_core::problem::Code;
use restante_store::StoreError;
use restante_store::{events, refusals};

use crate::consumers::is_name;
use crate::events::EventFilter;
use crate::{App, By, request_mark};

/// Longer texts are no id of anything.
const QUERY_BYTES_MAX: usize = 1_000;

/// Receipts that are compared with the id of a request.
const RECEIPTS_MAX: u32 = 5_000;
/// How long after its head a request may be whole.
const BODY_SECONDS: i64 = 120;
/// How far the clocks of two nodes may be apart.
const CLOCKS_APART_SECONDS: i64 = 5;

/// What an id belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// One event.
    Event(ReceiptId),
    /// Several events have it, at different providers or within different scopes.
    Events,
    /// An endpoint.
    Endpoint(EndpointId),
    /// A consumer, by its name.
    Consumer(String),
    /// A refused request that is kept.
    Refusal(EndpointId, RefusalId),
    /// Nothing of this tenant.
    Nothing,
}

impl App {
    /// Looks for what an id belongs to, within the caller's tenant.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn search(&self, by: &By, query: &str) -> Result<Found, StoreError> {
        let query = query.trim();
        if query.is_empty() || query.len() > QUERY_BYTES_MAX {
            return Ok(Found::Nothing);
        }
        if let Ok(id) = query.parse::<ReceiptId>()
            && there(self.event(by, id, false).await)?.is_some()
        {
            return Ok(Found::Event(id));
        }
        if let Ok(id) = query.parse::<EndpointId>()
            && there(self.endpoint(by, id).await)?.is_some()
        {
            return Ok(Found::Endpoint(id));
        }
        let filter = EventFilter { event_id: Some(query.to_owned()), ..EventFilter::default() };
        let events = self.events(by, filter, None, 2, false).await?.events;
        match events.as_slice() {
            [] => {}
            [only] => return Ok(Found::Event(only.receipt.id)),
            _ => return Ok(Found::Events),
        }
        if is_name(query) && there(self.consumer(by, query).await)?.is_some() {
            return Ok(Found::Consumer(query.to_owned()));
        }
        let (tenant, request) = (by.tenant(), query.to_owned());
        let refused = self
            .store
            .read(move |conn| {
                Box::pin(async move { refusals::with_request_id(conn, tenant, &request).await })
            })
            .await?;
        if let Some(one) = refused.first() {
            if let Some(receipt) = one.entered.and_then(|entered| entered.receipt) {
                return Ok(Found::Event(receipt));
            }
            return Ok(Found::Refusal(one.endpoint, one.id));
        }
        let brought = self.brought_by(by, query).await?;
        Ok(brought.map_or(Found::Nothing, Found::Event))
    }

    /// The first event that a request brought. With an id of ours its moment is known; with one that a
    /// proxy gave, the newest events are looked at.
    async fn brought_by(&self, by: &By, request: &str) -> Result<Option<ReceiptId>, StoreError> {
        let (tenant, moment) = (by.tenant(), request_mark::moment(request));
        let ids = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let Some(at) = moment else {
                        return events::ids_newest(conn, tenant, RECEIPTS_MAX).await;
                    };
                    // The id is given when the head has come; a body may take its time.
                    let from = uuid_v7_floor(at.plus_seconds(-CLOCKS_APART_SECONDS));
                    let before = uuid_v7_floor(at.plus_seconds(BODY_SECONDS));
                    events::ids_between(conn, tenant, from, before, RECEIPTS_MAX).await
                })
            })
            .await?;
        Ok(ids.into_iter().find(|id| request_mark::came_by(*id, request)))
    }
}

/// What isn't there is `None`.
fn there<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::Problem(problem)) if problem.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use restante_core::time::Clock as _;
    use restante_store::both_engines;

    use super::*;
    use crate::testing::TestApp;

    both_engines!(the_id_of_a_request_leads_to_the_event_that_it_brought, |t| async {
        let a = TestApp::new(t);
        let mut tenant = a.tenant("acme").await;
        let other = a.tenant("beta").await;
        let endpoint = a.endpoint(&tenant.by, "Payments").await;
        let own = format!("req_{:032x}", restante_core::id::uuid_v7(a.t.clock.now(), [7; 10]).as_u128());
        for request in [own.as_str(), "chosen-by-a-proxy"] {
            tenant.by.request_id = Some(request.to_owned());
            let sent = a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
            let id = sent.value.receipts[0];
            a.t.clock.advance_seconds(600);
            a.app
                .send_test_event(&other.by, a.endpoint(&other.by, "X").await, Default::default(), None)
                .await
                .unwrap();
            assert_eq!(a.app.search(&tenant.by, request).await.unwrap(), Found::Event(id));
            assert_eq!(a.app.search(&other.by, request).await.unwrap(), Found::Nothing);
        }
        assert_eq!(a.app.search(&tenant.by, "chosen-by-another").await.unwrap(), Found::Nothing);
    });
}
