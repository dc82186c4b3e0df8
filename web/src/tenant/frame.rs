//! What every page of a tenant has around it: the frame with the count of what waits for a person, and
//! the word on what was just done.

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use serde::Deserialize;

use crate::fault::Fault;
use crate::parts::amount::counted;
use crate::parts::limits::warning;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Member;
use crate::state::Web;

/// What was just done: a word of ours in the address, and a number. Nothing in the address is shown.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    said: String,
    #[serde(default)]
    n: u64,
}

impl<S: Send + Sync> FromRequestParts<S> for Said {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Query::try_from_uri(&parts.uri).map(|Query(said)| said).unwrap_or_default())
    }
}

impl Said {
    fn notice(&self) -> Option<Notice> {
        let done = |text: &str| Some(Notice::done(text));
        match self.said.as_str() {
            "settled" => done("Settled. Nobody waits for this handoff any more."),
            "settled-many" => Some(Notice::done(format!(
                "Settled: {} for nobody any more.",
                counted(self.n, "handoff waits", "handoffs wait")
            ))),
            "verified" => {
                done("The request is authentic after all. It entered as a delivery of that time would have.")
            }
            "verified-known" => {
                Some(Notice::look("The request is authentic, and this is its event: it was here already."))
            }
            "repaired" => done("Repaired. The event has its id and is handed off."),
            "replayed" if self.n == 0 => Some(Notice::look(
                "Nothing was made pending: the event is in work at each consumer, or no consumer wants it.",
            )),
            "replayed" => Some(Notice::done(format!(
                "Replayed: {} pending again.",
                counted(self.n, "handoff is", "handoffs are")
            ))),
            "endpoint-saved" => done("Saved. It counts from the next request on."),
            "endpoint-deleted" => done("The endpoint is deleted. Its events stay."),
            "endpoint-disabled" => done("Disabled. Senders are told to come again later."),
            "endpoint-enabled" => done("Enabled. It takes events again."),
            "secret-added" => done("The secret is added. Requests that are signed with it pass from now on."),
            "secret-deleted" => done("The secret is deleted. What is signed with it is refused from now on."),
            "test-sent" => done("The test event is in. It is marked as a test."),
            "test-unsigned" => Some(Notice::look(
                "The test event is in, but not verified: with a public key alone nobody here can sign.",
            )),
            "reconciliation-saved" => done("Saved. The provider took the credentials."),
            "reconciliation-untried" => Some(Notice::look(
                "Saved, but the provider could not be asked just now. Look at the first run.",
            )),
            "reconciliation-asked" => {
                done("A run begins within a few seconds. Load the page again to follow it.")
            }
            "reconciliation-removed" => done("Removed, with the credentials. Gaps are not noticed any more."),
            "consumer-saved" => done("Saved. A changed filter counts from the next event on."),
            "consumer-deleted" => Some(Notice::done(format!(
                "The consumer is deleted; {} cancelled.",
                counted(self.n, "handoff was", "handoffs were")
            ))),
            "consumer-paused" => done("Paused. Claims get nothing, and nothing is lost."),
            "consumer-resumed" => done("Claims get events again."),
            "key-revoked" => done("The key is revoked. It opens nothing any more."),
            "retention-saved" => done("Saved. The next run goes by it."),
            "held" => done("It is held. Neither a run nor an erasure touches it until somebody releases it."),
            "released" => done("Released. What is due goes with the next run."),
            "erased" => {
                done("The payload is erased. The id stays known, so that the event can’t come in again.")
            }
            "erased-all" => Some(Notice::done(format!(
                "Erased: {}. Nothing is left but what is held.",
                counted(self.n, "payload", "payloads")
            ))),
            "erased-some" => Some(Notice::look(format!(
                "Erased so far: {}. There are more: erase again to go on.",
                counted(self.n, "payload", "payloads")
            ))),
            "saved" => done("Saved."),
            _ => None,
        }
    }
}

/// The frame of a page of a tenant.
pub(crate) async fn frame(web: &Web, member: &Member, area: Area, said: &Said) -> Result<Shell, Fault> {
    let mut shell = member.shell(area);
    shell.failures = web.app.failures_waiting(&member.by).await?;
    let limits = web.app.limits_used(&member.by).await?;
    shell.notices.extend(limits.iter().filter_map(warning).map(Notice::look));
    shell.notices.extend(said.notice());
    Ok(shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(said: &str, n: u64) -> Option<String> {
        Said { said: said.to_owned(), n }.notice().map(|notice| notice.text)
    }

    #[test]
    fn words_of_ours_are_told_and_nothing_else_is() {
        assert_eq!(notice("replayed", 1).unwrap(), "Replayed: 1 handoff is pending again.");
        assert_eq!(
            notice("consumer-deleted", 12).unwrap(),
            "The consumer is deleted; 12 handoffs were cancelled."
        );
        assert!(notice("replayed", 0).unwrap().starts_with("Nothing"));
        assert_eq!(notice("<script>", 1), None);
        assert_eq!(notice("", 0), None);
    }
}
