//! The schedule: what the program does by itself, when it last did, and what came of it. Administrators
//! have a job run now, or pause it.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{Redirect, Response};
use restante_app::schedule::{JobRun, ScheduledJob};
use restante_core::time::Timestamp;
use serde::Deserialize;

use super::start::yes_or_no;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::number;
use crate::parts::badge::{Badge, Tone};
use crate::parts::form_body::Form;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/schedule.html")]
struct SchedulePage {
    shell: Shell,
    jobs: Vec<JobLine>,
}

#[derive(Template)]
#[template(path = "admin/job.html")]
struct JobPage {
    shell: Shell,
    job: JobLine,
    runs: Vec<RunLine>,
}

impl Page for SchedulePage {}
impl Page for JobPage {}

/// A job with where it stands.
#[derive(Debug, Clone)]
struct JobLine {
    name: String,
    title: String,
    about: String,
    when: String,
    next: Moment,
    paused: bool,
    asked: bool,
    running: bool,
    last: Option<RunLine>,
}

/// A run.
#[derive(Debug, Clone)]
struct RunLine {
    badge: Badge,
    began: Moment,
    took: Option<String>,
    /// Why it ran: its slot, or who asked.
    cause: String,
    node: String,
    /// What it did, a sentence each.
    did: Vec<String>,
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    said: String,
}

pub(crate) async fn list(State(web): State<Web>, person: Person) -> Result<Response, Fault> {
    let now = web.app.clock.now();
    let jobs = web.app.schedule(&person.actor()).await?;
    let jobs = jobs.into_iter().map(|job| JobLine::of(&job, now)).collect();
    Ok(answer(&SchedulePage { shell: person.shell(Area::AdminSchedule), jobs }))
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let now = web.app.clock.now();
    let (job, runs) = web.app.scheduled_job(&person.actor(), &name).await?;
    let mut shell = person.shell(Area::AdminSchedule);
    shell.notices.extend(match asked.said.as_str() {
        "asked" => {
            Some(Notice::done("It runs within a few seconds. Load the page again to see what came of it."))
        }
        "paused" => Some(Notice::done("The job is paused. What falls into the pause is not caught up.")),
        "resumed" => Some(Notice::done("The job runs again, from its next time on.")),
        _ => None,
    });
    let job = JobLine::of(&job, now);
    Ok(answer(&JobPage { shell, job, runs: runs.iter().map(|run| RunLine::of(run, now)).collect() }))
}

pub(crate) async fn run(
    State(web): State<Web>,
    person: Person,
    Path(name): Path<String>,
) -> Result<Redirect, Fault> {
    web.app.ask_job(&person.actor(), &name).await?;
    Ok(Redirect::to(&format!("/admin/schedule/{name}?said=asked")))
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    paused: String,
}

pub(crate) async fn pause(
    State(web): State<Web>,
    person: Person,
    Path(name): Path<String>,
    Form(typed): Form<Typed>,
) -> Result<Redirect, Fault> {
    let paused = yes_or_no(&typed.paused)?;
    web.app.pause_job(&person.actor(), &name, paused).await?;
    let said = if paused { "paused" } else { "resumed" };
    Ok(Redirect::to(&format!("/admin/schedule/{name}?said={said}")))
}

impl JobLine {
    fn of(job: &ScheduledJob, now: Timestamp) -> Self {
        Self {
            name: job.job.name.to_owned(),
            title: job.job.title.to_owned(),
            about: job.job.about.to_owned(),
            when: job.job.when.to_owned(),
            next: Moment::new(job.next, now),
            paused: job.paused,
            asked: job.asked_at.is_some(),
            running: job.running,
            last: job.last.as_ref().map(|run| RunLine::of(run, now)),
        }
    }
}

