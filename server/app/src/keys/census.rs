//! What is wrapped by which master key, and what keys a tenant has. Never a byte of a key.

use std::collections::BTreeMap;

use restante_core::id::TenantId;
use restante_core::seal::{KekId, KeyClass, KeyState, WrappedKey};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::tenant_keys;

use super::{CHECK_ROWS, TenantKeyRows};
use crate::App;

/// A master key, and how much hangs on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MasterKeyUse {
    /// Its id.
    pub id: KekId,
    /// Whether it is in the key file that is loaded here.
    pub loaded: bool,
    /// Whether it is the one that wraps.
    pub active: bool,
    /// Keys of tenants that it wraps.
    pub tenant_keys: u64,
    /// Keys of people that it wraps.
    pub people: u64,
}

impl MasterKeyUse {
    /// Keys that it wraps.
    pub const fn wraps(&self) -> u64 {
        self.tenant_keys + self.people
    }
}

/// Keys of tenants by class and state.
pub type KeyTotals = BTreeMap<(KeyClass, &'static str), u64>;

/// A key of a tenant, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantKeyShown {
    /// What it is for.
    pub class: KeyClass,
    /// Its version.
    pub version: u32,
    /// What it may still do.
    pub state: KeyState,
    /// When it was made.
    pub created_at: Timestamp,
    /// The master key that wraps it; `None` once it is destroyed, and for one that is damaged.
    pub wrapped_by: Option<KekId>,
    /// Whether it is the one that seals now: a new one does so two minutes after it was made.
    pub seals: bool,
}

/// Counts what each master key wraps.
///
/// # Errors
/// What the database ran into.
pub(super) async fn count(
    rows: &impl TenantKeyRows,
) -> Result<(BTreeMap<KekId, (u64, u64)>, KeyTotals), StoreError> {
    let (uses, totals, _) = count_some(rows, u32::MAX).await?;
    Ok((uses, totals))
}

/// The same of so many pages of each at most; tells whether that was all.
async fn count_some(
    rows: &impl TenantKeyRows,
    pages_max: u32,
) -> Result<(BTreeMap<KekId, (u64, u64)>, KeyTotals, bool), StoreError> {
    let mut is_whole = true;
    let (mut uses, mut totals) = (BTreeMap::<KekId, (u64, u64)>::new(), KeyTotals::new());
    let (mut after, mut pages) = (None, 0);
    loop {
        if pages == pages_max {
            is_whole = false;
            break;
        }
        pages += 1;
        let page = rows.page(after, CHECK_ROWS).await?;
        let Some((tenant, last)) = page.last() else { break };
        after = Some((*tenant, last.class, last.version));
        for (_, row) in &page {
            *totals.entry((row.class, row.state.as_str())).or_default() += 1;
            if let Ok(wrapped) = WrappedKey::parse(&row.wrapped) {
                uses.entry(wrapped.kek_id()).or_default().0 += 1;
            }
        }
    }
    let (mut after, mut pages) = (None, 0);
    loop {
        if pages == pages_max {
            is_whole = false;
            break;
        }
        pages += 1;
        let page = rows.people_page(after, CHECK_ROWS).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        for (_, wrapped) in &page {
            if let Ok(wrapped) = WrappedKey::parse(wrapped) {
                uses.entry(wrapped.kek_id()).or_default().1 += 1;
            }
        }
    }
    Ok((uses, totals, is_whole))
}

/// Pages of keys that are counted for a page in the browser.
const SHOWN_PAGES_MAX: u32 = 20;

impl App {
    /// The master keys that are loaded or in use, the active one first, and the tenants' keys in numbers.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn master_keys_in_use(&self) -> Result<(Vec<MasterKeyUse>, KeyTotals), StoreError> {
        let (keys, totals, _) = self.count_master_keys(u32::MAX).await?;
        Ok((keys, totals))
    }

    /// The same of the first twenty thousand keys at most; tells whether these were all.
    ///
    /// # Errors
    /// What the database ran into.
    pub(crate) async fn some_master_keys_in_use(
        &self,
    ) -> Result<(Vec<MasterKeyUse>, KeyTotals, bool), StoreError> {
        self.count_master_keys(SHOWN_PAGES_MAX).await
    }

    async fn count_master_keys(
        &self,
        pages_max: u32,
    ) -> Result<(Vec<MasterKeyUse>, KeyTotals, bool), StoreError> {
        let (mut uses, totals, is_whole) = count_some(&self.store, pages_max).await?;
        let ring = self.keys.ring();
        let mut shown: Vec<MasterKeyUse> = ring
            .ids()
            .map(|id| {
                let (tenant_keys, people) = uses.remove(&id).unwrap_or_default();
                MasterKeyUse { id, loaded: true, active: id == ring.active_id(), tenant_keys, people }
            })
            .collect();
        shown.extend(uses.into_iter().map(|(id, (tenant_keys, people))| MasterKeyUse {
            id,
            loaded: false,
            active: false,
            tenant_keys,
            people,
        }));
        Ok((shown, totals, is_whole))
    }

    /// The keys of a tenant, by class and version.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn keys_of_tenant(&self, tenant: TenantId) -> Result<Vec<TenantKeyShown>, StoreError> {
        let rows =
            self.store.read(move |conn| Box::pin(tenant_keys::of_tenant_with_times(conn, tenant))).await?;
        let sealing = |class: KeyClass| {
            let usable = || {
                rows.iter()
                    .map(|(row, _)| row)
                    .filter(|row| row.class == class && row.state != KeyState::Destroyed)
            };
            let settled = usable().filter(|row| row.settled).map(|row| row.version).max();
            settled.or_else(|| usable().map(|row| row.version).min())
        };
        let seals = KeyClass::ALL.map(|class| (class, sealing(class)));
        Ok(rows
            .iter()
            .map(|(row, created_at)| TenantKeyShown {
                class: row.class,
                version: row.version,
                state: row.state,
                created_at: *created_at,
                wrapped_by: WrappedKey::parse(&row.wrapped).ok().map(|wrapped| wrapped.kek_id()),
                seals: seals.contains(&(row.class, Some(row.version))),
            })
            .collect())
    }
}
