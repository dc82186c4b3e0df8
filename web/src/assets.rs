//! The files that pages load. Their names hold a digest of their content, so that a browser may
//! keep them for ever and never shows a new page with an old style. Each is compressed once.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};

use crate::page;

/// The style sheet, in the order of the cascade.
const STYLE: &str = concat!(
    include_str!("../assets/css/tokens.css"),
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/layout.css"),
    include_str!("../assets/css/parts.css"),
    include_str!("../assets/css/tables.css"),
    include_str!("../assets/css/forms.css"),
);
/// The script: htmx, and the little of our own.
const SCRIPT: &str =
    concat!(include_str!("../assets/vendor/htmx.min.js"), "\n", include_str!("../assets/restante.js"));
/// The picture in the browser's tab.
const MARK: &str = include_str!("../assets/mark.svg");

/// A file as it is served.
struct Asset {
    name: String,
    kind: &'static str,
    plain: &'static str,
    packed: Vec<u8>,
}

impl Asset {
    fn new(name: &str, ending: &str, kind: &'static str, plain: &'static str) -> Self {
        let digest = Sha256::digest(plain);
        let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { name: format!("{name}-{hex}.{ending}"), kind, plain, packed: pack(plain.as_bytes()) }
    }

    fn path(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

static ASSETS: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        Asset::new("restante", "css", "text/css; charset=utf-8", STYLE),
        Asset::new("restante", "js", "text/javascript; charset=utf-8", SCRIPT),
        Asset::new("mark", "svg", "image/svg+xml", MARK),
    ]
});

/// As gzip; nothing when that fails, which it does not in memory. Only for what is the same for everybody:
/// the length of a packed page would tell something of a secret in it to who can put a guess beside it.
pub(crate) fn pack(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// The style sheet's path.
pub(crate) static STYLE_PATH: LazyLock<String> = LazyLock::new(|| ASSETS[0].path());
/// The script's path.
pub(crate) static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| ASSETS[1].path());
/// The picture's path.
pub(crate) static MARK_PATH: LazyLock<String> = LazyLock::new(|| ASSETS[2].path());

pub(crate) async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return page::not_found().await;
    };
    let mut response = if takes_gzip(&headers) && !asset.packed.is_empty() {
        let mut response = asset.packed.as_slice().into_response();
        mark_packed(&mut response);
        response
    } else {
        asset.plain.into_response()
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}

/// Says that the body of an answer is gzip.
pub(crate) fn mark_packed(response: &mut Response) {
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
}

/// Whether the browser lists gzip and does not weigh it with nothing.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|coding| coding.split(';').map(str::trim).collect::<Vec<_>>())
        .any(|parts| {
            parts.first() == Some(&"gzip")
                && !parts.iter().skip(1).any(|part| {
                    part.starts_with("q=0") && !part.contains(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_who_asks_for_it() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        assert!(takes("gzip") && takes("br, gzip;q=0.5") && takes("deflate,gzip"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("x-gzip") && !takes("gzip; q=0.0"));
    }

    #[test]
    fn the_vendored_script_is_the_one_that_was_noted() {
        let note = include_str!("../assets/vendor/README.md");
        let digest = Sha256::digest(include_str!("../assets/vendor/htmx.min.js"));
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(note.contains(&hex), "{hex}");
    }

    #[test]
    fn the_first_load_is_small() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.packed.len()).sum();
        assert!(bytes < 40_000, "{bytes}");
        assert!(ASSETS.iter().all(|asset| asset.packed.len() > 100));
    }
}
