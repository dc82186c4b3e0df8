//! Which objects the events of a stretch tell of, for providers that list objects instead of events.

use std::collections::HashSet;

use restante_core::filter::TypeGlob;
use restante_core::id::{EndpointId, TenantId, uuid_v7_floor};
use restante_core::reconcile::text_at;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::events::{self, EventQuery};

use crate::App;

/// Events that are looked into, 250 at a time.
const PAGES_MAX: usize = 40;
const EVENTS_PER_PAGE: u32 = 250;
/// How much earlier than an object's change its event may have come, by another clock.
const EARLIER_SECONDS: i64 = 60 * 60;

/// What events tell of.
#[derive(Default)]
pub(super) struct Told {
    /// The values that name objects.
    pub(super) objects: HashSet<String>,
    /// When the newest event came that can't be read any more; what was told of until then is not known.
    pub(super) unreadable: Option<Timestamp>,
}

impl App {
    /// The values at a place of the bodies of events of some types that came since.
    pub(super) async fn objects_told_of(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        types: &str,
        pointer: &str,
        since: Timestamp,
    ) -> Result<Told, StoreError> {
        let mut told = Told::default();
        let Ok(glob) = TypeGlob::parse(types) else { return Ok(told) };
        let keys = self.tenant_keys(tenant).await?;
        let (mut after, mut oldest) = (None, None);
        for _ in 0..PAGES_MAX {
            let query = EventQuery {
                endpoint: Some(endpoint),
                event_type: Some(glob.clone()),
                from: Some(uuid_v7_floor(since.plus_seconds(-EARLIER_SECONDS))),
                after,
                limit: EVENTS_PER_PAGE,
                ..EventQuery::default()
            };
            let page = self
                .store
                .read(move |conn| Box::pin(async move { events::list(conn, tenant, &query).await }))
                .await?;
            let contents = self.contents(tenant, &keys, &page.receipts).await?;
            for receipt in &page.receipts {
                match contents.get(&receipt.id) {
                    Some(Ok(content)) => {
                        told.objects.extend(text_at(&String::from_utf8_lossy(&content.body), pointer));
                    }
                    _ => told.unreadable = told.unreadable.max(Some(receipt.received_at)),
                }
                oldest = Some(receipt.received_at);
            }
            after = page.next;
            if after.is_none() {
                return Ok(told);
            }
        }
        // The newest come first: before these there are more than are looked into.
        told.unreadable = told.unreadable.max(oldest);
        Ok(told)
    }
}
