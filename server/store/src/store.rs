//! The store as the rest of the program holds it: open, read, write, and a queue for deliveries.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use restante_core::id::ConsumerId;
use restante_core::time::{Clock, Timestamp};
use tokio::sync::{oneshot, watch};

use crate::announce::Announcer;
use crate::benching::{self, Commits};
use crate::deliveries::{Committed, Delivery};
use crate::engine::{Conn, Engine, Held, Options, Pools, StoreError};
use crate::group::{self, Job, Queues, Work};

/// A future that borrows the connection it works on.
pub type BoxFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// How long a record waits for a place in a full queue before its sender is told to come back.
const QUEUE_WAIT_MAX: Duration = Duration::from_millis(250);
/// How long an operation other than a delivery may wait for its turn and its commit.
const WRITE_WAIT_MAX: Duration = Duration::from_secs(4);

/// How long the end waits for connections that are still in use.
const CLOSE_MAX: Duration = Duration::from_secs(3);

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    queues: Queues,
    /// The time that statements see in place of the database's own; only tests and the demo set it.
    clock: Option<Arc<dyn Clock>>,
    fatal: watch::Receiver<Option<String>>,
    announcer: Announcer,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", self.engine().name())
    }
}

impl Store {
    /// Opens the database, brings its schema up to date, and starts the committers.
    ///
    /// # Errors
    /// When the database can't be reached, is too old, does not write durably, or was made by a
    /// newer Restante; the text says which.
    pub async fn open(options: &Options) -> Result<Self, StoreError> {
        Self::open_with_clock(options, None).await
    }

