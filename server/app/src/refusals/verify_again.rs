//! A kept refusal that is verified again, under the secrets and options that its endpoint has today, at the
//! time at which it came. When it is authentic after all, it enters by the path of a delivery: same key, same
//! handoffs. Only the whole request can be judged, so one that was kept in part is not.
//!
//! Entering is a commit of its own, after the line on the audit log and before the mark on the refusal. If the
//! process ends in between, the same again finds the event by its key and marks the refusal.

use restante_core::id::{EndpointId, ReceiptId, RefusalId};
use restante_core::limits::REFUSAL_BODY_BYTES_MAX;
use restante_core::problem::{Code, Problem};
use restante_core::request::Request;
use restante_store::control::audit;
use restante_store::refusals::{self, Entered};
use restante_store::{CommittedReceipt, StoreError};
use serde_json::json;

use super::kept::Kept;
use super::open::opened;
use crate::receive::{Ending, Incoming, Road};
use crate::{App, By};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifiedAgain {
    /// It is authentic. Its events are here: those it brought, and those that were here before.
    Entered(Vec<CommittedReceipt>),
    /// It entered earlier; nothing was done now.
    WasEntered(Entered),
    /// It is refused as it was, or for another reason.
    Refused {
        /// The stable word.
        reason: &'static str,
        /// What is wrong, for the tenant.
        explanation: String,
    },
    /// It is a handshake, which is answered when it comes and never stored.
    Handshake,
}

impl App {
    /// Verifies a kept refusal again, and writes down who asked.
    ///
    /// # Errors
    /// Not found; a conflict when the endpoint is deleted or takes nothing now, or when not all of the
    /// request is kept; unavailable when it could not be committed.
    pub async fn verify_refusal_again(
        &self,
        by: &By,
        endpoint: EndpointId,
        id: RefusalId,
    ) -> Result<VerifiedAgain, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let line =
            by.audit(&*self.random, now, "refusal.verify", id.to_string(), &json!({ "endpoint": endpoint }));
        let (record, sealed) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let found = refusals::one(conn, tenant, endpoint, id).await?;
                    let found = found.ok_or_else(|| Problem::not_found("refusal"))?;
                    if found.0.entered.is_none() {
                        audit::insert(conn, tenant, line).await?;
                    }
                    Ok(found)
                })
            })
            .await?;
        if let Some(entered) = record.entered {
            return Ok(VerifiedAgain::WasEntered(entered));
        }
        let Kept { method, query, headers, body, cut } = opened(&keys, id, &sealed)?;
        if cut {
            return Err(conflict(format!(
                "Only the first {} KiB of its body are kept, and a signature covers all of it. Have the sender \
                 send it again.",
                REFUSAL_BODY_BYTES_MAX / 1024
            )));
        }
        let token = self.token_of(by.tenant(), endpoint).await.map_err(deleted)?;
        let target = self
            .find_endpoint(&token)
            .await?
            .ok_or_else(|| deleted(Problem::not_found("endpoint").into()))?;
        if target.gate(&method).is_some() {
            return Err(conflict(
                "The endpoint is disabled, or its tenant suspended, so it takes no events now.",
            ));
        }
        let removed = target.removed_credential(&headers).map(str::to_owned);
        let incoming = Incoming {
            request: Request { method, query, headers, body },
            received_at: record.received_at,
            request_id: record.request_id.unwrap_or_default(),
            trace_id: None,
            peer: None,
            held: None,
        };
        let committed = match self.take(Road::Refused { refusal: id }, &target, incoming).await.ending {
            Ending::Committed(committed) => committed,
            Ending::Rejected(rejection) => {
                if let Some(name) = removed {
                    return Err(conflict(format!(
                        "The header {name} is itself the credential, and such a value is never kept. Have the \
                         sender send it again."
                    )));
                }
                let (reason, explanation) = (rejection.reason.as_str(), rejection.explanation);
                return Ok(VerifiedAgain::Refused { reason, explanation });
            }
            Ending::Handshake => return Ok(VerifiedAgain::Handshake),
            Ending::Failed => {
                let detail = "It could not be committed now. Try again in a few seconds.";
                return Err(Problem::new(Code::Unavailable, detail).into());
            }
        };
        let receipts: Vec<ReceiptId> = committed.receipts.iter().map(|receipt| receipt.id).collect();
        let entered = Entered { at: now, receipt: receipts.first().copied() };
        let detail = json!({ "endpoint": endpoint, "events": receipts.len(), "event": entered.receipt });
        let line = by.audit(&*self.random, now, "refusal.enter", id.to_string(), &detail);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    refusals::enter(conn, tenant, endpoint, id, entered).await?;
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        Ok(VerifiedAgain::Entered(committed.receipts))
    }
}

/// The refusals of an endpoint stay when it goes.
fn deleted(error: StoreError) -> StoreError {
    match error {
        StoreError::Problem(problem) if problem.code == Code::NotFound => {
            conflict("The endpoint is deleted, so nothing is verified for it any more.")
        }
        other => other,
    }
}

fn conflict(sentence: impl Into<String>) -> StoreError {
    Problem::new(Code::Conflict, sentence).into()
}
