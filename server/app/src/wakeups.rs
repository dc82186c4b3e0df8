//! Waking those who wait for something to claim: at once within a process; between nodes the store's
//! notifications end here too. A wake-up is a hint: who misses one finds the work by looking again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use restante_core::id::ConsumerId;
use tokio::sync::Notify;

/// Consumers that somebody waits at.
#[derive(Debug, Default)]
pub struct Wakeups {
    waiting: Mutex<HashMap<ConsumerId, Arc<Notify>>>,
    closed: AtomicBool,
}

impl Wakeups {
    /// A place to wait at. Ask for it before looking for work, so that nothing that comes between
    /// the look and the wait is missed.
    pub fn place(&self, consumer: ConsumerId) -> Arc<Notify> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Places that nobody holds any more go, so that the map stays as small as its use.
        if waiting.len() > 1_000 {
            waiting.retain(|_, place| Arc::strong_count(place) > 1);
        }
        Arc::clone(waiting.entry(consumer).or_default())
    }

    /// Wakes everyone who waits at a consumer.
    pub fn wake(&self, consumer: ConsumerId) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = waiting.get(&consumer) {
            place.notify_waiters();
        }
    }

    /// Sends everyone home, now and from now on: the server stops.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.values().for_each(|place| place.notify_waiters());
    }

    /// Whether the server stops, so that nobody should wait any more.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}
