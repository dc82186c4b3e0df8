//! The verbs of Restante: receive, claim, acknowledge, replay, and the management of what they need.
//!
//! A verb takes the tenant (or who acts), what is asked, and answers with a value or a `Problem`. HTTP,
//! pages and the command line are thin layers over these; databases are behind `store`.

mod actors;
pub mod administration;
pub mod api_keys;
pub mod authenticate;
mod by;
pub mod check;
#[cfg(test)]
mod check_tests;
pub mod claim;
pub mod clock;
pub mod consumers;
pub mod context;
pub mod endpoints;
pub mod events;
pub mod failures;
pub mod figures;
pub mod high_water;
#[cfg(test)]
mod high_water_tests;
mod idempotency;
pub mod keys;
pub mod mail;
pub mod members;
pub mod nodes;
pub mod outbound;
pub mod overview;
pub mod people;
pub mod providers;
mod quota;
pub mod random;
pub mod receive;
pub mod reconcile;
pub mod refusals;
mod repair;
pub mod replay;
pub mod replay_jobs;
mod replay_many;
mod request_mark;
pub mod retention;
pub mod schedule;
pub mod search;
pub mod settings;
pub mod stats;
pub mod sweep;
mod tenant_keys;
pub mod tenants;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod wakeups;

pub use by::By;
pub use idempotency::{Made, Repeat};
pub use replay_many::ReplayedMany;

use std::sync::{Arc, OnceLock};

use restante_core::seal::KeyRing;
use restante_core::time::{Clock, Timestamp};
use restante_store::Store;

use administration::health::DiskProbe;
use authenticate::Callers;
use high_water::HighWater;
use keys::TenantKeys;
use mail::Mailer;
use people::{Passwords, Throttle};
use random::Random;
use receive::{Paces, Refusals, Targets};
use settings::Settings;
use wakeups::Wakeups;

/// What every verb works with. Clones share it.
#[derive(Clone)]
pub struct App {
    inner: Arc<Parts>,
}

/// What an instance is made from; everything else it makes itself.
pub struct Setup {
    /// The database.
    pub store: Store,
    /// The time; tests bring their own.
    pub clock: Arc<dyn Clock>,
    /// Randomness; tests may bring their own.
    pub random: Arc<dyn Random>,
    /// What the operator has set.
    pub settings: Settings,
    /// The operator's master keys.
    pub master_keys: KeyRing,
}

/// The parts of a running instance.
pub struct Parts {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// What the operator has set.
    pub settings: Settings,
    /// The tenants' keys, unwrapped while they are in use.
    pub keys: TenantKeys,
    /// API keys that were looked up a moment ago.
    pub callers: Callers,
    /// Who hashes passwords, in turns.
    pub passwords: Passwords,
    /// How often was guessed at passwords and codes.
    pub throttle: Throttle,
    /// Who waits for something to claim.
    pub wakeups: Wakeups,
    /// Who calls providers.
    pub outbound: outbound::Outbound,
    /// Has this node's schedule look for work before its next tick.
    pub schedule_wake: schedule::ScheduleWake,
    /// Endpoints by their token, prepared for receiving.
    pub targets: Targets,
    /// At which pace deliveries come, where a limit is set.
    pub paces: Paces,
    /// Refusals until they are written.
    pub refusals: Refusals,
    /// How far the instance has come, outside of the database.
    pub high_water: HighWater,
    /// When this process put the instance together.
    pub started_at: Timestamp,
    /// Tells how much room the database's disk has, where that is this machine's.
    pub disk: OnceLock<DiskProbe>,
    /// The way to a mail server, when the operator has configured one.
    pub mailer: OnceLock<Mailer>,
}

impl App {
    /// Puts an instance together.
    pub fn new(setup: Setup) -> Self {
        let Setup { store, clock, random, settings, master_keys } = setup;
        let outbound = outbound::Outbound::new(&settings.outbound_allow);
        let keys = TenantKeys::new(master_keys, Arc::clone(&clock));
        let started_at = clock.now();
        Self {
            inner: Arc::new(Parts {
                store,
                clock,
                random,
                settings,
                keys,
                callers: Callers::default(),
                passwords: Passwords::default(),
                throttle: Throttle::default(),
                wakeups: Wakeups::default(),
                outbound,
                schedule_wake: schedule::ScheduleWake::default(),
                targets: Targets::default(),
                paces: Paces::default(),
                refusals: Refusals::default(),
                high_water: HighWater::default(),
                started_at,
                disk: OnceLock::new(),
                mailer: OnceLock::new(),
            }),
        }
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.inner
    }
}
