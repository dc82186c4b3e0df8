//! Waiting for the disk on PostgreSQL: committers end their transactions with `synchronous_commit` off, and a
//! session of its own waits for all of them at once.
//!
//! What it runs is a transaction that writes next to nothing and is committed as always. PostgreSQL keeps its log
//! in order, so when that commit is on the disk, and on the synchronous standby where there is one, everything that
//! was committed before it is.
//!
//! A server that crashed in between would have forgotten such a commit, and would keep a later transaction all
//! the same. All sessions end in a crash. So a session answers only for what was committed while it was there, and
//! shows with each answer that it is still the same one, also where a pooler stands between.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Connection as _, PgPool, Row as _};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use super::waiting::{Flushed, Waiters, Waiting, channel};
use crate::engine::StoreError;

/// What opening a session, or a look whether it still lives, may take.
const LOOK_MAX: Duration = Duration::from_millis(2_500);
/// What a flush may take. Its senders have been answered by then; a standby may be away.
const FLUSH_MAX: Duration = Duration::from_secs(10);
/// For so long one that was not answered is waited for before another session is opened: each may hold a process
/// of the database, also when we have hung up.
const FLUSH_OWED_MAX: Duration = Duration::from_secs(600);
/// A session that was silent for so long is asked whether it still lives: a network may have forgotten it.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// A pause before a session that can't be opened is tried again; it doubles each time, up to the longest.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// No session: committers wait for the disk themselves.
const NONE: u64 = 0;

/// The committers' side.
#[derive(Clone)]
pub(super) struct FlushSession {
    waiters: Waiters,
    number: Arc<AtomicU64>,
}

impl FlushSession {
    /// Starts the one who waits. It ends with the last committer.
    pub(super) fn start(pool: PgPool) -> Self {
        let (waiters, waiting) = channel();
        let number = Arc::new(AtomicU64::new(NONE));
        tokio::spawn(run(pool, waiting, Arc::clone(&number)));
        Self { waiters, number }
    }

    /// The session that is there now, if there is one: to be asked before a transaction is committed.
    pub(super) fn now(&self) -> Option<u64> {
        Some(self.number.load(Ordering::SeqCst)).filter(|number| *number != NONE)
    }

    /// Where callers wait.
    pub(super) fn waiters(&self) -> Waiters {
        self.waiters.clone()
    }
}

async fn run(pool: PgPool, mut waiting: mpsc::Receiver<Waiting>, number: Arc<AtomicU64>) {
    let (mut opened, mut pause) = (NONE, RETRY_PAUSE);
    loop {
        let broke = match Session::open(&pool).await {
            Ok(mut session) => {
                (opened, pause) = (opened + 1, RETRY_PAUSE);
                number.store(opened, Ordering::SeqCst);
                let Some(broke) = session.serve(&mut waiting, opened, &number).await else { return };
                broke
            }
            Err(error) => error,
        };
        tracing::warn!(error = %broke, "until further notice each group of deliveries waits for the disk by itself");
        if refuse_meanwhile(tokio::time::sleep(pause), &mut waiting, &broke).await.is_none() {
            return;
        }
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
    }
}

/// Nobody new comes while there is no session; those that were on their way are told that nobody knows. `None`
/// when everything has ended.
async fn refuse_meanwhile<T>(
    work: impl Future<Output = T>,
    waiting: &mut mpsc::Receiver<Waiting>,
    error: &StoreError,
) -> Option<T> {
    tokio::pin!(work);
    loop {
        let next = tokio::select! {
            done = &mut work => return Some(done),
            next = waiting.recv() => next,
        };
        Flushed::gather(next?, waiting).answer(Err(error.again())).await;
    }
}

fn unknown(detail: impl std::fmt::Display) -> StoreError {
    StoreError::CommitUnknown { detail: detail.to_string() }
}

fn silent() -> StoreError {
    unknown("the database did not answer in time")
}

struct Session {
    connection: PgConnection,
    /// What this session alone knows.
    mark: String,
    used: Instant,
}

