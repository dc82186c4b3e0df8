//! The jobs. Each is a few lines here and a verb elsewhere; the order is that of the page.

use std::time::Duration;

use super::{Job, Report, Work};

/// How long one run of a clean-up goes on; what is left waits for the next.
const CLEAN_UP_MAX: Duration = Duration::from_secs(20);

/// Every job of the schedule.
pub const JOBS: &[Job] = &[
    Job {
        name: "answers",
        title: "Forget kept answers",
        about: "Removes the answers that were kept for an Idempotency-Key, after their 24 hours.",
        cron: "0 * * * * *",
        when: "each minute",
        deletes: true,
        lease_seconds: 60,
        work: |work| Box::pin(answers(work)),
    },
    Job {
        name: "people",
        title: "Forget sessions, browsers and links",
        about: "Removes sessions that have ended, marks of browsers that nobody used for 90 days, and one-time links a day \
                after their end. None of them opened anything any more.",
        cron: "20 * * * * *",
        when: "each minute",
        deletes: true,
        lease_seconds: 60,
        work: |work| Box::pin(people(work)),
    },
    Job {
        name: "consumers",
        title: "Cancel what deleted consumers held",
        about: "Finishes the deletion of consumers where the request was cut off.",
        cron: "40 * * * * *",
        when: "each minute",
        deletes: false,
        lease_seconds: 60,
        work: |work| Box::pin(consumers(work)),
    },
    Job {
        name: "silence",
        title: "Look for silence and backlogs",
        about: "Counts endpoints that fell silent and consumers whose oldest event has waited for more than an hour, and writes them to the \
                log. Each tenant sees its own on its overview.",
        cron: "10 */15 * * * *",
        when: "each quarter of an hour",
        deletes: false,
        lease_seconds: 120,
        work: |work| Box::pin(super::look_around::look_around(work)),
    },
    Job {
        name: "rollups",
        title: "Forget old counters",
        about: "Removes the counters behind the charts: by the minute after 14 days, by the hour after 400. What is counted as it \
                stands now, such as pending events, stays.",
        cron: "0 15 * * * *",
        when: "each hour",
        deletes: true,
        lease_seconds: 120,
        work: |work| Box::pin(crate::retention::age_counters(work)),
    },
    Job {
        name: "keys",
        title: "Finish rotations of keys",
        about: "Wraps by the active master key what another one still wraps, and seals secrets under the newest key of their tenant, where \
                a rotation was begun and not finished. It makes and retires no master key.",
        cron: "0 45 * * * *",
        when: "each hour",
        deletes: false,
        lease_seconds: 300,
        work: |work| Box::pin(crate::keys::finish_rotations(work)),
    },
    Job {
        name: "retention",
        title: "Remove what is no longer kept",
        about: "Removes payloads, and later the ids of events, as the policies of retention say. Each run is on the page Retention with what it \
                removed and what it left.",
        cron: "0 30 * * * *",
        when: "each hour",
        deletes: true,
        lease_seconds: 300,
        work: |work| Box::pin(crate::retention::keep(work)),
    },
    Job {
        name: crate::reconcile::JOB,
        title: "Ask providers what they sent",
        about: "Looks for endpoints whose provider is to be asked now, and inserts events that never arrived. How often an endpoint's \
                provider is asked is set at the endpoint.",
        cron: "50 * * * * *",
        when: "each minute, and when a tenant asks for a run",
        deletes: false,
        lease_seconds: 60,
        work: |work| Box::pin(crate::reconcile::reconcile_due(work)),
    },
];

async fn answers(work: Work) -> Result<Report, super::JobFault> {
    Ok(Report::of("answers removed", work.app.expire_kept_answers(CLEAN_UP_MAX).await?))
}

async fn people(work: Work) -> Result<Report, super::JobFault> {
    Ok(Report::of("rows removed", work.app.forget_what_ran_out().await?))
}

async fn consumers(work: Work) -> Result<Report, super::JobFault> {
    Ok(Report::of("handoffs cancelled", work.app.sweep_deleted().await?))
}
