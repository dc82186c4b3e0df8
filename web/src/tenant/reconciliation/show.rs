//! One endpoint: where its reconciliation stands, its runs, and what is set.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::reconcile::{AskedRun, ReconciliationOffer, Run};
use restante_core::id::EndpointId;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use serde::Deserialize;

use super::form::{FormField, Typed, faults};
use super::words::{RunLine, standing};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::badge::Badge;
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::parts::moment::{Moment, span};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// Runs that the page shows.
const RUNS_SHOWN: u32 = 25;

#[derive(Debug, Template)]
#[template(path = "tenant/reconciliation/show.html")]
pub(crate) struct ShowPage {
    shell: Shell,
    name: String,
    endpoint_href: String,
    href: String,
    provider: String,
    how: String,
    possible: bool,
    described: bool,
    compares: bool,
    reaches: Option<String>,
    is_set: bool,
    badge: Badge,
    stopped: Option<String>,
    last: Option<RunLine>,
    checkpoint: Option<Moment>,
    next: Option<Moment>,
    runs: Vec<RunLine>,
    fields: Vec<FormField>,
    enabled: bool,
    base_url: String,
    recipe: String,
    intervals: Vec<(String, String, bool)>,
    faults: Faults,
}

impl Page for ShowPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

impl ShowPage {
    fn new(
        shell: Shell,
        offer: &ReconciliationOffer,
        runs: &[Run],
        typed: &Typed,
        faults: Faults,
        now: Timestamp,
    ) -> Self {
        let endpoint_href = shell.at(&format!("/endpoints/{}", offer.endpoint));
        let href = format!("{endpoint_href}/reconciliation");
        let set = offer.set.as_ref();
        let lines: Vec<RunLine> = runs.iter().map(|run| RunLine::of(run, &href, now)).collect();
        Self {
            name: offer.name.clone(),
            provider: offer.provider.clone(),
            how: offer.how.clone(),
            possible: offer.possible,
            described: offer.described,
            compares: offer.compares,
            reaches: offer.reaches_seconds.map(span),
            is_set: set.is_some(),
            badge: standing(set, offer.possible, runs.first()),
            stopped: set.and_then(|set| set.stopped.clone()),
            last: lines.first().cloned(),
            checkpoint: set.and_then(|set| set.checkpoint_at).map(|at| Moment::new(at, now)),
            next: set.and_then(|set| set.next_at).map(|at| Moment::new(at, now)),
            runs: lines,
            fields: typed.fields(offer),
            enabled: typed.enabled(),
            base_url: typed.base_url().to_owned(),
            recipe: typed.recipe().to_owned(),
            intervals: typed.intervals(),
            faults,
            endpoint_href,
            href,
            shell,
        }
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    said: Said,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let offer = web.app.reconciliation_offer(&member.by, id).await?;
    let typed = Typed::of(offer.set.as_ref());
    page(&web, &member, &offer, &typed, Faults::default(), &said).await
}

async fn page(
    web: &Web,
    member: &Member,
    offer: &ReconciliationOffer,
    typed: &Typed,
    faults: Faults,
    said: &Said,
) -> Result<Response, Fault> {
    let runs = web.app.reconciliation_runs(&member.by, offer.endpoint, None, RUNS_SHOWN).await?;
    let shell = frame(web, member, Area::Reconciliation, said).await?;
    Ok(answer(&ShowPage::new(shell, offer, &runs, typed, faults, web.app.clock.now())))
}

pub(crate) async fn save(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    body: Bytes,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let offer = web.app.reconciliation_offer(&member.by, id).await?;
    let typed = Typed::read(&body);
    let found = match typed.asked(offer.set.as_ref().map(|set| set.overlap_seconds)) {
        Ok(asked) => match web.app.set_reconciliation(&member.by, id, asked).await {
            Ok(set) => {
                let said =
                    if set.notice.is_some() { "reconciliation-untried" } else { "reconciliation-saved" };
                let to = format!("/t/{slug}/endpoints/{id}/reconciliation?said={said}");
                return Ok(Redirect::to(&to).into_response());
            }
            Err(StoreError::Problem(problem)) => faults(&problem),
            Err(failure) => return Err(failure.into()),
        },
        Err(why) => {
            let mut found = Faults::default();
            found.add("option-recipe", why);
            found
        }
    };
    page(&web, &member, &offer, &typed, found, &Said::default()).await
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct RunForm {
    #[serde(default)]
    trusting: String,
}

pub(crate) async fn run(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(form): Form<RunForm>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let asked = AskedRun { from: None, trusting: form.trusting == "yes" };
    web.app.ask_reconciliation(&member.by, id, asked, None).await?;
    let to = format!("/t/{slug}/endpoints/{id}/reconciliation?said=reconciliation-asked");
    Ok(Redirect::to(&to).into_response())
}

pub(crate) async fn remove(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    web.app.delete_reconciliation(&member.by, id).await?;
    let to = format!("/t/{slug}/endpoints/{id}/reconciliation?said=reconciliation-removed");
    Ok(Redirect::to(&to).into_response())
}
