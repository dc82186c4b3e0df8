//! The list of kept refusals, newest first.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::refusals::RefusalRecord;
use restante_core::time::Timestamp;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::moment::Moment;
use crate::parts::reasons::reason;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::{Choice, Choices};
use crate::tenant::frame::{Said, frame};

/// Characters of an explanation that the list shows.
const CHARS_MAX: usize = 400;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/refusals/list.html")]
struct ListPage {
    shell: Shell,
    endpoints: Vec<Choice>,
    refusals: Vec<RefusalRow>,
    filtered: bool,
}

impl Page for ListPage {}

/// A refusal in a list.
#[derive(Debug)]
pub(crate) struct RefusalRow {
    pub(crate) title: String,
    pub(crate) explanation: Alien,
    pub(crate) endpoint: String,
    pub(crate) href: String,
    pub(crate) at: Moment,
    /// Whether it was verified again and became an event.
    pub(crate) entered: bool,
}

impl RefusalRow {
    pub(crate) fn new(shell: &Shell, one: &RefusalRecord, endpoint: &str, now: Timestamp) -> Self {
        Self {
            title: reason(&one.reason).to_owned(),
            explanation: Alien::cut(&one.explanation, CHARS_MAX),
            endpoint: endpoint.to_owned(),
            href: shell.at(&format!("/refusals/{}/{}", one.endpoint, one.id)),
            at: Moment::new(one.received_at, now),
            entered: one.entered.is_some(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    endpoint: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let choices = Choices::of(&web.app, &member.by).await?;
    let refusals = web.app.refusals(&member.by, asked.endpoint.parse().ok()).await?;
    let shell = frame(&web, &member, Area::Endpoints, &Said::default()).await?;
    Ok(answer(&ListPage::new(shell, &choices, &asked.endpoint, &refusals, web.app.clock.now())))
}

impl ListPage {
    fn new(
        shell: Shell,
        choices: &Choices,
        present: &str,
        refusals: &[RefusalRecord],
        now: Timestamp,
    ) -> Self {
        let names = choices.endpoint_names();
        let row = |one: &RefusalRecord| {
            let name = names.get(&one.endpoint).map_or("a deleted endpoint", String::as_str);
            RefusalRow::new(&shell, one, name, now)
        };
        Self {
            refusals: refusals.iter().map(row).collect(),
            endpoints: choices.endpoints(present),
            filtered: !present.is_empty(),
            shell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::endpoints::samples;

    #[test]
    fn every_sample_makes_a_page() {
        for (text, count) in [("", 0), ("Why.", 1), (HOSTILE, 2), (&long(), 200)] {
            let refusals: Vec<_> = (0..count).map(|_| samples::refusal(text)).collect();
            let shell = Shell::sample(Area::Endpoints);
            let page = ListPage::new(shell, &Choices::sample(text), text, &refusals, samples::NOW);
            let text = page.render().unwrap();
            check(&text);
            assert_eq!(text.contains("/t/acme/refusals/ep_"), count > 0);
        }
    }
}
