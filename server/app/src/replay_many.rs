//! Replaying or settling some events in one call: those that a person picked. Each is decided on its own,
//! with who, when and why; one that can't be is named and holds up none of the others.

use restante_core::handoff::Settlement;
use restante_core::id::ReceiptId;
use restante_core::limits::PAGE_SIZE_MAX;
use restante_core::problem::Problem;
use restante_store::StoreError;

use crate::replay::Settle;
use crate::{App, By, Repeat};

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
    /// Replays some events, at most 250, to one consumer or to each that wants them. The same request again,
    /// by the same `once`, replays nothing more and is answered as the first was.
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
        once: Option<&str>,
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
            let repeat = once.map(|once| Repeat::new(format!("{once} {id}"), "POST", "replay of some", b""));
            match self.replay_event(by, *id, consumer.clone(), reason.clone(), repeat).await {
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

    /// Settles the handoffs of some events to one consumer, at most 250. Gives how many were settled, and
    /// those that could not be, each with the reason for the person.
    ///
    /// # Errors
    /// Too many at once, a note that is too long; or what the database ran into, and then those before it
    /// are settled.
    pub async fn settle_events(
        &self,
        by: &By,
        ids: &[ReceiptId],
        consumer: &str,
        settlement: Settlement,
        note: Option<String>,
    ) -> Result<(usize, Vec<(ReceiptId, String)>), StoreError> {
        few_enough(ids)?;
        let (mut settled, mut refused) = (0, Vec::new());
        for id in ids {
            let asked = Settle { consumer: consumer.to_owned(), settlement, note: note.clone() };
            match self.settle_event(by, *id, asked).await {
                Ok(_) => settled += 1,
                Err(StoreError::Problem(problem)) if problem.errors.is_empty() => {
                    refused.push((*id, problem.detail));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((settled, refused))
    }
}

fn few_enough(ids: &[ReceiptId]) -> Result<(), Problem> {
    if ids.len() <= PAGE_SIZE_MAX as usize {
        return Ok(());
    }
    let detail = format!("At most {PAGE_SIZE_MAX} events can be picked at once; these are {}.", ids.len());
    Err(Problem::field("/events", detail))
}

#[cfg(test)]
mod tests {
    use restante_core::id::ReceiptId;
    use restante_store::both_engines;
    use uuid::Uuid;

    use super::*;
    use crate::testing::TestApp;

    both_engines!(what_can_not_be_replayed_or_settled_holds_up_none_of_the_others, |t| async {
        let a = TestApp::new(t);
        let tenant = a.tenant("acme").await;
        let endpoint = a.endpoint(&tenant.by, "Payments").await;
        let mut ids = Vec::new();
        for _ in 0..2 {
            let sent = a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
            ids.push(sent.value.receipts[0]);
        }
        ids.insert(1, ReceiptId(Uuid::from_u128(9)));
        a.fail_all(&tenant.by, "default", "no paper").await;
        let note = Some("by hand".to_owned());
        let settle = async |settlement| {
            a.app.settle_events(&tenant.by, &ids, "default", settlement, note.clone()).await.unwrap()
        };
        let (settled, refused) = settle(Settlement::Processed).await;
        assert_eq!((settled, refused.len(), refused[0].0), (2, 1, ids[1]));
        assert_eq!(settle(Settlement::Failed).await.0, 0, "they wait for nobody any more");
        let made = a.app.replay_events(&tenant.by, &ids, None, note.clone(), None).await.unwrap();
        assert_eq!((made.events, made.handoffs, made.refused.len()), (2, 2, 1));
        let many = vec![ids[0]; PAGE_SIZE_MAX as usize + 1];
        assert!(a.app.replay_events(&tenant.by, &many, None, None, None).await.is_err());
        let nobody = Some("nobody".to_owned());
        assert!(a.app.replay_events(&tenant.by, &ids, nobody, None, None).await.is_err());
    });
}
