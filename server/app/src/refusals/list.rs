//! The newest kept refusals of a tenant, or of one endpoint.

use restante_core::id::EndpointId;
use restante_store::StoreError;
use restante_store::refusals::{self, RefusalRecord};

use crate::{App, By};

impl App {
    /// The newest kept refusals, at most 200. A few are kept per endpoint.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn refusals(
        &self,
        by: &By,
        endpoint: Option<EndpointId>,
    ) -> Result<Vec<RefusalRecord>, StoreError> {
        let tenant = by.tenant();
        self.store.read(move |conn| Box::pin(refusals::newest(conn, tenant, endpoint))).await
    }
}
