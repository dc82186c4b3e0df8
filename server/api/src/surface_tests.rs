//! The surface as a whole: what every route has in common, whatever it is for.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::header::{ALLOW, AUTHORIZATION, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use restante_app::testing::TestApp;
use restante_core::access::{API_ROUTES, Access};
use restante_store::testing::TestStore;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::server::BothLengths;
use crate::{Api, router, with_layers};

struct Surface {
    api: Api,
    router: Router,
    _app: TestApp,
}

async fn panics() -> StatusCode {
    panic!("canary of a panic")
}

async fn surface() -> Surface {
    let app = TestApp::new(TestStore::sqlite().await);
    let api = Api::new(app.app.clone(), Some(Arc::new(|| "figures 1\n".to_owned())), Vec::new());
    let pages =
        Router::new().route("/panic", get(panics)).fallback(|| async { (StatusCode::NOT_FOUND, "a page") });
    let router = with_layers(&api, router(&api), pages);
    Surface { api, router, _app: app }
}

impl Surface {
    async fn send(&self, request: Request<Body>) -> (Response<()>, Vec<u8>) {
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        (Response::from_parts(parts, ()), bytes)
    }

    async fn ask(&self, method: &str, path: &str) -> (Response<()>, Value) {
        let (response, body) = self.send(request(method, path).body(Body::empty()).unwrap()).await;
        (response, serde_json::from_slice(&body).unwrap_or_default())
    }
}

fn request(method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "localhost")
}

