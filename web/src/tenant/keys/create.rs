//! A new API key. The answer shows the key, this once: it is no redirect, so that the key stands in no
//! address and in no session.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::api_keys::NewApiKey;
use restante_core::access::{Scope, Scopes};
use restante_core::secret::Secret;
use restante_store::StoreError;
use serde::Deserialize;
use url::form_urlencoded;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::Choice;
use crate::tenant::frame::{Said, frame};

const DAY: i64 = 24 * 60 * 60;

/// The form.
#[derive(Debug, Template)]
#[template(path = "tenant/keys/create.html")]
struct CreatePage {
    shell: Shell,
    typed: Typed,
    scopes: Vec<ScopeChoice>,
    ends: Vec<Choice>,
    faults: Faults,
}

impl Page for CreatePage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// The key, this once.
#[derive(Template)]
#[template(path = "tenant/keys/created.html")]
struct CreatedPage {
    shell: Shell,
    name: String,
    key: Secret<String>,
}

impl Page for CreatedPage {}

#[derive(Debug)]
struct ScopeChoice {
    word: &'static str,
    means: &'static str,
    chosen: bool,
    /// Whether the maker has it, and so may give it.
    may: bool,
}

/// What was typed.
#[derive(Debug, Clone, Default)]
struct Typed {
    name: String,
    scopes: Vec<String>,
    ends: String,
}

impl Typed {
    fn read(body: &[u8]) -> Self {
        let mut typed = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                "name" => typed.name = value.into_owned(),
                "scope" => typed.scopes.push(value.into_owned()),
                "ends" => typed.ends = value.into_owned(),
                _ => {}
            }
        }
        typed
    }
}

/// For which consumer the key is meant.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    consumer: String,
}

/// What a scope lets a key do.
const fn means(scope: Scope) -> &'static str {
    match scope {
        Scope::EventsRead => "See events, where they stand, and figures; no bodies and no headers",
        Scope::PayloadsRead => "See bodies and headers",
        Scope::EventsConsume => "Claim and acknowledge events: what a worker needs",
        Scope::EventsReplay => "Replay, repair and settle",
        Scope::ConfigRead => "See endpoints, consumers and keys; never secrets",
        Scope::ConfigWrite => "Change endpoints, consumers and keys",
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    // A name of a consumer alone; anything else in the address is no name.
    let consumer: String =
        asked.consumer.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    let typed = Typed {
        name: if consumer.is_empty() { String::new() } else { format!("{consumer} worker") },
        scopes: vec![Scope::EventsConsume.as_str().to_owned()],
        ends: String::new(),
    };
    page(&web, &member, typed, Faults::default()).await
}

async fn page(web: &Web, member: &Member, typed: Typed, faults: Faults) -> Result<Response, Fault> {
    let shell = frame(web, member, Area::Keys, &Said::default()).await?;
    Ok(answer(&CreatePage::new(shell, typed, faults)))
}

impl CreatePage {
    fn new(shell: Shell, typed: Typed, faults: Faults) -> Self {
        let scope = |scope: Scope| ScopeChoice {
            word: scope.as_str(),
            means: means(scope),
            chosen: typed.scopes.iter().any(|word| word == scope.as_str()),
            may: shell.scopes.contains(scope),
        };
        let ends = [("", "it is revoked"), ("30", "30 days"), ("90", "90 days"), ("365", "a year")];
        Self {
            scopes: Scope::ALL.map(scope).into(),
            ends: ends.map(|(days, label)| Choice::labelled(days, label, &typed.ends)).into(),
            typed,
            faults,
            shell,
        }
    }
}

pub(crate) async fn submit(State(web): State<Web>, member: Member, body: Bytes) -> Result<Response, Fault> {
    let typed = Typed::read(&body);
    let scopes = match Scopes::parse(&typed.scopes, "/scopes") {
        Ok(scopes) => scopes,
        Err(errors) => {
            let mut faults = Faults::default();
            faults.add("scopes", errors.into_iter().next().map(|error| error.detail).unwrap_or_default());
            return page(&web, &member, typed, faults).await;
        }
    };
    let days: Option<i64> = typed.ends.parse().ok().filter(|days| (1..=3_650).contains(days));
    let new = NewApiKey {
        name: typed.name.trim().to_owned(),
        scopes,
        expires_at: days.map(|days| web.app.clock.now().plus_seconds(days * DAY)),
    };
    match web.app.create_api_key(&member.by, new, None).await {
        Ok(made) => {
            let shell = frame(&web, &member, Area::Keys, &Said::default()).await?;
            Ok(answer(&CreatedPage { shell, name: made.value.row.name, key: made.value.key }))
        }
        Err(StoreError::Problem(problem)) => {
            let faults =
                Faults::of(&problem, |pointer| first_step(pointer).filter(|field| field != "expires_at"));
            page(&web, &member, typed, faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use restante_core::access::Role;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "worker", HOSTILE, &long()] {
            let typed = Typed { name: text.to_owned(), scopes: vec![text.to_owned()], ends: text.to_owned() };
            let mut faults = Faults::default();
            faults.add("name", text);
            faults.add("scopes", text);
            check(&CreatePage::new(Shell::sample(Area::Keys), typed, faults).render().unwrap());
            let (shell, name) = (Shell::sample(Area::Keys), text.to_owned());
            check(&CreatedPage { shell, name, key: Secret::new("rst_x".to_owned()) }.render().unwrap());
        }
    }

    #[test]
    fn a_scope_that_the_maker_lacks_can_not_be_ticked() {
        let mut shell = Shell::sample(Area::Keys);
        shell.scopes = Role::Operator.scopes();
        let text = CreatePage::new(shell, Typed::default(), Faults::default()).render().unwrap();
        assert_eq!(text.matches(" disabled").count(), 2, "{text}");
    }
}
