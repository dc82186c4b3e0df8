//! A connection of PostgreSQL's pool while it is in use: what it was asked has to be answered in time,
//! and what it still owes decides what becomes of it afterwards.
//!
//! A network can lose a connection without telling anybody: a firewall forgets it, a database fails
//! over to another machine. Whoever waits for an answer there would wait for ever, and so would the
//! pool, which asks a connection whether it is well before it takes it back.

use std::future::Future;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgConnection;
use sqlx::{PgPool, Postgres};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::StoreError;

/// A statement that is not answered within this is not going to be: PostgreSQL itself gives up after
/// two seconds (`statement_timeout`). With a second for a free connection it leaves a sender its four.
const ANSWER_MAX: Duration = Duration::from_millis(2_500);
/// The same for COMMIT, which may wait for a standby for as long as that takes. Its sender has been
/// answered by then; this is for those that come after it.
const COMMIT_ANSWER_MAX: Duration = Duration::from_secs(10);
/// For so long a connection that owes the answer to a COMMIT keeps its place in the pool. PostgreSQL
/// may still wait for a standby there, also when we have hung up, and the places bound how often.
const COMMIT_OWED_MAX: Duration = Duration::from_secs(600);

/// What a connection was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Something that PostgreSQL gives up by itself when it takes too long.
    Statement,
    /// COMMIT.
    Commit,
}

impl Asked {
    /// Waits for an answer; `None` when it does not come in time.
    pub(crate) async fn in_time<T>(self, answer: impl Future<Output = T>) -> Option<T> {
        let within = match self {
            Self::Statement => ANSWER_MAX,
            Self::Commit => COMMIT_ANSWER_MAX,
        };
        timeout(within, answer).await.ok()
    }
}

/// A connection in use. It goes back to the pool, or is closed, when this is dropped.
pub(crate) struct Held {
    /// There until it is dropped.
    connection: Option<PoolConnection<Postgres>>,
    /// What was asked and has not been answered.
    owes: Option<Asked>,
    /// Between BEGIN and its end.
    in_transaction: bool,
}

impl Held {
    /// Takes a connection of the pool, or opens one.
    ///
    /// # Errors
    /// When none is free in time, or none can be opened.
    pub(crate) async fn acquire(pool: &PgPool) -> Result<Self, StoreError> {
        let connection =
            pool.acquire().await.map_err(|error| StoreError::from_sqlx("acquire a connection", error))?;
        Ok(Self { connection: Some(connection), owes: None, in_transaction: false })
    }

    /// The connection, to be asked something. [`Held::hears`] has to be told what came of it.
    ///
    /// # Errors
    /// When an earlier question was not answered; then this one would not be either.
    pub(crate) fn asks(&mut self, asked: Asked) -> Result<&mut PgConnection, StoreError> {
        let broken =
            || StoreError::Unavailable { statement: "ask", detail: "the connection broke".to_owned() };
        if self.owes.is_some() {
            return Err(broken());
        }
        self.owes = Some(asked);
        self.connection.as_deref_mut().ok_or_else(broken)
    }

    /// Takes what a question came to.
    ///
    /// # Errors
    /// What the database said, or that it said nothing in time.
    pub(crate) fn hears<T>(
        &mut self,
        statement: &'static str,
        said: Option<Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        match said {
            Some(Ok(value)) => {
                self.owes = None;
                Ok(value)
            }
            Some(Err(error)) => {
                // After any other error nobody knows where in its answers the connection stands.
                if matches!(error, sqlx::Error::Database(_)) {
                    self.owes = None;
                }
                Err(StoreError::from_sqlx(statement, error))
            }
            None => Err(StoreError::Unavailable {
                statement,
                detail: "the database did not answer in time".to_owned(),
            }),
        }
    }

    /// Notes that a transaction was begun, or has ended.
    pub(super) const fn set_in_transaction(&mut self, is: bool) {
        self.in_transaction = is;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let patience = match self.owes {
            // Closing it is all that can be done: an open transaction ends with its connection.
            Some(Asked::Statement) => return drop(connection.detach()),
            None if self.in_transaction => return drop(connection.detach()),
            None => ANSWER_MAX,
            Some(Asked::Commit) => COMMIT_OWED_MAX,
        };
        if let Ok(runtime) = Handle::try_current() {
            // The pool takes it back when it answers once more, and closes it when it does not.
            runtime.spawn(async move { timeout(patience, connection.return_to_pool()).await });
        }
    }
}
