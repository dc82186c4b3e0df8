//! The files that pages load. Their names hold a digest of their content, so that a browser may
//! keep them for ever and never shows a new page with an old style.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use sha2::{Digest, Sha256};

use crate::page;

const STYLE: &str = include_str!("../assets/restante.css");

/// The style sheet's file name: `restante-0123456789abcdef.css`.
static STYLE_NAME: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::digest(STYLE);
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("restante-{hex}.css")
});

/// The style sheet's path.
pub(crate) static STYLE_PATH: LazyLock<String> = LazyLock::new(|| format!("/assets/{}", *STYLE_NAME));

pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    if name != *STYLE_NAME {
        return page::not_found().await;
    }
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    (headers, STYLE).into_response()
}
