//! The ticks. tokio-cron-scheduler tells when a job's time has come by this node's clock; the database then
//! says whether there is something to do. Its ticks depend on the wall clock and may come late or not at
//! all when that is set, so a look at every job each few seconds, by a clock that nobody can set, catches
//! what they miss: slots that were missed, runs whose holder was lost, and runs that a person asked for.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_cron_scheduler::{Job as Tick, JobScheduler, JobSchedulerError};

use super::clock_watch::ClockWatch;
use super::{JOBS, Job};
use crate::App;

/// Between two looks at every job.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Ticks that wait; more of them say nothing new.
const TICKS_MAX: usize = 64;

/// Runs the schedule until it is told to stop. Jobs that are under way then are given up where they stand:
/// each of their steps stands in a transaction of its own, and the next holder goes on.
pub async fn run_schedule(app: App, mut stop: watch::Receiver<bool>) {
    let node = node_name(&app);
    let stopped = stop.clone();
    let work = async {
        let (sender, mut ticks) = mpsc::channel(TICKS_MAX);
        // Without it the looks go on.
        let ticker = match ticker(&sender).await {
            Ok(ticker) => Some(ticker),
            Err(error) => {
                tracing::error!(%error, "the scheduler does not tick; jobs are looked at every few seconds all the same");
                None
            }
        };
        let mut clock = None;
        let mut busy: HashSet<&'static str> = HashSet::new();
        let mut running: JoinSet<&'static str> = JoinSet::new();
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let due: Vec<&'static Job> = tokio::select! {
                tick = ticks.recv() => tick.and_then(super::job).into_iter().collect(),
                _ = looks.tick() => JOBS.iter().collect(),
                () = app.schedule_wake.woken() => JOBS.iter().collect(),
                Some(ended) = running.join_next() => {
                    // What breaks off within a job is caught there, and ends as a failed run.
                    if let Ok(name) = ended {
                        busy.remove(name);
                    }
                    Vec::new()
                }
            };
            if clock.is_none() {
                clock = app.store.read(|conn| Box::pin(conn.now())).await.ok().map(ClockWatch::begin);
            }
            for job in due {
                if !busy.insert(job.name) {
                    continue;
                }
                let (app, node, stop) = (app.clone(), node.clone(), stopped.clone());
                running.spawn(async move {
                    if let Err(error) = app.run_job(job, &node, clock.as_ref(), stop).await {
                        tracing::warn!(job = job.name, %error, "a job could not be looked at");
                    }
                    job.name
                });
            }
            // Keeps it alive.
            let _ = &ticker;
        }
    };
    tokio::select! {
        () = work => {}
        _ = stop.wait_for(|stopped| *stopped) => {}
    }
}

/// The scheduler, which sends the name of each job at its time.
async fn ticker(ticks: &mpsc::Sender<&'static str>) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    for job in JOBS {
        let ticks = ticks.clone();
        let tick = Tick::new(job.cron, move |_, _| {
            // When as many wait as there is room for, a look comes soon anyway.
            let _ = ticks.try_send(job.name);
        })?;
        scheduler.add(tick).await?;
    }
    scheduler.start().await?;
    Ok(scheduler)
}

/// How runs name this process: its host and number, and some random characters, since a container is
/// often process 1.
fn node_name(app: &App) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String = host.trim().chars().filter(|c| c.is_ascii_graphic()).take(60).collect();
    let host = if host.is_empty() { "node" } else { &host };
    let random: [u8; 3] = app.random.bytes();
    format!("{host}/{}/{}", std::process::id(), hex::encode(random))
}
