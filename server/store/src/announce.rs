//! Telling other nodes which consumers have something to claim. On PostgreSQL by NOTIFY, on another
//! connection and after the commit: within a transaction it would hold a lock of the whole database
//! while that commits. SQLite has one server, and nobody to tell.
//!
//! A word that gets lost costs nothing but time, because whoever waits also looks again.

use std::collections::BTreeSet;
use std::time::Duration;

use restante_core::id::ConsumerId;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use crate::engine::{Asked, Held, StoreError};

/// The channel's name in the database.
const CHANNEL: &str = "restante_wake";
/// Words that may wait; more are dropped.
const WAITING_MAX: usize = 4_096;
/// Consumers of one notification: PostgreSQL takes less than 8,000 bytes.
const CONSUMERS_PER_WORD: usize = 200;
/// A pause between two notifications, in which words gather: a commit each millisecond would
/// otherwise be a notification each millisecond, to every node.
const PAUSE: Duration = Duration::from_millis(20);
/// After so long without a word a listener asks whether its connection still lives: nobody would tell it.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// A pause before a listener that lost its connection tries again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// A node's voice, and the name by which it knows its own words.
#[derive(Debug)]
pub(crate) struct Announcer {
    node: Uuid,
    words: Option<mpsc::Sender<ConsumerId>>,
}

impl Announcer {
    /// One for a database that nobody shares.
    pub(crate) const fn silent() -> Self {
        Self { node: Uuid::nil(), words: None }
    }

    /// One that speaks until it is dropped.
    pub(crate) fn start(pool: PgPool) -> Self {
        let mut random = [0; 16];
        // Two nodes of one name would not hear each other, and look again after a second.
        let _ = getrandom::fill(&mut random);
        let node = Uuid::from_bytes(random);
        let (words, waiting) = mpsc::channel(WAITING_MAX);
        tokio::spawn(speak(pool, node, waiting));
        Self { node, words: Some(words) }
    }

    /// Tells the other nodes, soon.
    pub(crate) fn announce(&self, consumers: &[ConsumerId]) {
        if let Some(words) = &self.words {
            for consumer in consumers {
                // When too many wait, the others find the work by looking again.
                let _ = words.try_send(*consumer);
            }
        }
    }

    /// Hears the other nodes, for as long as it is polled.
    pub(crate) async fn listen(&self, pool: &PgPool, wake: impl Fn(ConsumerId)) {
        loop {
            if let Err(error) = self.hear(pool, &wake).await {
                tracing::warn!(error = %crate::store::short(&error), "other nodes are not heard at the moment");
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    async fn hear(&self, pool: &PgPool, wake: &impl Fn(ConsumerId)) -> Result<(), sqlx::Error> {
        // A connection of its own, which never takes a place from those that work.
        let own =
            PgPoolOptions::new().max_connections(1).connect_lazy_with((*pool.connect_options()).clone());
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        loop {
            match timeout(SILENCE_MAX, listener.try_recv()).await {
                Ok(word) => {
                    let Some(word) = word? else { return Ok(()) };
                    others(word.payload(), self.node).for_each(&wake);
                }
                // Nobody speaks, or nothing comes through any more. One answer tells them apart.
                Err(_) => {
                    let asked = sqlx::query("SELECT 1").execute(&mut listener);
                    Asked::Statement.in_time(asked).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
                }
            }
        }
    }
}

async fn speak(pool: PgPool, node: Uuid, mut waiting: mpsc::Receiver<ConsumerId>) {
    while let Some(first) = waiting.recv().await {
        let mut consumers = BTreeSet::from([first]);
        while let Ok(next) = waiting.try_recv() {
            consumers.insert(next);
        }
        let consumers: Vec<ConsumerId> = consumers.into_iter().collect();
        for some in consumers.chunks(CONSUMERS_PER_WORD) {
            if let Err(error) = tell(&pool, word(node, some)).await {
                tracing::debug!(%error, "other nodes were not told");
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn tell(pool: &PgPool, word: String) -> Result<(), StoreError> {
    let mut held = Held::acquire(pool).await?;
    let query = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(word);
    let said = Asked::Statement.in_time(query.execute(held.asks(Asked::Statement)?)).await;
    held.hears("notify", said).map(|_| ())
}

/// A word: who speaks, and the consumers.
fn word(node: Uuid, consumers: &[ConsumerId]) -> String {
    let mut word = node.simple().to_string();
    for consumer in consumers {
        word.push(' ');
        word.push_str(&consumer.0.simple().to_string());
    }
    word
}

/// The consumers of another node's word; none of an own one, or of one that can't be read.
fn others(word: &str, own: Uuid) -> impl Iterator<Item = ConsumerId> {
    let mut ids = word.split(' ').map(|text| Uuid::try_parse(text).ok());
    let is_other = ids.next().flatten().is_some_and(|node| node != own);
    ids.take_while(move |_| is_other).flatten().map(ConsumerId)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::TestStore;

    #[test]
    fn a_word_reads_back_for_others_and_not_for_its_speaker() {
        let (own, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let consumers: Vec<_> = (0..200).map(|n| ConsumerId(Uuid::from_u128(n))).collect();
        let said = word(own, &consumers);
        assert!(said.len() < 8_000);
        assert_eq!(others(&said, other).collect::<Vec<_>>(), consumers);
        assert_eq!(others(&said, own).count(), 0);
        for rubbish in ["", " ", "x y", "00000000000000000000000000000002 x"] {
            assert_eq!(others(rubbish, own).count(), 0, "{rubbish}");
        }
    }

    #[tokio::test]
    async fn a_node_hears_the_others_and_not_itself() {
        let Some(t) = TestStore::postgres().await else {
            return crate::testing::say_skipped("a_node_hears_the_others_and_not_itself");
        };
        let other = t.second().await;
        let (mine, theirs) = (ConsumerId(Uuid::from_u128(1)), ConsumerId(Uuid::from_u128(2)));
        let heard = Arc::new(tokio::sync::Notify::new());
        let (listening, noted) = (t.store.clone(), Arc::clone(&heard));
        let listener = tokio::spawn(async move {
            listening
                .listen(move |consumer| {
                    assert_eq!(consumer, theirs);
                    noted.notify_one();
                })
                .await;
        });
        // The listener may not be there yet, so both speak until it has heard.
        let spoken = async {
            loop {
                t.store.announce(&[mine]);
                other.announce(&[theirs]);
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = heard.notified() => {}
            () = spoken => {}
        }
        assert!(!listener.is_finished());
        listener.abort();
    }
}
