//! One endpoint: what came in, its URL, its secrets, its settings, what was refused.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use restante_app::endpoints::{Endpoint, EndpointSecret};
use restante_app::overview::EndpointCourse;
use restante_app::refusals::RefusalRecord;
use restante_core::catalogue::{Catalogue, DedupScope};
use restante_core::id::EndpointId;
use restante_core::time::Timestamp;

use super::create::About;
use super::fields::rules;
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::amount::{bytes, number, percent};
use crate::parts::badge::Badge;
use crate::parts::chart::{Bars, Line};
use crate::parts::form::Faults;
use crate::parts::link::Link;
use crate::parts::moment::{Moment, span};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};
use crate::tenant::overview::Asked;
use crate::tenant::overview::rows;
use crate::tenant::overview::window::{self, Choice};
use crate::tenant::refusals::RefusalRow;

/// Refusals that the page shows; the list shows the rest.
const REFUSALS_MAX: usize = 5;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/detail.html")]
pub(crate) struct DetailPage {
    shell: Shell,
    id: String,
    name: String,
    href: String,
    url: String,
    enabled: bool,
    badge: Badge,
    provider: About,
    windows: Vec<Choice>,
    accepted: String,
    repeats: String,
    refused: String,
    newest: Option<Moment>,
    silence: Option<String>,
    chart: Bars,
    course: Line,
    events_href: String,
    refusals: Vec<RefusalRow>,
    secrets: Vec<SecretRow>,
    settings: Vec<(String, String)>,
    created: Moment,
    faults: Faults,
}

impl Page for DetailPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

#[derive(Debug)]
struct SecretRow {
    hint: String,
    created: Moment,
    expires: Option<Moment>,
    delete: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Query(asked): Query<Asked>,
    said: Said,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse() else { return Ok(missing()) };
    page(&web, &member, id, &asked, &said, Faults::default()).await
}

/// The page, with what is wrong with one of its forms.
pub(crate) async fn page(
    web: &Web,
    member: &Member,
    id: EndpointId,
    asked: &Asked,
    said: &Said,
    faults: Faults,
) -> Result<Response, Fault> {
    let endpoint = web.app.endpoint(&member.by, id).await?;
    let course = web.app.endpoint_course(&member.by, id, asked.window()).await?;
    let refusals = web.app.refusals(&member.by, Some(id)).await?;
    let shell = frame(web, member, Area::Endpoints, said).await?;
    Ok(answer(&DetailPage::new(shell, &endpoint, &course, &refusals, faults)))
}

impl DetailPage {
    pub(crate) fn new(
        shell: Shell,
        endpoint: &Endpoint,
        course: &EndpointCourse,
        refusals: &[RefusalRecord],
        faults: Faults,
    ) -> Self {
        let EndpointCourse { window, now, slots, overview } = course;
        let (window, now) = (*window, *now);
        let href = shell.at(&format!("/endpoints/{}", endpoint.id));
        let shares = slots.iter().map(|slot| window::slot_label(window, slot.at)).zip(slots.repeats());
        let name = endpoint.name.clone();
        Self {
            id: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            enabled: endpoint.enabled,
            badge: rows::badge(overview).unwrap_or(Badge::RECEIVING),
            provider: about(&endpoint.provider),
            windows: window::windows(&href, window),
            accepted: number(overview.accepted),
            repeats: percent(overview.repeat_share()),
            refused: number(overview.refused),
            newest: overview.newest.map(|at| Moment::new(at, now)),
            silence: overview.silence.map(|silence| span(silence.seconds)),
            chart: window::requests(window, slots.iter()),
            course: Line::new("Repeats", window::slot_unit(window), shares.collect(), overview.usual_repeats),
            events_href: Link::to(shell.at("/events")).with("endpoint", endpoint.id.to_string()).to_string(),
            refusals: refusals
                .iter()
                .take(REFUSALS_MAX)
                .map(|one| RefusalRow::new(&shell, one, &name, now))
                .collect(),
            secrets: endpoint.secrets.iter().map(|one| secret(&href, one, now)).collect(),
            settings: settings(endpoint),
            created: Moment::new(endpoint.created_at, now),
            name,
            href,
            faults,
            shell,
        }
    }
}

/// A provider that the catalogue no longer has stands for itself.
fn about(slug: &str) -> About {
    Catalogue::builtin().get(slug).map_or_else(|| About::unknown(slug), About::new)
}

fn secret(href: &str, one: &EndpointSecret, now: Timestamp) -> SecretRow {
    SecretRow {
        hint: one.hint.clone(),
        created: Moment::new(one.created_at, now),
        expires: one.expires_at.map(|at| Moment::new(at, now)),
        delete: format!("{href}/secrets/{}/delete", one.id),
    }
}

