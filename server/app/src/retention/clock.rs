//! Whether the time can be believed. Nothing is removed by a clock that jumped.

use restante_core::problem::{Code, Problem};
use restante_core::time::Timestamp;
use restante_store::control::instance_audit;
use restante_store::{StoreError, retention};
use serde_json::json;

use crate::App;
use crate::administration::administrator;
use crate::people::Actor;

/// How far a node's clock and the database's may be apart.
const DISAGREEMENT_SECONDS_MAX: i64 = 3_600;
/// How long the instance may have been out of sight.
const UNSEEN_SECONDS_MAX: i64 = 48 * 3_600;

impl App {
    /// Notes that the instance is alive, unless the clock has leapt. The sweep does so each minute.
    ///
    /// # Errors
    /// What the database ran into.
    pub(crate) async fn note_alive(&self) -> Result<(), StoreError> {
        let node = self.clock.now();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let now = conn.now().await?;
                    if disagree(node, now) {
                        return Ok(());
                    }
                    if retention::seen(conn).await?.is_none_or(|seen| seen < now.plus_seconds(-30)) {
                        retention::note_seen(conn, now, Some(UNSEEN_SECONDS_MAX)).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// An administrator says that the clock is right, so that retention goes on after the instance was away for long.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; a conflict while the clocks of this node and the database disagree.
    pub async fn confirm_clock(&self, actor: &Actor) -> Result<(), StoreError> {
        let node = self.clock.now();
        let line =
            actor.line(&*self.random, node, "retention.clock_confirm", "instance".to_owned(), &json!({}));
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let now = conn.now().await?;
                    if disagree(node, now) {
                        return Err(Problem::new(Code::Conflict, disagreement(node, now)).into());
                    }
                    retention::note_seen(conn, now, None).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }
}

fn disagree(node: Timestamp, database: Timestamp) -> bool {
    node.micros_since(database).unsigned_abs() > DISAGREEMENT_SECONDS_MAX.unsigned_abs() * 1_000_000
}

fn disagreement(node: Timestamp, database: Timestamp) -> String {
    format!(
        "This node's clock says {node} and the database's says {database}. Nothing is removed until they agree; set both by NTP."
    )
}

/// Why a run at the database's time must not remove anything; `None` when it may.
pub(crate) fn doubt(node: Timestamp, database: Timestamp, seen: Option<Timestamp>) -> Option<String> {
    if disagree(node, database) {
        return Some(disagreement(node, database));
    }
    let seen = seen?;
    let away = database.micros_since(seen) / 1_000_000;
    (away > UNSEEN_SECONDS_MAX).then(|| {
        format!(
            "The clock says {database}, and this instance was last seen alive at {seen}, {} days before. If the clock is right, \
             an administrator says so on the page of retention runs, or `restante retention run --at {database}` does. Until \
             then nothing is removed.",
            away / 86_400
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_believed_within_an_hour_of_the_database_and_two_days_of_the_last_sight() {
        let at = |seconds: i64| Timestamp::from_seconds(1_000_000_000 + seconds);
        assert_eq!(doubt(at(0), at(0), None), None);
        assert_eq!(doubt(at(3_600), at(0), Some(at(0))), None);
        assert!(doubt(at(3_601), at(0), Some(at(0))).unwrap().contains("NTP"));
        assert!(doubt(at(-3_601), at(0), None).is_some());
        let days = 86_400;
        assert_eq!(doubt(at(2 * days), at(2 * days), Some(at(0))), None);
        assert!(doubt(at(2 * days + 1), at(2 * days + 1), Some(at(0))).unwrap().contains("--at"));
        // A clock that went back removes less, not more.
        assert_eq!(doubt(at(-400 * days), at(-400 * days), Some(at(0))), None);
        for far in [i64::MAX, i64::MIN] {
            let far = Timestamp::from_micros(far);
            let _ = doubt(far, at(0), Some(at(0)));
            let _ = doubt(far, far, Some(at(0)));
        }
    }
}
