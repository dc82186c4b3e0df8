//! Receiving: a request that came whole is verified, identified, sealed, committed, and only then
//! answered with a 2xx.
//!
//! The caller (HTTP) has read the body and runs this detached from the sender's connection: what is
//! begun here is finished, whether or not the sender still listens.

mod answer;
mod cache;
mod figures;
mod log;
mod record;
mod refusals;
mod target;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use restante_core::request::Request;
use restante_core::time::Timestamp;
use restante_core::verify::{Accepted, Reply, Verdict, verify};
use restante_store::StoreError;

use crate::App;
pub use answer::refusal;
pub use cache::Targets;
pub use refusals::{Refusals, run_refusal_flush};
pub use target::Target;

/// A sender waits at most this long from the end of its body to our answer. Some providers give five
/// seconds (Shopify), and the way back takes its share.
const ANSWER_WITHIN_MAX: Duration = Duration::from_secs(4);
/// What is left to a provider with a shorter deadline after the way there and back.
const DEADLINE_MARGIN: Duration = Duration::from_millis(500);
/// Verifying and sealing a body of this size takes a millisecond or more, which other connections
/// of the same thread should not wait for.
const BLOCKING_FROM_BYTES: usize = 512 * 1024;

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

impl App {
    /// Takes a request to its end and says how to answer.
    ///
    /// A 2xx of an [`Accepted`] request is given only after its receipts are committed. When the
    /// commit fails, is unknown or takes too long, the answer is 503 with `Retry-After`.
    pub async fn receive(&self, target: &Arc<Target>, incoming: Incoming) -> Reply {
        self.receive_as("delivery", target, incoming).await
    }

    /// As [`App::receive`], for requests that the program itself makes: `test`.
    pub async fn receive_as(&self, origin: &'static str, target: &Arc<Target>, incoming: Incoming) -> Reply {
        let began = Instant::now();
        let incoming = Arc::new(incoming);
        let (verdict, sealed) = if incoming.request.body.len() >= BLOCKING_FROM_BYTES {
            let (app, target, incoming) = (self.clone(), Arc::clone(target), Arc::clone(&incoming));
            let work = tokio::task::spawn_blocking(move || app.verify_and_seal(origin, &target, &incoming));
            match work.await {
                Ok(done) => done,
                Err(_) => return answer::unavailable(),
            }
        } else {
            self.verify_and_seal(origin, target, &incoming)
        };
        let verified_in = began.elapsed();
        let entry = log::Entry { target, incoming: &incoming, verified_in, began };
        match (verdict, sealed) {
            (Verdict::Reject(rejection), _) => {
                self.refusals.reject(target, &incoming, &rejection);
                entry.rejected(&rejection);
                answer::rejected(target, &rejection)
            }
            (Verdict::Challenge(handshake), _) => {
                self.refusals.count(target, "handshake", incoming.received_at);
                entry.handshake();
                handshake.reply
            }
            (Verdict::Accept(accepted), Some(delivery)) => {
                let patience = patience(target).saturating_sub(began.elapsed());
                let commit = tokio::time::timeout(patience, self.store.commit(delivery)).await;
                let commit = commit.unwrap_or_else(|_| {
                    Err(StoreError::Unavailable {
                        statement: "commit",
                        detail: "it took too long".to_owned(),
                    })
                });
                match commit {
                    Ok(committed) => {
                        for consumer in &committed.wake {
                            self.wakeups.wake(*consumer);
                        }
                        entry.committed(&accepted, &committed);
                        answer::committed(target, &accepted, &committed)
                    }
                    Err(error) => {
                        self.refusals.count(target, "failed", incoming.received_at);
                        entry.failed(&accepted, &error);
                        answer::unavailable()
                    }
                }
            }
            // Authentic, but the tenant's keys can't seal it: that is our fault, never the sender's.
            (Verdict::Accept(_), None) => answer::unavailable(),
        }
    }

    fn verify_and_seal(
        &self,
        origin: &'static str,
        target: &Target,
        incoming: &Incoming,
    ) -> (Verdict, Option<restante_store::Delivery>) {
        let verdict = verify(&target.for_verification(), &incoming.request, incoming.received_at);
        let delivery = match &verdict {
            Verdict::Accept(accepted) => Some(self.seal(origin, target, incoming, accepted)),
            _ => None,
        };
        (verdict, delivery)
    }

    fn seal(
        &self,
        origin: &'static str,
        target: &Target,
        incoming: &Incoming,
        accepted: &Accepted,
    ) -> restante_store::Delivery {
        record::delivery(&*self.random, origin, target, incoming, accepted)
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
