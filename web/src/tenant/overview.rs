//! The overview of a tenant.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use restante_app::stats::Window;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;

#[derive(Template)]
#[template(path = "tenant/overview.html")]
struct Overview {
    shell: Shell,
    name: String,
    endpoints: usize,
}

impl Page for Overview {}

pub(crate) async fn show(State(web): State<Web>, member: Member) -> Result<Response, Fault> {
    let stats = web.app.stats(&member.by, Window::Hour).await?;
    let endpoints = stats.endpoints.iter().filter(|endpoint| endpoint.deliveries > 0).count();
    let (shell, name) = (member.shell(Area::Overview), member.here.name.clone());
    Ok(answer(&Overview { shell, name, endpoints }))
}
