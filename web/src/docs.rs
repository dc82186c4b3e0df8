//! The pages under `/docs`: the API's reference and what each error means.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use restante_core::problem::Code;

use crate::api_reference::Reference;
use crate::assets;
use crate::error_texts::{ErrorText, error_text};
use crate::page::{self, Page, answer};

#[derive(Template)]
#[template(path = "pages/docs_api.html")]
struct Api<'a> {
    reference: &'a Reference,
}

impl Page for Api<'_> {}

/// The reference is long, and is packed once for all who take gzip: nothing in it changes while the
/// program runs.
pub(crate) async fn api(State(reference): State<Arc<Reference>>, headers: HeaderMap) -> Response {
    let page = Api { reference: &reference };
    let packed = reference
        .packed
        .get_or_init(|| page.render().map(|text| assets::pack(text.as_bytes())).unwrap_or_default());
    let mut response = answer(&page);
    if assets::takes_gzip(&headers) && !packed.is_empty() {
        *response.body_mut() = Body::from(packed.clone());
        response.headers_mut().remove(CONTENT_LENGTH);
        assets::mark_packed(&mut response);
    }
    response
}

#[derive(Template)]
#[template(path = "pages/docs_errors.html")]
struct Errors {
    codes: [Code; Code::ALL.len()],
}

impl Page for Errors {}

pub(crate) async fn errors() -> Response {
    answer(&Errors { codes: Code::ALL })
}

#[derive(Template)]
#[template(path = "pages/docs_error.html")]
struct Error {
    code: Code,
    text: ErrorText,
}

impl Page for Error {}

pub(crate) async fn error(Path(slug): Path<String>) -> Response {
    match Code::ALL.into_iter().find(|code| code.slug() == slug) {
        Some(code) => answer(&Error { code, text: error_text(code) }),
        None => page::not_found().await,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_reference_stands_with_nothing_and_with_hostile_and_long_texts() {
        samples::check(&Api { reference: &Reference::default() }.render().unwrap());
        for text in [samples::HOSTILE.to_owned(), samples::long()] {
            let operation = json!({
                "tags": [text], "summary": text, "description": text,
                "parameters": [{ "name": text, "in": "query", "description": text, "schema": { "type": "string" } }],
                "responses": { "200": { "description": text } }
            });
            let document = json!({ "paths": { text.clone(): { "get": operation } } });
            let reference = Reference::read(&document);
            assert_eq!(reference.topics.len(), 1);
            samples::check(&Api { reference: &reference }.render().unwrap());
        }
    }
}
