//! What senders are told: the provider's documented success, or one general word of refusal.

use restante_core::catalogue::SuccessBody;
use restante_core::problem::Code;
use restante_core::verify::{Accepted, PublicReason, Rejection, Reply};
use restante_store::{Committed, CommittedReceipt};
use serde_json::{Value, json};

use super::Target;

/// Seconds after which a sender may try again.
const RETRY_AFTER_SECONDS: &str = "5";
/// The same while a person has to act first: the tenant is suspended, or holds as much as it may.
const CLOSED_RETRY_AFTER_SECONDS: u64 = 60;
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

/// A person has to do something before it can be committed, so that coming again at once is in vain.
pub(super) fn unavailable_for_long() -> Reply {
    after_seconds(unavailable(), CLOSED_RETRY_AFTER_SECONDS)
}

/// More came than a limit allows; in so many seconds the next one is let in.
pub(super) fn too_many(seconds: u64) -> Reply {
    after_seconds(refusal(429, PublicReason::Rate), seconds)
}

fn after_seconds(mut reply: Reply, seconds: u64) -> Reply {
    for (name, value) in &mut reply.headers {
        if name == "retry-after" {
            *value = seconds.to_string();
        }
    }
    reply
}

/// A refusal in one general word, which says nothing of what was expected.
pub fn refusal(status: u16, reason: PublicReason) -> Reply {
    let (code, detail) = match reason {
        PublicReason::Signature => {
            (Code::Unauthorized, "The request is not signed as this endpoint expects.")
        }
        PublicReason::Timestamp => {
            (Code::Unauthorized, "The signed time is missing, or out of this endpoint's tolerance.")
        }
        PublicReason::Size => (Code::TooLarge, "The body is larger than this endpoint accepts."),
        PublicReason::Method => (Code::MethodNotAllowed, "This endpoint takes no deliveries by this method."),
        PublicReason::Rate => (Code::RateLimited, "There are too many requests. Send it again later."),
        PublicReason::Unavailable => (Code::Unavailable, "The event could not be stored now. Send it again."),
        PublicReason::Unknown => (Code::NotFound, "There is no endpoint at this address."),
    };
    let body = json!({
        "type": format!("/docs/errors/{}", code.slug()),
        "title": code.title(),
        "status": status,
        "detail": detail,
        "reason": reason.as_str(),
    });
    let mut headers = vec![("content-type".to_owned(), PROBLEM.to_owned())];
    if matches!(status, 429 | 503) {
        headers.push(("retry-after".to_owned(), RETRY_AFTER_SECONDS.to_owned()));
    }
    Reply { status, headers, body: body.to_string().into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_problem_with_a_page_and_one_general_word() {
        for (status, reason, word, page) in [
            (401, PublicReason::Signature, "signature", "unauthorized"),
            (401, PublicReason::Timestamp, "timestamp", "unauthorized"),
            (413, PublicReason::Size, "size", "too-large"),
            (405, PublicReason::Method, "method", "method-not-allowed"),
            (429, PublicReason::Rate, "rate", "rate-limited"),
            (503, PublicReason::Unavailable, "unavailable", "unavailable"),
            (404, PublicReason::Unknown, "unknown", "not-found"),
        ] {
            let reply = refusal(status, reason);
            let said: Value = serde_json::from_slice(&reply.body).unwrap();
            let names: Vec<&String> = said.as_object().unwrap().keys().collect();
            assert_eq!(names, ["detail", "reason", "status", "title", "type"]);
            assert_eq!((&said["status"], &said["reason"]), (&json!(status), &json!(word)));
            assert_eq!(said["type"], format!("/docs/errors/{page}"));
            let code = Code::ALL.into_iter().find(|code| code.slug() == page).unwrap();
            assert_eq!((code.status(), &said["title"]), (status, &json!(code.title())));
            assert!(said["detail"].as_str().unwrap().ends_with('.'));
            let comes_again = reply.headers.iter().any(|(name, _)| name == "retry-after");
            assert_eq!(comes_again, matches!(status, 429 | 503), "{word}");
        }
    }
}
