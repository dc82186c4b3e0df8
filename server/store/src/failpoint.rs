//! Points on the way of a commit at which a test makes the program fail, end or wait, since no
//! request from outside can bring that about. Without the feature `failpoints` they are nothing.
//!
//! `RESTANTE_FAILPOINT` holds `POINT:ACTION[@N]`, several with a comma between; with `@N` it is the
//! N-th time only that the point is passed. An action is `error`, `abort` (the process ends at once)
//! or `wait=HOST:PORT` (it connects there and goes on when the connection ends).

use crate::engine::StoreError;

/// Written and not yet committed.
pub(crate) const BEFORE_COMMIT: &str = "before_commit";
/// Keys are wrapped anew, and the step is not committed.
pub(crate) const REWRAP: &str = "rewrap";
/// Secrets are sealed anew, and the step is not committed.
pub(crate) const RESEAL: &str = "reseal";
/// A stretch of a table was copied, and is not committed.
pub(crate) const COPY: &str = "copy";
/// Committed, and nobody has been answered.
pub(crate) const AFTER_COMMIT: &str = "after_commit";

/// A batch of retention has removed something and is not yet committed.
pub(crate) const RETENTION_BATCH: &str = "retention_batch";
/// A page of a provider's list is written and not yet committed.
pub(crate) const RECONCILIATION_PAGE: &str = "reconciliation_page";

/// Passes a point.
///
/// # Errors
/// When the test wants one.
#[cfg(not(feature = "failpoints"))]
pub(crate) async fn pass(_point: &'static str) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(feature = "failpoints")]
pub(crate) use armed::pass;

#[cfg(feature = "failpoints")]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpStream;

    use super::StoreError;

    struct Order {
        point: String,
        action: String,
        /// The one time that counts; `None`: every time.
        only: Option<u64>,
        passed: AtomicU64,
    }

    static ORDERS: LazyLock<Vec<Order>> = LazyLock::new(|| {
        let text = std::env::var("RESTANTE_FAILPOINT").unwrap_or_default();
        text.split(',').filter_map(read).collect()
    });

    fn read(order: &str) -> Option<Order> {
        let (point, action) = order.trim().split_once(':')?;
        let (action, only) = match action.split_once('@') {
            Some((action, number)) => (action, Some(number.parse().ok()?)),
            None => (action, None),
        };
        Some(Order { point: point.to_owned(), action: action.to_owned(), only, passed: AtomicU64::new(0) })
    }

    pub(crate) async fn pass(point: &'static str) -> Result<(), StoreError> {
        for order in ORDERS.iter().filter(|order| order.point == point) {
            let time = order.passed.fetch_add(1, Ordering::SeqCst) + 1;
            if order.only.is_some_and(|only| only != time) {
                continue;
            }
            match order.action.split_once('=') {
                Some(("wait", address)) => wait(address).await,
                None if order.action == "abort" => std::process::abort(),
                _ => {
                    let detail = "a test wanted it to fail".to_owned();
                    return Err(StoreError::Unavailable { statement: point, detail });
                }
            }
        }
        Ok(())
    }

    /// Waits for the test to let go; one that is no longer there has let go.
    async fn wait(address: &str) {
        if let Ok(mut gate) = TcpStream::connect(address).await {
            let _ = gate.read(&mut [0]).await;
        }
    }
}