impl Session {
    async fn open(pool: &PgPool) -> Result<Self, StoreError> {
        let mark = Uuid::now_v7().to_string();
        let open = async {
            let mut connection = pool.connect_options().connect().await?;
            let set = sqlx::query("SELECT set_config('restante.flush_session', $1, false)");
            set.bind(&mark).fetch_all(&mut connection).await?;
            Ok::<_, sqlx::Error>(Self { connection, mark, used: Instant::now() })
        };
        let opened = timeout(LOOK_MAX, open).await.map_err(|_| silent())?;
        let mut session = opened.map_err(|error| unknown(crate::store::short(&error)))?;
        // Whether it may do what it is for.
        timeout(LOOK_MAX, session.flush()).await.map_err(|_| silent())??;
        Ok(session)
    }

    /// Answers for what is committed while it lives; gives what broke it, or nothing when everything has ended.
    async fn serve(
        &mut self,
        waiting: &mut mpsc::Receiver<Waiting>,
        opened: u64,
        number: &AtomicU64,
    ) -> Option<StoreError> {
        while let Some(first) = waiting.recv().await {
            let groups = Flushed::gather(first, waiting);
            if groups.is_empty() {
                groups.answer(Ok(opened)).await;
                continue;
            }
            let mut flush = Box::pin(self.flush());
            let flushed = timeout(FLUSH_MAX, flush.as_mut()).await;
            let error = match flushed {
                Ok(Ok(())) => {
                    groups.answer(Ok(opened)).await;
                    continue;
                }
                Ok(Err(ref error)) => error.again(),
                Err(_) => silent(),
            };
            number.store(NONE, Ordering::SeqCst);
            groups.answer(Err(error.again())).await;
            if flushed.is_err() {
                refuse_meanwhile(timeout(FLUSH_OWED_MAX, flush), waiting, &error).await?.ok();
            }
            return Some(error);
        }
        None
    }

    /// Returns when everything that was committed before is kept.
    async fn flush(&mut self) -> Result<(), StoreError> {
        let failed = |error: sqlx::Error| unknown(crate::store::short(&error));
        if self.used.elapsed() > SILENCE_MAX {
            timeout(LOOK_MAX, self.connection.ping()).await.map_err(|_| silent())?.map_err(failed)?;
        }
        let text = "SELECT current_setting('restante.flush_session', true) AS mark, \
                    pg_logical_emit_message(true, 'restante', '')::text AS place";
        // All rows, to the end of the transaction: the first one comes before its commit.
        let rows = sqlx::query(text).fetch_all(&mut self.connection).await.map_err(failed)?;
        self.used = Instant::now();
        match rows.as_slice() {
            [row]
                if row.try_get::<Option<String>, _>("mark").map_err(failed)?.as_deref()
                    == Some(&*self.mark) =>
            {
                Ok(())
            }
            _ => Err(unknown("another session of the database answered")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Pools;
    use crate::testing::{TestStore, say_skipped};

    #[tokio::test]
    async fn a_session_that_is_another_one_now_keeps_nothing() {
        let Some(t) = TestStore::postgres().await else {
            return say_skipped("a_session_that_is_another_one_now_keeps_nothing");
        };
        let Pools::Postgres { pool } = Pools::open(t.options()).await.unwrap() else { panic!("PostgreSQL") };
        let mut session = Session::open(&pool).await.unwrap();
        session.flush().await.unwrap();
        // What a pooler does between two transactions of different clients.
        sqlx::raw_sql("DISCARD ALL").execute(&mut session.connection).await.unwrap();
        assert!(matches!(session.flush().await, Err(StoreError::CommitUnknown { .. })));
    }

    #[tokio::test]
    async fn a_role_without_any_rights_may_wait_for_the_disk() {
        let Some(t) = TestStore::postgres().await else {
            return say_skipped("a_role_without_any_rights_may_wait_for_the_disk");
        };
        let Pools::Postgres { pool } = Pools::open(t.options()).await.unwrap() else { panic!("PostgreSQL") };
        let mut session = Session::open(&pool).await.unwrap();
        let drop_rights = "SET ROLE pg_monitor";
        sqlx::raw_sql(drop_rights).execute(&mut session.connection).await.unwrap();
        session.flush().await.unwrap();
    }
}
