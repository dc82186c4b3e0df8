//! A tenant's limits as its own verbs keep them: whether there is room for one more, and how near it is. What
//! they mean for deliveries is the business of `receive`.

use restante_core::id::TenantId;
use restante_core::problem::{Code, Problem};
use restante_core::tenant_limits::{Limited, Measure, PerLimit, measures};
use restante_store::control::{tenant_limits, tenant_list, tenants};
use restante_store::{Conn, StoreError};

use crate::{App, By};

/// Demands room for one more thing that people make, counted by `count` in this transaction. Others who make
/// one at the same time wait, so that two can't both take the last place.
///
/// # Errors
/// `conflict` with a sentence that says who can change it.
pub(crate) async fn room_for(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    what: Limited,
    count: impl AsyncFnOnce(&mut Conn<'_>) -> Result<u64, StoreError>,
) -> Result<(), StoreError> {
    let Some(limit) = tenant_limits::of_tenant(conn, tenant).await?.get(what) else { return Ok(()) };
    tenants::config_changed(conn, tenant).await?;
    if count(conn).await? < limit {
        return Ok(());
    }
    let things = match what {
        Limited::Endpoints => "endpoints",
        Limited::Consumers => "consumers",
        Limited::Members => "members and open invitations",
        _ => "of these",
    };
    let detail = format!(
        "This tenant may have {limit} {things}, and has as many. Delete one, or ask an administrator of the instance \
         to raise the limit."
    );
    Err(Problem::new(Code::Conflict, detail).into())
}

impl App {
    /// What the caller's tenant uses of each limit that an administrator has set; nothing where none is set.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn limits_used(&self, by: &By) -> Result<Vec<Measure>, StoreError> {
        let (now, tenant) = (self.clock.now(), by.tenant());
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let limits = tenant_limits::of_tenant(conn, tenant).await?;
                    if limits.is_empty() {
                        return Ok(Vec::new());
                    }
                    let used = tenant_list::one(conn, tenant, now).await?;
                    Ok(measures(&limits, &used.map_or(PerLimit::default(), |figures| figures.used)))
                })
            })
            .await
    }
}
