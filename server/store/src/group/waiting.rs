//! Callers whose transaction has ended and who wait for the disk.
//!
//! A committer that waited for the disk itself would write nothing meanwhile, and its next group would be
//! whatever came in that time. So it ends a transaction without waiting, goes on with the next group, and hands
//! its callers over to one that does nothing but wait: each flush answers for all that was committed before it
//! began. Nobody is answered before that, and what a claim hands out has been waited for as well.

use tokio::sync::{mpsc, oneshot};

use super::{Answer, AnyJob};
use crate::deliveries::Committed;
use crate::engine::StoreError;
use crate::failpoint;

/// Groups that may wait for the disk. When it stands still the committers stop soon.
const GROUPS_WAITING_MAX: usize = 64;

/// The callers of one transaction, with what they are told once it is durable.
#[derive(Default)]
pub(super) struct Callers {
    pub(super) deliveries: Vec<(Answer<Committed>, Result<Committed, StoreError>)>,
    pub(super) writes: Vec<Box<dyn AnyJob>>,
}

impl Callers {
    /// What was committed is on the disk.
    pub(super) async fn answer(self) {
        let passed =
            if self.deliveries.is_empty() { Ok(()) } else { failpoint::pass(failpoint::AFTER_COMMIT).await };
        self.tell(passed);
    }

    /// What was committed may be on the disk, or not.
    pub(super) fn refuse(self, error: &StoreError) {
        self.tell(Err(error.again()));
    }

    // A caller that went away wants no answer; its event is stored all the same.
    fn tell(self, commit: Result<(), StoreError>) {
        for (answer, outcome) in self.deliveries {
            let _ = answer.send(commit.as_ref().map_err(StoreError::again).and(outcome));
        }
        for job in self.writes {
            job.answer(commit.as_ref().map_err(|error| error.again()).copied());
        }
    }
}

/// What comes to the one who waits for the disk.
pub(super) enum Waiting {
    /// Callers of a transaction that has ended.
    Group {
        /// Who waits.
        callers: Callers,
        /// Which session of the one who waits was there before the transaction ended. A database that has been
        /// started anew since may have forgotten it, and would still keep whatever comes after.
        session: u64,
    },
    /// Nothing comes after this.
    Stop(oneshot::Sender<()>),
}

/// The way to the one who waits.
pub(super) type Waiters = mpsc::Sender<Waiting>;

pub(super) fn channel() -> (Waiters, mpsc::Receiver<Waiting>) {
    mpsc::channel(GROUPS_WAITING_MAX)
}

/// All that one flush answers for.
#[derive(Default)]
pub(super) struct Flushed {
    groups: Vec<(Callers, u64)>,
    stops: Vec<oneshot::Sender<()>>,
}

impl Flushed {
    /// What has come so far: the first, and all that waits behind it.
    pub(super) fn gather(first: Waiting, waiting: &mut mpsc::Receiver<Waiting>) -> Self {
        let mut flushed = Self::default();
        let mut next = Some(first);
        while let Some(one) = next {
            match one {
                Waiting::Group { callers, session } => flushed.groups.push((callers, session)),
                Waiting::Stop(done) => flushed.stops.push(done),
            }
            next = waiting.try_recv().ok();
        }
        flushed
    }

    /// Whether nobody needs the disk.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Answers all: `Ok` names the session whose flush it was.
    pub(super) async fn answer(self, flushed: Result<u64, StoreError>) {
        for (callers, session) in self.groups {
            match &flushed {
                Ok(by) if *by == session => callers.answer().await,
                Ok(_) => callers.refuse(&StoreError::CommitUnknown {
                    detail: "the connection that waits for the disk broke".to_owned(),
                }),
                Err(error) => callers.refuse(error),
            }
        }
        for done in self.stops {
            let _ = done.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_answers_only_for_what_was_committed_while_it_was_there() {
        let committed = || Ok(Committed { receipts: Vec::new(), wake: Vec::new() });
        let (waiters, mut waiting) = channel();
        let mut answers = Vec::new();
        for session in [1, 2] {
            let (answer, answered) = oneshot::channel();
            let callers = Callers { deliveries: vec![(answer, committed())], ..Callers::default() };
            assert!(waiters.send(Waiting::Group { callers, session }).await.is_ok());
            answers.push(answered);
        }
        let first = waiting.recv().await.unwrap();
        let flushed = Flushed::gather(first, &mut waiting);
        assert!(answers.iter_mut().all(|answered| answered.try_recv().is_err()), "nobody is answered before");
        flushed.answer(Ok(2)).await;
        let told: Vec<_> = answers.iter_mut().map(|answered| answered.try_recv().unwrap()).collect();
        assert!(matches!(told.as_slice(), [Err(StoreError::CommitUnknown { .. }), Ok(_)]), "{told:?}");
    }
}
