//! A run as a report: the sentence first, then what was missing, then what else there is to see.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use restante_app::reconcile::Run;
use restante_core::id::{EndpointId, ReconciliationRunId};
use restante_core::time::Timestamp;

use super::words::{badge, cause, sentence};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::badge::Badge;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

#[derive(Debug, Template)]
#[template(path = "tenant/reconciliation/report.html")]
pub(crate) struct ReportPage {
    shell: Shell,
    name: String,
    href: String,
    id: String,
    badge: Badge,
    sentence: String,
    cause: &'static str,
    error: Option<String>,
    facts: Vec<(&'static str, u64)>,
    window: Option<(Moment, Moment)>,
    began: Moment,
    ended: Option<Moment>,
    found: Vec<FoundLine>,
    found_more: bool,
    never: Vec<Alien>,
    unprocessed: Vec<(String, u64, String)>,
}

#[derive(Debug)]
struct FoundLine {
    href: Option<String>,
    event_id: Alien,
    event_type: Alien,
    at: Option<Moment>,
}

impl Page for ReportPage {}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id, run)): Path<(String, String, String)>,
    said: Said,
) -> Result<Response, Fault> {
    let (Ok(id), Ok(run)) = (id.parse::<EndpointId>(), run.parse::<ReconciliationRunId>()) else {
        return Ok(missing());
    };
    let offer = web.app.reconciliation_offer(&member.by, id).await?;
    let run = web.app.reconciliation_run(&member.by, id, run).await?;
    let shell = frame(&web, &member, Area::Reconciliation, &said).await?;
    let href = shell.at(&format!("/endpoints/{id}/reconciliation"));
    Ok(answer(&ReportPage::new(shell, offer.name, href, &run, web.app.clock.now())))
}

impl ReportPage {
    fn new(shell: Shell, name: String, href: String, run: &Run, now: Timestamp) -> Self {
        let row = &run.row;
        let found = run
            .found
            .iter()
            .map(|one| FoundLine {
                href: one.receipt.map(|receipt| shell.at(&format!("/events/{receipt}"))),
                event_id: Alien::cut(one.event_id.as_deref().unwrap_or_default(), 80),
                event_type: Alien::cut(one.event_type.as_deref().unwrap_or_default(), 80),
                at: one.at.map(|at| Moment::new(at, now)),
            })
            .collect();
        let facts = [
            ("Listed by the provider", row.listed),
            ("Here already", row.known),
            ("Inserted", row.inserted),
            ("Asked for again", row.redelivered),
            ("Changed without an event", row.missing),
            ("Here with another type", row.mismatched),
            ("Could not be read", row.failed),
            ("Pages", row.pages),
            ("Begun again", row.restarts),
        ];
        Self {
            name,
            href,
            id: row.id.to_string(),
            badge: badge(run),
            sentence: sentence(run),
            cause: cause(&row.cause),
            error: row.error.clone(),
            facts: facts
                .into_iter()
                .enumerate()
                .filter(|(place, (_, n))| *place < 3 || *n > 0)
                .map(|(_, fact)| fact)
                .collect(),
            window: row.from.zip(row.to).map(|(from, to)| (Moment::new(from, now), Moment::new(to, now))),
            began: Moment::new(row.started_at.unwrap_or(row.asked_at), now),
            ended: row.finished_at.map(|at| Moment::new(at, now)),
            found_more: run.found.len() as u64 >= 200,
            found,
            never: run.never_by_webhook.iter().map(|name| Alien::cut(name, 80)).collect(),
            unprocessed: run
                .unprocessed
                .iter()
                .map(|(consumer, count)| {
                    (consumer.clone(), *count, shell.at(&format!("/consumers/{consumer}")))
                })
                .collect(),
            shell,
        }
    }
}
