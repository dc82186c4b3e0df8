//! A browser for tests: keeps cookies, sends what a browser sends, fills in the token of the forms.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::header::{COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{HeaderMap, Request, StatusCode};
use restante_app::context::RoutePath;
use restante_app::settings::Settings;
use restante_app::testing::TestApp;
use restante_core::access::Role;
use restante_core::id::UserId;
use restante_core::secret::Secret;
use restante_core::token::TokenHash;
use restante_store::testing::TestStore;
use serde_json::json;
use tower::ServiceExt as _;
use tower_sessions::session::Id;

/// The password of everybody whom `TestApp::tenant` makes.
pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// The route that answered, if one of the table did.
    pub(crate) route: Option<&'static str>,
}

impl Got {
    /// Where it leads, or nothing.
    pub(crate) fn location(&self) -> &str {
        self.headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default()
    }
}

/// An instance with its pages.
pub(crate) struct Site {
    pub(crate) a: TestApp,
    router: Router,
}

impl Site {
    pub(crate) fn new(t: TestStore) -> Self {
        Self::with_settings(t, Settings::default())
    }

    pub(crate) fn with_settings(t: TestStore, settings: Settings) -> Self {
        let a = TestApp::with_settings(t, settings);
        let router = crate::router(a.app.clone(), &json!({ "paths": {} }));
        Self { a, router }
    }

    /// A browser without cookies.
    pub(crate) fn browser(&self) -> Browser {
        Browser {
            router: self.router.clone(),
            host: "127.0.0.1:8080".to_owned(),
            cookies: BTreeMap::new(),
            csrf: String::new(),
        }
    }

    /// A browser in which the owner of that tenant has signed in.
    pub(crate) async fn owner(&self, slug: &str) -> Browser {
        let mut browser = self.browser();
        let got = browser.sign_in(&format!("owner@{slug}.test"), PASSWORD).await;
        assert_eq!(got.status, StatusCode::SEE_OTHER, "{}", got.text);
        browser.get(&format!("/t/{slug}")).await;
        browser
    }
}

impl Site {
    /// A browser in which that person is signed in, without the way there.
    pub(crate) async fn signed_in(&self, user: UserId) -> Browser {
        let (id, session) = (Id::default(), self.a.app.new_session(user, false, "a test"));
        let csrf = hex::encode(session.csrf);
        self.a.app.insert_session(TokenHash::of(&id.0.to_le_bytes()), session).await.unwrap();
        let mut browser = self.browser();
        browser.cookies.insert("restante".to_owned(), id.to_string());
        browser.csrf = csrf;
        browser
    }

    /// A new person with that role in a tenant.
    pub(crate) async fn member(&self, slug: &str, role: Role) -> UserId {
        let owner = self.a.app.person_of(&format!("owner@{slug}.test")).await.unwrap().unwrap();
        let here = self.a.app.who(owner, Some(slug)).await.unwrap().unwrap().here.unwrap();
        let by = here.by(owner, None);
        let invited = self.a.app.invite(&by, &format!("a-{role}@{slug}.test"), role).await.unwrap();
        let password = Secret::new(PASSWORD.to_owned());
        self.a.app.accept_as_new(&invited.link, password, None).await.unwrap().user
    }
}

/// A browser.
#[derive(Clone)]
pub(crate) struct Browser {
    router: Router,
    pub(crate) host: String,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The token of the last page that had a form with one.
    pub(crate) csrf: String,
}

impl Browser {
    pub(crate) async fn get(&mut self, path: &str) -> Got {
        self.send(Request::get(path), Body::empty()).await
    }

    /// What a page asks for that refreshes itself.
    pub(crate) async fn live(&mut self, path: &str) -> Got {
        self.send(Request::get(path).header("x-live", "1"), Body::empty()).await
    }

    /// Sends a form of our own page, with the token.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Got {
        let mut fields = fields.to_vec();
        let csrf = self.csrf.clone();
        fields.push(("csrf", &csrf));
        self.post_as_is(path, &fields, &[("sec-fetch-site", "same-origin")]).await
    }

    /// Sends a form with just these fields and headers.
    pub(crate) async fn post_as_is(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Got {
        let mut request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = serde_urlencoded::to_string(fields).unwrap();
        self.send(request, Body::from(body)).await
    }

    pub(crate) async fn sign_in(&mut self, email: &str, password: &str) -> Got {
        self.post("/sign-in", &[("email", email), ("password", password)]).await
    }

    async fn send(&mut self, request: http::request::Builder, body: Body) -> Got {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut request = request.header(HOST, &self.host);
        if !cookies.is_empty() {
            request = request.header(COOKIE, cookies.join("; "));
        }
        let request = request.body(body).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for cookie in parts.headers.get_all(SET_COOKIE) {
            let text = cookie.to_str().unwrap();
            let (name, value) = text.split(';').next().unwrap().split_once('=').unwrap();
            if value.is_empty() || text.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        if let Some((_, rest)) = text.split_once("name=\"csrf\" value=\"") {
            self.csrf = rest.split('"').next().unwrap().to_owned();
        }
        let route = parts.extensions.get::<RoutePath>().map(|route| route.0);
        Got { status: parts.status, headers: parts.headers, text, route }
    }
}
