//! The overview of a tenant.

pub(crate) mod rows;
#[cfg(test)]
pub(crate) mod samples;
mod tiles;
mod view;
pub(crate) mod window;

use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::stats::Window;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::answer;
use crate::parts::shell::Area;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};
use view::OverviewPage;

/// What stands behind the question mark.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    window: String,
}

impl Asked {
    /// The window, a day where none is named.
    pub(crate) fn window(&self) -> Window {
        Window::from_word(&self.window).unwrap_or(Window::Day)
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
    said: Said,
) -> Result<Response, Fault> {
    let overview = web.app.overview(&member.by, asked.window()).await?;
    let shell = frame(&web, &member, Area::Overview, &said).await?;
    let offers = web.app.reconciliation_offers(&member.by).await?;
    let unasked = offers
        .into_iter()
        .filter(|offer| offer.possible && !offer.described && offer.set.is_none())
        .map(|offer| (offer.name, shell.at(&format!("/endpoints/{}/reconciliation", offer.endpoint))))
        .collect();
    Ok(answer(&OverviewPage::new(shell, overview).with_unasked(unasked)))
}
