//! `restante schedule`: what the page of the schedule shows and does, for the operator. Administrators of the instance
//! have no API key (keys belong to tenants), so this is how a script looks at the schedule. The command writes its wish
//! into the database; a running server does the work.

use std::time::Duration;

use restante_app::people::Actor;
use restante_app::schedule::{JobRun, ScheduledJob};
use restante_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::say;
use crate::schedule_arguments::{RunArguments, ScheduleArguments, ScheduleCommand};

/// Between two looks whether a run has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) async fn run(asked: ScheduleArguments) -> Result<(), Failure> {
    let settings = match &asked.command {
        ScheduleCommand::List(asked) => &asked.settings,
        ScheduleCommand::Run(asked) => &asked.settings,
        ScheduleCommand::Pause(asked) | ScheduleCommand::Resume(asked) => &asked.settings,
    };
    let (settings, _) = settings.settings()?;
    let instance = Instance::open(&settings, For::Command).await?;
    let done = match &asked.command {
        ScheduleCommand::List(asked) => list(&instance, asked.json).await,
        ScheduleCommand::Run(asked) => run_now(&instance, asked).await,
        ScheduleCommand::Pause(asked) => pause(&instance, &asked.job, true).await,
        ScheduleCommand::Resume(asked) => pause(&instance, &asked.job, false).await,
    };
    instance.close().await;
    done
}

async fn list(instance: &Instance, as_json: bool) -> Result<(), Failure> {
    let jobs = instance.app.schedule(&Actor::operator()).await?;
    if as_json {
        say::result(&json!({ "jobs": jobs.iter().map(job_json).collect::<Vec<_>>() }).to_string());
        return Ok(());
    }
    for one in &jobs {
        let next = match (one.running, one.asked_at, one.paused) {
            (true, ..) => "a run is under way".to_owned(),
            (_, Some(at), _) => format!("asked for at {at}, not begun"),
            (_, _, true) => "paused".to_owned(),
            (_, _, false) => format!("next at {}", one.next),
        };
        say::result(&format!("{:<16} {}; {}, {next}", one.job.name, one.job.title, one.job.when));
        match &one.last {
            Some(last) => say::result(&format!("{:<16} last: {}", "", words(last))),
            None => say::result(&format!("{:<16} it has not run yet", "")),
        }
    }
    Ok(())
}

async fn run_now(instance: &Instance, asked: &RunArguments) -> Result<(), Failure> {
    let (app, operator) = (&instance.app, Actor::operator());
    let before = app.scheduled_job(&operator, &asked.job).await.map_err(unknown)?.1;
    let newest = before.first().map(|run| run.row.id);
    app.ask_job(&operator, &asked.job).await?;
    if app.live_nodes().await?.is_empty() {
        say::note("No server of this instance runs now. The first one that starts does it.");
    }
    let Some(seconds) = asked.wait else {
        let wish = json!({ "job": asked.job, "asked": true });
        say::result(&if asked.json {
            wish.to_string()
        } else {
            format!("{} runs within some seconds. `restante schedule list` shows what it did.", asked.job)
        });
        return Ok(());
    };
    let deadline = Instant::now() + Duration::from_secs(seconds.into());
    let ended = loop {
        let (_, runs) = app.scheduled_job(&operator, &asked.job).await?;
        // A run that its time has brought about meanwhile is not the one that was asked for.
        let mut newer = runs.into_iter().take_while(|run| Some(run.row.id) != newest);
        if let Some(run) = newer.find(|run| run.row.slot_at.is_none() && run.row.finished_at.is_some()) {
            break run;
        }
        if Instant::now() >= deadline {
            return Err(Failure::new(format!(
                "{} has not ended within {seconds} seconds. It goes on all the same; `restante schedule list` shows how \
                 it ended.",
                asked.job
            )));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    say::result(&if asked.json { run_json(&ended).to_string() } else { words(&ended) });
    match ended.row.error {
        Some(why) => Err(Failure::new(why)),
        None => Ok(()),
    }
}

async fn pause(instance: &Instance, job: &str, paused: bool) -> Result<(), Failure> {
    instance.app.pause_job(&Actor::operator(), job, paused).await.map_err(unknown)?;
    say::result(&match paused {
        true => format!("{job} is paused: its times pass by until `restante schedule resume {job}`."),
        false => format!("{job} goes on at its times. What was missed meanwhile is not caught up."),
    });
    Ok(())
}

/// A name that no job has is a slip of the keyboard.
fn unknown(error: restante_store::StoreError) -> Failure {
    match error {
        restante_store::StoreError::Problem(_) => {
            Failure::usage("There is no such job. `restante schedule list` names them.")
        }
        other => other.into(),
    }
}

/// A run in a line.
fn words(run: &JobRun) -> String {
    let row = &run.row;
    let outcome = row.outcome.as_deref().unwrap_or("under way");
    let at: Timestamp = row.finished_at.unwrap_or(row.started_at);
    let mut text = format!("{outcome} at {at}");
    for (what, count) in run.report.iter().flat_map(|report| &report.counts) {
        text.push_str(&format!("; {what}: {count}"));
    }
    for note in run.report.iter().flat_map(|report| &report.notes).chain(&row.error) {
        text.push_str(&format!("; {note}"));
    }
    text
}

fn job_json(one: &ScheduledJob) -> Value {
    json!({
        "name": one.job.name, "title": one.job.title, "when": one.job.when, "cron": one.job.cron,
        "next_at": one.next, "paused": one.paused, "asked_at": one.asked_at, "running": one.running,
        "last": one.last.as_ref().map(run_json),
    })
}

fn run_json(run: &JobRun) -> Value {
    let row = &run.row;
    let counts: Vec<Value> = run
        .report
        .iter()
        .flat_map(|report| &report.counts)
        .map(|(what, count)| json!({ "what": what, "count": count }))
        .collect();
    let notes: Vec<&String> = run.report.iter().flat_map(|report| &report.notes).collect();
    json!({
        "id": row.id.to_string(), "slot_at": row.slot_at, "asked_by": row.asked_by, "missed": row.missed,
        "node": row.node, "started_at": row.started_at, "finished_at": row.finished_at, "outcome": row.outcome,
        "counts": counts, "notes": notes, "error": row.error,
    })
}
