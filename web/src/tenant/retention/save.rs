//! Saving a policy, after a look at what it would remove.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::retention::PolicyLevel;
use restante_store::StoreError;

use super::fields::{Typed, faults};
use super::show::{self, Preview};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::form_body::Form;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// What the policy would remove, with the button that saves it.
#[derive(Debug, Template)]
#[template(path = "tenant/retention/preview.html")]
pub(super) struct PreviewPage {
    pub(super) shell: Shell,
    /// Pages that this one is below, with their names.
    pub(super) above: Vec<(String, Alien)>,
    /// Where the policy is saved, which is also the page that it was typed on.
    pub(super) action: String,
    pub(super) typed: Typed,
    pub(super) preview: Preview,
}

impl Page for PreviewPage {}

pub(crate) async fn preview(
    State(web): State<Web>,
    member: Member,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let policy = match typed.policy() {
        Ok(policy) => policy,
        Err(faults) => return show::page(&web, &member, &Said::default(), Some(typed), faults).await,
    };
    match web.app.check_retention(&member.by, PolicyLevel::Tenant, policy).await {
        Ok(()) => {}
        Err(StoreError::Problem(problem)) => {
            return show::page(&web, &member, &Said::default(), Some(typed), faults(&problem)).await;
        }
        Err(failure) => return Err(failure.into()),
    }
    let report = web.app.retention_preview(&member.by, Some((PolicyLevel::Tenant, policy))).await?;
    let shell = frame(&web, &member, Area::Retention, &Said::default()).await?;
    let action = shell.at("/retention");
    let above = vec![(action.clone(), Alien::new("Retention"))];
    Ok(answer(&PreviewPage { shell, above, action, typed, preview: Preview::new(&report) }))
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let policy = match typed.policy() {
        Ok(policy) => policy,
        Err(faults) => return show::page(&web, &member, &Said::default(), Some(typed), faults).await,
    };
    match web.app.set_retention(&member.by, policy).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{slug}/retention?said=retention-saved")).into_response()),
        Err(StoreError::Problem(problem)) => {
            show::page(&web, &member, &Said::default(), Some(typed), faults(&problem)).await
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
        for (text, amount) in [("", 0), ("Payments", 12), (HOSTILE, 1), (&long(), u64::MAX)] {
            let page = PreviewPage {
                shell: Shell::sample(Area::Retention),
                above: vec![(text.to_owned(), Alien::new(text))],
                action: text.to_owned(),
                typed: Typed::default(),
                preview: Preview::new(&samples::report(text, amount)),
            };
            check(&page.render().unwrap());
        }
    }
}
