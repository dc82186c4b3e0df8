//! The page of a link that opens nothing any more, or never did.

use askama::Template;
use axum::response::Response;
use http::StatusCode;

use crate::page::{Page, answer};

#[derive(Template)]
#[template(path = "account/dead_link.html")]
struct DeadLink;

impl Page for DeadLink {
    fn status(&self) -> StatusCode {
        StatusCode::GONE
    }
}

/// The page.
pub(super) fn dead_link() -> Response {
    answer(&DeadLink)
}