/// A path with something in place of its parameters.
fn filled(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn nobody_gets_past_a_route_that_asks_for_a_key() {
    let surface = surface().await;
    for route in API_ROUTES.iter().filter(|route| route.access != Access::Public) {
        for key in [None, Some("Bearer rst_nonsense"), Some("Basic OnBhc3M="), Some("Bearer")] {
            let mut request = request(route.method, &filled(route.path));
            if let Some(key) = key {
                request = request.header(AUTHORIZATION, key);
            }
            // Not even the body is looked at.
            let (response, body) = surface.send(request.body(Body::from("{rubbish")).unwrap()).await;
            let status = response.status().as_u16();
            // Routes whose handlers are still to come are not found.
            assert!(matches!(status, 401 | 404), "{} {}: {status}", route.method, route.path);
            if status == 401 {
                assert!(response.headers().contains_key(WWW_AUTHENTICATE));
                let said: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(said["type"], "/docs/errors/unauthorized");
            }
        }
    }
}

#[tokio::test]
async fn another_method_is_405_and_says_which_are_taken() {
    let surface = surface().await;
    for (method, path, allowed) in [
        ("POST", "/healthz", "GET, HEAD"),
        ("DELETE", "/openapi.json", "GET, HEAD"),
        ("OPTIONS", "/readyz", "GET, HEAD"),
        ("TRACE", "/metrics", "GET, HEAD"),
    ] {
        let (response, said) = surface.ask(method, path).await;
        assert_eq!(response.status(), 405, "{method} {path}");
        assert_eq!(response.headers()[ALLOW], allowed);
        assert_eq!(said["type"], "/docs/errors/method-not-allowed");
    }
    assert_eq!(surface.ask("HEAD", "/healthz").await.0.status(), 200);
}

#[tokio::test]
async fn an_unknown_address_is_a_problem_for_machines_and_a_page_for_people() {
    let surface = surface().await;
    for path in ["/v1", "/v1/", "/v1/nothing", "/v1/endpoints/x/y/z", "/v1/../healthz"] {
        let (response, said) = surface.ask("GET", path).await;
        assert_eq!(
            (response.status().as_u16(), &said["type"]),
            (404, &Value::from("/docs/errors/not-found")),
            "{path}"
        );
    }
    for path in ["/in", "/in/", "/in/x/y", "/in/x/../../healthz"] {
        let (response, said) = surface.ask("POST", path).await;
        assert_eq!((response.status().as_u16(), &said["reason"]), (404, &Value::from("unknown")), "{path}");
    }
    for path in ["/v1x", "/inbox", "/", "//in/x"] {
        let (response, body) = surface.send(request("GET", path).body(Body::empty()).unwrap()).await;
        assert_eq!((response.status().as_u16(), body.as_slice()), (404, &b"a page"[..]), "{path}");
    }
}

#[tokio::test]
async fn every_answer_has_an_id_and_the_headers_that_browsers_obey() {
    let surface = surface().await;
    for (path, status) in
        [("/healthz", 200), ("/v1/nothing", 404), ("/in/x", 404), ("/elsewhere", 404), ("/panic", 500)]
    {
        let sent = request("GET", path).header("x-request-id", "my-id-7").body(Body::empty()).unwrap();
        let (response, body) = surface.send(sent).await;
        assert_eq!(response.status(), status, "{path}");
        let headers = response.headers();
        assert_eq!(headers["x-request-id"], "my-id-7", "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["cache-control"], "no-store");
        assert_eq!(headers["referrer-policy"], "same-origin");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(headers["cross-origin-resource-policy"], "same-origin");
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
        assert!(!headers.contains_key("access-control-allow-origin"));
        if let Ok(said) = serde_json::from_slice::<Value>(&body) {
            assert_eq!(said["request_id"], "my-id-7", "{path}");
        }
    }
    let (response, _) = surface.ask("GET", "/healthz").await;
    assert!(response.headers()["x-request-id"].to_str().unwrap().starts_with("req_"));
}

#[tokio::test]
async fn a_public_address_with_tls_tells_browsers_to_stay_with_it() {
    let settings = restante_app::settings::Settings {
        public_url: "https://hooks.example".to_owned(),
        ..Default::default()
    };
    for (settings, says) in [(settings, true), (Default::default(), false)] {
        let app = TestApp::with_settings(TestStore::sqlite().await, settings);
        let api = Api::new(app.app.clone(), None, Vec::new());
        let router = with_layers(&api, router(&api), Router::new());
        let response = router.oneshot(request("GET", "/healthz").body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.headers().contains_key("strict-transport-security"), says);
    }
}

#[tokio::test]
async fn odd_methods_and_targets_are_answered() {
    let surface = surface().await;
    for (method, target) in [
        ("CONNECT", "example.com:443"),
        ("OPTIONS", "*"),
        ("GET", "http://localhost/healthz"),
        ("GET", "/%ff"),
        ("BREW", "/in/x"),
    ] {
        let (response, _) = surface.ask(method, target).await;
        assert!(response.status().as_u16() < 500, "{method} {target}: {}", response.status());
    }
}

#[tokio::test]
async fn a_panic_is_a_500_that_says_nothing_of_it_and_the_next_request_is_answered() {
    let surface = surface().await;
    for _ in 0..2 {
        let (response, said) = surface.ask("GET", "/panic").await;
        assert_eq!(response.status(), 500);
        assert_eq!(said["type"], "/docs/errors/internal");
        assert!(!said.to_string().contains("canary"));
    }
    assert_eq!(surface.ask("GET", "/healthz").await.0.status(), 200);
}

#[tokio::test]
async fn framing_that_a_proxy_may_read_otherwise_is_refused() {
    let surface = surface().await;
    let plain = || Request::builder().uri("/healthz");
    let mut both = plain().header("host", "a").body(Body::empty()).unwrap();
    both.extensions_mut().insert(BothLengths);
    let refused = [
        plain().body(Body::empty()).unwrap(),
        plain().header("host", "a").header("host", "a").body(Body::empty()).unwrap(),
        plain().header("host", "a").header("transfer-encoding", "gzip, chunked").body(Body::empty()).unwrap(),
        plain()
            .header("host", "a")
            .header("transfer-encoding", "chunked")
            .header("transfer-encoding", "chunked")
            .body(Body::empty())
            .unwrap(),
        both,
    ];
    for request in refused {
        let shown = format!("{request:?}");
        let (response, body) = surface.send(request).await;
        assert_eq!(response.status(), 400, "{shown}");
        let said: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(said["type"], "/docs/errors/malformed");
    }
    for request in [
        plain().version(http::Version::HTTP_10).body(Body::empty()).unwrap(),
        plain().header("host", "a").header("transfer-encoding", "Chunked").body(Body::empty()).unwrap(),
    ] {
        assert_eq!(surface.send(request).await.0.status(), 200);
    }
}

#[tokio::test]
async fn readiness_is_a_commit_and_ends_with_draining() {
    let surface = surface().await;
    let (response, body) = surface.send(request("GET", "/readyz").body(Body::empty()).unwrap()).await;
    assert_eq!((response.status().as_u16(), body.as_slice()), (200, &b"ready\n"[..]));
    assert_eq!(surface._app.t.number("SELECT COUNT(*) FROM instance WHERE name = 'commit_probe'").await, 1);
    surface.api.drain();
    let (response, said) = surface.ask("GET", "/readyz").await;
    assert_eq!((response.status().as_u16(), &said["type"]), (503, &Value::from("/docs/errors/unavailable")));
    assert_eq!(surface.ask("GET", "/healthz").await.0.status(), 200);
}

#[tokio::test]
async fn a_server_that_cannot_commit_is_not_ready_and_says_nothing_of_why() {
    let surface = surface().await;
    surface._app.t.execute("DROP TABLE instance").await;
    let (response, said) = surface.ask("GET", "/readyz").await;
    assert_eq!(response.status(), 503);
    assert!(!said.to_string().contains("instance"));
}

#[tokio::test]
async fn figures_and_the_description_are_there_for_anyone() {
    let surface = surface().await;
    let (response, body) = surface.send(request("GET", "/metrics").body(Body::empty()).unwrap()).await;
    assert_eq!((response.status().as_u16(), body.as_slice()), (200, &b"figures 1\n"[..]));
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    let (response, document) = surface.ask("GET", "/openapi.json").await;
    assert_eq!(response.status(), 200);
    assert_eq!(document["info"]["title"], "Restante");
    assert!(document["components"]["schemas"]["Problem"].is_object());
}

/// What the log holds in the end.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

// On one thread, since a subscriber that is not global is the thread's.
#[tokio::test]
async fn a_request_is_logged_in_general_words_alone() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let surface = surface().await;
    // Another test's thread may have met the place of the record just before this subscriber was there,
    // and noted for all threads that nobody listens.
    surface.ask("GET", "/v1/nothing").await;
    tracing::callsite::rebuild_interest_cache();
    log.0.lock().unwrap().clear();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (method, path) in [
        ("POST", "/in/canary0000000000000000000000000?canary=1"),
        ("CANARY", "/v1/endpoints/canary"),
        ("GET", "/v1/canary"),
        ("GET", "/canary"),
    ] {
        let sent = request(method, path)
            .header("x-request-id", "id-of-the-request")
            .header("traceparent", trace)
            .header("authorization", "Bearer rst_canary")
            .header("x-canary", "canary")
            .body(Body::from("canary"))
            .unwrap();
        surface.send(sent).await;
    }
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(!text.to_lowercase().contains("canary"), "{text}");
    let records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["message"] == "request")
        .collect();
    assert_eq!(records.len(), 4, "{text}");
    assert_eq!((&records[0]["method"], &records[0]["route"]), (&"POST".into(), &"/in/{token}".into()));
    assert_eq!(records[0]["status"], 404);
    assert_eq!(records[0]["request_id"], "id-of-the-request");
    assert_eq!(records[0]["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert!(records[0]["duration_ms"].is_number());
    assert_eq!(records[1]["method"], "OTHER");
    assert_eq!(records[2]["route"], "other");
}

#[tokio::test]
async fn the_address_for_operators_has_figures_and_nothing_else() {
    let surface = surface().await;
    let text: crate::FiguresText = Arc::new(|| "figures 2\n".to_owned());
    let router = with_layers(&surface.api, crate::operations_router(&surface.api, text), Router::new());
    for (path, status) in [
        ("/metrics", 200),
        ("/healthz", 200),
        ("/readyz", 200),
        ("/v1/endpoints", 404),
        ("/in/x", 404),
        ("/", 404),
    ] {
        let response =
            router.clone().oneshot(request("GET", path).body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn without_figures_there_is_no_address_for_them() {
    let app = TestApp::new(TestStore::sqlite().await);
    let api = Api::new(app.app.clone(), None, Vec::new());
    let router = with_layers(&api, router(&api), Router::new());
    let response = router.oneshot(request("GET", "/metrics").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 404);
}