/// The settings in words; secret options show what is known of them.
fn settings(endpoint: &Endpoint) -> Vec<(String, String)> {
    let mut settings = vec![(
        "Counts as the same event".to_owned(),
        match endpoint.dedup_scope {
            None => "what the provider’s ids ask for",
            Some(DedupScope::Provider) => "everywhere at the provider",
            Some(DedupScope::Account) => "within the account at the provider",
            Some(DedupScope::Endpoint) => "within this endpoint",
        }
        .to_owned(),
    )];
    let limit = endpoint.max_body_bytes.map_or_else(|| "what the provider documents".to_owned(), bytes);
    settings.push(("Largest body".to_owned(), limit));
    let titles: Vec<(String, String)> = Catalogue::builtin()
        .get(&endpoint.provider)
        .map(|provider| rules(provider).into_iter().map(|rule| rule.named()).collect())
        .unwrap_or_default();
    for (name, value) in &endpoint.options {
        let title = titles.iter().find(|(known, _)| known == name).map_or(name, |(_, title)| title);
        let title = if name == "verify" { "How the sender signs" } else { title };
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            value => value["hint"].as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        settings.push((title.to_owned(), text));
    }
    settings
}

#[cfg(test)]
pub(crate) mod samples {
    //! Endpoints to try pages with.

    use restante_app::overview::{EndpointOverview, Silence, Slots};
    use restante_app::stats::Window;
    use restante_core::id::{RefusalId, SecretId};
    use serde_json::{Map, json};
    use uuid::Uuid;

    use super::*;

    pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);
    const ID: EndpointId = EndpointId(Uuid::from_u128(1));

    pub(crate) fn endpoint(text: &str) -> Endpoint {
        let options = json!({ "public_url": text, "verify_token": { "hint": text } });
        Endpoint {
            id: ID,
            name: text.to_owned(),
            provider: "stripe".to_owned(),
            url: "https://hooks.example.com/in/token".to_owned(),
            options: options.as_object().cloned().unwrap_or_else(Map::new),
            dedup_scope: Some(DedupScope::Account),
            max_body_bytes: Some(1 << 20),
            retention: None,
            secrets: (0..10)
                .map(|n| EndpointSecret {
                    id: SecretId(Uuid::from_u128(n)),
                    hint: format!("…{}", text.chars().take(4).collect::<String>()),
                    created_at: NOW.plus_seconds(-86_400),
                    expires_at: (n % 2 == 1).then(|| NOW.plus_seconds(3_600)),
                })
                .collect(),
            enabled: true,
            created_at: NOW.plus_seconds(-864_000),
            updated_at: NOW,
        }
    }

    pub(crate) fn refusal(text: &str) -> RefusalRecord {
        RefusalRecord {
            id: RefusalId(Uuid::from_u128(7)),
            endpoint: ID,
            received_at: NOW.plus_seconds(-5),
            reason: "signature_mismatch".to_owned(),
            explanation: text.to_owned(),
            request_id: Some(text.to_owned()),
            entered: None,
        }
    }

    pub(crate) fn course(text: &str) -> EndpointCourse {
        let slots = Slots::empty(Window::Week, NOW);
        let overview = EndpointOverview {
            id: ID,
            name: text.to_owned(),
            provider: "stripe".to_owned(),
            enabled: true,
            accepted: u64::MAX,
            duplicates: 3,
            refused: 5,
            newest: Some(NOW),
            repeats: slots.repeats(),
            usual_repeats: Some((0.0, 0.04)),
            silence: Some(Silence { seconds: 36_000, longest_pause_seconds: None }),
        };
        EndpointCourse { window: Window::Week, now: NOW, slots, overview }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    fn page(shell: Shell, text: &str) -> String {
        let refusals = vec![samples::refusal(text)];
        let mut faults = Faults::default();
        faults.add("secret", text);
        DetailPage::new(shell, &samples::endpoint(text), &samples::course(text), &refusals, faults)
            .render()
            .unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "Payments", HOSTILE, &long()] {
            check(&page(Shell::hostile(Area::Endpoints), text));
        }
        let empty = Endpoint { secrets: Vec::new(), options: Default::default(), ..samples::endpoint("A") };
        let page = DetailPage::new(
            Shell::sample(Area::Endpoints),
            &Endpoint { enabled: false, provider: "gone".to_owned(), ..empty },
            &samples::course("A"),
            &[],
            Faults::default(),
        );
        check(&page.render().unwrap());
    }

    #[test]
    fn deleting_asks_for_the_name_and_a_viewer_can_change_nothing() {
        let text = page(Shell::sample(Area::Endpoints), "Payments");
        assert!(text.contains("name=\"typed_name\"") && text.contains("https://hooks.example.com/in/token"));
        let mut shell = Shell::sample(Area::Endpoints);
        shell.scopes = restante_core::access::Role::Viewer.scopes();
        let text = page(shell, "Payments");
        for never in ["/delete", "/disable", "/secrets", "/test", "/edit"] {
            assert!(!text.contains(&format!("endpoints/{}{never}", samples::endpoint("").id)), "{never}");
        }
    }
}
