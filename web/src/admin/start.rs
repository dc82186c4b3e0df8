//! The first page of the administration: where its parts are, and whether strangers may sign up.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{Redirect, Response};
use restante_app::figures;
use restante_core::problem::Problem;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::clocks::ClocksPanel;
use crate::parts::form_body::Form;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/start.html")]
struct StartPage {
    shell: Shell,
    sign_up_open: bool,
    version: &'static str,
    clocks: ClocksPanel,
}

impl Page for StartPage {}

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
    let mut shell = person.shell(Area::Administration);
    shell.notices.extend(match asked.said.as_str() {
        "opened" => {
            Some(Notice::done("Anybody who reaches this server can make an account and a tenant now."))
        }
        "closed" => Some(Notice::done("Nobody can make an account without an invitation any more.")),
        _ => None,
    });
    let sign_up_open = web.app.sign_up_is_open().await?;
    let clocks = ClocksPanel::new(&figures::clocks(&web.app).await?);
    Ok(answer(&StartPage { shell, sign_up_open, version: env!("CARGO_PKG_VERSION"), clocks }))
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    open: String,
}

pub(crate) async fn sign_up(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Typed>,
) -> Result<Redirect, Fault> {
    let open = yes_or_no(&typed.open)?;
    web.app.set_sign_up(&person.actor(), open).await?;
    Ok(Redirect::to(if open { "/admin?said=opened" } else { "/admin?said=closed" }))
}

/// What a button of ours sends.
pub(super) fn yes_or_no(word: &str) -> Result<bool, Problem> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Problem::field(
            "/",
            "The form can't be read. Go back, load the page again and send it once more.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_for_a_person_with_hostile_names() {
        for sign_up_open in [true, false] {
            let shell = Shell::hostile(Area::Administration);
            let clocks = ClocksPanel::new(&figures::Clocks { database_offset_ms: 0, signed: Vec::new() });
            samples::check(&StartPage { shell, sign_up_open, version: "0.1.0", clocks }.render().unwrap());
        }
    }
}
