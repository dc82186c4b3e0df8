//! One kept refusal with the request that was refused. Who opens it is on the audit log, as with any
//! payload.

use bytes::Bytes;
use restante_core::id::{EndpointId, RefusalId};
use restante_core::problem::Problem;
use restante_core::request::HeaderList;
use restante_core::seal::{Place, TenantKeyset};
use restante_store::StoreError;
use restante_store::control::audit;
use restante_store::refusals::{self, RefusalRecord};
use serde_json::json;

use super::kept::{self, Kept};
use crate::tenant_keys::unreadable;
use crate::{App, By};

/// A refusal with its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedRefusal {
    /// What is known of it.
    pub record: RefusalRecord,
    /// The headers as they came, without credentials.
    pub headers: HeaderList,
    /// The beginning of the body.
    pub body: Bytes,
    /// Whether the body was longer.
    pub cut: bool,
}

impl App {
    /// A kept refusal, without its request.
    ///
    /// # Errors
    /// Not found.
    pub async fn refusal(
        &self,
        by: &By,
        endpoint: EndpointId,
        id: RefusalId,
    ) -> Result<RefusalRecord, StoreError> {
        let tenant = by.tenant();
        let found = self.store.read(move |conn| Box::pin(refusals::one(conn, tenant, endpoint, id))).await?;
        Ok(found.ok_or_else(|| Problem::not_found("refusal"))?.0)
    }

    /// Opens a kept refusal for a person, and writes down who did.
    ///
    /// # Errors
    /// Not found.
    pub async fn open_refusal(
        &self,
        by: &By,
        endpoint: EndpointId,
        id: RefusalId,
    ) -> Result<OpenedRefusal, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let detail = json!({ "endpoint": endpoint });
        let line = by.audit(&*self.random, now, "refusal.view", id.to_string(), &detail);
        let (record, sealed) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let found = refusals::one(conn, tenant, endpoint, id).await?;
                    let found = found.ok_or_else(|| Problem::not_found("refusal"))?;
                    audit::insert(conn, tenant, line).await?;
                    Ok(found)
                })
            })
            .await?;
        let Kept { headers, body, cut, .. } = opened(&keys, id, &sealed)?;
        Ok(OpenedRefusal { record, headers, body, cut })
    }
}

/// The request of a refusal.
pub(super) fn opened(keys: &TenantKeyset, id: RefusalId, sealed: &[u8]) -> Result<Kept, StoreError> {
    let place = Place::refusal_request(id);
    let request = keys.open(&place, sealed).map_err(|error| unreadable(&place, &error))?;
    kept::decode(&request).ok_or_else(|| unreadable(&place, &"it is no request"))
}
