//! Every page as a browser gets it.

use std::path::{Path, PathBuf};

use askama::Template;
use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, StatusCode};
use restante_app::testing::TestApp;
use restante_core::problem::Code;
use restante_store::testing::TestStore;
use serde_json::json;
use tower::ServiceExt as _;

use crate::assets::{MARK_PATH, SCRIPT_PATH, STYLE_PATH};
use crate::error_texts::error_text;
use crate::page::Page;
use crate::parts::samples;
use crate::parts::shell::{Area, Shell};

struct Got {
    status: StatusCode,
    headers: http::HeaderMap,
    text: String,
}

async fn router() -> (Router, TestApp) {
    let description = json!({
        "paths": {"/v1/things": {"get": {
            "tags": ["things"],
            "summary": "<script>alert(1)</script>",
            "security": [{"key": ["config:read"]}],
            "parameters": [{"name": "\"><b>", "schema": {"type": "string"}, "description": "'&"}],
            "responses": {"200": {"description": "Fine"}}
        }}}
    });
    let a = TestApp::new(TestStore::sqlite().await);
    (crate::router(a.app.clone(), &description), a)
}

async fn get(path: &str) -> Got {
    let (router, _a) = router().await;
    let response = router
        .oneshot(Request::get(path).header("host", "127.0.0.1:8080").body(Body::empty()).unwrap())
        .await
        .unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    Got { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

async fn get_with(path: &str, encodings: &str) -> http::HeaderMap {
    let request = Request::get(path).header("accept-encoding", encodings).body(Body::empty()).unwrap();
    let (router, _a) = router().await;
    router.oneshot(request).await.unwrap().headers().clone()
}

fn pages() -> Vec<String> {
    let mut pages: Vec<String> =
        ["/", "/sign-in", "/docs/api", "/docs/errors", "/nothing"].into_iter().map(str::to_owned).collect();
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
        // Our own script from our own address, and nothing else that runs or is fetched.
        let script = format!("<script src=\"{}\" defer></script>", SCRIPT_PATH.as_str());
        assert_eq!(text.matches("<script").count(), 1, "{path}");
        samples::check(&text.replace(&script, ""));
        assert!(text.contains(&script) && !text.contains("http://") && !text.contains("https://"), "{path}");
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
async fn the_files_of_pages_may_be_kept_for_ever_under_their_own_names_alone() {
    for (path, kind) in [
        (&STYLE_PATH, "text/css; charset=utf-8"),
        (&SCRIPT_PATH, "text/javascript; charset=utf-8"),
        (&MARK_PATH, "image/svg+xml"),
    ] {
        let got = get(path).await;
        assert_eq!(got.status, 200);
        assert_eq!(got.headers["content-type"], kind);
        assert!(got.headers["cache-control"].to_str().unwrap().contains("immutable"));
        let packed = get_with(path, "gzip, br").await;
        assert_eq!(packed["content-encoding"], "gzip");
        assert_eq!(packed["vary"], "accept-encoding");
    }
    let style = get(&STYLE_PATH).await.text;
    assert!(style.contains("prefers-color-scheme: dark"));
    assert!(!style.contains("@import") && !style.contains("url("));
    assert_eq!(get("/assets/restante-0000000000000000.css").await.status, 404);
    assert_eq!(get("/assets/..%2f..%2fCargo.toml").await.status, 404);
}

#[tokio::test]
async fn the_long_reference_is_packed_for_who_takes_it() {
    let packed = get_with("/docs/api", "gzip").await;
    assert_eq!(
        (&packed["content-encoding"], &packed["vary"]),
        (&"gzip".parse().unwrap(), &"accept-encoding".parse().unwrap())
    );
    assert!(packed["content-type"].to_str().unwrap().starts_with("text/html"));
    let plain = get("/docs/api").await;
    assert!(plain.text.contains("</html>") && !plain.headers.contains_key("content-encoding"));
}

/// Templates without anything that differs: whole pages, which other tests here look at.
const STANDING: [&str; 5] = [
    "account/dead_link.html",
    "pages/docs_error.html",
    "pages/docs_errors.html",
    "pages/front.html",
    "pages/not_found.html",
];

#[test]
fn every_template_is_tried_with_samples_beside_its_code() {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut templates = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs")) {
        let code = std::fs::read_to_string(file).unwrap();
        let named = code.split("#[template(path = \"").skip(1).filter_map(|rest| rest.split('"').next());
        for template in named {
            templates += 1;
            let tried = code.contains("samples::") || STANDING.contains(&template);
            assert!(tried, "{template} of {} is tried with no samples", file.display());
        }
    }
    assert!(templates > 40, "{templates}");
}

/// A page with nothing on it but its frame.
#[derive(Template)]
#[template(
    source = "{% extends \"shell.html\" %}{% block title %}Nothing{% endblock %}{% block main %}<h1>Nothing</h1>{% endblock %}",
    ext = "html"
)]
struct Bare {
    shell: Shell,
}

impl Page for Bare {}

#[test]
fn the_frame_names_the_tenant_and_the_person_and_stays_whole_around_hostile_names() {
    let text = Bare { shell: Shell::sample(Area::Events) }.render().unwrap();
    assert!(text.contains("<a href=\"/t/acme/events\" aria-current=\"page\">"), "{text}");
    assert!(
        text.contains("Acme payments") && text.contains("ada@example.com") && text.contains("sample-token")
    );
    samples::check(&Bare { shell: Shell::hostile(Area::Keys) }.render().unwrap());
    let mut shell = Shell::sample(Area::Administration);
    shell.tenant = None;
    let text = Bare { shell }.render().unwrap();
    assert!(text.contains("href=\"/admin/people\"") && !text.contains("/search"), "{text}");
}

#[test]
fn a_viewer_sees_no_way_to_what_only_owners_and_administrators_do() {
    let shell = Shell { owner: false, administrator: false, ..Shell::sample(Area::Events) };
    let text = Bare { shell }.render().unwrap();
    for never in ["/members", "/audit", "/admin"] {
        assert!(!text.contains(never), "{never}");
    }
}
