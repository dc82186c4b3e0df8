//! Retention as a job of the schedule.

use super::{Cause, Options, run};
use crate::schedule::{JobFault, Report, Work};

/// Removes what the policies no longer keep. A run that a clock in doubt ends before it began is told as refused.
pub(crate) async fn keep(work: Work) -> Result<Report, JobFault> {
    let options = Options { cause: Cause::Schedule, stop: Some(work.stop.clone()), ..Options::default() };
    let done = run(&work.app, None, options).await?;
    let report = Report::of("payloads removed", done.counts.payloads)
        .and("bytes of payloads removed", done.counts.payload_bytes)
        .and("ids forgotten", done.counts.keys)
        .and("events that nobody processed expired", done.counts.expired)
        .and("events kept although their time was over", done.kept.values().sum())
        .and("old samples, invitations, records and lines of logs removed", done.old_rows);
    match done.stopped {
        Some(why) if !work.stops() => Err(JobFault::Refused(why)),
        Some(why) => Ok(report.saying(why)),
        None => Ok(report),
    }
}
