//! Walks every page and form that names a thing by its id or name, with the things of another tenant under
//! one's own tenant's name: each is answered like a thing that is not there, and nothing of it changes.

use restante_app::api_keys::NewApiKey;
use restante_app::consumers::NewConsumer;
use restante_app::events::EventFilter;
use restante_app::members::NewGrant;
use restante_app::replay_jobs::{NewReplays, ReplayOf};
use restante_app::retention::Held;
use restante_core::access::{Access, PAGE_ROUTES, Role, Route, Scope, Scopes};
use restante_store::both_engines;

use crate::testing::{Browser, Got, Site};

/// One thing of each kind, by what stands in a path: the part before the parameter, and the id.
struct Things(Vec<(&'static str, String)>);

impl Things {
    async fn of(site: &Site, slug: &str) -> Self {
        let tenant = site.a.tenant(slug).await;
        let by = &tenant.by;
        let owner = site.a.app.person_of(&format!("owner@{slug}.test")).await.unwrap().unwrap();
        let owner = site.a.app.who(owner, Some(slug)).await.unwrap().unwrap().here.unwrap().by(owner, None);
        let endpoint = site.a.endpoint(by, &format!("canary of {slug}")).await;
        let secret = site.a.app.endpoint(by, endpoint).await.unwrap().secrets[0].id;
        let sent = site.a.app.send_test_event(by, endpoint, Default::default(), None).await.unwrap();
        site.a.refuse(by, endpoint, b"{\"canary\":1}").await;
        let refusal = site.a.app.refusals(by, Some(endpoint)).await.unwrap()[0].id;
        let consumer = NewConsumer { name: format!("only-{slug}"), ..NewConsumer::default() };
        let consumer = site.a.app.create_consumer(by, consumer, None).await.unwrap().value.name;
        let key = NewApiKey {
            name: format!("canary of {slug}"),
            scopes: Scopes::NONE.with(Scope::EventsRead),
            expires_at: None,
        };
        let key = site.a.app.create_api_key(by, key, None).await.unwrap().value.row.id;
        let replay =
            NewReplays { of: ReplayOf::Matching(EventFilter::default()), consumer: None, reason: None };
        let replay = site.a.app.create_replay_job(by, replay, None).await.unwrap().value.id;
        let member = site.member(slug, Role::Viewer).await;
        let invite = site.a.app.invite(&owner, &format!("canary@{slug}.test"), Role::Viewer).await.unwrap();
        let grant = NewGrant { payloads: false, hours: 1, note: "canary".to_owned() };
        let grant = site.a.app.grant(&owner, grant).await.unwrap().id;
        let hold = site.a.app.hold(by, Held::Endpoint(endpoint), "canary", None).await.unwrap().value.id;
        Self(vec![
            ("holds", hold.to_string()),
            // No provider is asked in a test, so nobody has a run; its id is of the right form.
            ("runs", endpoint.to_string().replacen("ep_", "rcr_", 1)),
            ("secrets", secret.to_string()),
            ("endpoints", endpoint.to_string()),
            ("events", sent.value.receipts[0].to_string()),
            ("refusals", endpoint.to_string()),
            ("{endpoint}", refusal.to_string()),
            ("consumers", consumer),
            ("keys", key.to_string()),
            ("replays", replay.to_string()),
            ("invites", invite.row.id.to_string()),
            ("members", member.to_string()),
            ("grants", grant.to_string()),
        ])
    }

    /// The same kinds of names, that nothing has: the last character is another one.
    fn absent(&self) -> Self {
        let other = |id: &str| {
            let (rest, last) = id.split_at(id.len() - 1);
            format!("{rest}{}", if last == "0" { "1" } else { "0" })
        };
        Self(self.0.iter().map(|(kind, id)| (*kind, other(id))).collect())
    }

    /// A path below a tenant with these things in it.
    fn path(&self, route: &Route, slug: &str) -> String {
        let mut before = "";
        let mut path = Vec::new();
        for part in route.path.split('/') {
            let found = self.0.iter().find(|(kind, _)| *kind == before);
            path.push(match part {
                "{slug}" => slug.to_owned(),
                part if part.starts_with('{') => {
                    found.unwrap_or_else(|| panic!("say here what is named in {}", route.path)).1.clone()
                }
                part => part.to_owned(),
            });
            before = part;
        }
        path.join("/")
    }

    /// What is answered, without what was asked for.
    fn without(&self, got: &Got) -> (u16, String, String) {
        let (mut text, mut location) = (got.text.clone(), got.location().to_owned());
        for (_, id) in &self.0 {
            text = text.replace(id, "…");
            location = location.replace(id, "…");
        }
        (got.status.as_u16(), location, text)
    }
}

/// What makes every form right but for what its path names.
fn form(theirs: &str) -> Vec<(&'static str, &str)> {
    vec![
        ("typed_name", theirs),
        ("name", "changed"),
        ("role", "owner"),
        ("settlement", "processed"),
        ("consumer", theirs),
        ("event_id", "evt_repaired"),
        ("secret", "whsec_c2VjcmV0LW9mLWEtdGVzdA"),
        ("max_attempts", "7"),
        ("action", "save"),
        ("payload_days", "20"),
        ("receipt_days", "400"),
        ("reason", "asked for"),
    ]
}

async fn ask(browser: &mut Browser, route: &Route, path: &str, name: &str) -> Got {
    match route.method {
        "GET" => browser.get(path).await,
        _ => browser.post(path, &form(name)).await,
    }
}

both_engines!(what_is_another_tenants_is_not_there_under_ones_own_name, |t| async {
    let site = Site::new(t);
    let theirs = Things::of(&site, "acme").await;
    Things::of(&site, "beta").await;
    let absent = theirs.absent();
    let stranger = site.a.app.person_of("owner@beta.test").await.unwrap().unwrap();
    let names = |things: &Things| things.0.iter().find(|(kind, _)| *kind == "consumers").unwrap().1.clone();
    // The catalogue is everybody's.
    let named = PAGE_ROUTES.iter().filter(|route| {
        matches!(route.access, Access::Tenant(_) | Access::Owner)
            && route.path.matches('{').count() > 1
            && !route.path.contains("{provider}")
    });
    let before = state(&site).await;
    let mut walked = 0;
    for route in named {
        let mut browser = site.signed_in(stranger).await;
        let got = ask(&mut browser, route, &theirs.path(route, "beta"), &names(&theirs)).await;
        let missed = ask(&mut browser, route, &absent.path(route, "beta"), &names(&absent)).await;
        let told = format!("{} {}: {} {}", route.method, route.path, got.status, got.text);
        assert_eq!(got.status, 404, "{told}");
        assert_eq!(theirs.without(&got), absent.without(&missed), "{told}");
        // Some answers show the stranger's own things around the refusal.
        assert!(!got.text.contains("canary of acme") && !got.text.contains("canary@acme"), "{told}");
        walked += 1;
    }
    assert!(walked > 30, "{walked}");
    assert_eq!(state(&site).await, before, "nothing of it has changed anything");
});

both_engines!(a_form_acts_in_the_tenant_of_its_own_page_whatever_another_tab_does, |t| async {
    let site = Site::new(t);
    let (acme, beta) = (site.a.tenant("acme").await, site.a.tenant("beta").await);
    let endpoint = site.a.endpoint(&acme.by, "Payments").await;
    site.a.endpoint(&beta.by, "Payments").await;
    let invite = {
        let owner = site.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
        let by = site.a.app.who(owner, Some("acme")).await.unwrap().unwrap().here.unwrap().by(owner, None);
        site.a.app.invite(&by, "owner@beta.test", Role::Viewer).await.unwrap()
    };
    let person = site.a.app.person_of("owner@beta.test").await.unwrap().unwrap();
    site.a.app.accept_as(&invite.link, person, None).await.unwrap();
    let mut browser = site.signed_in(person).await;
    assert_eq!(browser.get(&format!("/t/acme/endpoints/{endpoint}")).await.status, 200);
    browser.post("/t/beta/enter", &[]).await;
    browser.get("/t/beta/endpoints").await;
    let before = state(&site).await;
    let got =
        browser.post(&format!("/t/acme/endpoints/{endpoint}/delete"), &[("typed_name", "Payments")]).await;
    assert_eq!(got.status, 403, "a viewer of acme, whatever they are in beta: {}", got.text);
    let got =
        browser.post(&format!("/t/beta/endpoints/{endpoint}/delete"), &[("typed_name", "Payments")]).await;
    assert_eq!(got.status, 404, "{}", got.text);
    assert_eq!(state(&site).await, before);
});

/// What a walk could change, in either tenant.
async fn state(site: &Site) -> Vec<i64> {
    let mut state = Vec::new();
    for rows in [
        "audit_log",
        "receipts",
        "replays",
        "handoffs WHERE state = 0",
        "endpoints WHERE deleted_at IS NULL AND enabled",
        "endpoint_secrets",
        "consumers WHERE deleted_at IS NULL AND enabled",
        "api_keys",
        "members",
        "invites",
        "grants WHERE ended_at IS NULL",
        "replay_jobs WHERE finished_at IS NULL",
        "receipts WHERE payload_state = 'stored'",
        "retention_holds WHERE released_at IS NULL",
    ] {
        state.push(site.a.t.count(rows).await);
    }
    state
}
