//! The tenants' keys, unwrapped, for at most a minute: what an operator destroys or rotates on
//! another node is noticed within that time, and keys that nobody uses don't lie in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use restante_core::id::TenantId;
use restante_core::seal::{KeyClass, KeyRing, NewKey, TenantKeyRow, TenantKeyset};
use restante_core::secret::Secret;
use restante_core::time::{Clock, Timestamp};

use super::{KeysError, TenantKeyRows};
use crate::random::Random;

/// How long unwrapped keys are used without asking again: 60 seconds.
const AGE_MICROS_MAX: i64 = 60 * 1_000_000;
/// Tenants whose keys are held at once.
const TENANTS_MAX: usize = 10_000;

/// Unwraps tenants' keys and keeps them for a while. Has no `Debug`.
pub struct TenantKeys {
    ring: RwLock<Arc<KeyRing>>,
    clock: Arc<dyn Clock>,
    tenants_max: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    keys: HashMap<TenantId, (Timestamp, Arc<TenantKeyset>)>,
    // Raised by `forget`, so that rows which were read before it are not kept after it.
    forgotten: u64,
}

impl TenantKeys {
    /// A cache over the master keys.
    pub fn new(ring: KeyRing, clock: Arc<dyn Clock>) -> Self {
        Self::with_room(ring, clock, TENANTS_MAX)
    }

    pub(super) fn with_room(ring: KeyRing, clock: Arc<dyn Clock>, tenants_max: usize) -> Self {
        Self { ring: RwLock::new(Arc::new(ring)), clock, tenants_max, held: Mutex::default() }
    }

    /// The master keys.
    pub fn ring(&self) -> Arc<KeyRing> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes other master keys into use. Tenants' keys that are unwrapped already stay: they are the same
    /// under any wrapping.
    pub fn replace_ring(&self, ring: KeyRing) {
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
    }

    /// The keys of a tenant, at most a minute old.
    ///
    /// # Errors
    /// When there is no such tenant, its keys can't be unwrapped, or the database can't be asked.
    pub async fn of(
        &self,
        tenant: TenantId,
        rows: &impl TenantKeyRows,
    ) -> Result<Arc<TenantKeyset>, KeysError> {
        let now = self.clock.now();
        let forgotten = {
            let held = self.held();
            if let Some((since, keys)) = held.keys.get(&tenant)
                && is_fresh(*since, now)
            {
                return Ok(Arc::clone(keys));
            }
            held.forgotten
        };
        let rows = rows.of_tenant(tenant).await?;
        if rows.is_empty() {
            return Err(KeysError::NoTenant(tenant));
        }
        let keys = TenantKeyset::unwrap(&self.ring(), tenant, &rows)
            .map_err(|cause| KeysError::Unusable { tenant, cause })?;
        let keys = Arc::new(keys);
        let mut held = self.held();
        if held.forgotten == forgotten {
            held.make_room(tenant, now, self.tenants_max);
            // The age counts from before the rows were read.
            held.keys.insert(tenant, (now, Arc::clone(&keys)));
        }
        Ok(keys)
    }

    /// The keys of a new tenant, and the rows to insert in the transaction that makes it. They are
    /// not kept here before that has committed.
    pub fn create(&self, tenant: TenantId, random: &dyn Random) -> (TenantKeyset, [TenantKeyRow; 3]) {
        TenantKeyset::create(&self.ring(), tenant, &KeyClass::ALL.map(|_| new_key(random)))
    }

    /// The row of a key that takes the place of a class's active one.
    pub fn replacement(
        &self,
        tenant: TenantId,
        class: KeyClass,
        version: u32,
        random: &dyn Random,
    ) -> TenantKeyRow {
        TenantKeyset::new_row(&self.ring(), tenant, class, version, &new_key(random))
    }

    /// Drops a tenant's keys, after they were rotated or destroyed. Work that is under way with them
    /// ends with them.
    pub fn forget(&self, tenant: TenantId) {
        let mut held = self.held();
        held.forgotten = held.forgotten.wrapping_add(1);
        held.keys.remove(&tenant);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Every change is one insertion or removal, so a panic elsewhere leaves nothing half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn make_room(&mut self, tenant: TenantId, now: Timestamp, tenants_max: usize) {
        if self.keys.len() < tenants_max || self.keys.contains_key(&tenant) {
            return;
        }
        self.keys.retain(|_, (since, _)| is_fresh(*since, now));
        if self.keys.len() >= tenants_max {
            let oldest = self.keys.iter().min_by_key(|(_, (since, _))| *since).map(|(tenant, _)| *tenant);
            oldest.map(|tenant| self.keys.remove(&tenant));
        }
    }
}

/// A clock that was set back makes keys stale rather than young.
fn is_fresh(since: Timestamp, now: Timestamp) -> bool {
    (0..AGE_MICROS_MAX).contains(&now.micros_since(since))
}

fn new_key(random: &dyn Random) -> NewKey {
    NewKey { key: Secret::new(random.bytes()), nonce: random.bytes() }
}
