//! Walks every route of the pages as nobody, as each role, as another tenant's owner, and as an
//! administrator with and without the tenant's leave, and compares what happens with the table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use restante_app::members::NewGrant;
use restante_core::access::{Access, PAGE_ROUTES, Role, Route, Scope, Scopes};
use restante_store::both_engines;

use crate::testing::{Browser, Got, Site};

/// Who walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Nobody,
    Member(Role),
    /// The owner of another tenant.
    Stranger,
    Administrator,
    /// An administrator whom the tenant lets see events without payloads.
    Granted,
}

/// What the table says of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Reaches,
    SignIn,
    Missing,
    Forbidden,
}

const CALLERS: [Caller; 8] = [
    Caller::Nobody,
    Caller::Member(Role::Viewer),
    Caller::Member(Role::Operator),
    Caller::Member(Role::Developer),
    Caller::Member(Role::Owner),
    Caller::Stranger,
    Caller::Administrator,
    Caller::Granted,
];

impl Caller {
    /// What they hold in the tenant; `None` for who has no business there.
    fn scopes(self) -> Option<Scopes> {
        match self {
            Self::Member(role) => Some(role.scopes()),
            Self::Granted => Some(Scopes::NONE.with(Scope::EventsRead).with(Scope::ConfigRead)),
            Self::Nobody | Self::Stranger | Self::Administrator => None,
        }
    }

    fn expects(self, access: Access) -> Expected {
        let is_administrator = matches!(self, Self::Administrator | Self::Granted);
        match access {
            Access::Public => Expected::Reaches,
            _ if self == Self::Nobody => Expected::SignIn,
            Access::SignedIn => Expected::Reaches,
            Access::Administrator if is_administrator => Expected::Reaches,
            Access::Administrator | Access::Key(_) => Expected::Missing,
            Access::Tenant(scope) => match self.scopes() {
                None => Expected::Missing,
                Some(scopes) if scopes.contains(scope) => Expected::Reaches,
                Some(_) => Expected::Forbidden,
            },
            Access::Owner => match self.scopes() {
                None => Expected::Missing,
                Some(_) if self == Self::Member(Role::Owner) => Expected::Reaches,
                Some(_) => Expected::Forbidden,
            },
        }
    }
}

