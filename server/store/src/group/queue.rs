//! The queues before the committers. Copies of one event always meet in the same queue, so that they
//! are sorted out within one group instead of by waiting for another transaction.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tokio::sync::{mpsc, oneshot};

use super::Work;
use crate::deliveries::Delivery;

/// Records that may wait for a committer. As many as connections are allowed, or useful work would
/// be refused while the committer is idle.
const QUEUE_RECORDS: usize = 4_096;

/// The ways to the committers.
pub(crate) struct Queues {
    senders: Vec<mpsc::Sender<Work>>,
}

impl Queues {
    /// As many queues as there are to be committers, at least one, and their other ends.
    pub(super) fn new(committers: u8) -> (Self, Vec<mpsc::Receiver<Work>>) {
        let (senders, receivers) = (0..committers.max(1)).map(|_| mpsc::channel(QUEUE_RECORDS)).unzip();
        (Self { senders }, receivers)
    }

    /// Records that wait now.
    pub(crate) fn depth(&self) -> usize {
        self.senders.iter().map(|queue| queue.max_capacity() - queue.capacity()).sum()
    }

    /// Where a delivery goes; `None` when everything is stopped.
    pub(crate) fn of(&self, delivery: &Delivery) -> Option<&mpsc::Sender<Work>> {
        let mut hasher = DefaultHasher::new();
        delivery.tenant.0.hash(&mut hasher);
        delivery.receipts.first().map(|receipt| &receipt.event_key).hash(&mut hasher);
        // A remainder of the length is within it.
        let place = hasher.finish() % (self.senders.len().max(1) as u64);
        self.senders.get(usize::try_from(place).unwrap_or(0))
    }

    /// Where other writes go.
    pub(crate) fn first(&self) -> Option<&mpsc::Sender<Work>> {
        self.senders.first()
    }

    /// Ends the committers after what is queued.
    pub(crate) async fn stop(&self) {
        for queue in &self.senders {
            let (done, ended) = oneshot::channel();
            if queue.send(Work::Stop(done)).await.is_ok() {
                let _ = ended.await;
            }
        }
    }
}
