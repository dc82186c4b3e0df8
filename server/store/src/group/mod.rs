//! Group commit: a committer takes whatever waits and writes it in one transaction. It does not linger
//! for more: what arrives during one transaction makes the next group. Nor does it wait for the disk:
//! its callers do (`waiting`), and are answered after a flush that was begun after their COMMIT.
//!
//! A record that the database refuses must not cost its neighbours: a group that fails is done again
//! in halves, down to the one at fault. A COMMIT whose outcome is unknown is answered as unknown.

mod checkpoint;
mod postgres;
mod queue;
mod sqlite;
mod statistics;
mod wait_postgres;
mod wait_sqlite;
mod waiting;

use std::sync::Arc;

use restante_core::time::Clock;
use tokio::sync::{mpsc, oneshot, watch};

use crate::benching::{self, Commits};
use crate::deliveries::{Committed, Delivery, Writer};
use crate::engine::{Conn, Pools, StoreError};
use crate::failpoint;
use crate::rollups::Lane;
use crate::store::BoxFuture;
use postgres::PostgresCommitter;
pub(crate) use queue::Queues;
use sqlite::SqliteCommitter;
use wait_postgres::FlushSession;
use waiting::{Callers, Waiters, Waiting};

/// Records of one transaction.
const GROUP_RECORDS_MAX: usize = 256;
/// Sealed bytes of one transaction; one larger record goes alone.
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// What waits for the committer.
pub(crate) enum Work {
    /// A verified request.
    Delivery(Box<Delivery>, Answer<Committed>),
    /// Any other write on SQLite, where there is one writer.
    Write(Box<dyn AnyJob>),
    /// End after what came before.
    Stop(oneshot::Sender<()>),
}

/// A write whose result type the committer need not know.
pub(crate) trait AnyJob: Send {
    /// Runs the write; keeps its result until the commit is known.
    fn run<'a>(&'a mut self, conn: &'a mut Conn<'_>) -> BoxFuture<'a, bool>;
    /// Answers the caller: what `run` gave, unless the commit failed.
    fn answer(self: Box<Self>, commit: Result<(), StoreError>);
}

/// A write with its closure and its caller.
pub(crate) struct Job<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    answer: Answer<T>,
}

impl<T, F> Job<T, F>
where
    T: Send + 'static,
    F: for<'a, 'c> FnOnce(&'a mut Conn<'c>) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'static,
{
    pub(crate) fn boxed(work: F) -> (Box<dyn AnyJob>, oneshot::Receiver<Result<T, StoreError>>) {
        let (answer, answered) = oneshot::channel();
        (Box::new(Self { work: Some(work), result: None, answer }), answered)
    }
}

impl<T, F> AnyJob for Job<T, F>
where
    T: Send + 'static,
    F: for<'a, 'c> FnOnce(&'a mut Conn<'c>) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'static,
{
    fn run<'a>(&'a mut self, conn: &'a mut Conn<'_>) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            if let Some(work) = self.work.take() {
                self.result = Some(work(conn).await);
            }
            matches!(self.result, Some(Ok(_)))
        })
    }

    fn answer(self: Box<Self>, commit: Result<(), StoreError>) {
        let result = match (self.result, commit) {
            (Some(Err(error)), _) | (_, Err(error)) => Err(error),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(crate::store::stopped()),
        };
        // A caller that went away wants no answer.
        let _ = self.answer.send(result);
    }
}

/// Committers on PostgreSQL: while the database works for one, the other works itself. A third gained nothing.
const POSTGRES_COMMITTERS: u8 = 2;

/// Starts the committers of an engine and gives the ways to them. SQLite has one, as it has one writer.
pub(crate) async fn start(
    pools: &Pools,
    clock: Option<Arc<dyn Clock>>,
    fatal: watch::Sender<Option<String>>,
) -> Result<Queues, StoreError> {
    match pools {
        Pools::Sqlite { writer, guest, .. } => {
            let (queues, waiting) = Queues::new(1);
            for waiting in waiting {
                let engine = SqliteCommitter::open(writer, guest.is_some(), fatal.clone()).await?;
                let writer = Writer::new(Lane::Committer(0));
                run(Committer { waiting, clock: clock.clone(), writer, engine }, fatal.clone());
            }
            Ok(queues)
        }
        Pools::Postgres { pool } => {
            let committers =
                std::env::var("XCOMMITTERS").ok().and_then(|v| v.parse().ok()).unwrap_or(POSTGRES_COMMITTERS);
            let (queues, waiting) = Queues::new(committers);
            // A transaction a request also waits by itself, or it would be compared with half of a group commit.
            let waits_apart = benching::commits() != Commits::Single;
            let session = waits_apart.then(|| FlushSession::start(pool.clone()));
            for (number, waiting) in (0..).zip(waiting) {
                let engine = PostgresCommitter::new(pool.clone(), session.clone());
                let writer = Writer::new(Lane::Committer(number));
                run(Committer { waiting, clock: clock.clone(), writer, engine }, fatal.clone());
            }
            Ok(queues)
        }
    }
}

