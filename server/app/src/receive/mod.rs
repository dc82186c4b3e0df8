//! Receiving: a request that came whole is verified, identified, sealed, committed, and only then
//! answered with a 2xx.
//!
//! The caller (HTTP) has read the body and runs this detached from the sender's connection: what is
//! begun here is finished, whether or not the sender still listens.

mod answer;
mod cache;
mod let_in;
mod log;
mod record;
mod refusals;
mod target;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use restante_core::id::{ReceiptId, RefusalId};
use restante_core::request::Request;
use restante_core::time::Timestamp;
use restante_core::verify::{Accepted, PublicReason, Rejection, Reply, Verdict, identify_unverified, verify};
use restante_store::{Committed, StoreError};
use tokio::sync::Semaphore;

use crate::{App, figures};
pub use answer::refusal;
pub use cache::Targets;
pub use let_in::Paces;
pub(crate) use record::scope as stored_scope;
pub use refusals::{Refusals, run_refusal_flush};
pub use target::Target;

/// A sender waits at most this long from the end of its body to our answer. Some providers give five
/// seconds (Shopify), and the way back takes its share.
const ANSWER_WITHIN_MAX: Duration = Duration::from_secs(4);
/// What is left to a provider with a shorter deadline after the way there and back.
const DEADLINE_MARGIN: Duration = Duration::from_millis(500);
/// How often a request is judged. The endpoint would have to change as often within a few milliseconds
/// for a sender to be told to come back.
const JUDGED_TIMES_MAX: usize = 3;
/// An endpoint that was read at least so long ago refuses nobody before it is read anew: a second. So
/// forged requests cost a query a second and endpoint, however many come.
const REFUSES_FOR_MICROS: u64 = 1_000_000;
/// Verifying and sealing a body of this size takes a millisecond or more, which other connections
/// of the same thread should not wait for.
const BLOCKING_FROM_BYTES: usize = 512 * 1024;
/// Such bodies that are worked on at once: while a body is sealed it is in memory twice.
static LARGE_AT_ONCE: Semaphore = Semaphore::const_new(4);

/// A request as it came, with what is known of its way here.
#[derive(Debug)]
pub struct Incoming {
    /// The request, whole.
    pub request: Request,
    /// When its last byte came.
    pub received_at: Timestamp,
    /// The id under which the log and the answer name it.
    pub request_id: String,
    /// The trace that the sender named.
    pub trace_id: Option<String>,
    /// Where it came from.
    pub peer: Option<IpAddr>,
    /// What the caller wants to be kept until nothing of the request is in memory any more, which may
    /// be later than its answer: the room that it takes of a budget, say.
    pub held: Option<Arc<dyn Any + Send + Sync>>,
}

/// How a delivery ended, for the log and the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Accepted,
    Duplicate,
    Rejected,
    Failed,
    Handshake,
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Duplicate => "duplicate",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Handshake => "handshake",
        }
    }
}

/// How a request came to its end: what its sender is told, and what became of it.
pub(crate) struct Taken {
    pub(crate) reply: Reply,
    pub(crate) ending: Ending,
}

/// What became of a request, for who asks from inside.
pub(crate) enum Ending {
    /// Its receipts are committed.
    Committed(Committed),
    /// It is not authentic.
    Rejected(Rejection),
    /// It was a handshake.
    Handshake,
    /// It could not be committed now.
    Failed,
}

/// Why a request is judged anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// The endpoint has changed since it was read.
    Changed,
    /// It may have, and the request would be refused.
    PerhapsOutdated,
}

/// By which road a request comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Road {
    /// From a sender.
    Sender,
    /// A test event that is signed as the sender would. The same number is the same event.
    SignedTest { number: u128 },
    /// A test event for an endpoint that holds only a public key, so that nobody here can sign it.
    UnsignedTest { number: u128 },
    /// A request that was refused when it came, and is verified again. The same refusal is the same event.
    Refused { refusal: RefusalId },
    /// From the provider's own list, which has it without the signature of a delivery.
    Listed,
}

