//! A new endpoint of a provider that was chosen: the form beside the provider's guide. A sender that
//! shows its secret only once it has the URL gets an endpoint that waits for it.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::consumers::NewConsumer;
use restante_app::endpoints::{NewEndpoint, TryOut};
use restante_core::catalogue::{Catalogue, Provider};
use restante_core::secret::Secret;
use restante_store::StoreError;
use serde_json::Map;

use super::fields::{self, OptionField, Typed, option_fields, scopes};
use super::try_out::{self, Tried};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::amount::bytes;
use crate::parts::form::Faults;
use crate::parts::prose::Prose;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::Choice;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/create.html")]
pub(crate) struct CreatePage {
    shell: Shell,
    provider: About,
    typed: Typed,
    faults: Faults,
    own_options: Vec<OptionField>,
    more_options: Vec<OptionField>,
    scopes: Vec<Choice>,
    /// The tenant's consumers, as far as there are some.
    consumers: Vec<String>,
    tried: Option<Tried>,
    /// Where a description is tried out.
    try_href: String,
    /// Whether the sender is described here.
    custom: bool,
}

impl Page for CreatePage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// What the form and the guide say of a provider.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) slug: String,
    pub(crate) title: String,
    pub(crate) setup: Prose,
    pub(crate) notes: Vec<String>,
    pub(crate) secret_title: String,
    /// The same as a label: with a capital.
    pub(crate) secret_label: String,
    pub(crate) secret_example: String,
    pub(crate) body_max: String,
}

impl About {
    /// What is known of a provider that the catalogue no longer has.
    pub(crate) fn unknown(slug: &str) -> Self {
        Self {
            slug: slug.to_owned(),
            title: slug.to_owned(),
            setup: Prose::read("The catalogue of this version does not have this provider."),
            notes: Vec::new(),
            secret_label: "Secret".to_owned(),
            secret_title: "secret".to_owned(),
            secret_example: String::new(),
            body_max: bytes(restante_core::limits::BODY_BYTES_DEFAULT),
        }
    }

    pub(crate) fn new(provider: &Provider) -> Self {
        let (title, example) = provider.secret_hint();
        let documented = provider.body_bytes_max.unwrap_or(restante_core::limits::BODY_BYTES_DEFAULT);
        Self {
            slug: provider.slug.clone(),
            title: provider.title.clone(),
            setup: Prose::read(provider.setup),
            notes: provider.notes.clone(),
            secret_label: capital(title),
            secret_title: title.to_owned(),
            secret_example: example.to_owned(),
            body_max: bytes(documented),
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, slug)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Some(provider) = Catalogue::builtin().get(&slug) else { return Ok(missing()) };
    let typed = Typed {
        name: provider.title.clone(),
        with_consumer: true,
        consumer: "default".to_owned(),
        ..Typed::default()
    };
    page(&web, &member, provider, typed, Faults::default(), None).await
}

async fn page(
    web: &Web,
    member: &Member,
    provider: &Provider,
    typed: Typed,
    faults: Faults,
    tried: Option<Tried>,
) -> Result<Response, Fault> {
    let shell = frame(web, member, Area::Endpoints, &Said::default()).await?;
    let consumers = web.app.consumers(&member.by, None, 5).await?;
    let consumers = consumers.into_iter().map(|one| one.name).collect();
    Ok(answer(&CreatePage::new(shell, provider, typed, faults, consumers, tried)))
}

impl CreatePage {
    pub(crate) fn new(
        shell: Shell,
        provider: &Provider,
        typed: Typed,
        faults: Faults,
        consumers: Vec<String>,
        tried: Option<Tried>,
    ) -> Self {
        let (own_options, more_options) = option_fields(provider, &typed, &Map::new());
        Self {
            provider: About::new(provider),
            own_options,
            more_options,
            scopes: scopes(&typed.dedup_scope),
            custom: provider.slug == "custom",
            try_href: shell.at("/endpoints/new/custom"),
            consumers,
            tried,
            faults,
            typed,
            shell,
        }
    }
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, name)): Path<(String, String)>,
    body: Bytes,
) -> Result<Response, Fault> {
    let Some(provider) = Catalogue::builtin().get(&name) else { return Ok(missing()) };
    let typed = Typed::read(&body);
    let faults = typed.faults();
    if !faults.is_empty() {
        return page(&web, &member, provider, typed, faults, None).await;
    }
    if typed.action == "try" {
        let (faults, tried) = tried(&web, provider, &typed);
        return page(&web, &member, provider, typed, faults, tried).await;
    }
    let secrets: Vec<Secret<String>> = typed.secret().into_iter().collect();
    let new = NewEndpoint {
        name: typed.name.trim().to_owned(),
        provider: provider.slug.clone(),
        enabled: !secrets.is_empty(),
        secrets,
        options: typed.options(provider, false),
        dedup_scope: typed.dedup_scope().ok().flatten(),
        max_body_bytes: typed.max_body_bytes().ok().flatten(),
        retention: None,
    };
    if typed.with_consumer
        && let Err(faults) = make_consumer(&web, &member, &typed).await?
    {
        return page(&web, &member, provider, typed, faults, None).await;
    }
    match web.app.create_endpoint(&member.by, new, None).await {
        Ok(made) => {
            let id = made.value.endpoint.id;
            Ok(Redirect::to(&format!("/t/{slug}/endpoints/{id}/first")).into_response())
        }
        Err(StoreError::Problem(problem)) => {
            page(&web, &member, provider, typed, fields::faults(&problem), None).await
        }
        Err(failure) => Err(failure.into()),
    }
}

