//! Retention of the whole instance: bounds and defaults for every tenant, the override of one endpoint's windows, and
//! the record of runs.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::retention::{InstanceRetention, LineCounts, RunRow};
use restante_core::id::EndpointId;
use restante_core::problem::Problem;
use restante_core::retention::{Bounds, Range, resolve};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::amount::{bytes, number};
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::parts::moment::{Moment, span_micros};
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Debug, Template)]
#[template(path = "admin/retention.html")]
struct RetentionPage {
    shell: Shell,
    faults: Faults,
    /// Name, title, least and most.
    bounds: [Bound; 2],
    groups: Vec<crate::tenant::retention::Group>,
    runs: Vec<Run>,
    /// Why the last run removed nothing, when it did not believe the clock.
    doubt: Option<Alien>,
}

impl Page for RetentionPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// A pair of bounds.
#[derive(Debug)]
struct Bound {
    name: &'static str,
    title: &'static str,
    min: String,
    max: String,
    fault: Option<String>,
}

/// A run.
#[derive(Debug)]
struct Run {
    at: Moment,
    cause: &'static str,
    outcome: Alien,
    done: bool,
    payloads: String,
    bytes: String,
    keys: String,
    expired: String,
    took: String,
}

impl Run {
    fn new(run: &RunRow, counts: &LineCounts, now: Timestamp) -> Self {
        let ended = run.finished_at.unwrap_or(run.seen_at);
        Self {
            at: Moment::new(run.started_at, now),
            cause: match run.cause.as_str() {
                "command" => "the operator’s command",
                "person" => "a person",
                _ => "the schedule",
            },
            outcome: Alien::cut(run.outcome.as_deref().unwrap_or("under way"), 400),
            done: run.outcome.as_deref() == Some("done"),
            payloads: number(counts.payloads),
            bytes: bytes(counts.payload_bytes),
            keys: number(counts.keys),
            expired: number(counts.expired),
            took: span_micros(ended.micros_since(run.started_at)),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    said: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let notice = match asked.said.as_str() {
        "saved" => Some(Notice::done("Saved. It counts for every tenant from the next run on.")),
        "clock" => Some(Notice::done("The clock counts as right. The next run goes on.")),
        "overridden" => Some(Notice::done("Overridden. The endpoint’s page and both audit logs say so.")),
        "lifted" => Some(Notice::done("Lifted. The windows count again.")),
        _ => None,
    };
    page(&web, &person, None, Faults::default(), notice).await
}

async fn page(
    web: &Web,
    person: &Person,
    typed: Option<Typed>,
    faults: Faults,
    notice: Option<Notice>,
) -> Result<Response, Fault> {
    let set = web.app.instance_retention().await?;
    let runs = web.app.instance_retention_runs(&person.actor(), None).await?;
    let now = web.app.clock.now();
    let mut shell = person.shell(Area::AdminRetention);
    shell.notices.extend(notice);
    let typed = typed.unwrap_or_else(|| Typed::of(&set));
    let in_force = resolve(&[(restante_core::retention::Level::Instance, set.defaults)], &set.bounds);
    let doubt = runs.first().and_then(|(run, _)| run.outcome.as_deref());
    let doubt = doubt.filter(|outcome| outcome.starts_with("The clock says"));
    let bound = |name, title, min: &str, max: &str| Bound {
        name,
        title,
        min: min.to_owned(),
        max: max.to_owned(),
        fault: faults.get(name).map(str::to_owned),
    };
    Ok(answer(&RetentionPage {
        bounds: [
            bound(
                "payload",
                "Days that tenants may choose for payloads",
                &typed.payload_min,
                &typed.payload_max,
            ),
            bound("receipt", "Days that tenants may choose for ids", &typed.receipt_min, &typed.receipt_max),
        ],
        groups: typed.defaults.groups(&in_force, &faults, false),
        runs: runs.iter().map(|(run, counts)| Run::new(run, counts, now)).collect(),
        doubt: doubt.map(|text| Alien::cut(text, 400)),
        faults,
        shell,
    }))
}

/// What was typed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Typed {
    payload_min: String,
    payload_max: String,
    receipt_min: String,
    receipt_max: String,
    #[serde(flatten)]
    defaults: crate::tenant::retention::Typed,
}

impl Typed {
    fn of(set: &InstanceRetention) -> Self {
        let Bounds { payload_days, receipt_days } = set.bounds;
        Self {
            payload_min: payload_days.min.to_string(),
            payload_max: payload_days.max.to_string(),
            receipt_min: receipt_days.min.to_string(),
            receipt_max: receipt_days.max.to_string(),
            defaults: crate::tenant::retention::Typed::of(&set.defaults),
        }
    }

