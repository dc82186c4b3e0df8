//! Every page as a browser gets it.

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, StatusCode};
use restante_core::problem::Code;
use serde_json::json;
use tower::ServiceExt as _;

use crate::assets::STYLE_PATH;
use crate::error_texts::error_text;

struct Got {
    status: StatusCode,
    headers: http::HeaderMap,
    text: String,
}

fn router() -> Router {
    crate::router(json!({
        "paths": {"/v1/things": {"get": {
            "tags": ["things"],
            "summary": "<script>alert(1)</script>",
            "security": [{"key": ["config:read"]}],
            "parameters": [{"name": "\"><b>", "schema": {"type": "string"}, "description": "'&"}],
            "responses": {"200": {"description": "Fine"}}
        }}}
    }))
}

async fn get(path: &str) -> Got {
    let response = router().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    Got { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

fn pages() -> Vec<String> {
    let mut pages: Vec<String> =
        ["/", "/docs/api", "/docs/errors", "/nothing"].into_iter().map(str::to_owned).collect();
    pages.extend(Code::ALL.map(|code| format!("/docs/errors/{}", code.slug())));
    pages
}

#[tokio::test]
async fn every_page_is_whole_and_runs_nothing() {
    for path in pages() {
        let got = get(&path).await;
        let expected = if path == "/nothing" { 404 } else { 200 };
        assert_eq!(got.status, expected, "{path}");
        assert_eq!(got.headers["content-type"], "text/html; charset=utf-8");
        let policy = got.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let text = &got.text;
        assert!(text.starts_with("<!doctype html>") && text.contains("<html lang=\"en\">"), "{path}");
        assert_eq!(text.matches("<h1>").count(), 1, "{path}");
        assert!(text.contains("<title>") && text.contains(STYLE_PATH.as_str()), "{path}");
        for never in ["<script", "style=", " on", "http://", "https://"] {
            // " on" followed by a name and an equals sign is an event handler.
            let found = match never {
                " on" => text.split(" on").skip(1).any(|rest| {
                    rest.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase()))
                }),
                _ => text.contains(never),
            };
            assert!(!found, "{path} contains {never}");
        }
    }
}

#[tokio::test]
async fn what_stands_in_the_description_is_only_ever_text() {
    let text = get("/docs/api").await.text;
    assert!(text.contains("&#60;script&#62;alert(1)&#60;/script&#62;"), "{text}");
    assert!(!text.contains("<b>"));
    assert!(text.contains("config:read"));
}

#[tokio::test]
async fn every_kind_of_error_has_a_page_that_helps_and_unknown_ones_have_none() {
    for code in Code::ALL {
        assert!(!error_text(code).meaning.is_empty() && !error_text(code).remedies.is_empty(), "{code:?}");
        let text = get(&format!("/docs/errors/{}", code.slug())).await.text;
        assert!(text.contains(&code.status().to_string()), "{code:?}");
    }
    assert_eq!(get("/docs/errors/nothing").await.status, 404);
    assert_eq!(get("/docs/errors/%ff").await.status, 400);
}

#[tokio::test]
async fn the_style_sheet_may_be_kept_for_ever_under_its_own_name_alone() {
    let got = get(&STYLE_PATH).await;
    assert_eq!(got.status, 200);
    assert_eq!(got.headers["content-type"], "text/css; charset=utf-8");
    assert!(got.headers["cache-control"].to_str().unwrap().contains("immutable"));
    assert!(got.text.contains("prefers-color-scheme: dark"));
    assert!(!got.text.contains("@import") && !got.text.contains("url("));
    assert_eq!(get("/assets/restante-0000000000000000.css").await.status, 404);
    assert_eq!(get("/assets/..%2f..%2fCargo.toml").await.status, 404);
}
