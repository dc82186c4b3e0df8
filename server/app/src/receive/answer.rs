//! What senders are told: the provider's documented success, or one general word of refusal.

use restante_core::catalogue::SuccessBody;
use restante_core::verify::{Accepted, PublicReason, Rejection, Reply};
use restante_store::{Committed, CommittedReceipt};
use serde_json::{Value, json};

use super::Target;

/// Seconds after which a sender may try again.
const RETRY_AFTER_SECONDS: &str = "5";
const PROBLEM: &str = "application/problem+json";

/// The answer to a request whose events are committed.
pub(super) fn committed(target: &Target, accepted: &Accepted, committed: &Committed) -> Reply {
    let table = target.scheme.reply();
    let (content_type, body) = match &table.success_body {
        SuccessBody::Fixed { content_type, body } => (content_type.clone(), body.clone().into_bytes()),
        SuccessBody::Receipt => {
            (Some("application/json".to_owned()), receipts(accepted, committed).to_string().into_bytes())
        }
    };
    let headers = content_type.map(|value| ("content-type".to_owned(), value)).into_iter().collect();
    Reply { status: table.success_status, headers, body }
}

fn receipts(accepted: &Accepted, committed: &Committed) -> Value {
    let status = |receipt: &CommittedReceipt| if receipt.duplicate { "duplicate" } else { "accepted" };
    match committed.receipts.as_slice() {
        [receipt] if !accepted.batch => json!({ "status": status(receipt), "id": receipt.id }),
        all => {
            let repeats_only = !all.is_empty() && all.iter().all(|receipt| receipt.duplicate);
            let each: Vec<Value> =
                all.iter().map(|receipt| json!({ "id": receipt.id, "status": status(receipt) })).collect();
            json!({ "status": if repeats_only { "duplicate" } else { "accepted" }, "receipts": each })
        }
    }
}

/// The answer to a request that is not authentic.
pub(super) fn rejected(target: &Target, rejection: &Rejection) -> Reply {
    let mut reply = refusal(rejection.status, rejection.public);
    if rejection.status == 405 {
        reply.headers.push(("allow".to_owned(), target.scheme.methods().join(", ")));
    }
    reply
}

/// It can't be committed now: the sender tries again.
pub(super) fn unavailable() -> Reply {
    refusal(503, PublicReason::Unavailable)
}

/// A refusal in one general word, which says nothing of what was expected.
pub fn refusal(status: u16, reason: PublicReason) -> Reply {
    let title = match reason {
        PublicReason::Signature => "The request is not signed as this endpoint expects",
        PublicReason::Timestamp => "The signed time is missing or out of tolerance",
        PublicReason::Size => "The body is larger than this endpoint accepts",
        PublicReason::Method => "The method is not allowed here",
        PublicReason::Rate => "Too many requests",
        PublicReason::Unavailable => "The event could not be stored now; send it again",
        PublicReason::Unknown => "There is no such endpoint",
    };
    let body = json!({ "type": "about:blank", "title": title, "status": status, "reason": reason.as_str() });
    let mut headers = vec![("content-type".to_owned(), PROBLEM.to_owned())];
    if matches!(status, 429 | 503) {
        headers.push(("retry-after".to_owned(), RETRY_AFTER_SECONDS.to_owned()));
    }
    Reply { status, headers, body: body.to_string().into_bytes() }
}