/// A path with something in place of its parameters.
fn filled(path: &str) -> String {
    path.replace("{slug}", "acme")
        .split('/')
        .map(|part| if part.starts_with('{') { "x" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

async fn ask(browser: &mut Browser, route: &Route) -> Got {
    let path = filled(route.path);
    match route.method {
        "GET" => browser.get(&path).await,
        _ => browser.post(&path, &[]).await,
    }
}

async fn walk(site: &Site, caller: Caller, missing: &str) {
    let user = match caller {
        Caller::Nobody => None,
        Caller::Member(Role::Owner) => site.a.app.person_of("owner@acme.test").await.unwrap(),
        Caller::Member(role) => Some(site.member("acme", role).await),
        Caller::Stranger => site.a.app.person_of("owner@other.test").await.unwrap(),
        Caller::Administrator | Caller::Granted => site.a.app.person_of("owner@first.test").await.unwrap(),
    };
    for route in PAGE_ROUTES {
        // A session of its own for each, since some of them end it.
        let mut browser = match user {
            Some(user) => site.signed_in(user).await,
            None => site.browser(),
        };
        let got = ask(&mut browser, route).await;
        let told =
            format!("{caller:?} at {} {}: {} {}", route.method, route.path, got.status, got.location());
        assert_eq!(got.route, Some(route.path), "{told}: the router does not know it");
        assert!(got.status.as_u16() < 500, "{told}: {}", got.text);
        match caller.expects(route.access) {
            Expected::SignIn => {
                assert_eq!(got.status, 303, "{told}");
                assert!(got.location().starts_with("/sign-in"), "{told}");
            }
            Expected::Missing => {
                assert_eq!((got.status.as_u16(), got.text.as_str()), (404, missing), "{told}");
            }
            Expected::Forbidden => {
                assert_eq!(got.status, 403, "{told}");
                let role = match route.access {
                    Access::Tenant(scope) => Role::least_with(scope),
                    _ => Role::Owner,
                };
                assert!(got.text.contains(role.as_str()), "{told}: {}", got.text);
            }
            Expected::Reaches if route.access == Access::Public => {}
            // With nothing sensible in it a form is refused, but by its handler.
            Expected::Reaches => {
                assert!(got.status != 403 && !got.location().starts_with("/sign-in?next"), "{told}")
            }
        }
    }
}

both_engines!(every_page_is_for_whom_the_table_says_and_for_nobody_else, |t| async {
    let site = Site::new(t);
    // The first owner administers the instance.
    for slug in ["first", "acme", "other"] {
        site.a.tenant(slug).await;
    }
    let missing = site.browser().get("/there/is/no/such/page").await.text;
    for caller in CALLERS {
        if caller == Caller::Granted {
            let owner = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
            let here = site.a.app.who(owner, Some("acme")).await.unwrap().unwrap().here.unwrap();
            let grant = NewGrant { payloads: false, hours: 1, note: String::new() };
            site.a.app.grant(&here.by(owner, None), grant).await.unwrap();
        }
        walk(&site, caller, &missing).await;
    }
});

both_engines!(what_asks_for_a_proof_asks_everybody_whose_last_one_is_old, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let owner = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    for route in PAGE_ROUTES.iter().filter(|route| route.confirmed) {
        let mut browser = site.signed_in(owner).await;
        site.a.t.clock.advance_seconds(15 * 60 + 1);
        let got = ask(&mut browser, route).await;
        assert_eq!(got.status, 403, "{}", route.path);
        assert!(got.text.contains("confirm_password"), "{}: {}", route.path, got.text);
    }
    assert_eq!(site.a.t.count("grants").await + site.a.t.count("links").await, 0);
});

both_engines!(no_form_goes_through_without_its_token, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let owner = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    for route in PAGE_ROUTES.iter().filter(|route| route.method == "POST") {
        let (own, foreign) =
            (&[("sec-fetch-site", "same-origin")][..], &[("sec-fetch-site", "cross-site")][..]);
        let mut browser = site.signed_in(owner).await;
        let csrf = browser.csrf.clone();
        let got = browser.post_as_is(&filled(route.path), &[("csrf", &csrf)], foreign).await;
        assert_eq!(got.status, 403, "{}: from elsewhere", route.path);
        if route.access != Access::Public {
            let got = browser.post_as_is(&filled(route.path), &[], own).await;
            assert_eq!(got.status, 403, "{}: without the token", route.path);
        }
    }
});

both_engines!(a_look_at_the_address_of_a_form_changes_nothing, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let owner = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let mut browser = site.signed_in(owner).await;
    let before = site.a.t.count("audit_log").await;
    let mut looked = 0;
    for route in PAGE_ROUTES.iter().filter(|route| route.method == "POST") {
        if PAGE_ROUTES.iter().any(|other| other.method == "GET" && other.path == route.path) {
            continue;
        }
        let got = browser.get(&filled(route.path)).await;
        assert_eq!(got.status, 405, "{}", route.path);
        assert_eq!(got.headers["allow"], "POST", "{}", route.path);
        looked += 1;
    }
    assert!(looked > 20, "{looked}");
    assert_eq!(site.a.t.count("audit_log").await, before);
    assert!(browser.get("/account").await.text.contains("owner@acme.test"), "nor did it sign anybody out");
});

/// A route that only the router has answers nobody; this finds it before somebody wonders why.
#[test]
fn every_route_of_the_router_is_in_the_table() {
    let table: BTreeSet<&str> = PAGE_ROUTES.iter().map(|route| route.path).collect();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            found += paths(&path)
                .into_iter()
                .inspect(|route| {
                    assert!(
                        table.contains(route.as_str()),
                        "{route} in {} is not in the table",
                        path.display()
                    );
                })
                .count();
        }
    }
    assert!(found >= table.len() - 5, "{found} of {}", table.len());
}

fn paths(file: &PathBuf) -> Vec<String> {
    let source = std::fs::read_to_string(file).unwrap();
    let routes = source.split(".route(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
    routes
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .filter(|path| path.starts_with('/'))
        .collect()
}
