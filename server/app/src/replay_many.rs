//! Replaying some events in one call: those that a person picked. Each is a replay of its own, with who,
//! when and why; one that can't be replayed is named and holds up none of the others.

use restante_core::id::ReceiptId;
use restante_core::limits::PAGE_SIZE_MAX;
use restante_core::problem::Problem;
use restante_store::StoreError;

use crate::{App, By};

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplayedMany {
    /// Events of which at least one handoff is pending now.
    pub events: usize,
    /// Handoffs that are pending now.
    pub handoffs: usize,
    /// Events that could not be replayed, each with the reason for the person.
    pub refused: Vec<(ReceiptId, String)>,
}

impl App {
    /// Replays some events, at most 250, to one consumer or to each that wants them.
    ///
    /// # Errors
    /// Too many at once, a consumer that is not there, a reason that is too long; or what the database
    /// ran into, and then those before it are replayed.
    pub async fn replay_events(
        &self,
        by: &By,
        ids: &[ReceiptId],
        consumer: Option<String>,
        reason: Option<String>,
    ) -> Result<ReplayedMany, StoreError> {
        if ids.len() > PAGE_SIZE_MAX as usize {
            let detail =
                format!("At most {PAGE_SIZE_MAX} events can be picked at once; these are {}.", ids.len());
            return Err(Problem::field("/events", detail).into());
        }
        if let Some(name) = &consumer {
            self.consumer(by, name).await?;
        }
        let mut done = ReplayedMany::default();
        for id in ids {
            match self.replay_event(by, *id, consumer.clone(), reason.clone(), None).await {
                Ok(made) => {
                    done.events += usize::from(made.value > 0);
                    done.handoffs += made.value;
                }
                // What is wrong with the request is wrong with it for every event.
                Err(StoreError::Problem(problem)) if problem.errors.is_empty() => {
                    done.refused.push((*id, problem.detail));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}
