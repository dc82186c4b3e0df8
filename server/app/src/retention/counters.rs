//! The lives of counters, as a job of the schedule. What happens is counted by the minute and by the hour at once, so
//! that nothing has to be added up when the minutes go.

use std::time::Duration;

use restante_store::retention;

use crate::schedule::{JobFault, Report, Work};

/// Days for which counters by the minute are kept; `docs/DATA.md` has the table of lives.
const MINUTE_COUNTERS_DAYS: i64 = 14;
/// Days for which counters by the hour are kept.
const HOUR_COUNTERS_DAYS: i64 = 400;
/// Tenants that are read at once.
const TENANTS_AT_ONCE: u32 = 200;
/// Between two steps, so that commits come through.
const REST: Duration = Duration::from_millis(5);

/// Removes counters whose time is over.
pub(crate) async fn age_counters(work: Work) -> Result<Report, JobFault> {
    let store = &work.app.store;
    let (mut minutes_gone, mut hours_gone) = (0, 0);
    let mut after = None;
    'tenants: loop {
        let tenants =
            store.read(move |conn| Box::pin(retention::tenants_after(conn, after, TENANTS_AT_ONCE))).await?;
        let Some(last) = tenants.last() else { break };
        after = Some(*last);
        for tenant in tenants {
            loop {
                if work.stops() {
                    break 'tenants;
                }
                let demand = work.clone();
                let ([minutes, hours], left) = store
                    .write(move |conn| {
                        Box::pin(async move {
                            demand.demand(conn).await?;
                            let now = conn.now().await?;
                            let ago = |days: i64| now.plus_seconds(-days * 86_400);
                            let (minutes, hours) = (ago(MINUTE_COUNTERS_DAYS), ago(HOUR_COUNTERS_DAYS));
                            retention::remove_old_counters(conn, tenant, minutes, hours).await
                        })
                    })
                    .await?;
                minutes_gone += minutes;
                hours_gone += hours;
                if !left {
                    break;
                }
                tokio::time::sleep(REST).await;
            }
        }
    }
    Ok(Report::of("counters by the minute removed", minutes_gone)
        .and("counters by the hour removed", hours_gone))
}
