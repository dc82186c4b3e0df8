//! The guided first event: the URL to give to the provider, where to click there, the secret that may come
//! only now, and the wait for the first event, which turns into the event or into the explained refusal
//! by itself.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::endpoints::{Endpoint, EndpointChange, NewSecret, Retire};
use restante_app::events::EventFilter;
use restante_app::refusals::RefusalRecord;
use restante_core::catalogue::Catalogue;
use restante_core::id::EndpointId;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use serde::Deserialize;

use super::create::About;
use super::fields;
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::parts::moment::Moment;
use crate::parts::reasons::reason;
use crate::parts::shell::{Area, Shell};
use crate::session::{Member, PublicAddress};
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// Refusals that are told while the first event is waited for.
const REFUSALS_MAX: usize = 3;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/first.html")]
pub(crate) struct FirstPage {
    shell: Shell,
    name: String,
    href: String,
    url: String,
    provider: About,
    /// Whether the secret is still to come.
    needs_secret: bool,
    consumers: Vec<String>,
    reach: Option<Reach>,
    sign: String,
    state: StateFragment,
    faults: Faults,
}

impl Page for FirstPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// Why no provider reaches this instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The address is this machine's own.
    Loopback,
    /// Nothing is encrypted, which most providers refuse.
    Plain,
}

impl Reach {
    pub(crate) const fn of(public: &PublicAddress) -> Option<Self> {
        match (public.is_loopback, public.is_https) {
            (true, _) => Some(Self::Loopback),
            (false, false) => Some(Self::Plain),
            (false, true) => None,
        }
    }

    const fn is_loopback(self) -> bool {
        matches!(self, Self::Loopback)
    }
}

/// What has come so far. It asks for itself again while it waits.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/first_state.html")]
pub(crate) struct StateFragment {
    href: String,
    waits: bool,
    enabled: bool,
    event: Option<Came>,
    refusals: Vec<Refused>,
}

impl Page for StateFragment {}

impl askama::filters::HtmlSafe for StateFragment {}

#[derive(Debug)]
struct Came {
    title: Alien,
    href: String,
    at: Moment,
}

#[derive(Debug)]
struct Refused {
    title: String,
    explanation: Alien,
    href: String,
    at: Moment,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    said: Said,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse() else { return Ok(missing()) };
    page(&web, &member, id, &said, Faults::default()).await
}

async fn page(
    web: &Web,
    member: &Member,
    id: EndpointId,
    said: &Said,
    faults: Faults,
) -> Result<Response, Fault> {
    let endpoint = web.app.endpoint(&member.by, id).await?;
    let Some(provider) = Catalogue::builtin().get(&endpoint.provider) else { return Ok(missing()) };
    let shell = frame(web, member, Area::Endpoints, said).await?;
    let consumers = web.app.consumers(&member.by, None, 250).await?;
    let consumers = consumers
        .into_iter()
        .filter(|one| one.filter.endpoints.is_empty() || one.filter.endpoints.contains(&id))
        .filter(|one| one.filter.providers.is_empty() || one.filter.providers.contains(&endpoint.provider))
        .map(|one| one.name)
        .collect();
    let state = fragment(web, member, &endpoint).await?;
    let about = About::new(provider);
    let reach = Reach::of(&web.public);
    Ok(answer(&FirstPage::new(shell, &endpoint, about, consumers, reach, state, faults)))
}

impl FirstPage {
    pub(crate) fn new(
        shell: Shell,
        endpoint: &Endpoint,
        provider: About,
        consumers: Vec<String>,
        reach: Option<Reach>,
        state: StateFragment,
        faults: Faults,
    ) -> Self {
        Self {
            name: endpoint.name.clone(),
            href: shell.at(&format!("/endpoints/{}", endpoint.id)),
            url: endpoint.url.clone(),
            needs_secret: endpoint.secrets.is_empty(),
            sign: sign_command(endpoint),
            provider,
            consumers,
            reach,
            state,
            faults,
            shell,
        }
    }
}

/// The command that sends a signed sample to the endpoint. The secret is the reader's to put in.
pub(crate) fn sign_command(endpoint: &Endpoint) -> String {
    let options = match endpoint.options.get("verify") {
        Some(verify) => {
            let text = serde_json::json!({ "verify": verify }).to_string();
            format!(" \\\n  --options '{}'", text.replace('\'', "'\\''"))
        }
        None => String::new(),
    };
    format!(
        "restante sign --provider {} --secret \"$SECRET\" \\\n  --url {}{options} | sh",
        endpoint.provider, endpoint.url
    )
}

