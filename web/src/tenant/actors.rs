//! Who did something, by name: the log keeps ids, people want addresses and names of keys.

use std::collections::HashMap;

use restante_app::{App, By};
use restante_store::StoreError;

/// Names by what the log keeps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Actors(HashMap<String, String>);

impl Actors {
    /// The names of those who are known in the caller's tenant.
    pub(crate) async fn of(
        app: &App,
        by: &By,
        actors: impl Iterator<Item = &str>,
    ) -> Result<Self, StoreError> {
        let mut wanted: Vec<String> = actors.map(str::to_owned).collect();
        wanted.sort();
        wanted.dedup();
        Ok(Self(app.actor_names(by, wanted).await?))
    }

    /// The name, or what the log keeps.
    pub(crate) fn name(&self, actor: &str) -> String {
        match actor {
            "operator" => "the operator on the command line".to_owned(),
            "schedule" => "a job of the schedule".to_owned(),
            actor => self.0.get(actor).cloned().unwrap_or_else(|| actor.to_owned()),
        }
    }
}
