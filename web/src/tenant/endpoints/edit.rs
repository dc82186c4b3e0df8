//! The settings of an endpoint that is there.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::endpoints::{Endpoint, EndpointChange};
use restante_core::catalogue::{Catalogue, Provider};
use restante_core::id::EndpointId;
use restante_core::problem::Code;
use restante_store::StoreError;
use serde_json::Value;

use super::create::{About, asked};
use super::fields::{self, OptionField, Typed, option_fields, scopes};
use super::sender::{self, Sender};
use super::try_out::Tried;
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::form::Faults;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::Choice;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/edit.html")]
pub(crate) struct EditPage {
    shell: Shell,
    name: String,
    href: String,
    provider: About,
    typed: Typed,
    faults: Faults,
    options: Vec<OptionField>,
    scopes: Vec<Choice>,
    tried: Option<Tried>,
    /// Where a description is tried out.
    try_href: String,
    custom: bool,
}

impl Page for EditPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let endpoint = web.app.endpoint(&member.by, id).await?;
    let Some(provider) = Catalogue::builtin().get(&endpoint.provider) else { return Ok(missing()) };
    let shell = frame(&web, &member, Area::Endpoints, &Said::default()).await?;
    let typed = present(&endpoint);
    Ok(answer(&EditPage::new(shell, provider, &endpoint, typed, Faults::default(), None)))
}

/// The form as the endpoint is.
fn present(endpoint: &Endpoint) -> Typed {
    let texts = endpoint.options.iter().filter_map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((name.clone(), Value::String(text)))
    });
    Typed {
        name: endpoint.name.clone(),
        options: texts.collect(),
        dedup_scope: endpoint
            .dedup_scope
            .and_then(|scope| serde_json::to_value(scope).ok()?.as_str().map(str::to_owned))
            .unwrap_or_default(),
        max_body_bytes: endpoint.max_body_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
        sender: endpoint.options.get("verify").map(Sender::of).unwrap_or_default(),
        ..Typed::default()
    }
}

impl EditPage {
    pub(crate) fn new(
        shell: Shell,
        provider: &Provider,
        endpoint: &Endpoint,
        typed: Typed,
        faults: Faults,
        tried: Option<Tried>,
    ) -> Self {
        let (mut options, more) = option_fields(provider, &typed, &endpoint.options);
        options.extend(more);
        Self {
            name: endpoint.name.clone(),
            try_href: shell.at(&format!("/endpoints/{}/edit", endpoint.id)),
            href: shell.at(&format!("/endpoints/{}", endpoint.id)),
            provider: About::new(provider),
            scopes: scopes(&typed.dedup_scope),
            custom: provider.slug == "custom",
            options,
            typed,
            faults,
            tried,
            shell,
        }
    }
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    body: Bytes,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let endpoint = web.app.endpoint(&member.by, id).await?;
    let Some(provider) = Catalogue::builtin().get(&endpoint.provider) else { return Ok(missing()) };
    let typed = Typed::read(&body);
    let mut faults = typed.faults();
    let mut verdict = None;
    if faults.is_empty() && typed.action == "try" {
        match web.app.try_out_at(&member.by, id, &asked(provider, &typed)).await {
            Ok(found) => verdict = Some(Tried::new(&found)),
            Err(StoreError::Problem(problem)) if problem.code == Code::Invalid => {
                faults = fields::faults(&problem);
            }
            Err(failure) => return Err(failure.into()),
        }
    } else if faults.is_empty() {
        let mut options = typed.options(provider, true);
        if let (Some(verify), Some(before)) = (options.get_mut("verify"), endpoint.options.get("verify")) {
            *verify = sender::merge_patch(before, verify);
        }
        let change = EndpointChange {
            name: Some(typed.name.trim().to_owned()),
            options: Some(Some(options)),
            dedup_scope: typed.dedup_scope().ok(),
            max_body_bytes: typed.max_body_bytes().ok(),
            ..EndpointChange::default()
        };
        match web.app.update_endpoint(&member.by, id, change).await {
            Ok(_) => {
                return Ok(
                    Redirect::to(&format!("/t/{slug}/endpoints/{id}?said=endpoint-saved")).into_response()
                );
            }
            Err(StoreError::Problem(problem)) => faults = fields::faults(&problem),
            Err(failure) => return Err(failure.into()),
        }
    }
    let shell = frame(&web, &member, Area::Endpoints, &Said::default()).await?;
    Ok(answer(&EditPage::new(shell, provider, &endpoint, typed, faults, verdict)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::endpoints::detail::samples;

    #[test]
    fn every_provider_has_its_settings_whatever_they_are() {
        for provider in Catalogue::builtin().all() {
            for text in ["", "Payments", HOSTILE, &long()] {
                let mut endpoint = samples::endpoint(text);
                endpoint.options.insert(
                    "verify".to_owned(),
                    json!({ "header": text, "event": { "id": { "first": [text] } } }),
                );
                let mut faults = Faults::default();
                faults.add("name", text);
                let shell = Shell::sample(Area::Endpoints);
                let page = EditPage::new(shell, provider, &endpoint, present(&endpoint), faults, None);
                check(&page.render().unwrap());
            }
        }
    }

    #[test]
    fn the_form_shows_what_is_set_and_no_secret() {
        let mut endpoint = samples::endpoint("Payments");
        endpoint.provider = "whatsapp".to_owned();
        endpoint.options = json!({ "verify_token": { "hint": "…oken" }, "tolerance_seconds": 60 })
            .as_object()
            .unwrap()
            .clone();
        let typed = present(&endpoint);
        assert_eq!((typed.dedup_scope.as_str(), typed.max_body_bytes.as_str()), ("account", "1048576"));
        let provider = Catalogue::builtin().get("whatsapp").unwrap();
        let page = EditPage::new(
            Shell::sample(Area::Endpoints),
            provider,
            &endpoint,
            typed,
            Faults::default(),
            None,
        );
        let text = page.render().unwrap();
        assert!(text.contains("placeholder=\"…oken stays\"") && text.contains("value=\"60\""), "{text}");
    }
}
