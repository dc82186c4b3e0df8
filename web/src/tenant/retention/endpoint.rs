//! What holds for one endpoint: each value with the level that it comes from, the windows in which its events may come
//! again, and its own policy.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::endpoints::EndpointChange;
use restante_app::retention::PolicyLevel;
use restante_core::catalogue::{Catalogue, Provider};
use restante_core::id::EndpointId;
use restante_core::retention::Window;
use restante_store::StoreError;

use super::fields::{Group, Typed, faults};
use super::save::PreviewPage;
use super::show::{EndpointRow, Preview};
use super::words;
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/retention/endpoint.html")]
struct EndpointPage {
    shell: Shell,
    faults: Faults,
    name: Alien,
    href: String,
    row: EndpointRow,
    values: Vec<(&'static str, String, String)>,
    windows: Vec<WindowRow>,
    secret_since: Option<String>,
    groups: Vec<Group>,
}

impl Page for EndpointPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// A window.
#[derive(Debug)]
struct WindowRow {
    span: String,
    what: Alien,
    source: Alien,
    covered: bool,
}

impl WindowRow {
    fn new(window: &Window, key_seconds: u64) -> Self {
        Self {
            span: window.span(),
            what: Alien::cut(&window.what, 300),
            source: Alien::cut(&window.source, 400),
            covered: window.seconds < key_seconds,
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
    page(&web, &member, id, &said, None, Faults::default()).await
}

async fn page(
    web: &Web,
    member: &Member,
    id: EndpointId,
    said: &Said,
    typed: Option<Typed>,
    faults: Faults,
) -> Result<Response, Fault> {
    let plan = web.app.endpoint_retention(&member.by, id).await?;
    let own = web.app.endpoint(&member.by, id).await?.retention;
    let typed = typed.unwrap_or_else(|| Typed::of(&own.unwrap_or_default()));
    let shell = frame(web, member, Area::Endpoints, said).await?;
    let r = &plan.resolved;
    let values = vec![
        ("Payloads are kept for", words::days(r.payload_days.value), words::source(&r.payload_days)),
        ("Ids are known for", words::days(r.receipt_days.value), words::source(&r.receipt_days)),
        (
            "Payloads may go early, after",
            words::limit(r.payload_after_processed_hours.value, "hour", "hours"),
            r.payload_after_processed_hours.from.words().to_owned(),
        ),
        (
            "Unprocessed work is given up after",
            words::limit(r.expire_unprocessed_days.value, "day", "days"),
            r.expire_unprocessed_days.from.words().to_owned(),
        ),
    ];
    let signed = Catalogue::builtin().get(&plan.provider).is_some_and(Provider::signs_id_and_time);
    let mut windows = plan.windows.clone();
    windows.sort_by_key(|window| std::cmp::Reverse(window.seconds));
    Ok(answer(&EndpointPage {
        name: Alien::cut(&plan.name, 80),
        href: shell.at(&format!("/endpoints/{id}")),
        row: EndpointRow::new(&shell, &plan),
        values,
        windows: windows.iter().map(|window| WindowRow::new(window, plan.life.seconds)).collect(),
        secret_since: plan
            .secrets
            .oldest_of_provider
            .or(plan.secrets.oldest)
            .filter(|_| !signed)
            .map(crate::parts::moment::exact),
        groups: typed.groups(&plan.resolved, &faults, true),
        faults,
        shell,
    }))
}

pub(crate) async fn preview(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let plan = web.app.endpoint_retention(&member.by, id).await?;
    let policy = match typed.policy() {
        Ok(policy) => policy,
        Err(faults) => return page(&web, &member, id, &Said::default(), Some(typed), faults).await,
    };
    let level = PolicyLevel::Endpoint(id);
    match web.app.check_retention(&member.by, level.clone(), policy).await {
        Ok(()) => {}
        Err(StoreError::Problem(problem)) => {
            return page(&web, &member, id, &Said::default(), Some(typed), faults(&problem)).await;
        }
        Err(failure) => return Err(failure.into()),
    }
    let report = web.app.retention_preview(&member.by, Some((level, policy))).await?;
    let shell = frame(&web, &member, Area::Endpoints, &Said::default()).await?;
    let href = shell.at(&format!("/endpoints/{id}"));
    let action = format!("{href}/retention");
    let above = vec![
        (shell.at("/endpoints"), Alien::new("Endpoints")),
        (href, Alien::cut(&plan.name, 80)),
        (action.clone(), Alien::new("Retention")),
    ];
    Ok(answer(&PreviewPage { shell, above, action, typed, preview: Preview::of_endpoint(&report, id) }))
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let policy = match typed.policy() {
        Ok(policy) => policy,
        Err(faults) => return page(&web, &member, id, &Said::default(), Some(typed), faults).await,
    };
    let change = EndpointChange { retention: Some(Some(policy)), ..EndpointChange::default() };
    match web.app.update_endpoint(&member.by, id, change).await {
        Ok(_) => {
            let to = format!("/t/{slug}/endpoints/{id}/retention?said=retention-saved");
            Ok(Redirect::to(&to).into_response())
        }
        Err(StoreError::Problem(problem)) => {
            page(&web, &member, id, &Said::default(), Some(typed), faults(&problem)).await
        }
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::samples;
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "Payments", HOSTILE, &long()] {
            let plan = samples::plan(text);
            let shell = Shell::sample(Area::Endpoints);
            let mut faults = Faults::default();
            faults.add("payload_days", text);
            let page = EndpointPage {
                name: Alien::new(text),
                href: text.to_owned(),
                row: EndpointRow::new(&shell, &plan),
                values: vec![("Ids are known for", text.to_owned(), text.to_owned())],
                windows: plan.windows.iter().map(|window| WindowRow::new(window, 1)).collect(),
                secret_since: Some(text.to_owned()),
                groups: Typed::default().groups(&plan.resolved, &faults, true),
                faults,
                shell,
            };
            check(&page.render().unwrap());
        }
    }
}