impl Road {
    const fn origin(self) -> &'static str {
        match self {
            Self::Sender | Self::Refused { .. } => "delivery",
            Self::SignedTest { .. } | Self::UnsignedTest { .. } => "test",
            Self::Listed => "reconciliation",
        }
    }

    const fn is_verified(self) -> bool {
        !matches!(self, Self::UnsignedTest { .. } | Self::Listed)
    }

    /// Whether other bytes under a known key are worth a mark: a list may render an event differently.
    const fn compares_bodies(self) -> bool {
        !matches!(self, Self::Listed)
    }

    /// Whether it was refused, counted and kept before, so that nothing but its entering is news.
    const fn was_counted(self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// The key of an event whose sender gives it no id, by its place in the request. Each delivery of a
    /// sender is another event then; a test event keeps its number.
    fn fresh_key(self, receipt: ReceiptId, place: usize) -> String {
        match self {
            Self::Sender | Self::Listed => format!("delivery-{receipt}"),
            Self::SignedTest { number } | Self::UnsignedTest { number } => {
                format!("test-{number:032x}-{place}")
            }
            Self::Refused { refusal } => format!("refusal-{refusal}-{place}"),
        }
    }
}

impl App {
    /// Takes a request to its end and says how to answer.
    ///
    /// A 2xx of an [`Accepted`] request is given only after its receipts are committed. When the
    /// commit fails, is unknown or takes too long, the answer is 503 with `Retry-After`.
    pub async fn receive(&self, target: &Arc<Target>, incoming: Incoming) -> Reply {
        self.take(Road::Sender, target, incoming).await.reply
    }

    /// As [`App::receive`], also for requests that the program itself makes, and with what became of it.
    ///
    /// A request is judged by what is known of its endpoint, which may be some seconds old. The commit
    /// finds out when that no longer holds; then the endpoint is read anew and the request judged anew, so
    /// that nothing is stored by rules or secrets that are gone. A request that would be refused is judged
    /// anew as well, unless the endpoint was read a moment ago: a secret that was just added at another
    /// node counts.
    pub(crate) async fn take(&self, road: Road, target: &Arc<Target>, incoming: Incoming) -> Taken {
        let began = Instant::now();
        let has_body = !incoming.request.body.is_empty();
        let (mut target, mut incoming) = (Arc::clone(target), Arc::new(incoming));
        for time in 1..=JUDGED_TIMES_MAX {
            let last = time == JUDGED_TIMES_MAX;
            let why = match self.judge(road, &target, &mut incoming, began, last).await {
                Ok(taken) => return taken,
                Err(why) => why,
            };
            match self.read_anew(&target, why, &incoming).await {
                // The body is gone, so the sender has to bring it again.
                Ok(_) if has_body && incoming.request.body.is_empty() => break,
                Ok(changed) => target = changed,
                Err(reply) => {
                    let (endpoint, status) = (target.endpoint, reply.status);
                    tracing::info!(endpoint.id = %endpoint, status, "an endpoint changed under a delivery");
                    return Taken { reply, ending: Ending::Failed };
                }
            }
        }
        Taken { reply: answer::unavailable(), ending: Ending::Failed }
    }

    /// The endpoint as it is now, if it still takes this request; else how to answer.
    async fn read_anew(
        &self,
        target: &Target,
        why: Again,
        incoming: &Incoming,
    ) -> Result<Arc<Target>, Reply> {
        let found = match why {
            Again::Changed => self.load_target(&target.token).await,
            // Others may have been refused at the same time, and one of them has read it.
            Again::PerhapsOutdated => self.load_target_since(&target.token, target.loaded_at).await,
        };
        let changed = match found {
            Ok(Some(changed)) => changed,
            Ok(None) => return Err(refusal(404, PublicReason::Unknown)),
            Err(_) => return Err(answer::unavailable()),
        };
        if let Some(reply) = changed.gate(&incoming.request.method) {
            return Err(reply);
        }
        if incoming.request.body.len() as u64 > changed.body_bytes_max {
            return Err(refusal(413, PublicReason::Size));
        }
        Ok(changed)
    }

