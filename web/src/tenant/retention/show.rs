//! The page of retention: what is in force for each endpoint and why, the tenant's policy, what the next run would
//! remove, holds, runs.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use restante_app::retention::{
    EndpointPlan, EndpointReport, HoldRow, LineCounts, Report, RunLine, RunRow, TenantRetention,
};
use restante_core::id::{EndpointId, HoldId};
use restante_core::time::Timestamp;

use super::fields::{Group, Typed};
use super::words;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::amount::{bytes, counted, number};
use crate::parts::badge::{Badge, Tone};
use crate::parts::form::Faults;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::actors::Actors;
use crate::tenant::frame::{Said, frame};

/// Holds that the page shows.
const HOLDS: u32 = 50;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/retention/show.html")]
pub(crate) struct RetentionPage {
    shell: Shell,
    faults: Faults,
    payload: String,
    receipt: String,
    rows: Vec<EndpointRow>,
    groups: Vec<Group>,
    preview: Preview,
    holds: Vec<Hold>,
    runs: Vec<Run>,
    not_reached: Vec<&'static str>,
    slug: String,
}

impl Page for RetentionPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// What holds for one endpoint.
#[derive(Debug)]
pub(crate) struct EndpointRow {
    pub(crate) name: Alien,
    pub(crate) href: Option<String>,
    pub(crate) payload: String,
    pub(crate) payload_from: String,
    pub(crate) key: String,
    pub(crate) meaning: Alien,
    pub(crate) badges: Vec<Badge>,
}

const HELD: Badge = Badge { tone: Tone::Info, icon: "lock", word: "held" };
const RAISED: Badge = Badge { tone: Tone::Warn, icon: "clock", word: "kept longer" };
const OVERRIDDEN: Badge = Badge { tone: Tone::Bad, icon: "failures", word: "overridden" };
const DELETED: Badge = Badge { tone: Tone::Plain, icon: "trash", word: "deleted" };

impl EndpointRow {
    pub(crate) fn new(shell: &Shell, plan: &EndpointPlan) -> Self {
        let mut badges = Vec::new();
        for (is, badge) in [
            (plan.held, HELD),
            (plan.life.raised_by.is_some(), RAISED),
            (plan.life.overridden.is_some(), OVERRIDDEN),
            (plan.deleted, DELETED),
        ] {
            if is {
                badges.push(badge);
            }
        }
        Self {
            name: Alien::cut(&plan.name, 60),
            href: (!plan.deleted).then(|| shell.at(&format!("/endpoints/{}/retention", plan.id))),
            payload: words::days(plan.resolved.payload_days.value),
            payload_from: words::source(&plan.resolved.payload_days),
            key: words::key_days(plan),
            meaning: Alien::new(words::meaning(plan)),
            badges,
        }
    }
}

/// What a run would remove.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) lines: Vec<Line>,
    pub(crate) payloads: String,
    pub(crate) bytes: String,
    pub(crate) keys: String,
    pub(crate) looks_at: String,
}

/// What goes and what stays of one endpoint.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: Alien,
    pub(crate) payloads: String,
    pub(crate) bytes: String,
    pub(crate) keys: String,
    pub(crate) expired: u64,
    /// How many stay, and why.
    pub(crate) kept: Vec<(String, &'static str)>,
}

impl Preview {
    pub(crate) fn new(report: &Report) -> Self {
        Self::of(report.counts, report.endpoints.iter())
    }

    /// The lines of one endpoint alone.
    pub(crate) fn of_endpoint(report: &Report, id: EndpointId) -> Self {
        let lines = || report.endpoints.iter().filter(|one| one.endpoint == id);
        let counts = lines().next().map(|one| one.counts).unwrap_or_default();
        Self::of(counts, lines())
    }

    fn of<'a>(counts: LineCounts, lines: impl Iterator<Item = &'a EndpointReport>) -> Self {
        let lines = lines.map(|one| Line {
            name: Alien::cut(&one.name, 60),
            payloads: number(one.counts.payloads),
            bytes: bytes(one.counts.payload_bytes),
            keys: number(one.counts.keys),
            expired: one.counts.expired,
            kept: one.kept.iter().map(|(why, n)| (number(*n), words::kept(why.as_str()))).collect(),
        });
        Self {
            lines: lines.collect(),
            payloads: counted(counts.payloads, "payload", "payloads"),
            bytes: bytes(counts.payload_bytes),
            keys: counted(counts.keys, "id", "ids"),
            looks_at: number(restante_app::retention::PREVIEW_LOOK_MAX),
        }
    }
}

