//! Looking for endpoints that fell silent and consumers that are far behind, over all tenants: for the log and
//! for the administrators, who see how many there are and never whose events. What a tenant sees of itself
//! stands on its overview.

use restante_core::id::TenantId;
use restante_store::control::tenants;

use super::{JobFault, Report, Work};
use crate::stats::Window;

/// Tenants that are read at once.
const TENANTS_AT_ONCE: u32 = 200;
/// A consumer whose oldest event waits for longer is behind: an hour.
const BEHIND_SECONDS: u64 = 60 * 60;

/// The job.
pub(super) async fn look_around(work: Work) -> Result<Report, JobFault> {
    let app = &work.app;
    let (mut silent, mut behind, mut looked_at) = (0, 0, 0);
    let mut after = TenantId(uuid::Uuid::nil());
    while !work.stops() {
        let ids =
            app.store.read(move |conn| Box::pin(tenants::ids_after(conn, after, TENANTS_AT_ONCE))).await?;
        let Some(last) = ids.last() else { break };
        after = *last;
        for tenant in ids {
            let overview = app.overview_of(tenant, Window::Day).await?;
            looked_at += 1;
            for endpoint in overview.endpoints.iter().filter(|one| one.enabled && one.silence.is_some()) {
                silent += 1;
                tracing::warn!(tenant.id = %tenant, endpoint.id = %endpoint.id, "an endpoint fell silent");
            }
            for consumer in overview.consumers.iter().filter(|one| one.age_seconds > Some(BEHIND_SECONDS)) {
                behind += 1;
                let age_seconds = consumer.age_seconds.unwrap_or_default();
                tracing::warn!(tenant.id = %tenant, consumer.id = %consumer.id, age_seconds, "a consumer is far behind");
            }
        }
    }
    Ok(Report::of("endpoints fell silent", silent)
        .and("consumers are more than an hour behind", behind)
        .and("tenants looked at", looked_at))
}
