//! The job: every endpoint of which a run is due, a few at once.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use restante_core::id::{EndpointId, TenantId};
use restante_store::StoreError;
use restante_store::reconciliation as rows;
use tokio::task::JoinSet;

use super::run::Left;
use crate::schedule::{JobFault, Report, Work};

/// Endpoints that one node asks at once.
const AT_ONCE: usize = 4;
/// Endpoints that are looked up as due.
const DUE_MAX: u32 = 100;
/// Of them for one tenant: another one's provider that never ends its list leaves room for the others.
const OF_ONE_TENANT: usize = 2;
/// How long one pass begins runs, and how long it goes on with those it has begun.
const BEGINS_MAX: Duration = Duration::from_secs(540);
const GOES_ON_MAX: Duration = Duration::from_secs(600);
/// While runs are under way, how often it is looked whether others have become due.
const LOOK_PAUSE: Duration = Duration::from_secs(2);

/// The job: runs what is due.
pub(crate) async fn reconcile_due(work: Work) -> Result<Report, JobFault> {
    let began = Instant::now();
    let (mut ended, mut waits, mut paused) = (0, 0, 0);
    let mut running: JoinSet<(TenantId, EndpointId, Result<Option<Left>, StoreError>)> = JoinSet::new();
    let mut begun: HashSet<EndpointId> = HashSet::new();
    let mut busy: HashMap<TenantId, usize> = HashMap::new();
    loop {
        let begins = !work.stops() && began.elapsed() < BEGINS_MAX;
        if running.len() < AT_ONCE && begins {
            let due = work.app.store.read(|conn| Box::pin(rows::due(conn, DUE_MAX))).await?;
            for (tenant, endpoint) in due {
                let of_tenant = busy.entry(tenant).or_default();
                if running.len() >= AT_ONCE || *of_tenant >= OF_ONE_TENANT || !begun.insert(endpoint) {
                    continue;
                }
                *of_tenant += 1;
                let (app, stop) = (work.app.clone(), work.stop.clone());
                running.spawn(async move {
                    let left = app.reconcile(tenant, endpoint, &stop, began + GOES_ON_MAX).await;
                    (tenant, endpoint, left)
                });
            }
        }
        let next = tokio::select! {
            next = running.join_next() => next,
            () = tokio::time::sleep(LOOK_PAUSE), if begins => continue,
        };
        let Some(left) = next else { break };
        if let Ok((tenant, ..)) = &left
            && let Some(of_tenant) = busy.get_mut(tenant)
        {
            *of_tenant = of_tenant.saturating_sub(1);
        }
        match left {
            Ok((_, endpoint, Ok(Some(Left::Ended)))) => {
                ended += 1;
                // One that was asked for behind it is due at once.
                begun.remove(&endpoint);
            }
            Ok((.., Ok(Some(Left::Waits)))) => waits += 1,
            Ok((.., Ok(Some(Left::Paused | Left::Lost)))) => paused += 1,
            Ok((.., Ok(None))) => {}
            Ok((_, endpoint, Err(error))) => {
                tracing::warn!(endpoint.id = %endpoint, %error, "a reconciliation could not go on; it is left to the next run");
            }
            Err(error) => tracing::error!(%error, "a reconciliation has failed within"),
        }
    }
    let report = Report::of("runs ended", ended).and("wait for their provider", waits);
    Ok(if paused > 0 { report.and("go on later", paused) } else { report })
}