/// A hold.
#[derive(Debug)]
struct Hold {
    id: String,
    what: Alien,
    reason: Alien,
    by: String,
    at: Moment,
    released: Option<Moment>,
}

/// A run.
#[derive(Debug)]
struct Run {
    at: Moment,
    cause: &'static str,
    outcome: Alien,
    done: bool,
    lines: Vec<Line>,
}

impl Run {
    fn new((run, lines): &(RunRow, Vec<RunLine>), now: Timestamp) -> Self {
        let done = run.outcome.as_deref() == Some("done");
        Self {
            at: Moment::new(run.started_at, now),
            cause: match run.cause.as_str() {
                "command" => "by the operator’s command",
                "person" => "by hand",
                _ => "by the schedule",
            },
            outcome: Alien::cut(run.outcome.as_deref().unwrap_or("under way"), 300),
            done,
            lines: lines
                .iter()
                .map(|one| Line {
                    name: Alien::cut(&one.name, 60),
                    payloads: number(one.counts.payloads),
                    bytes: bytes(one.counts.payload_bytes),
                    keys: number(one.counts.keys),
                    expired: one.counts.expired,
                    kept: one.kept.iter().map(|(why, n)| (number(*n), words::kept(why))).collect(),
                })
                .collect(),
        }
    }
}

pub(crate) async fn show(State(web): State<Web>, member: Member, said: Said) -> Result<Response, Fault> {
    page(&web, &member, &said, None, Faults::default()).await
}

/// The page, with what was typed and is wrong with it.
pub(crate) async fn page(
    web: &Web,
    member: &Member,
    said: &Said,
    typed: Option<Typed>,
    faults: Faults,
) -> Result<Response, Fault> {
    let found = web.app.retention(&member.by).await?;
    let preview = web.app.retention_preview(&member.by, None).await?;
    let holds = web.app.holds(&member.by, None, HOLDS).await?;
    let runs = web.app.retention_runs(&member.by, None).await?;
    let actors = holds.iter().map(|hold| hold.created_by.as_str());
    let actors = Actors::of(&web.app, &member.by, actors).await?;
    let shell = frame(web, member, Area::Retention, said).await?;
    let now = web.app.clock.now();
    let typed = typed.unwrap_or_else(|| Typed::of(&found.own));
    let holds = holds.iter().map(|hold| shown_hold(hold, &found, &actors, now)).collect();
    Ok(answer(&RetentionPage {
        payload: words::days(found.in_force.payload_days.value),
        receipt: words::days(found.in_force.receipt_days.value),
        rows: found.endpoints.iter().map(|plan| EndpointRow::new(&shell, plan)).collect(),
        groups: typed.groups(&found.in_force, &faults, false),
        preview: Preview::new(&preview),
        holds,
        runs: runs.iter().map(|run| Run::new(run, now)).collect(),
        not_reached: restante_app::retention::NOT_REACHED.to_vec(),
        slug: member.here.slug.clone(),
        faults,
        shell,
    }))
}

fn shown_hold(hold: &HoldRow, found: &TenantRetention, actors: &Actors, now: Timestamp) -> Hold {
    let what = match (hold.endpoint, hold.receipt) {
        (_, Some(receipt)) => format!("the event {receipt}"),
        (Some(endpoint), None) => {
            let name = found.endpoints.iter().find(|plan| plan.id == endpoint);
            format!("the endpoint {}", name.map_or_else(|| endpoint.to_string(), |plan| plan.name.clone()))
        }
        (None, None) => "the whole tenant".to_owned(),
    };
    Hold {
        id: HoldId(hold.id).to_string(),
        what: Alien::cut(&what, 120),
        reason: Alien::cut(&hold.reason, 400),
        by: actors.name(&hold.created_by),
        at: Moment::new(hold.created_at, now),
        released: hold.released_at.map(|at| Moment::new(at, now)),
    }
}

#[cfg(test)]
pub(crate) mod samples {
    //! Policies and reports to try pages with.

    use std::collections::BTreeMap;

    use restante_app::retention::{Kept, OverrideRow};
    use restante_core::id::TenantId;
    use restante_core::retention::{Bounds, LiveSecrets, Window, WindowKind, key_life, resolve};
    use uuid::Uuid;

    use super::*;

    pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    /// An endpoint of which everything is unusual, with a name and texts of others.
    pub(crate) fn plan(text: &str) -> EndpointPlan {
        let windows = vec![Window {
            kind: WindowKind::Audit,
            seconds: u64::from(u32::MAX),
            what: text.to_owned(),
            source: text.to_owned(),
        }];
        let endpoint = EndpointId(Uuid::from_u128(1));
        let overridden = OverrideRow {
            endpoint,
            receipt_days: 3,
            reason: text.to_owned(),
            created_by: text.to_owned(),
            created_at: NOW,
        };
        EndpointPlan {
            id: endpoint,
            name: text.to_owned(),
            provider: "github".to_owned(),
            deleted: false,
            resolved: resolve(&[], &Bounds::default()),
            life: key_life(400, &windows, Some(3)),
            windows,
            overridden: Some(overridden),
            secrets: LiveSecrets { oldest: Some(NOW), oldest_of_provider: Some(NOW) },
            held: true,
        }
    }

    /// A report with as much on a line as there can be.
    pub(crate) fn report(text: &str, amount: u64) -> Report {
        let counts = LineCounts { payloads: amount, payload_bytes: amount, keys: amount, expired: amount };
        let kept: BTreeMap<Kept, u64> = Kept::ALL.iter().map(|why| (*why, amount)).collect();
        let endpoint = EndpointReport {
            tenant: TenantId(Uuid::nil()),
            endpoint: EndpointId(Uuid::from_u128(1)),
            name: text.to_owned(),
            counts,
            kept,
        };
        Report { counts, endpoints: vec![endpoint], ..Report::default() }
    }

    /// A run that was cut off, with one line.
    pub(crate) fn run(text: &str, amount: u64) -> (RunRow, Vec<RunLine>) {
        let run = RunRow {
            id: Uuid::nil(),
            cause: "person".to_owned(),
            actor: text.to_owned(),
            at: NOW,
            started_at: NOW,
            seen_at: NOW,
            finished_at: None,
            outcome: Some(text.to_owned()),
            beside: None,
        };
        let line = RunLine {
            endpoint: EndpointId(Uuid::from_u128(1)),
            name: text.to_owned(),
            counts: LineCounts { payloads: amount, payload_bytes: amount, keys: amount, expired: amount },
            kept: BTreeMap::from([(text.to_owned(), amount)]),
        };
        (run, vec![line])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    fn page(text: &str, amount: u64) -> RetentionPage {
        let shell = Shell::sample(Area::Retention);
        let plan = samples::plan(text);
        let mut faults = Faults::default();
        faults.add("receipt_days", text);
        faults.add("confirm", text);
        let hold = |released| Hold {
            id: text.to_owned(),
            what: Alien::new(text),
            reason: Alien::new(text),
            by: text.to_owned(),
            at: Moment::new(samples::NOW, samples::NOW),
            released,
        };
        let released = Some(Moment::new(samples::NOW, samples::NOW));
        RetentionPage {
            payload: text.to_owned(),
            receipt: text.to_owned(),
            rows: vec![
                EndpointRow::new(&shell, &plan),
                EndpointRow::new(&shell, &EndpointPlan { deleted: true, ..plan }),
            ],
            groups: Typed::default().groups(&samples::plan(text).resolved, &faults, false),
            preview: Preview::new(&samples::report(text, amount)),
            holds: vec![hold(None), hold(released)],
            runs: vec![Run::new(&samples::run(text, amount), samples::NOW)],
            not_reached: restante_app::retention::NOT_REACHED.to_vec(),
            slug: text.to_owned(),
            faults,
            shell,
        }
    }

    #[test]
    fn every_sample_makes_a_page() {
        for (text, amount) in [("", 0), ("Payments", 12), (HOSTILE, 1), (&long(), u64::MAX)] {
            check(&page(text, amount).render().unwrap());
        }
        let empty = RetentionPage {
            rows: Vec::new(),
            holds: Vec::new(),
            runs: Vec::new(),
            preview: Preview::new(&Report::default()),
            ..page("", 0)
        };
        let text = empty.render().unwrap();
        check(&text);
        assert!(text.contains("Nothing is due") && text.contains("No endpoint yet"));
    }

    #[test]
    fn an_override_stands_at_its_endpoint_with_the_reason() {
        let text = page("a test system", 1).render().unwrap();
        assert!(
            text.contains(">overridden</span>") && text.contains("The reason given is: a test system"),
            "{text}"
        );
    }
}