    fn wanted(&self) -> Result<InstanceRetention, Faults> {
        let mut faults = Faults::default();
        let mut range = |name: &'static str, min: &str, max: &str| {
            if let (Ok(min), Ok(max)) = (min.trim().parse(), max.trim().parse()) {
                return Range { min, max };
            }
            faults.add(name, "Both are whole numbers of days.");
            Range { min: 1, max: 1 }
        };
        let bounds = Bounds {
            payload_days: range("payload", &self.payload_min, &self.payload_max),
            receipt_days: range("receipt", &self.receipt_min, &self.receipt_max),
        };
        let defaults = self.defaults.policy()?;
        if faults.is_empty() { Ok(InstanceRetention { bounds, defaults }) } else { Err(faults) }
    }
}

pub(crate) async fn save(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let wanted = match typed.wanted() {
        Ok(wanted) => wanted,
        Err(faults) => return page(&web, &person, Some(typed), faults, None).await,
    };
    match web.app.set_instance_retention(&person.actor(), wanted).await {
        Ok(()) => Ok(Redirect::to("/admin/retention?said=saved").into_response()),
        Err(StoreError::Problem(problem)) => {
            page(&web, &person, Some(typed), at_fields(&problem), None).await
        }
        Err(failure) => Err(failure.into()),
    }
}

/// `/bounds/payload_days` is the pair `payload`, `/defaults/log_days` the field `log_days`.
fn at_fields(problem: &Problem) -> Faults {
    Faults::of(problem, |pointer| match pointer {
        "/bounds/payload_days" => Some("payload".to_owned()),
        "/bounds/receipt_days" => Some("receipt".to_owned()),
        pointer => pointer.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned),
    })
}

pub(crate) async fn clock(State(web): State<Web>, person: Person) -> Result<Redirect, Fault> {
    web.app.confirm_clock(&person.actor()).await?;
    Ok(Redirect::to("/admin/retention?said=clock"))
}

/// Which endpoint, for how long, and why.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Override {
    tenant: String,
    endpoint: String,
    days: String,
    reason: String,
}

impl Override {
    fn endpoint(&self) -> Result<EndpointId, Problem> {
        let none = |_| Problem::field("/endpoint", "This is the id of an endpoint, ep_…");
        self.endpoint.trim().parse().map_err(none)
    }
}

pub(crate) async fn override_windows(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Override>,
) -> Result<Response, Fault> {
    let done = async {
        let actor = person.actor();
        let tenant = web.app.tenant_named(&actor, &typed.tenant).await?;
        let days = typed.days.trim().parse();
        let days = days.map_err(|_| Problem::field("/days", "This is a whole number of days."))?;
        web.app.override_retention(&actor, tenant, typed.endpoint()?, days, &typed.reason).await
    };
    acted(&web, &person, done.await, "overridden").await
}

pub(crate) async fn lift(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Override>,
) -> Result<Response, Fault> {
    let done = async {
        let actor = person.actor();
        let tenant = web.app.tenant_named(&actor, &typed.tenant).await?;
        web.app.lift_override(&actor, tenant, typed.endpoint()?).await
    };
    acted(&web, &person, done.await, "lifted").await
}

