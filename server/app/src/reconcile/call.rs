//! A call to the provider, and what becomes of a run when it brings no page: it is tried again later where that
//! can help, begins its list anew, or ends where only a person can do something.

use std::time::{Duration, Instant};

use restante_core::reconcile::{ListRequest, wait_seconds};
use restante_store::StoreError;
use restante_store::reconciliation as rows;

use super::run::{Left, Paged, Run};
use crate::outbound::{Answer, Call, CallFault};

/// Tries of a page that went wrong after which a run is given up, and those that the provider asked to wait.
const TRIES_MAX: u64 = 8;
/// The first pause after a page that went wrong; it doubles.
const RETRY_SECONDS: i64 = 5;
const RETRY_SECONDS_MAX: i64 = 30 * 60;
/// How long a provider may have a run wait.
const RETRY_AFTER_SECONDS_MAX: i64 = 60 * 60;
/// How often a run begins with its first page again, because the provider does not know its place any more.
const RESTARTS_MAX: u64 = 3;

/// Why an answer is no page.
pub(super) enum NoPage {
    /// Asking again later may help.
    Later { why: String, after: Option<i64> },
    /// The provider does not know the place in its list.
    Place(String),
    /// It won't.
    Never { why: String, stops: bool },
}

impl Run<'_> {
    /// Makes a call, at a distance from the one before that keeps within the provider's limit.
    pub(super) async fn called(&mut self, request: ListRequest) -> Result<Answer, NoPage> {
        let pause = Duration::from_millis(self.lister.recipe().pause_ms.into());
        if let Some(since) = self.called.map(|called| called.elapsed())
            && since < pause
        {
            tokio::time::sleep(pause - since).await;
        }
        self.called = Some(Instant::now());
        let ListRequest { location, method, headers, body } = request;
        let call = Call { location, method: method.as_str(), headers, body };
        let answer = match self.app.outbound.call(call).await {
            Ok(answer) => answer,
            Err(fault @ CallFault::Blocked(_)) => {
                return Err(NoPage::Never { why: fault.to_string(), stops: true });
            }
            Err(fault) => return Err(NoPage::Later { why: fault.to_string(), after: None }),
        };
        let status = answer.status;
        let after = wait_seconds(|name| answer.header(name), self.app.clock.now());
        match status {
            200..=299 => Ok(answer),
            401 | 403 if after.is_none() => Err(NoPage::Never {
                why: format!(
                    "The provider refuses the credentials ({status}). Give new ones, and runs begin again."
                ),
                stops: true,
            }),
            403 | 429 => Err(NoPage::Later {
                why: format!("The provider asks to wait ({status})."),
                after: Some(after.unwrap_or(60)),
            }),
            500..=599 => Err(NoPage::Later { why: format!("The provider answers {status}."), after }),
            400 | 404 | 410 | 422 if self.row.position.is_some() => Err(NoPage::Place(format!(
                "The provider does not know the place in its list any more ({status})."
            ))),
            300..=399 => Err(NoPage::Never {
                why: "The provider leads to another place, which is not followed.".to_owned(),
                stops: false,
            }),
            _ => Err(NoPage::Never {
                why: format!("The provider answers {status} to the request for its list."),
                stops: false,
            }),
        }
    }

    pub(super) async fn no_page(&mut self, why: NoPage) -> Result<Paged, StoreError> {
        match why {
            NoPage::Never { why, stops } => self.failed(why, stops).await,
            NoPage::Later { why, .. } if self.row.tries >= TRIES_MAX => {
                self.failed(
                    format!("{why} It was tried {} times; the next run goes on.", self.row.tries + 1),
                    false,
                )
                .await
            }
            NoPage::Later { why, after } => {
                let pause = after.map_or_else(
                    || RETRY_SECONDS.saturating_mul(1 << self.row.tries.min(20)).min(RETRY_SECONDS_MAX),
                    |after| after.clamp(1, RETRY_AFTER_SECONDS_MAX),
                );
                let again = self.app.database_now().await?.plus_seconds(pause);
                let hold = self.hold.clone();
                self.app
                    .store
                    .write(move |conn| {
                        Box::pin(async move { rows::retry(conn, &hold, why, true, again).await })
                    })
                    .await?;
                Ok(Paged::Left(Left::Waits))
            }
            NoPage::Place(why) if self.row.restarts >= RESTARTS_MAX => self.failed(why, false).await,
            NoPage::Place(why) => {
                let hold = self.hold.clone();
                self.app
                    .store
                    .write(move |conn| Box::pin(async move { rows::restart(conn, &hold, why).await }))
                    .await?;
                self.row.restarts += 1;
                self.row.position = None;
                self.seen.clear();
                Ok(Paged::More)
            }
        }
    }
}
