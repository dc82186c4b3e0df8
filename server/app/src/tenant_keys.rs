//! The tenant's keys as verbs ask for them, and what a sealed value that can't be opened means.

use std::sync::Arc;

use restante_core::id::TenantId;
use restante_core::seal::{Place, TenantKeyset};
use restante_store::StoreError;

use crate::App;
use crate::keys::KeysError;

impl App {
    /// The keys of a tenant.
    ///
    /// # Errors
    /// When they can't be had; the log says why.
    pub(crate) async fn tenant_keys(&self, tenant: TenantId) -> Result<Arc<TenantKeyset>, StoreError> {
        self.keys.of(tenant, &self.store).await.map_err(|error| match error {
            KeysError::Store(error) => error,
            other => {
                tracing::error!(error = %other, "the keys of a tenant can't be used");
                other.into_problem().into()
            }
        })
    }
}

/// A sealed value that can't be opened, or holds what it can't hold: the data is broken.
pub(crate) fn unreadable(place: &Place, why: &dyn std::fmt::Display) -> StoreError {
    let column = place.column().label();
    tracing::error!(column, row = %place.row(), why = %why, "a sealed value can't be read");
    StoreError::Corrupt { statement: "open a sealed value", column: column.to_owned() }
}