/// Runs a committer to its end. One that fails takes the process down: what waits for it would
/// otherwise be refused for ever.
fn run<E: Transactions + 'static>(committer: Committer<E>, fatal: watch::Sender<Option<String>>) {
    tokio::spawn(async move {
        if tokio::spawn(committer.run()).await.is_err() {
            fatal.send_replace(Some("a committer has failed".to_owned()));
        }
    });
}

/// A group on its way through one transaction.
#[derive(Default)]
struct Group {
    deliveries: Vec<(Delivery, Answer<Committed>)>,
    writes: Vec<Box<dyn AnyJob>>,
    bytes: usize,
}

impl Group {
    fn add(&mut self, work: Work) -> Option<oneshot::Sender<()>> {
        match work {
            Work::Delivery(delivery, answer) => {
                self.bytes += delivery.bytes();
                self.deliveries.push((*delivery, answer));
            }
            Work::Write(job) => self.writes.push(job),
            Work::Stop(done) => return Some(done),
        }
        None
    }

    fn is_full(&self) -> bool {
        benching::commits() == Commits::Single
            || self.deliveries.len() + self.writes.len() >= GROUP_RECORDS_MAX
            || self.bytes >= GROUP_BYTES_MAX
    }
}

struct Committer<E> {
    waiting: mpsc::Receiver<Work>,
    clock: Option<Arc<dyn Clock>>,
    writer: Writer,
    engine: E,
}

/// Whether what was committed is on the disk.
enum Kept {
    /// It is, or there was nothing to keep.
    Already,
    /// Once the one who waits for the disk has flushed it, in the session of this number.
    OnceFlushed(u64),
}

/// The transaction of an engine: begin, do, commit.
trait Transactions: Send {
    /// Begins a transaction.
    fn begin(&mut self) -> BoxFuture<'_, Result<(), StoreError>>;
    /// The connection in it.
    fn conn(&mut self) -> Result<Conn<'_>, StoreError>;
    /// Ends it; an error leaves the outcome unknown.
    fn commit(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>>;
    /// Where callers wait for the disk; `None` where each commit waits for it.
    fn waiters(&self) -> Option<Waiters>;
    /// Hears what went wrong, to stop for good where nothing else is safe.
    fn failed(&self, error: &StoreError);
    /// Gives it up; when that fails the connection is dropped, which gives it up as well.
    fn rollback(&mut self) -> BoxFuture<'_, ()>;
    /// Hears how many receipts were written.
    fn grown(&mut self, receipts: usize);
}

impl<E: Transactions> Committer<E> {
    async fn run(mut self) {
        loop {
            let mut group = Group::default();
            let Some(first) = self.waiting.recv().await else { return };
            let mut stop = group.add(first);
            while stop.is_none() && !group.is_full() {
                match self.waiting.try_recv() {
                    Ok(work) => stop = group.add(work),
                    Err(_) => break,
                }
            }
            self.commit(group).await;
            if let Some(done) = stop {
                self.waiting.close();
                pass_on(self.engine.waiters(), Waiting::Stop(done)).await;
                return;
            }
        }
    }

