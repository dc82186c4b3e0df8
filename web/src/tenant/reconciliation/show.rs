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
use super::words::{ERROR_CHARS_MAX, RunLine, standing};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::amount::counted;
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
    name: Alien,
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
    stopped: Option<Alien>,
    last: Option<RunLine>,
    checkpoint: Option<Moment>,
    next: Option<Moment>,
    runs: Vec<RunLine>,
    fields: Vec<FormField>,
    /// Fields that most people leave empty.
    more: Vec<FormField>,
    /// Whether one of them is filled in, or wrong.
    more_open: bool,
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
        let (more, fields): (Vec<FormField>, Vec<FormField>) =
            typed.fields(offer).into_iter().partition(|field| field.optional);
        let filled = |field: &FormField| {
            !field.value.is_empty() || !field.hint.is_empty() || faults.get(&field.id).is_some()
        };
        let lines: Vec<RunLine> = runs.iter().map(|run| RunLine::of(run, &href, now)).collect();
        Self {
            name: Alien::cut(&offer.name, 80),
            provider: offer.provider.clone(),
            how: offer.how.clone(),
            possible: offer.possible,
            described: offer.described,
            compares: offer.compares,
            reaches: offer.reaches_seconds.map(reach),
            is_set: set.is_some(),
            badge: standing(set, offer.possible, runs.first()),
            stopped: set.and_then(|set| set.stopped.as_deref()).map(|text| Alien::cut(text, ERROR_CHARS_MAX)),
            last: lines.first().cloned(),
            checkpoint: set.and_then(|set| set.checkpoint_at).map(|at| Moment::new(at, now)),
            next: set.and_then(|set| set.next_at).map(|at| Moment::new(at, now)),
            runs: lines,
            more_open: more.iter().any(filled)
                || !typed.base_url().is_empty()
                || faults.get("base_url").is_some(),
            fields,
            more,
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

/// How far back a provider lists, as a sentence has it.
fn reach(seconds: u64) -> String {
    const DAY: u64 = 86_400;
    if seconds > 0 && seconds.is_multiple_of(DAY) {
        counted(seconds / DAY, "day", "days")
    } else {
        span(seconds)
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
    let asked = AskedRun { trusting: form.trusting == "yes", ..AskedRun::default() };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::reconciliation::samples;

    fn page(offer: &ReconciliationOffer, runs: &[Run], faults: Faults) -> String {
        let shell = Shell::hostile(Area::Reconciliation);
        let typed = Typed::of(offer.set.as_ref());
        ShowPage::new(shell, offer, runs, &typed, faults, samples::NOW).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for (text, amount) in [("", 0), ("Payments", 3), (HOSTILE, 4), (&long(), 25)] {
            let runs: Vec<Run> = (0..amount)
                .map(|number| {
                    samples::run(text, number, [None, Some("done"), Some("failed")][number as usize % 3])
                })
                .collect();
            let mut faults = Faults::default();
            for field in ["credential-api_key", "option-account", "option-recipe", "base_url"] {
                faults.add(field, text);
            }
            let offer = samples::offer(text);
            check(&page(&offer, &runs, faults));
            check(&page(&ReconciliationOffer { set: None, ..offer.clone() }, &[], Faults::default()));
            check(&page(
                &ReconciliationOffer { possible: false, set: None, ..offer },
                &[],
                Faults::default(),
            ));
        }
    }

    #[test]
    fn a_credential_is_known_by_its_end_and_what_may_be_left_out_is_folded_away() {
        let mut offer = samples::offer("");
        let set = offer.set.as_mut().unwrap();
        set.credentials.insert("api_key".to_owned(), "…1234".to_owned());
        set.stopped = None;
        let text = page(&offer, &[], Faults::default());
        assert!(text.contains("placeholder=\"…1234 stays\"") && text.contains("the last 30 days"), "{text}");
        assert!(text.contains("<details class=\"fold\"><summary>More settings"), "{text}");
        let mut faults = Faults::default();
        faults.add("base_url", "This host is not called.");
        assert!(page(&offer, &[], faults).contains("<details class=\"fold\" open><summary>More settings"));
    }
}