impl RunLine {
    fn of(run: &JobRun, now: Timestamp) -> Self {
        let row = &run.row;
        let mut did: Vec<String> =
            run.report.iter().flat_map(|report| &report.counts).filter_map(counted).collect();
        did.extend(run.report.iter().flat_map(|report| report.notes.iter().cloned()));
        if row.missed > 0 {
            did.push(format!("{} earlier times were missed; this run stands for them", row.missed));
        }
        if row.takeovers > 0 {
            did.push("another node had begun it and was lost".to_owned());
        }
        let cause = match (&row.slot_at, &run.asked_by) {
            (Some(_), _) => "its time".to_owned(),
            (None, Some(who)) => format!("asked for by {who}"),
            (None, None) => "asked for".to_owned(),
        };
        let took = row.finished_at.map(|end| {
            let millis = end.micros_since(row.started_at).max(0) / 1_000;
            if millis < 10_000 { format!("{millis} ms") } else { format!("{} s", millis / 1_000) }
        });
        Self {
            badge: badge(row.outcome.as_deref()),
            began: Moment::new(row.started_at, now),
            took,
            cause,
            node: row.node.clone(),
            did,
            error: row.error.clone(),
        }
    }
}

/// `Answers removed: 3`; nothing of what there was none of.
fn counted((what, count): &(String, u64)) -> Option<String> {
    let mut letters = what.chars();
    let first = letters.next()?.to_uppercase();
    (*count > 0).then(|| format!("{first}{}: {}", letters.as_str(), number(*count)))
}

fn badge(outcome: Option<&str>) -> Badge {
    match outcome {
        Some("done") => Badge { tone: Tone::Good, icon: "check", word: "done" },
        Some("failed") => Badge { tone: Tone::Bad, icon: "cross", word: "failed" },
        Some("refused") => Badge { tone: Tone::Warn, icon: "slash", word: "refused" },
        _ => Badge { tone: Tone::Info, icon: "clock", word: "running" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    fn run_line(text: &str, outcome: Option<&str>) -> RunLine {
        let now = Timestamp::from_seconds(1_796_040_000);
        RunLine {
            badge: badge(outcome),
            began: Moment::new(now, now),
            took: outcome.map(|_| "12 ms".to_owned()),
            cause: text.to_owned(),
            node: text.to_owned(),
            did: vec![text.to_owned()],
            error: (outcome == Some("failed")).then(|| text.to_owned()),
        }
    }

    fn job_line(text: &str, number: usize) -> JobLine {
        let now = Timestamp::from_seconds(1_796_040_000);
        JobLine {
            name: "answers".to_owned(),
            title: text.to_owned(),
            about: text.to_owned(),
            when: text.to_owned(),
            next: Moment::new(now, now),
            paused: number % 3 == 1,
            asked: number % 3 == 2,
            running: number % 2 == 1,
            last: (number > 0).then(|| run_line(text, [None, Some("done"), Some("failed")][number % 3])),
        }
    }

    #[test]
    fn a_run_tells_what_it_did_and_not_what_it_did_not() {
        let told = |count| counted(&("endpoints fell silent".to_owned(), count));
        assert_eq!(told(1).as_deref(), Some("Endpoints fell silent: 1"));
        assert_eq!((told(12_000).as_deref(), told(0)), (Some("Endpoints fell silent: 12,000"), None));
    }

    #[test]
    fn the_pages_stand_empty_full_and_hostile() {
        let long = samples::long();
        for (text, count) in [("", 0), ("answers removed", 3), (samples::HOSTILE, 4), (long.as_str(), 20)] {
            let jobs = (0..count).map(|number| job_line(text, number)).collect();
            let page = SchedulePage { shell: Shell::hostile(Area::AdminSchedule), jobs };
            samples::check(&page.render().unwrap());
            let outcomes = [None, Some("done"), Some("failed"), Some("refused")];
            let runs = (0..count).map(|number| run_line(text, outcomes[number % 4])).collect();
            let page =
                JobPage { shell: Shell::hostile(Area::AdminSchedule), job: job_line(text, count), runs };
            samples::check(&page.render().unwrap());
        }
    }
}
