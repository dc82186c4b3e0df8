//! The demo's applications: they claim, take a moment, and say how it went, as any application does.

use std::collections::HashMap;

use restante_app::claim::{Ack, Claim, ClaimedEvent, NackOne};
use restante_app::{App, By};
use restante_core::handoff::Nack;
use restante_core::id::ReceiptId;
use tokio::sync::watch;

use crate::failure::Failure;

/// Events of one claim at most: more than come in within a step of the week.
const CLAIM_MAX: u32 = 200;

/// What is to become of an event at the consumer that this table is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    /// The first attempt asks for another one.
    WorksLater(&'static str),
    /// Every attempt asks for another one, until none is left.
    NeverWorks(&'static str),
    /// It fails for good, until a person replays it.
    Fails(&'static str),
    /// Nobody knows whether it had an effect.
    Uncertain(&'static str),
}

/// Fates by the sender's event id, and where they came true.
#[derive(Debug, Default)]
pub(super) struct Fates {
    of: HashMap<String, Fate>,
    met: HashMap<String, ReceiptId>,
}

impl Fates {
    pub(super) fn set(&mut self, event: &str, fate: Fate) {
        self.of.insert(event.to_owned(), fate);
    }

    /// The receipt of an event that met its fate.
    pub(super) fn receipt(&self, event: &str) -> Option<ReceiptId> {
        self.met.get(event).copied()
    }

    /// What to nack an event with, if it is not to be acked.
    fn judge(&mut self, claimed: &ClaimedEvent) -> Option<(Nack, &'static str)> {
        let receipt = &claimed.event.receipt;
        let id = receipt.event_id.as_deref()?;
        let fate = *self.of.get(id)?;
        self.met.insert(id.to_owned(), receipt.id);
        match fate {
            Fate::WorksLater(error) => (claimed.attempt == 1).then_some((Nack::Retry, error)),
            Fate::NeverWorks(error) => Some((Nack::Retry, error)),
            Fate::Fails(error) => claimed.event.replay.is_none().then_some((Nack::Failed, error)),
            Fate::Uncertain(error) => Some((Nack::Uncertain, error)),
        }
    }
}

/// Claims what is due, at most so many.
pub(super) async fn claim(
    app: &App,
    by: &By,
    consumer: &str,
    max: Option<u32>,
) -> Result<Vec<ClaimedEvent>, Failure> {
    let asked = Claim {
        max: max.unwrap_or(CLAIM_MAX),
        lease_seconds: 300,
        wait_seconds: 0,
        handler_version: Some("2026.48.2".to_owned()),
    };
    let (_line, hung_up) = watch::channel(false);
    Ok(app.claim(by, consumer, asked, hung_up).await?.events)
}

/// What is said of claimed events.
#[derive(Debug, Default)]
pub(super) struct Answers {
    acks: Vec<Ack>,
    nacks: Vec<NackOne>,
}

impl Answers {
    /// Decides on each of them; without fates all is well.
    pub(super) fn of(claimed: &[ClaimedEvent], mut fates: Option<&mut Fates>) -> Self {
        let mut answers = Self::default();
        for event in claimed {
            let lease = event.token.expose();
            match fates.as_mut().and_then(|fates| fates.judge(event)) {
                None => answers.acks.push(Ack { lease, ..Ack::default() }),
                Some((asked, error)) => answers.nacks.push(NackOne {
                    lease,
                    asked,
                    retry_in_seconds: None,
                    error: Some(error.to_owned()),
                    remote_operation_id: None,
                }),
            }
        }
        answers
    }

    /// Says it.
    pub(super) async fn give(self, app: &App, by: &By, consumer: &str) -> Result<(), Failure> {
        if !self.acks.is_empty() {
            app.ack(by, consumer, self.acks).await?;
        }
        if !self.nacks.is_empty() {
            app.nack(by, consumer, self.nacks).await?;
        }
        Ok(())
    }
}
