//! Turns to try a list out. While one is tried its answer is in memory, as large as an answer may be and for as long as
//! a call may last, so only a few are tried at once on a node, and one of a tenant.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use restante_core::id::TenantId;
use restante_core::problem::{Code, Problem};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// Lists that are tried at once.
static AT_ONCE: Semaphore = Semaphore::const_new(4);
/// Whose lists are being tried or wait for it.
static TENANTS: Mutex<BTreeSet<TenantId>> = Mutex::new(BTreeSet::new());
/// So long somebody waits for a turn.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// A turn, until it is dropped.
pub(super) struct Turn {
    _place: Place,
    _permit: SemaphorePermit<'static>,
}

/// A tenant's one place.
struct Place(TenantId);

impl Turn {
    /// The next turn of a tenant.
    ///
    /// # Errors
    /// [`Code::RateLimited`] while another list of the tenant is tried, [`Code::Unavailable`] while too many of others are.
    pub(super) async fn of(tenant: TenantId) -> Result<Self, Problem> {
        if !TENANTS.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant) {
            let detail =
                "Another list of this tenant is being tried out just now. Try again in half a minute.";
            return Err(Problem::new(Code::RateLimited, detail));
        }
        let place = Place(tenant);
        match timeout(WAIT_MAX, AT_ONCE.acquire()).await {
            Ok(Ok(permit)) => Ok(Self { _place: place, _permit: permit }),
            _ => {
                let detail = "Many lists are being tried out just now. Try again in half a minute.";
                Err(Problem::new(Code::Unavailable, detail))
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        TENANTS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_tenant_tries_one_list_at_a_time_and_all_of_them_a_few() {
        let tenant = |number| TenantId(Uuid::from_u128(number));
        let code = |turn: Result<Turn, Problem>| turn.err().map(|problem| problem.code);
        let first = Turn::of(tenant(1)).await.unwrap();
        assert_eq!(code(Turn::of(tenant(1)).await), Some(Code::RateLimited));
        drop(first);
        let again = Turn::of(tenant(1)).await.unwrap();
        let mut others = Vec::new();
        for number in 2..=4 {
            others.push(Turn::of(tenant(number)).await.unwrap());
        }
        // The fifth gets its turn when one of the four has ended, and has its tenant's place meanwhile.
        let fifth = tokio::spawn(Turn::of(tenant(5)));
        while !TENANTS.lock().unwrap().contains(&tenant(5)) {
            tokio::task::yield_now().await;
        }
        assert!(!fifth.is_finished());
        drop(again);
        assert!(fifth.await.unwrap().is_ok());
    }
}
