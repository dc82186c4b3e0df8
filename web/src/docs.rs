//! The pages under `/docs`: the API's reference and what each error means.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use restante_core::problem::Code;

use crate::api_reference::Reference;
use crate::error_texts::{ErrorText, error_text};
use crate::page::{self, Page, answer};

#[derive(Template)]
#[template(path = "pages/docs_api.html")]
struct Api<'a> {
    reference: &'a Reference,
}

impl Page for Api<'_> {}

pub(crate) async fn api(State(reference): State<Arc<Reference>>) -> Response {
    answer(&Api { reference: &reference })
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