async fn acted(
    web: &Web,
    person: &Person,
    done: Result<(), StoreError>,
    said: &str,
) -> Result<Response, Fault> {
    match done {
        Ok(()) => Ok(Redirect::to(&format!("/admin/retention?said={said}")).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, |pointer| match pointer {
                "/receipt_days" => Some("days".to_owned()),
                pointer => crate::parts::form::first_step(pointer),
            });
            page(web, person, None, faults, None).await
        }
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use restante_store::both_engines;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::retention::samples;
    use crate::testing::Site;

    #[test]
    fn every_sample_makes_a_page() {
        for (text, amount) in [("", 0), ("done", 12), (HOSTILE, 1), (&long(), u64::MAX)] {
            let counts =
                LineCounts { payloads: amount, payload_bytes: amount, keys: amount, expired: amount };
            let mut faults = Faults::default();
            for field in ["payload", "tenant", "days"] {
                faults.add(field, text);
            }
            let bound = |name| Bound {
                name,
                title: "Days",
                min: text.to_owned(),
                max: text.to_owned(),
                fault: Some(text.to_owned()),
            };
            let page = RetentionPage {
                bounds: [bound("payload"), bound("receipt")],
                groups: Typed::default().defaults.groups(&samples::plan(text).resolved, &faults, false),
                runs: vec![Run::new(&samples::run(text, amount).0, &counts, samples::NOW)],
                doubt: Some(Alien::new(text)),
                faults,
                shell: Shell::sample(Area::Administration),
            };
            check(&page.render().unwrap());
        }
    }

    both_engines!(an_administrator_sets_bounds_overrides_a_window_and_believes_the_clock, |t| async {
        let site = Site::new(t);
        let tenant = site.a.tenant("acme").await;
        let endpoint = site.a.endpoint(&tenant.by, "Payments").await.to_string();
        let mut admin = site.owner("acme").await;
        let page = admin.get("/admin/retention").await.text;
        assert!(page.contains("value=\"3650\"") && page.contains("No run yet"), "{page}");
        let bounds = |max| {
            [
                ("payload_min", "1"),
                ("payload_max", max),
                ("receipt_min", "31"),
                ("receipt_max", "500"),
                ("log_days", "90"),
            ]
        };
        let wrong = admin.post("/admin/retention", &bounds("0")).await;
        assert!(wrong.status == 422 && wrong.text.contains("payload-fault"), "{}", wrong.text);
        let saved = admin.post("/admin/retention", &bounds("20")).await;
        assert!(admin.get(saved.location()).await.text.contains("value=\"20\""), "{}", saved.text);
        assert!(admin.get("/t/acme/retention").await.text.contains("kept for 20 days"));

        let over = |days| {
            [("tenant", "acme"), ("endpoint", endpoint.as_str()), ("days", days), ("reason", "a test system")]
        };
        let wrong = admin.post("/admin/retention/override", &over("400")).await;
        assert!(wrong.status == 422 && wrong.text.contains("nothing to override"), "{}", wrong.text);
        let done = admin.post("/admin/retention/override", &over("3")).await;
        assert_eq!(done.location(), "/admin/retention?said=overridden");
        let page = admin.get(&format!("/t/acme/endpoints/{endpoint}/retention")).await.text;
        assert!(page.contains("overridden") && page.contains("a test system"), "{page}");
        assert_eq!(
            admin.post("/admin/retention/lift", &over("")).await.location(),
            "/admin/retention?said=lifted"
        );
        assert_eq!(admin.post("/admin/retention/clock", &[]).await.location(), "/admin/retention?said=clock");
        site.a.tenant("beta").await;
        let mut other = site.owner("beta").await;
        assert_eq!(other.get("/admin/retention").await.status, 404);
    });
}
