//! The list of consumers, what waits longest first.

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use restante_app::consumers::Consumer;
use restante_app::overview::{ConsumerOverview, Overview};
use restante_app::stats::Window;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::number;
use crate::parts::badge::Badge;
use crate::parts::moment::{Moment, span};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// Consumers that a list shows; a tenant can't have more.
const MAX: u32 = 250;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/consumers/list.html")]
struct ListPage {
    shell: Shell,
    rows: Vec<Row>,
}

impl Page for ListPage {}

#[derive(Debug)]
struct Row {
    name: String,
    href: String,
    wants: String,
    badge: Badge,
    pending: String,
    oldest: Option<String>,
    leased: String,
    failed: u64,
    claimed: Option<Moment>,
}

pub(crate) async fn show(State(web): State<Web>, member: Member, said: Said) -> Result<Response, Fault> {
    let overview = web.app.overview(&member.by, Window::Day).await?;
    let consumers = web.app.consumers(&member.by, None, MAX).await?;
    let shell = frame(&web, &member, Area::Consumers, &said).await?;
    Ok(answer(&ListPage::new(shell, &overview, &consumers)))
}

/// What a consumer wants, in words.
pub(crate) fn wants(consumer: &Consumer) -> String {
    let filter = &consumer.filter;
    let mut wants = Vec::new();
    if !filter.types.is_empty() {
        let types: Vec<&str> = filter.types.iter().map(restante_core::filter::TypeGlob::as_str).collect();
        wants.push(types.join(", "));
    }
    if !filter.providers.is_empty() {
        wants.push(format!("of {}", filter.providers.join(", ")));
    }
    match filter.endpoints.len() {
        0 => {}
        1 => wants.push("of one endpoint".to_owned()),
        many => wants.push(format!("of {many} endpoints")),
    }
    if wants.is_empty() { "every event".to_owned() } else { wants.join(" ") }
}

/// How a consumer fares.
pub(crate) const fn badge(consumer: &Consumer) -> Badge {
    match (consumer.enabled, consumer.idle) {
        (false, _) => Badge::PAUSED,
        (true, true) => Badge::IDLE,
        (true, false) => Badge::ACTIVE,
    }
}

impl ListPage {
    fn new(shell: Shell, overview: &Overview, consumers: &[Consumer]) -> Self {
        let known: HashMap<&str, &Consumer> = consumers.iter().map(|one| (one.name.as_str(), one)).collect();
        let row = |one: &ConsumerOverview| {
            let consumer = known.get(one.name.as_str())?;
            Some(Row {
                name: one.name.clone(),
                href: shell.at(&format!("/consumers/{}", one.name)),
                wants: wants(consumer).chars().take(120).collect(),
                badge: badge(consumer),
                pending: number(one.pending),
                oldest: one.age_seconds.map(span),
                leased: number(one.leased),
                failed: one.failed + one.uncertain,
                claimed: consumer.last_claim_at.map(|at| Moment::new(at, overview.now)),
            })
        };
        Self { rows: overview.consumers.iter().filter_map(row).collect(), shell }
    }
}

#[cfg(test)]
pub(crate) mod samples {
    //! Consumers to try pages with.

    use restante_core::filter::{Filter, TypeGlob};
    use restante_core::id::{ConsumerId, EndpointId};
    use restante_core::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    pub(crate) fn consumer(name: &str, text: &str) -> Consumer {
        Consumer {
            id: ConsumerId(Uuid::from_u128(2)),
            name: name.to_owned(),
            filter: Filter {
                endpoints: vec![EndpointId(Uuid::from_u128(1))],
                providers: vec!["stripe".to_owned()],
                types: TypeGlob::parse(text).into_iter().collect(),
            },
            max_attempts: 12,
            start: "now".to_owned(),
            enabled: true,
            backfilling: true,
            idle: false,
            last_claim_at: Some(NOW.plus_seconds(-60)),
            created_at: NOW.plus_seconds(-86_400),
            updated_at: NOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::overview::samples as overviews;

    fn page(overview: &Overview, text: &str) -> String {
        let mut consumers =
            vec![samples::consumer("billing", text), samples::consumer(&"a".repeat(64), text)];
        consumers.push(Consumer {
            enabled: false,
            filter: Default::default(),
            ..samples::consumer("mailer", text)
        });
        ListPage::new(Shell::sample(Area::Consumers), overview, &consumers).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for (overview, text) in [
            (overviews::empty(), ""),
            (overviews::ordinary(), "invoice.*"),
            (overviews::hostile(), HOSTILE),
            (overviews::huge(), &long()),
        ] {
            check(&page(&overview, text));
        }
    }

    #[test]
    fn each_is_told_with_what_it_wants_and_how_it_fares() {
        let text = page(&overviews::ordinary(), "invoice.*");
        assert!(
            text.contains("invoice.* of stripe of one endpoint") && text.contains("every event"),
            "{text}"
        );
        assert!(text.contains(">paused</span>") && text.contains("2 h 14 min"));
        assert!(page(&overviews::empty(), "").contains("No consumer yet"));
    }
}
