//! One kept refusal with the request that was refused. Who opens it is on the audit log, as with any
//! payload.

use bytes::Bytes;
use restante_core::id::EndpointId;
use restante_core::limits::REFUSAL_BODY_BYTES_MAX;
use restante_core::problem::Problem;
use restante_core::request::HeaderList;
use restante_core::seal::Place;
use restante_store::StoreError;
use restante_store::control::audit;
use restante_store::refusals::{self, RefusalRecord};
use serde_json::json;
use uuid::Uuid;

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
    /// Whether the body may have been longer.
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
        id: Uuid,
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
        id: Uuid,
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
        let place = Place::refusal_request(id);
        let request = keys.open(&place, &sealed).map_err(|error| unreadable(&place, &error))?;
        let (headers, body) = parts(&request).ok_or_else(|| unreadable(&place, &"it is no request"))?;
        let cut = body.len() >= REFUSAL_BODY_BYTES_MAX;
        Ok(OpenedRefusal { record, headers, body, cut })
    }
}

/// The length of the headers, the headers, the body.
fn parts(request: &[u8]) -> Option<(HeaderList, Bytes)> {
    let (length, rest) = request.split_first_chunk::<4>()?;
    let (headers, body) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some((HeaderList::decode(headers)?, Bytes::copy_from_slice(body)))
}
