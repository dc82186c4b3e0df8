//! The tenant's audit log: who changed what, when and on which request.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::administration::{AuditOf, place_in_log};
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::audit::{LogLine, lines};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

#[derive(Template)]
#[template(path = "tenant/audit.html")]
struct AuditLogPage {
    shell: Shell,
    lines: Vec<LogLine>,
    /// What the list is limited to, in words.
    chosen: Option<String>,
    filters: bool,
    older: Option<String>,
    newest: Option<String>,
}

impl Page for AuditLogPage {}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    actor: String,
    #[serde(default)]
    action: String,
    before: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let before = asked.before.as_deref().map(place_in_log).transpose()?;
    let (of, filter, chosen) = match (asked.actor.as_str(), asked.action.as_str()) {
        ("", "") => (AuditOf::All, None, None),
        (actor, "") => (AuditOf::Actor(actor.to_owned()), Some(("actor", actor)), Some(actor.to_owned())),
        (_, action) => {
            (AuditOf::Action(action.to_owned()), Some(("action", action)), Some(action.to_owned()))
        }
    };
    let page = web.app.audit_log(&member.by, of, before).await?;
    let chosen = chosen.map(|chosen| page.people.get(&chosen).cloned().unwrap_or(chosen));
    let href = |before: Option<String>| {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(filter);
        query.extend_pairs(before.map(|before| ("before", before)));
        format!("?{}", query.finish())
    };
    Ok(answer(&AuditLogPage {
        shell: frame(&web, &member, Area::Audit, &Said::default()).await?,
        lines: lines(&page, web.app.clock.now()),
        chosen,
        filters: true,
        older: page.next.map(|next| href(Some(next.to_string()))),
        newest: before.map(|_| href(None)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::{audit, samples};

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        for (text, count) in
            [("", 0), ("owner@acme.test", 3), (samples::HOSTILE, 3), (samples::long().as_str(), 100)]
        {
            let page = AuditLogPage {
                shell: Shell::sample(Area::Audit),
                lines: audit::samples(text, count),
                chosen: (count > 0).then(|| text.to_owned()),
                filters: true,
                older: (count > 0).then(|| "?before=x".to_owned()),
                newest: None,
            };
            samples::check(&page.render().unwrap());
        }
    }
}
