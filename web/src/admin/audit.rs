//! The instance's own audit log.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::administration::place_in_log;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::audit::{LogLine, lines};
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/audit.html")]
struct AuditLogPage {
    shell: Shell,
    lines: Vec<LogLine>,
    filters: bool,
    older: Option<String>,
    newest: Option<String>,
}

impl Page for AuditLogPage {}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    before: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let before = asked.before.as_deref().map(place_in_log).transpose()?;
    let page = web.app.instance_audit_log(&person.actor(), before).await?;
    Ok(answer(&AuditLogPage {
        shell: person.shell(Area::AdminAudit),
        lines: lines(&page, web.app.clock.now()),
        filters: false,
        older: page.next.map(|next| format!("?before={next}")),
        newest: before.map(|_| "/admin/audit".to_owned()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::{audit, samples};

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        for (text, count) in
            [("", 0), ("operator", 3), (samples::HOSTILE, 3), (samples::long().as_str(), 100)]
        {
            let page = AuditLogPage {
                shell: Shell::sample(Area::AdminAudit),
                lines: audit::samples(text, count),
                filters: false,
                older: (count > 0).then(|| "?before=x".to_owned()),
                newest: None,
            };
            samples::check(&page.render().unwrap());
        }
    }
}