    /// Judges a request and commits it. The error says that it has to be judged anew, which it never does
    /// the last time.
    async fn judge(
        &self,
        road: Road,
        target: &Arc<Target>,
        incoming: &mut Arc<Incoming>,
        began: Instant,
        last: bool,
    ) -> Result<Taken, Again> {
        let judged = Instant::now();
        let failed = || Taken { reply: answer::unavailable(), ending: Ending::Failed };
        let body_bytes = incoming.request.body.len();
        let (verdict, sealed) = if body_bytes >= BLOCKING_FROM_BYTES {
            let Ok(_turn) = LARGE_AT_ONCE.acquire().await else { return Ok(failed()) };
            let (app, target, incoming) = (self.clone(), Arc::clone(target), Arc::clone(incoming));
            let work = tokio::task::spawn_blocking(move || app.verify_and_seal(road, &target, &incoming));
            match work.await {
                Ok(done) => done,
                Err(_) => return Ok(failed()),
            }
        } else {
            self.verify_and_seal(road, target, incoming)
        };
        let verified_in = judged.elapsed();
        if let (Verdict::Accept(_), Some(incoming)) = (&verdict, Arc::get_mut(incoming))
            && body_bytes >= BLOCKING_FROM_BYTES
        {
            // Its sealed form is as large, and all that is needed unless the endpoint changes just now.
            incoming.request.body = bytes::Bytes::new();
        }
        let verified = road.is_verified();
        let entry = log::Entry { target, incoming, body_bytes, verified, verified_in, began };
        Ok(match (verdict, sealed) {
            (Verdict::Reject(_), _)
                if !last && target.is_older_than(REFUSES_FOR_MICROS, self.clock.now()) =>
            {
                return Err(Again::PerhapsOutdated);
            }
            (Verdict::Reject(rejection), _) => {
                if !road.was_counted() {
                    self.refusals.reject(target, incoming, &rejection);
                    entry.rejected(&rejection);
                }
                Taken { reply: answer::rejected(target, &rejection), ending: Ending::Rejected(rejection) }
            }
            (Verdict::Challenge(handshake), _) => {
                if !road.was_counted() {
                    self.refusals.count(target, "handshake", incoming.received_at);
                    entry.handshake();
                }
                Taken { reply: handshake.reply, ending: Ending::Handshake }
            }
            (Verdict::Accept(accepted), Some(delivery)) => {
                let patience = patience(target).saturating_sub(began.elapsed());
                let queued = Instant::now();
                match self.commit(patience, delivery, incoming.held.clone()).await {
                    Ok(committed) => {
                        if let Some(new) = committed.receipts.iter().rfind(|receipt| !receipt.duplicate) {
                            self.high_water.acknowledged(target.tenant, new.id);
                        }
                        figures::commit(queued.elapsed());
                        let duplicates =
                            committed.receipts.iter().filter(|receipt| receipt.duplicate).count() as u64;
                        figures::events(committed.receipts.len() as u64 - duplicates, duplicates);
                        for consumer in &committed.wake {
                            self.wakeups.wake(*consumer);
                        }
                        entry.committed(&accepted, &committed);
                        Taken {
                            reply: answer::committed(target, &accepted, &committed),
                            ending: Ending::Committed(committed),
                        }
                    }
                    Err(StoreError::Stale) if !last => return Err(Again::Changed),
                    Err(error) => {
                        figures::commit_failed();
                        if !road.was_counted() {
                            self.refusals.count(target, "failed", incoming.received_at);
                        }
                        entry.failed(&accepted, &error);
                        failed()
                    }
                }
            }
            // Authentic, but the tenant's keys can't seal it: that is our fault, never the sender's.
            (Verdict::Accept(_), None) => failed(),
        })
    }

    /// Commits, and waits for it as long as the sender may wait. A record that is not committed by then
    /// stays in the queue, and what is `held` with it.
    async fn commit(
        &self,
        patience: Duration,
        delivery: restante_store::Delivery,
        held: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Result<Committed, StoreError> {
        let store = self.store.clone();
        let mut commit = Box::pin(async move { store.commit(delivery).await });
        match tokio::time::timeout(patience, commit.as_mut()).await {
            Ok(committed) => committed,
            Err(_) => {
                tokio::spawn(async move {
                    // Committed or not, nobody waits for the answer.
                    let _ = commit.await;
                    drop(held);
                });
                Err(StoreError::Unavailable { statement: "commit", detail: "it took too long".to_owned() })
            }
        }
    }

    fn verify_and_seal(
        &self,
        road: Road,
        target: &Target,
        incoming: &Incoming,
    ) -> (Verdict, Option<restante_store::Delivery>) {
        let verdict = if road.is_verified() {
            verify(&target.for_verification(), &incoming.request, incoming.received_at)
        } else {
            Verdict::Accept(identify_unverified(&target.for_verification(), &incoming.request))
        };
        let delivery = match &verdict {
            Verdict::Accept(accepted) => Some(self.seal(road, target, incoming, accepted)),
            _ => None,
        };
        (verdict, delivery)
    }

    pub(crate) fn seal(
        &self,
        road: Road,
        target: &Target,
        incoming: &Incoming,
        accepted: &Accepted,
    ) -> restante_store::Delivery {
        record::delivery(&*self.random, road, target, incoming, accepted)
    }
}

fn patience(target: &Target) -> Duration {
    match target.scheme.reply().deadline_seconds {
        Some(seconds) => {
            Duration::from_secs(seconds.into()).saturating_sub(DEADLINE_MARGIN).min(ANSWER_WITHIN_MAX)
        }
        None => ANSWER_WITHIN_MAX,
    }
}
