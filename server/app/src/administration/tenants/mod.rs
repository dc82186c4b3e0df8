//! Tenants as administrators of the instance look after them: listed with what they hold, made, named,
//! suspended, limited, deleted with everything. A file an action.

mod create;
mod delete;
mod limits;
mod list;
mod rename;
mod suspend;
#[cfg(test)]
mod tests;

pub use create::{CreatedTenant, NewTenantAsked};
pub use delete::run_tenant_removals;
pub use list::{TenantDetail, TenantsPage};
pub use restante_store::control::tenant_list::TenantFigures;
pub use restante_store::tenant_removal::RemovalRow;
pub use suspend::REASON_CHARS_MAX;

use restante_core::id::TenantId;
use restante_core::problem::{Code, Problem};
use restante_store::control::tenants::{self, TenantRow};
use restante_store::{Conn, StoreError};

/// The tenant, as long as nobody has deleted it.
async fn tenant_or_none(conn: &mut Conn<'_>, tenant: TenantId) -> Result<TenantRow, StoreError> {
    tenants::by_id(conn, tenant).await?.ok_or_else(no_tenant)
}

fn no_tenant() -> StoreError {
    Problem::new(Code::NotFound, "There is no such tenant.").into()
}
