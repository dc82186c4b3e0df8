//! Saving the tenant's policy, after a look at what it would remove.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::retention::PolicyLevel;
use restante_store::StoreError;

use super::fields::{Field, Typed, faults};
use super::show::{self, Preview};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form_body::Form;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// What the policy would remove, with the button that saves it.
#[derive(Debug, Template)]
#[template(path = "tenant/retention/preview.html")]
struct PreviewPage {
    shell: Shell,
    fields: Vec<Field>,
    preview: Preview,
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
    match web.app.check_retention(&member.by, policy).await {
        Ok(()) => {}
        Err(StoreError::Problem(problem)) => {
            return show::page(&web, &member, &Said::default(), Some(typed), faults(&problem)).await;
        }
        Err(failure) => return Err(failure.into()),
    }
    let report = web.app.retention_preview(&member.by, Some((PolicyLevel::Tenant, policy))).await?;
    let found = web.app.retention(&member.by).await?;
    let shell = frame(&web, &member, Area::Retention, &Said::default()).await?;
    let fields = typed.fields(&found.in_force, &Default::default(), false);
    Ok(answer(&PreviewPage { shell, fields, preview: Preview::new(&report) }))
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
            let fields = Typed::default().fields(&samples::plan(text).resolved, &Default::default(), false);
            let preview = Preview::new(&samples::report(text, amount));
            let page = PreviewPage { shell: Shell::sample(Area::Retention), fields, preview };
            check(&page.render().unwrap());
        }
    }
}
