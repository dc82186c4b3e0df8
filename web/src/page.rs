//! What every page has in common: its headers, and what happens when there is none.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use crate::assets::{MARK_PATH, SCRIPT_PATH, STYLE_PATH};
use crate::parts::icon::Icon;

/// What a page may load: our own style sheet, script and picture. Nothing inline, nothing from
/// elsewhere, no frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What the layout asks of every page.
pub(crate) trait Page: Template {
    /// The status with which it is answered.
    fn status(&self) -> StatusCode {
        StatusCode::OK
    }

    /// Where the style sheet is.
    fn style_path(&self) -> &'static str {
        &STYLE_PATH
    }

    /// Where the script is.
    fn script_path(&self) -> &'static str {
        &SCRIPT_PATH
    }

    /// Where the picture for the browser's tab is.
    fn mark_path(&self) -> &'static str {
        &MARK_PATH
    }

    /// An icon by its name.
    fn icon(&self, name: &str) -> Icon {
        Icon::named(name)
    }
}

/// A page as an answer.
pub(crate) fn answer(page: &impl Page) -> Response {
    match page.render() {
        Ok(text) => {
            let mut response = (page.status(), text).into_response();
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            response
        }
        Err(error) => {
            tracing::error!(%error, "a page can't be made");
            (StatusCode::INTERNAL_SERVER_ERROR, "This page can't be shown. The log of the server says why.")
                .into_response()
        }
    }
}

#[derive(Template)]
#[template(path = "pages/not_found.html")]
struct NotFound;

impl Page for NotFound {
    fn status(&self) -> StatusCode {
        StatusCode::NOT_FOUND
    }
}

/// The page where none is, and for what is another's: the two look alike.
pub(crate) fn missing() -> Response {
    answer(&NotFound)
}

/// The handler of addresses that there are not.
pub(crate) async fn not_found() -> Response {
    missing()
}
