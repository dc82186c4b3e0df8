//! How far a replay of many is. While it is under way the page looks again by itself.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::events::EventFilter;
use restante_app::replay_jobs::{ReplayOf, Replays};
use restante_core::id::ReplayJobId;
use restante_core::time::Timestamp;

use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::amount::{counted, number};
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::actors::Actors;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/replays/progress.html")]
struct ProgressPage {
    shell: Shell,
    href: String,
    under_way: bool,
    done: bool,
    cancelled: bool,
    /// Why it could not go on.
    why: Option<String>,
    events: String,
    handoffs: String,
    /// How many were counted when it was asked for.
    counted: Option<String>,
    /// How many were picked, of a replay of picked ones.
    picked: Option<String>,
    refused: Option<String>,
    filters: Vec<(&'static str, Alien)>,
    to: String,
    actor: String,
    reason: Option<Alien>,
    asked: Moment,
    ended: Option<Moment>,
}

impl Page for ProgressPage {}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    said: Said,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReplayJobId>() else { return Ok(missing()) };
    let replays = web.app.replay_job(&member.by, id).await?;
    let actors = Actors::of(&web.app, &member.by, [replays.row.actor.as_str()].into_iter()).await?;
    let shell = frame(&web, &member, Area::Events, &said).await?;
    Ok(answer(&ProgressPage::new(shell, &replays, &actors, web.app.clock.now())))
}

pub(crate) async fn cancel(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReplayJobId>() else { return Ok(missing()) };
    web.app.cancel_replay_job(&member.by, id).await?;
    Ok(Redirect::to(&format!("/t/{slug}/replays/{id}")).into_response())
}

impl ProgressPage {
    fn new(shell: Shell, replays: &Replays, actors: &Actors, now: Timestamp) -> Self {
        let Replays { row: job, of } = replays;
        let outcome = job.outcome.as_deref().unwrap_or_default();
        Self {
            href: shell.at(&format!("/replays/{}", job.id)),
            under_way: job.finished_at.is_none(),
            done: outcome == "done",
            cancelled: outcome == "cancelled",
            why: job.outcome.clone().filter(|outcome| !matches!(outcome.as_str(), "done" | "cancelled")),
            events: number(job.events),
            handoffs: counted(job.handoffs, "handoff", "handoffs"),
            refused: (job.refused > 0).then(|| counted(job.refused, "event", "events")),
            counted: job.matched.map(|count| match job.matched_all {
                true => format!("of {} that matched", number(count)),
                false => format!("of at least {} that matched", number(count)),
            }),
            picked: match of {
                ReplayOf::Events(ids) => {
                    Some(counted(ids.len() as u64, "event that was picked", "events that were picked"))
                }
                ReplayOf::Matching(_) => None,
            },
            filters: match of {
                ReplayOf::Matching(asked) => filters(asked),
                ReplayOf::Events(_) => Vec::new(),
            },
            to: match (&job.consumer, &job.consumer_name) {
                (None, _) => "each consumer that had it, or whose filter matches".to_owned(),
                (Some(_), name) => name.clone().unwrap_or_else(|| "a deleted consumer".to_owned()),
            },
            actor: actors.name(&job.actor),
            reason: job.reason.as_deref().map(|text| Alien::cut(text, 600)),
            asked: Moment::new(job.created_at, now),
            ended: job.finished_at.map(|at| Moment::new(at, now)),
            shell,
        }
    }
}

/// The filters that are set, in words.
fn filters(asked: &EventFilter) -> Vec<(&'static str, Alien)> {
    let all = [
        ("type", asked.event_type.as_ref().map(|glob| glob.as_str().to_owned())),
        ("event id", asked.event_id.clone()),
        ("endpoint", asked.endpoint.map(|id| id.to_string())),
        ("provider", asked.provider.clone()),
        ("state", asked.state.map(|state| state.as_str().to_owned())),
        ("consumer", asked.consumer.clone()),
        ("received after", asked.received_after.map(|at| at.to_string())),
        ("received before", asked.received_before.map(|at| at.to_string())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, Alien::cut(&value?, 120)))).collect()
}

#[cfg(test)]
mod tests {
    use restante_app::replay_jobs::ReplayJobRow;
    use restante_core::filter::TypeGlob;
    use restante_core::id::ConsumerId;
    use uuid::Uuid;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn job(text: &str, outcome: Option<&str>) -> ReplayJobRow {
        ReplayJobRow {
            id: ReplayJobId(Uuid::from_u128(4)),
            filter: String::new(),
            consumer: Some(ConsumerId(Uuid::from_u128(2))),
            consumer_name: None,
            actor: text.to_owned(),
            reason: Some(text.to_owned()),
            created_at: NOW.plus_seconds(-60),
            position: None,
            events: 1_204,
            handoffs: u64::MAX,
            refused: 3,
            matched: Some(1_300),
            matched_all: true,
            finished_at: outcome.map(|_| NOW),
            outcome: outcome.map(str::to_owned),
        }
    }

    fn page(text: &str, outcome: Option<&str>) -> String {
        let asked = EventFilter {
            event_id: Some(text.to_owned()),
            event_type: TypeGlob::parse("invoice.*").ok(),
            ..EventFilter::default()
        };
        let shell = Shell::sample(Area::Events);
        let replays = Replays { row: job(text, outcome), of: ReplayOf::Matching(asked) };
        ProgressPage::new(shell, &replays, &Actors::default(), NOW).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "evt_1", HOSTILE, &long()] {
            for outcome in [None, Some("done"), Some("cancelled"), Some(text)] {
                check(&page(text, outcome));
            }
        }
    }

    #[test]
    fn the_page_looks_again_until_it_is_over() {
        let text = page("evt_1", None);
        assert!(
            text.contains("hx-trigger=\"every 2s\"")
                && text.contains("/replays/rpj_")
                && text.contains("Stop it")
        );
        let text = page("evt_1", Some("done"));
        assert!(!text.contains("every 2s") && !text.contains("Stop it") && text.contains("1,204"), "{text}");
        assert!(page("evt_1", Some("The consumer was deleted meanwhile.")).contains("was deleted meanwhile"));
    }
}