async fn fragment(web: &Web, member: &Member, endpoint: &Endpoint) -> Result<StateFragment, Fault> {
    let filter = EventFilter { endpoint: Some(endpoint.id), ..EventFilter::default() };
    let newest = web.app.events(&member.by, filter, None, 1, false).await?.events;
    let refusals = web.app.refusals(&member.by, Some(endpoint.id)).await?;
    let shell = member.shell(Area::Endpoints);
    let event = newest.first().map(|event| {
        (event.receipt.event_type.as_deref(), event.receipt.id.to_string(), event.receipt.received_at)
    });
    Ok(StateFragment::new(&shell, endpoint, event, &refusals, web.app.clock.now()))
}

impl StateFragment {
    fn new(
        shell: &Shell,
        endpoint: &Endpoint,
        event: Option<(Option<&str>, String, Timestamp)>,
        refusals: &[RefusalRecord],
        now: Timestamp,
    ) -> Self {
        let refused = |one: &RefusalRecord| Refused {
            title: reason(&one.reason).to_owned(),
            explanation: Alien::cut(&one.explanation, 1_000),
            href: shell.at(&format!("/refusals/{}/{}", one.endpoint, one.id)),
            at: Moment::new(one.received_at, now),
        };
        Self {
            href: shell.at(&format!("/endpoints/{}", endpoint.id)),
            waits: event.is_none() && endpoint.enabled,
            enabled: endpoint.enabled,
            event: event.map(|(title, id, at)| Came {
                title: Alien::cut(title.unwrap_or("an event without a type"), 120),
                href: shell.at(&format!("/events/{id}")),
                at: Moment::new(at, now),
            }),
            refusals: refusals.iter().take(REFUSALS_MAX).map(refused).collect(),
        }
    }
}

pub(crate) async fn state(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse() else { return Ok(missing()) };
    let endpoint = web.app.endpoint(&member.by, id).await?;
    Ok(answer(&fragment(&web, &member, &endpoint).await?))
}

/// The secret that came after the URL.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    secret: Pasted,
}

/// A secret as it was pasted; it shows nothing of itself.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Pasted(String);

impl std::fmt::Debug for Pasted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[pasted]")
    }
}

impl From<Pasted> for Secret<String> {
    fn from(pasted: Pasted) -> Self {
        Self::new(pasted.0)
    }
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let new = NewSecret { secret: typed.secret.into(), retire_others: Retire::Never };
    match web.app.add_secret(&member.by, id, new, None).await {
        Ok(_) => {}
        Err(StoreError::Problem(problem)) => {
            return page(&web, &member, id, &Said::default(), fields::faults(&problem)).await;
        }
        Err(failure) => return Err(failure.into()),
    }
    let enable = EndpointChange { enabled: Some(true), ..EndpointChange::default() };
    web.app.update_endpoint(&member.by, id, enable).await?;
    Ok(Redirect::to(&format!("/t/{slug}/endpoints/{id}/first?said=secret-added")).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::endpoints::detail::samples;

    fn page(text: &str, reach: Option<Reach>, waits: bool) -> String {
        let shell = Shell::sample(Area::Endpoints);
        let endpoint = samples::endpoint(text);
        let event = (!waits).then(|| (Some(text), "rcp_x".to_owned(), samples::NOW));
        let refusals = vec![samples::refusal(text)];
        let state = StateFragment::new(&shell, &endpoint, event, &refusals, samples::NOW);
        let about = About::new(Catalogue::builtin().get("stripe").unwrap());
        let mut faults = Faults::default();
        faults.add("secret", text);
        FirstPage::new(shell, &endpoint, about, vec![text.to_owned()], reach, state, faults).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "Payments", HOSTILE, &long()] {
            for reach in [None, Some(Reach::Loopback), Some(Reach::Plain)] {
                check(&page(text, reach, true));
                check(&page(text, reach, false));
            }
        }
    }

    #[test]
    fn it_waits_until_an_event_is_there_and_tells_why_requests_were_refused() {
        let text = page("Payments", None, true);
        assert!(text.contains("hx-trigger=\"every 2s\"") && text.contains("Waiting for the first event"));
        assert!(text.contains("Signature does not match") && text.contains("/t/acme/refusals/ep_"));
        let text = page("invoice.paid", None, false);
        assert!(text.contains("href=\"/t/acme/events/rcp_x\"") && !text.contains("every 2s"), "{text}");
    }

    #[test]
    fn an_address_that_no_provider_reaches_is_explained() {
        let text = page("Payments", Some(Reach::Loopback), true);
        assert!(
            text.contains("RESTANTE_PUBLIC_URL") && text.contains("restante sign --provider stripe"),
            "{text}"
        );
        assert!(!page("Payments", None, true).contains("RESTANTE_PUBLIC_URL"));
    }

    #[test]
    fn the_command_quotes_a_description() {
        let mut endpoint = samples::endpoint("A");
        endpoint.options.insert("verify".to_owned(), serde_json::json!({ "header": "it's" }));
        assert!(sign_command(&endpoint).contains("--options '{\"verify\":{\"header\":\"it'\\''s\"}}'"));
    }
}