    /// As [`Store::open`], with a clock in place of the database's own: for tests and the demo, which move time.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_with_clock(
        options: &Options,
        clock: Option<Arc<dyn Clock>>,
    ) -> Result<Self, StoreError> {
        let pools = Pools::open(options).await?;
        let (fatal_sender, fatal) = watch::channel(None);
        let queues = group::start(&pools, clock.clone(), fatal_sender).await?;
        let announcer = match &pools {
            Pools::Sqlite { .. } => Announcer::silent(),
            Pools::Postgres { pool } => Announcer::start(pool.clone()),
        };
        Ok(Self { inner: Arc::new(Inner { pools, queues, clock, fatal, announcer }) })
    }

    /// Which database this is.
    pub fn engine(&self) -> Engine {
        self.inner.pools.engine()
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    fn fixed_now(&self) -> Option<Timestamp> {
        self.inner.clock.as_ref().map(|clock| clock.now())
    }

    /// Resolves when the store can't go on: a write to the disk failed, and after that the file
    /// system may show pages as written that are not. The process has to end and start anew.
    pub async fn failed_for_good(&self) -> String {
        let mut fatal = self.inner.fatal.clone();
        loop {
            if let Some(reason) = fatal.borrow_and_update().clone() {
                return reason;
            }
            if fatal.changed().await.is_err() {
                return "the committer has ended".to_owned();
            }
        }
    }

    /// Records that wait for the committer now.
    pub fn queue_depth(&self) -> usize {
        self.inner.queues.depth()
    }

    /// Commits a verified request: its receipts, its payload and its handoffs, durably and together.
    /// Once this is called the work goes on, even when the caller goes away.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the queue stays full or the database can't; then nothing was
    /// stored. [`StoreError::Stale`] when the endpoint has changed since the request was verified; nothing
    /// was stored either. [`StoreError::CommitUnknown`] when it may have been.
    pub async fn commit(&self, delivery: Delivery) -> Result<Committed, StoreError> {
        if benching::commits() == Commits::Nothing {
            return Ok(Committed::as_if(&delivery));
        }
        let (answer, answered) = oneshot::channel();
        let queue = self.inner.queues.of(&delivery).ok_or_else(stopped)?;
        let permit = tokio::time::timeout(QUEUE_WAIT_MAX, queue.reserve())
            .await
            .map_err(|_| StoreError::Unavailable {
                statement: "queue",
                detail: "too many requests wait for the disk".to_owned(),
            })?
            .map_err(|_| stopped())?;
        permit.send(Work::Delivery(Box::new(delivery), answer));
        let committed = answered.await.map_err(|_| stopped())??;
        self.announce(&committed.wake);
        Ok(committed)
    }

    /// Tells other nodes that these consumers have something to claim. A commit of deliveries does
    /// so by itself; other writes call this after their commit.
    pub fn announce(&self, consumers: &[ConsumerId]) {
        self.inner.announcer.announce(consumers);
    }

    /// Hears of other nodes which consumers have something to claim, for as long as it is polled.
    /// What is said may get lost, so who waits has to look again all the same.
    pub async fn listen(&self, wake: impl Fn(ConsumerId)) {
        match &self.inner.pools {
            Pools::Sqlite { .. } => std::future::pending().await,
            Pools::Postgres { pool } => self.inner.announcer.listen(pool, wake).await,
        }
    }

    /// Runs a write in a transaction of its own and commits it. An error of the closure rolls it back.
    ///
    /// On SQLite it takes its turn behind the one writer and shares the commit of its neighbours.
    ///
    /// # Errors
    /// What the closure gives, or what the commit ran into.
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'a, 'c> FnOnce(&'a mut Conn<'c>) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'static,
    {
        match &self.inner.pools {
            Pools::Sqlite { .. } => {
                let (job, answered) = Job::boxed(work);
                let queue = self.inner.queues.first().ok_or_else(stopped)?;
                tokio::time::timeout(WRITE_WAIT_MAX, queue.send(Work::Write(job)))
                    .await
                    .map_err(|_| StoreError::Unavailable {
                        statement: "queue",
                        detail: "too many requests wait for the disk".to_owned(),
                    })?
                    .map_err(|_| stopped())?;
                answered.await.map_err(|_| stopped())?
            }
            Pools::Postgres { pool } => {
                let mut held = Held::acquire(pool).await?;
                let mut conn = Conn::postgres(&mut held).at(self.fixed_now());
                conn.control("begin", "BEGIN").await?;
                match work(&mut conn).await {
                    Ok(value) => match conn.control("commit", "COMMIT").await {
                        Ok(()) => Ok(value),
                        Err(error) => Err(StoreError::CommitUnknown { detail: error.to_string() }),
                    },
                    Err(error) => {
                        // When it fails the connection is closed, which rolls back as well.
                        let _ = conn.control("rollback", "ROLLBACK").await;
                        Err(error)
                    }
                }
            }
        }
    }

    /// Runs queries on a connection that reads.
    ///
    /// # Errors
    /// What the closure gives, or that no connection was free.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: for<'a, 'c> FnOnce(&'a mut Conn<'c>) -> BoxFuture<'a, Result<T, StoreError>>,
    {
        match &self.inner.pools {
            Pools::Sqlite { readers, .. } => {
                let no_connection = |error| StoreError::from_sqlx("acquire a connection", error);
                let mut connection = readers.acquire().await.map_err(no_connection)?;
                let mut conn = Conn::sqlite(&mut connection).at(self.fixed_now());
                work(&mut conn).await
            }
            Pools::Postgres { pool } => {
                let mut held = Held::acquire(pool).await?;
                let mut conn = Conn::postgres(&mut held).at(self.fixed_now());
                work(&mut conn).await
            }
        }
    }

    /// Ends the committers after what is queued, and closes the connections.
    pub async fn close(self) {
        self.inner.queues.stop().await;
        let closed = async {
            match &self.inner.pools {
                Pools::Sqlite { readers, .. } => readers.close().await,
                Pools::Postgres { pool } => pool.close().await,
            }
        };
        // Waits for connections in use, and one may owe an answer for long.
        let _ = tokio::time::timeout(CLOSE_MAX, closed).await;
    }
}

pub(crate) fn stopped() -> StoreError {
    StoreError::Unavailable { statement: "queue", detail: "the server is stopping".to_owned() }
}

pub(crate) fn short(error: &sqlx::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use crate::both_engines;

    both_engines!(an_open_store_has_not_failed_for_good, |t| async {
        tokio::select! {
            biased;
            reason = t.store.failed_for_good() => panic!("{reason}"),
            () = std::future::ready(()) => {}
        }
    });
}
