//! Looking at endpoints: one, or a page of them, the newest first.

use restante_core::id::EndpointId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::{endpoints, secrets};
use restante_store::retention::{self, PolicyLevel};
use uuid::Uuid;

use super::{Endpoint, shown};
use crate::{App, By};

/// What a person is told that is not there.
pub(super) fn not_found() -> StoreError {
    Problem::not_found("endpoint").into()
}

impl App {
    /// An endpoint of the caller's tenant.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's.
    pub async fn endpoint(&self, by: &By, id: EndpointId) -> Result<Endpoint, StoreError> {
        let tenant = by.tenant();
        let found = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let row = endpoints::get(conn, tenant, id).await?.ok_or_else(not_found)?;
                    let secrets = secrets::of_endpoint(conn, tenant, id).await?;
                    let said = retention::policy(conn, tenant, &PolicyLevel::Endpoint(id)).await?;
                    Ok((row, secrets, said))
                })
            })
            .await?;
        let keys = self.tenant_keys(tenant).await?;
        let mut endpoint = shown::endpoint(self, &keys, found.0, &found.1, self.clock.now())?;
        endpoint.retention = found.2.map(|row| row.policy);
        Ok(endpoint)
    }

    /// The names of the caller's endpoints, newest first, at most 1,000: for choices and for lists that
    /// name endpoints, without opening anything that is sealed.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn endpoint_names(&self, by: &By) -> Result<Vec<(EndpointId, String)>, StoreError> {
        let tenant = by.tenant();
        self.store.read(move |conn| Box::pin(endpoints::names(conn, tenant))).await
    }

    /// The newest endpoints of the caller's tenant, from the one before `before` on; at most `limit`.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn endpoints(
        &self,
        by: &By,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Endpoint>, StoreError> {
        let tenant = by.tenant();
        let (rows, mut secrets, said) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let rows = endpoints::page(conn, tenant, before, limit).await?;
                    let ids: Vec<EndpointId> = rows.iter().map(|row| row.id).collect();
                    let secrets = secrets::of_endpoints(conn, tenant, &ids).await?;
                    Ok((rows, secrets, retention::policies(conn, tenant).await?))
                })
            })
            .await?;
        let (keys, now) = (self.tenant_keys(tenant).await?, self.clock.now());
        rows.into_iter()
            .map(|row| {
                let secrets = secrets.remove(&row.id).unwrap_or_default();
                let level = PolicyLevel::Endpoint(row.id);
                let own = said.iter().find(|said| said.level == level).map(|said| said.policy);
                let mut endpoint = shown::endpoint(self, &keys, row, &secrets, now)?;
                endpoint.retention = own;
                Ok(endpoint)
            })
            .collect()
    }
}
