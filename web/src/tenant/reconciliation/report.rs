//! A run as a report: the sentence first, then what was missing, then what else there is to see.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use restante_app::reconcile::Run;
use restante_core::id::{EndpointId, ReconciliationRunId};
use restante_core::time::Timestamp;

use super::words::{ERROR_CHARS_MAX, badge, cause, sentence};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::amount::counted;
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
    name: Alien,
    href: String,
    id: String,
    badge: Badge,
    sentence: String,
    cause: &'static str,
    error: Option<Alien>,
    facts: Vec<(&'static str, u64)>,
    window: Option<(Moment, Moment)>,
    /// Where the stretch would begin if all ids were still here.
    wanted_from: Option<Moment>,
    too_old: Option<String>,
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
            ("Too old to tell", row.too_old),
            ("Pages", row.pages),
            ("Begun again", row.restarts),
        ];
        Self {
            name: Alien::cut(&name, 80),
            href,
            id: row.id.to_string(),
            badge: badge(run),
            sentence: sentence(run),
            cause: cause(&row.cause),
            error: row.error.as_deref().map(|text| Alien::cut(text, ERROR_CHARS_MAX)),
            facts: facts
                .into_iter()
                .enumerate()
                .filter(|(place, (_, n))| *place < 3 || *n > 0)
                .map(|(_, fact)| fact)
                .collect(),
            window: row.from.zip(row.to).map(|(from, to)| (Moment::new(from, now), Moment::new(to, now))),
            wanted_from: row.wanted_from.map(|at| Moment::new(at, now)),
            too_old: (row.too_old > 0).then(|| {
                counted(row.too_old, "event that the provider lists is", "events that the provider lists are")
            }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::reconciliation::samples;

    #[test]
    fn every_sample_makes_a_page() {
        for (text, amount) in [("", 0), ("evt_1", 12), (HOSTILE, 7), (&long(), u64::MAX)] {
            for outcome in [None, Some("done"), Some("failed"), Some("refused")] {
                let shell = Shell::hostile(Area::Reconciliation);
                let run = samples::run(text, amount, outcome);
                let page = ReportPage::new(shell, text.to_owned(), "/t/acme".to_owned(), &run, samples::NOW);
                check(&page.render().unwrap());
            }
        }
    }

    #[test]
    fn what_was_missing_leads_to_its_event_and_what_is_not_stored_leads_nowhere() {
        let run = samples::run("evt_1", 2, Some("done"));
        let shell = Shell::sample(Area::Reconciliation);
        let page = ReportPage::new(shell, "Payments".to_owned(), String::new(), &run, samples::NOW);
        let text = page.render().unwrap();
        assert_eq!(text.matches("href=\"/t/acme/events/rcp_").count(), 1, "{text}");
        assert!(text.contains("Here, and not processed") && text.contains("/consumers/billing"), "{text}");
    }

    #[test]
    fn a_stretch_that_was_shortened_says_so_and_why() {
        let page = |run: &Run| {
            let shell = Shell::sample(Area::Reconciliation);
            ReportPage::new(shell, "Payments".to_owned(), String::new(), run, samples::NOW).render().unwrap()
        };
        let mut some = samples::run("evt_1", 0, Some("done"));
        some.row.wanted_from = Some(samples::NOW.plus_seconds(-30 * 86_400));
        (some.row.listed, some.row.known, some.row.too_old) = (3, 1, 2);
        let text = page(&some);
        assert!(text.contains("<h1>1 event was here already, 2 too old to tell.</h1>"), "{text}");
        assert!(text.contains("It was to look back to"), "{text}");
        assert!(text.contains("2 events that the provider lists are older than what Restante"), "{text}");
        some.row.wanted_from = None;
        (some.row.known, some.row.too_old) = (3, 0);
        let text = page(&some);
        assert!(text.contains("<h1>All 3 events were here already.</h1>"), "{text}");
        assert!(!text.contains("Older than what is still here"), "{text}");
        some.row.failed = 1;
        let text = page(&some);
        assert!(text.contains("<h1>3 events were here already, 1 could not be read.</h1>"), "{text}");
    }
}
