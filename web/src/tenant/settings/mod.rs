//! What a tenant is called, and how the world reaches it.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::bytes;
use crate::parts::limits::LimitLine;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

pub(crate) fn routes() -> Router<Web> {
    Router::new().route("/t/{slug}/settings", get(show))
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/settings/show.html")]
struct SettingsPage {
    shell: Shell,
    name: String,
    slug: String,
    id: String,
    address: String,
    ceiling: String,
    limits: Vec<LimitLine>,
}

impl Page for SettingsPage {}

async fn show(State(web): State<Web>, member: Member, said: Said) -> Result<Response, Fault> {
    let shell = frame(&web, &member, Area::Settings, &said).await?;
    let settings = &web.app.settings;
    let limits = web.app.limits_used(&member.by).await?;
    Ok(answer(&SettingsPage {
        name: member.here.name.clone(),
        slug: member.here.slug.clone(),
        id: member.here.tenant.to_string(),
        address: settings.public_url.clone(),
        ceiling: bytes(settings.body_bytes_ceiling),
        limits: limits.iter().map(LimitLine::of).collect(),
        shell,
    }))
}

#[cfg(test)]
mod tests {
    use restante_core::tenant_limits::{Limited, Measure};

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "acme", HOSTILE, &long()] {
            let text = || text.to_owned();
            let shell = Shell::sample(Area::Settings);
            let page = SettingsPage {
                shell,
                name: text(),
                slug: text(),
                id: text(),
                address: text(),
                ceiling: text(),
                limits: Limited::ALL
                    .into_iter()
                    .map(|what| LimitLine::of(&Measure { what, used: 9, limit: 10 }))
                    .collect(),
            };
            check(&page.render().unwrap());
        }
    }
}
