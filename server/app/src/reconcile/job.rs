//! The job: every endpoint of which a run is due, a few at once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use restante_core::id::EndpointId;
use restante_store::StoreError;
use restante_store::reconciliation as rows;
use tokio::task::JoinSet;

use super::run::Left;
use crate::schedule::{JobFault, Report, Work};

/// Endpoints that one node asks at once.
const AT_ONCE: usize = 4;
/// Endpoints that are looked up as due.
const DUE_MAX: u32 = 100;
/// How long one pass begins runs, and how long it goes on with those it has begun.
const BEGINS_MAX: Duration = Duration::from_secs(50);
const GOES_ON_MAX: Duration = Duration::from_secs(600);

/// The job: runs what is due.
pub(crate) async fn reconcile_due(work: Work) -> Result<Report, JobFault> {
    let began = Instant::now();
    let (mut ended, mut waits, mut paused) = (0, 0, 0);
    let mut running: JoinSet<(EndpointId, Result<Option<Left>, StoreError>)> = JoinSet::new();
    let mut begun: HashSet<EndpointId> = HashSet::new();
    loop {
        if running.len() < AT_ONCE && !work.stops() && began.elapsed() < BEGINS_MAX {
            let due = work.app.store.read(|conn| Box::pin(rows::due(conn, DUE_MAX))).await?;
            let free = AT_ONCE - running.len();
            for (tenant, endpoint) in due.into_iter().filter(|one| begun.insert(one.1)).take(free) {
                let (app, stop) = (work.app.clone(), work.stop.clone());
                running.spawn(async move {
                    (endpoint, app.reconcile(tenant, endpoint, &stop, began + GOES_ON_MAX).await)
                });
            }
        }
        let Some(left) = running.join_next().await else { break };
        match left {
            Ok((endpoint, Ok(Some(Left::Ended)))) => {
                ended += 1;
                // One that was asked for behind it is due at once.
                begun.remove(&endpoint);
            }
            Ok((_, Ok(Some(Left::Waits)))) => waits += 1,
            Ok((_, Ok(Some(Left::Paused | Left::Lost)))) => paused += 1,
            Ok((_, Ok(None))) => {}
            Ok((endpoint, Err(error))) => {
                tracing::warn!(endpoint.id = %endpoint, %error, "a reconciliation could not go on; it is left to the next run");
            }
            Err(error) => tracing::error!(%error, "a reconciliation has failed within"),
        }
    }
    let report = Report::of("runs ended", ended).and("wait for their provider", waits);
    Ok(if paused > 0 { report.and("go on later", paused) } else { report })
}
