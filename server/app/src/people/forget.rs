//! Removing what people had that has run out: sessions, marks of browsers, links. None of it opened
//! anything any more. Safe to run twice, to be killed, and on several nodes at once.

use restante_store::StoreError;
use restante_store::control::{devices, links, sessions};

use super::{DEVICE_SECONDS_MAX, IDLE_SECONDS_MAX};
use crate::App;

/// Rows of each kind that one pass removes; what is left waits for the next.
const ROWS_PER_PASS: u32 = 1_000;
/// How long a link that has run out is kept.
const LINK_KEPT_SECONDS: i64 = 24 * 60 * 60;

impl App {
    /// Removes what has run out; tells how many rows.
    ///
    /// # Errors
    /// What the database ran into.
    pub(crate) async fn forget_what_ran_out(&self) -> Result<u64, StoreError> {
        let now = self.clock.now();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let idle = now.plus_seconds(-IDLE_SECONDS_MAX);
                    let mut forgotten = sessions::expire(conn, idle, ROWS_PER_PASS).await?;
                    let unused = now.plus_seconds(-DEVICE_SECONDS_MAX);
                    forgotten += devices::expire(conn, unused, ROWS_PER_PASS).await?;
                    let over = now.plus_seconds(-LINK_KEPT_SECONDS);
                    forgotten += links::expire(conn, over, ROWS_PER_PASS).await?;
                    Ok(forgotten)
                })
            })
            .await
    }
}
