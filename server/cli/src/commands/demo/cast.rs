//! Who is in the demo: a tenant with its people, its API keys, its senders and its consumers.

use restante_app::api_keys::NewApiKey;
use restante_app::consumers::NewConsumer;
use restante_app::{App, By};
use restante_core::access::{Principal, Role, Scope, Scopes};
use restante_core::filter::FilterInput;
use restante_core::id::UserId;
use restante_core::secret::Secret;

use super::clock::MovedClock;
use super::kinds::KINDS;
use super::random_hex;
use super::senders::Sender;
use crate::failure::Failure;

/// Between two things that the owner does: all of them take half an hour.
const STEP_MILLIS: i64 = 100_000;
/// The owner, who is also the administrator of the instance.
const OWNER: &str = "demo@example.com";
/// The consumer that has every event, and that the printed commands claim from.
pub(super) const DEFAULT: &str = "default";
/// The consumer at which something went wrong.
pub(super) const BILLING: &str = "billing";
/// A consumer that does its work, with a retry now and then.
pub(super) const FULFILMENT: &str = "fulfilment";
/// The consumer that has been down since yesterday.
pub(super) const SEARCH: &str = "search-index";
/// A consumer with nothing to report.
pub(super) const CHAT: &str = "chat-ops";

/// The tenant.
pub(super) struct Cast {
    pub(super) owner: UserId,
    pub(super) api_key: Secret<String>,
    /// As the owner acts in the browser.
    pub(super) by_owner: By,
    /// As the applications act.
    pub(super) by_workers: By,
    pub(super) senders: Vec<Sender>,
}

impl Cast {
    /// Makes all of them, one after the other from the time on that the clock shows.
    pub(super) async fn set_up(app: &App, clock: &MovedClock) -> Result<Self, Failure> {
        let password = || random_hex::<16>().map(Secret::new);
        let made = app.bootstrap("hearth-and-home", OWNER, password()?).await?;
        let by_owner = By {
            principal: Principal {
                tenant: made.tenant,
                key: None,
                user: Some(made.user),
                scopes: Role::Owner.scopes(),
            },
            request_id: None,
        };
        for (address, role) in [("grace@example.com", Role::Developer), ("linus@example.com", Role::Viewer)] {
            clock.pass(STEP_MILLIS);
            let invited = app.invite(&by_owner, address, role).await?;
            clock.pass(STEP_MILLIS);
            app.accept_as_new(&invited.link, password()?, None).await?;
        }
        clock.pass(STEP_MILLIS);
        app.invite(&by_owner, "radia@example.com", Role::Operator).await?;
        let scopes = Scopes::NONE.with(Scope::EventsConsume);
        let workers = NewApiKey { name: "workers".to_owned(), scopes, expires_at: None };
        clock.pass(STEP_MILLIS);
        let workers = app.create_api_key(&by_owner, workers, None).await?.value;
        let principal = app.authenticate(workers.key.expose()).await?;
        let by_workers = By { principal, request_id: None };

        let mut senders = Vec::new();
        for kind in KINDS {
            clock.pass(STEP_MILLIS);
            senders.push(Sender::set_up(app, &by_owner, kind).await?);
        }
        let consumers: [(&str, &[&str], u32); 4] = [
            (BILLING, &["stripe"], 3),
            (FULFILMENT, &["shopify", "custom"], 12),
            (SEARCH, &["stripe", "shopify"], 12),
            (CHAT, &["github", "slack"], 12),
        ];
        for (name, providers, attempts) in consumers {
            clock.pass(STEP_MILLIS);
            let filter = FilterInput {
                providers: providers.iter().map(|&provider| provider.to_owned()).collect(),
                ..FilterInput::default()
            };
            let asked = NewConsumer {
                name: name.to_owned(),
                filter: Some(filter),
                max_attempts: Some(attempts),
                ..NewConsumer::default()
            };
            app.create_consumer(&by_owner, asked, None).await?;
        }
        Ok(Self { owner: made.user, api_key: made.api_key, by_owner, by_workers, senders })
    }
}