    /// One transaction for the whole group. When its deliveries fail, its other writes go on
    /// without them, and the deliveries are done again in halves.
    async fn commit(&mut self, group: Group) {
        // A stack instead of recursion: halves wait here until they are done.
        let mut parts = vec![group];
        while let Some(part) = parts.pop() {
            let Group { deliveries, mut writes, .. } = part;
            let (records, answers): (Vec<Delivery>, Vec<_>) = deliveries.into_iter().unzip();
            match self.transaction(&records, &mut writes).await {
                Err(error) => {
                    self.engine.failed(&error);
                    tracing::warn!(records = records.len(), error = %error, "a group was not committed");
                    answer_all(answers, &error);
                    writes.into_iter().for_each(|job| job.answer(Err(error.again())));
                }
                Ok((outcome, kept)) => {
                    let mut callers = Callers { writes, ..Callers::default() };
                    match outcome {
                        Ok(committed) => {
                            let receipts = committed.iter().flatten().flat_map(|delivery| &delivery.receipts);
                            self.engine.grown(receipts.filter(|receipt| !receipt.duplicate).count());
                            let told = committed.into_iter().map(|one| one.ok_or(StoreError::Stale));
                            callers.deliveries = answers.into_iter().zip(told).collect();
                        }
                        Err(error) => {
                            self.engine.failed(&error);
                            if error.is_about_a_row() && records.len() > 1 {
                                let mut first: Vec<_> = records.into_iter().zip(answers).collect();
                                let second = first.split_off(first.len() / 2);
                                for half in [second, first] {
                                    parts.push(Group { deliveries: half, ..Group::default() });
                                }
                            } else {
                                tracing::warn!(records = records.len(), error = %error, "a record was not committed");
                                answer_all(answers, &error);
                            }
                        }
                    }
                    match kept {
                        Kept::Already => callers.answer().await,
                        Kept::OnceFlushed(session) => {
                            pass_on(self.engine.waiters(), Waiting::Group { callers, session }).await;
                        }
                    }
                }
            }
        }
    }

    /// The outer error says that nothing was committed, or that it is unknown; the inner one that
    /// the deliveries were left out of what was. `None` is a delivery that has to be judged anew.
    async fn transaction(
        &mut self,
        records: &[Delivery],
        writes: &mut [Box<dyn AnyJob>],
    ) -> Result<(Result<Vec<Option<Committed>>, StoreError>, Kept), StoreError> {
        self.engine.begin().await?;
        let now = self.clock.as_ref().map(|clock| clock.now());
        let done = match self.engine.conn() {
            Ok(conn) => steps(&mut conn.at(now), &mut self.writer, records, writes).await,
            Err(error) => Err(error),
        };
        match done {
            // Nothing else is in the transaction, so there is nothing to commit.
            Ok(Err(error)) if writes.is_empty() => {
                self.engine.rollback().await;
                Ok((Err(error), Kept::Already))
            }
            Ok(outcome) => {
                if let Err(error) = at(failpoint::BEFORE_COMMIT, records).await {
                    self.engine.rollback().await;
                    return Err(error);
                }
                Ok((outcome, self.engine.commit().await?))
            }
            Err(error) => {
                self.engine.rollback().await;
                Err(error)
            }
        }
    }
}

/// To the one who waits for the disk. When that one is gone nobody is answered, and the callers
/// take it as a stop.
async fn pass_on(waiters: Option<Waiters>, waiting: Waiting) {
    match (waiters, waiting) {
        (Some(waiters), waiting) => drop(waiters.send(waiting).await),
        (None, Waiting::Stop(done)) => drop(done.send(())),
        (None, Waiting::Group { callers, .. }) => callers.answer().await,
    }
}

/// The work inside a transaction. Savepoints keep what fails away from its neighbours; a group of
/// deliveries alone needs none.
async fn steps(
    conn: &mut Conn<'_>,
    writer: &mut Writer,
    records: &[Delivery],
    writes: &mut [Box<dyn AnyJob>],
) -> Result<Result<Vec<Option<Committed>>, StoreError>, StoreError> {
    let mut outcome = Ok(Vec::new());
    if !records.is_empty() {
        if !writes.is_empty() {
            conn.control("savepoint", "SAVEPOINT one").await?;
        }
        outcome = writer.write(conn, records).await;
        if !writes.is_empty() {
            if outcome.is_err() {
                conn.control("rollback to", "ROLLBACK TO one").await?;
            }
            conn.control("release", "RELEASE one").await?;
        }
    }
    for job in writes {
        run_in_savepoint(conn, &mut **job).await?;
    }
    Ok(outcome)
}

/// Points for tests; only deliveries pass them, so that they can be counted.
async fn at(point: &'static str, records: &[Delivery]) -> Result<(), StoreError> {
    if records.is_empty() { Ok(()) } else { failpoint::pass(point).await }
}

fn answer_all(answers: Vec<Answer<Committed>>, error: &StoreError) {
    for answer in answers {
        let _ = answer.send(Err(error.again()));
    }
}

async fn run_in_savepoint(conn: &mut Conn<'_>, job: &mut dyn AnyJob) -> Result<(), StoreError> {
    conn.control("savepoint", "SAVEPOINT one").await?;
    if job.run(conn).await {
        conn.control("release", "RELEASE one").await
    } else {
        conn.control("rollback to", "ROLLBACK TO one").await?;
        conn.control("release", "RELEASE one").await
    }
}
