//! One refusal with its request. Who opens it is on the audit log, as with any payload.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use restante_app::refusals::OpenedRefusal;
use restante_core::id::{EndpointId, RefusalId};
use restante_core::time::Timestamp;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::amount::bytes;
use crate::parts::link::Link;
use crate::parts::moment::{Moment, exact};
use crate::parts::payload::{self, Shown, View};
use crate::parts::reasons::reason;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::events::headers;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/refusals/detail.html")]
struct DetailPage {
    shell: Shell,
    title: String,
    explanation: Alien,
    endpoint: String,
    endpoint_href: String,
    at: Moment,
    exact: String,
    request_id: Option<Alien>,
    views: Vec<(View, String, bool)>,
    shown: Shown,
    size: String,
    cut: bool,
    headers: Vec<(Alien, Alien)>,
    /// Where it is verified again.
    verify: String,
    again: Option<Again>,
    /// When it entered after all, and the event that it became.
    entered: Option<(Moment, Option<String>)>,
}

/// What came of another look at it.
#[derive(Debug)]
pub(super) struct Again {
    good: bool,
    title: String,
    text: Option<Alien>,
}

impl Again {
    pub(super) fn good(title: &str) -> Self {
        Self { good: true, title: title.to_owned(), text: None }
    }

    pub(super) const fn bad(title: String, text: Alien) -> Self {
        Self { good: false, title, text: Some(text) }
    }
}

impl Page for DetailPage {}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    view: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, endpoint, id)): Path<(String, String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let (Ok(endpoint), Ok(id)) = (endpoint.parse::<EndpointId>(), id.parse::<RefusalId>()) else {
        return Ok(missing());
    };
    let view = View::from_word(&asked.view).unwrap_or(View::Pretty);
    page(&web, &member, endpoint, id, view, None).await
}

/// The page, and what came of another look at the request.
pub(super) async fn page(
    web: &Web,
    member: &Member,
    endpoint: EndpointId,
    id: RefusalId,
    view: View,
    again: Option<Again>,
) -> Result<Response, Fault> {
    let opened = web.app.open_refusal(&member.by, endpoint, id).await?;
    let names = web.app.endpoint_names(&member.by).await?;
    let name = names.into_iter().find(|(known, _)| *known == endpoint);
    let name = name.map_or_else(|| "a deleted endpoint".to_owned(), |(_, name)| name);
    let shell = frame(web, member, Area::Endpoints, &Said::default()).await?;
    Ok(answer(&DetailPage::new(shell, &opened, name, view, again, web.app.clock.now())))
}

impl DetailPage {
    fn new(
        shell: Shell,
        opened: &OpenedRefusal,
        endpoint: String,
        view: View,
        again: Option<Again>,
        now: Timestamp,
    ) -> Self {
        let record = &opened.record;
        let kind = opened.headers.first("content-type").unwrap_or_default();
        let shown = payload::show(&opened.body, &String::from_utf8_lossy(kind), view);
        let path = shell.at(&format!("/refusals/{}/{}", record.endpoint, record.id));
        let entered = record.entered.map(|entered| {
            let href = entered.receipt.map(|receipt| shell.at(&format!("/events/{receipt}")));
            (Moment::new(entered.at, now), href)
        });
        let link = |one: View| Link::to(&*path).with("view", one.as_str()).to_string();
        Self {
            title: reason(&record.reason).to_owned(),
            explanation: Alien::new(&*record.explanation),
            endpoint_href: shell.at(&format!("/endpoints/{}", record.endpoint)),
            endpoint,
            at: Moment::new(record.received_at, now),
            exact: exact(record.received_at),
            request_id: record.request_id.as_deref().map(Alien::new),
            views: View::ALL.map(|one| (one, link(one), one == shown.view)).into(),
            size: bytes(opened.body.len() as u64),
            cut: opened.cut,
            headers: headers(&opened.headers),
            verify: format!("{path}/verify"),
            again,
            entered,
            shown,
            shell,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use restante_core::request::HeaderList;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::endpoints::samples;

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "Why.", HOSTILE, &long()] {
            for view in View::ALL {
                let opened = OpenedRefusal {
                    record: samples::refusal(text),
                    headers: HeaderList(vec![(text.to_owned(), Bytes::from(text.to_owned()))]),
                    body: Bytes::from(text.to_owned()),
                    cut: true,
                };
                let shell = Shell::sample(Area::Endpoints);
                let again = Again::bad(text.to_owned(), Alien::new(text));
                let page = DetailPage::new(shell, &opened, text.to_owned(), view, Some(again), samples::NOW);
                check(&page.render().unwrap());
            }
        }
    }
}