/// The consumer that gets the events, unless one of that name is there already.
async fn make_consumer(web: &Web, member: &Member, typed: &Typed) -> Result<Result<(), Faults>, Fault> {
    if !web.app.consumers(&member.by, None, 1).await?.is_empty() {
        return Ok(Ok(()));
    }
    let name = typed.consumer.trim().to_owned();
    let new = NewConsumer { name, start: Some("beginning".to_owned()), ..NewConsumer::default() };
    match web.app.create_consumer(&member.by, new, None).await {
        Ok(_) => Ok(Ok(())),
        Err(StoreError::Problem(problem)) => {
            Ok(Err(Faults::of(&problem, |pointer| (pointer == "/name").then(|| "consumer".to_owned()))))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// What a pasted request would get.
fn tried(web: &Web, provider: &Provider, typed: &Typed) -> (Faults, Option<Tried>) {
    match web.app.try_out(&asked(provider, typed)) {
        Ok(verdict) => (Faults::default(), Some(Tried::new(&verdict))),
        Err(problem) => (fields::faults(&problem), None),
    }
}

/// What is tried out.
pub(super) fn asked(provider: &Provider, typed: &Typed) -> TryOut {
    TryOut {
        provider: provider.slug.clone(),
        options: typed.options(provider, false),
        secret: typed.secret(),
        request: try_out::request(typed),
        at: try_out::came_at(typed).ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::alien::Alien;
    use crate::parts::badge::Tone;
    use crate::parts::samples::{HOSTILE, check, long};

    fn typed(text: &str) -> Typed {
        let mut typed = Typed::read(b"with_consumer=1");
        typed.name = text.to_owned();
        typed.consumer = text.to_owned();
        typed.try_headers = text.to_owned();
        typed.try_body = text.to_owned();
        for name in ["v_header", "v_prefix", "v_signed", "v_time", "v_id", "v_json", "v_batch"] {
            typed.sender.set(name, text.to_owned());
        }
        typed
    }

    fn tried(text: &str) -> Tried {
        let alien = || Alien::new(text);
        let events = vec![[alien(), alien(), alien()]];
        Tried { tone: Tone::Bad, icon: "cross", title: "Refused".to_owned(), text: Some(alien()), events }
    }

    #[test]
    fn every_provider_has_a_form_with_its_guide_whatever_was_typed() {
        for provider in Catalogue::builtin().all() {
            for text in ["", "Payments", HOSTILE, &long()] {
                let mut faults = Faults::default();
                faults.add("name", text);
                faults.add("v_header", text);
                let shell = Shell::hostile(Area::Endpoints);
                let page = CreatePage::new(shell, provider, typed(text), faults, vec![], Some(tried(text)));
                let text = page.render().unwrap();
                check(&text);
                assert!(text.contains("<ol class=\"steps\">"), "{}", provider.slug);
                assert_eq!(text.contains("name=\"try_body\""), provider.slug == "custom");
            }
        }
    }

    #[test]
    fn a_secret_that_was_typed_is_not_sent_back() {
        let typed = Typed::read(b"name=A&secret=canary-secret&option.verify_token=canary-token");
        let provider = Catalogue::builtin().get("whatsapp").unwrap();
        let shell = Shell::sample(Area::Endpoints);
        let text = CreatePage::new(shell, provider, typed, Faults::default(), vec![], None).render().unwrap();
        assert!(!text.contains("canary"), "{text}");
    }
}
