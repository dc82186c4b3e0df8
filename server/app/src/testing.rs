//! What tests of this crate and of those to its right stand on: the verbs over a fresh database, with
//! a clock that is moved by hand. It is compiled only with the feature `testing`.
#![expect(clippy::expect_used, reason = "a test that can't prepare its instance has to end there")]

use std::sync::Arc;

use restante_core::seal::KeyRing;
use restante_core::secret::Secret;
use restante_store::testing::TestStore;

use crate::random::SystemRandom;
use crate::settings::Settings;
use crate::{App, Setup};

/// The verbs over a database of their own, which goes when this is dropped.
pub struct TestApp {
    /// The verbs.
    pub app: App,
    /// The database and the clock.
    pub t: TestStore,
}

impl TestApp {
    /// An instance with the usual settings and nothing in it.
    pub fn new(t: TestStore) -> Self {
        Self::with_settings(t, Settings::default())
    }

    /// An instance with other settings.
    pub fn with_settings(t: TestStore, settings: Settings) -> Self {
        let app = node(&t, t.store.clone(), settings);
        Self { app, t }
    }

    /// Another node of the same instance: the same database and master key, nothing else in common.
    pub async fn second_node(&self) -> App {
        node(&self.t, self.t.second().await, self.app.settings.clone())
    }
}

fn node(t: &TestStore, store: restante_store::Store, settings: Settings) -> App {
    let clock = Arc::new(t.clock.clone());
    let ring = KeyRing::new(&[Secret::new([7; 32])]).expect("one master key");
    App::new(Setup { store, clock, random: Arc::new(SystemRandom), settings, master_keys: ring })
}
