//! Every endpoint of a tenant: whether gaps of it are noticed.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::words::{RunLine, standing};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::badge::Badge;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// Endpoints whose last run is shown; the others are one click away.
const LAST_RUNS_MAX: usize = 50;

#[derive(Debug, Template)]
#[template(path = "tenant/reconciliation/list.html")]
pub(crate) struct ListPage {
    shell: Shell,
    lines: Vec<Line>,
}

impl Page for ListPage {}

#[derive(Debug)]
struct Line {
    name: Alien,
    href: String,
    provider: String,
    badge: Badge,
    how: String,
    possible: bool,
    is_set: bool,
    last: Option<RunLine>,
    checkpoint: Option<Moment>,
    next: Option<Moment>,
}

pub(crate) async fn show(State(web): State<Web>, member: Member, said: Said) -> Result<Response, Fault> {
    let now = web.app.clock.now();
    let shell = frame(&web, &member, Area::Reconciliation, &said).await?;
    let mut lines = Vec::new();
    for (place, offer) in web.app.reconciliation_offers(&member.by).await?.into_iter().enumerate() {
        let href = shell.at(&format!("/endpoints/{}/reconciliation", offer.endpoint));
        let last = match &offer.set {
            Some(_) if place < LAST_RUNS_MAX => {
                web.app.reconciliation_runs(&member.by, offer.endpoint, None, 1).await?.into_iter().next()
            }
            _ => None,
        };
        let set = offer.set.as_ref();
        lines.push(Line {
            badge: standing(set, offer.possible, last.as_ref()),
            last: last.as_ref().map(|run| RunLine::of(run, &href, now)),
            checkpoint: set.and_then(|set| set.checkpoint_at).map(|at| Moment::new(at, now)),
            next: set.and_then(|set| set.next_at).map(|at| Moment::new(at, now)),
            name: Alien::cut(&offer.name, 60),
            provider: offer.provider,
            how: offer.how,
            possible: offer.possible,
            is_set: set.is_some(),
            href,
        });
    }
    Ok(answer(&ListPage { shell, lines }))
}

#[cfg(test)]
mod tests {
    use restante_core::time::Timestamp;

    use super::*;
    use crate::parts::samples;
    use crate::tenant::reconciliation::samples::run;

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        let now = Timestamp::from_seconds(1_796_040_000);
        let long = samples::long();
        for (text, count) in [("", 0), ("Payments", 3), (samples::HOSTILE, 4), (long.as_str(), 30)] {
            let line = |number: usize| Line {
                name: Alien::cut(text, 60),
                href: "/t/acme/endpoints/ep_1/reconciliation".to_owned(),
                provider: text.to_owned(),
                badge: standing(None, number.is_multiple_of(2), None),
                how: text.to_owned(),
                possible: number.is_multiple_of(2),
                is_set: number % 3 == 2,
                last: (number % 3 == 2)
                    .then(|| RunLine::of(&run(text, number as u64, Some("done")), "/t/acme", now)),
                checkpoint: (number > 1).then_some(Moment::new(now, now)),
                next: (number > 1).then_some(Moment::new(now, now)),
            };
            let shell = Shell::hostile(Area::Reconciliation);
            samples::check(&ListPage { shell, lines: (0..count).map(line).collect() }.render().unwrap());
        }
    }
}
