//! From a presented API key to who calls. The look-up is kept for a few seconds, so that a request
//! costs no query; a revoked key stops within that on every node, and at once on this one. What waits
//! before it acts looks again, in the transaction that acts.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use restante_core::access::{Principal, Scope};
use restante_core::id::{KeyId, TenantId};
use restante_core::problem::{Code, Problem};
use restante_core::time::Timestamp;
use restante_core::token::{ApiKey, NO_KEY_HASH, TokenHash};
use restante_store::control::api_keys::{self, KeyRecord};
use restante_store::{Conn, StoreError};
use tokio::task::JoinHandle;

use crate::App;

/// The oldest that a kept look-up may be.
const AGE_MICROS_MAX: u64 = 5 * 1_000_000;
/// Keys that are kept.
const KEYS_MAX: usize = 10_000;
/// The last use of a key is kept to the minute: a write a minute and key, whatever it is used for.
const USED_GRAIN_MICROS: i64 = 60 * 1_000_000;

/// What was looked up of API keys a moment ago. Unknown keys are not kept: there are too many.
#[derive(Debug, Default)]
pub struct Callers {
    known: RwLock<HashMap<TokenHash, Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    record: KeyRecord,
    read_at: Timestamp,
}

impl Callers {
    fn find(&self, lookup: &TokenHash, now: Timestamp) -> Option<KeyRecord> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(lookup)?;
        // The distance counts, so that a clock that jumps back can't keep an entry for ever.
        let age = now.micros().abs_diff(found.read_at.micros());
        (age < AGE_MICROS_MAX).then(|| found.record.clone())
    }

    fn keep(&self, lookup: TokenHash, record: &KeyRecord, read_at: Timestamp) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEYS_MAX {
            known.clear();
        }
        known.insert(lookup, Known { record: record.clone(), read_at });
    }

    /// Whether the caller is the one who writes down that the key was used in this minute.
    fn begin_use(&self, lookup: &TokenHash, minute: Timestamp) -> bool {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = known.get_mut(lookup) else { return false };
        let is_new = found.record.last_used_at.is_none_or(|last| last < minute);
        if is_new {
            found.record.last_used_at = Some(minute);
        }
        is_new
    }

    /// Forgets the keys of a tenant that was deleted.
    pub(crate) fn forget_tenant(&self, tenant: TenantId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, entry| entry.record.tenant != tenant);
    }

    /// Forgets a key that was revoked.
    pub(crate) fn forget(&self, key: KeyId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, entry| entry.record.id != key);
    }
}

impl App {
    /// Finds whose key a token is, and what it may do.
    ///
    /// # Errors
    /// `unauthorized` when it is nobody's, was revoked or has expired; `unavailable` when the
    /// database can't be asked.
    pub async fn authenticate(&self, token: &str) -> Result<Principal, Problem> {
        self.authenticate_and_note(token).await.map(|(principal, _)| principal)
    }

    /// Also gives the task that writes down the use of the key, which nobody waits for but tests.
    pub(crate) async fn authenticate_and_note(
        &self,
        token: &str,
    ) -> Result<(Principal, Option<JoinHandle<()>>), Problem> {
        let key = ApiKey::parse(token).ok_or_else(unknown)?;
        let lookup = key.lookup_hash();
        let now = self.clock.now();
        let record = match self.callers.find(&lookup, now) {
            Some(record) => Some(record),
            None => self.read_key(lookup, now).await.map_err(|error| {
                tracing::warn!(%error, "an API key could not be looked up");
                error.into_problem()
            })?,
        };
        // Compared also where there is nothing to compare with, so that the answer takes as long.
        let kept = record.as_ref().map_or(&NO_KEY_HASH, |record| &record.secret_hash);
        let matches = key.hash().matches(kept);
        let record = record.filter(|_| matches).ok_or_else(unknown)?;
        not_expired(record.expires_at, now)?;
        let principal =
            Principal { tenant: record.tenant, key: Some(record.id), user: None, scopes: record.scopes };
        Ok((principal, self.note_use(&lookup, &record, now)))
    }

    async fn read_key(&self, lookup: TokenHash, now: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        let found =
            self.store.read(move |conn| Box::pin(async move { api_keys::find(conn, &lookup).await })).await?;
        if let Some(record) = &found {
            self.callers.keep(lookup, record, now);
        }
        Ok(found)
    }

    fn note_use(&self, lookup: &TokenHash, record: &KeyRecord, now: Timestamp) -> Option<JoinHandle<()>> {
        let minute = Timestamp::from_micros(now.micros().div_euclid(USED_GRAIN_MICROS) * USED_GRAIN_MICROS);
        if record.last_used_at.is_some_and(|last| last >= minute) || !self.callers.begin_use(lookup, minute) {
            return None;
        }
        let (store, tenant, key) = (self.store.clone(), record.tenant, record.id);
        Some(tokio::spawn(async move {
            let written = store
                .write(move |conn| Box::pin(async move { api_keys::used(conn, tenant, key, minute).await }))
                .await;
            if let Err(error) = written {
                tracing::debug!(key.id = %key, %error, "the use of an API key was not written down");
            }
        }))
    }
}

/// Looks again whether the caller may do what it was let in for, in the transaction that does it: a
/// request that waited, for an event or for its turn, may have outlived its key. A suspended tenant gets
/// no events either.
///
/// # Errors
/// `unauthorized` when the key was revoked or has expired since, `missing-scope` when it lost the scope,
/// `unavailable` while its tenant is suspended.
pub(crate) async fn look_again(
    conn: &mut Conn<'_>,
    caller: Principal,
    scope: Scope,
    now: Timestamp,
) -> Result<(), StoreError> {
    // A person's session is not this one's to judge.
    let Some(key) = caller.key else { return Ok(()) };
    let known = api_keys::now(conn, caller.tenant, key).await?.ok_or_else(unknown)?;
    not_expired(known.expires_at, now)?;
    Principal { scopes: known.scopes, ..caller }.require(scope)?;
    if known.tenant_suspended {
        return Err(Problem::new(
            Code::Unavailable,
            "This tenant is suspended, so no events are handed out now. They are kept.",
        )
        .into());
    }
    Ok(())
}

fn not_expired(expires_at: Option<Timestamp>, now: Timestamp) -> Result<(), Problem> {
    match expires_at.filter(|expires_at| *expires_at <= now) {
        None => Ok(()),
        Some(expired_at) => Err(Problem::new(
            Code::Unauthorized,
            format!("This API key expired at {expired_at}. Make a new one."),
        )),
    }
}

fn unknown() -> Problem {
    Problem::new(
        Code::Unauthorized,
        "This API key is not known: it is mistyped, cut short, or was revoked. A key begins with `rst_`.",
    )
}
