//! Keys at run time: the operator's master keys from their file, and the tenants' keys unwrapped for
//! as long as they are in use. What keys are and what they seal stands in `restante_core::seal`.

mod cache;
mod census;
mod finish;
mod master_change;
mod master_file;
mod master_file_change;
#[cfg(test)]
mod operations_tests;
mod reload;
mod reseal;
mod rewrap;
mod rotate;
#[cfg(test)]
mod tests;

pub use cache::TenantKeys;
pub use census::{KeyTotals, MasterKeyUse, TenantKeyShown};
pub(crate) use finish::finish_rotations;
pub use master_change::{Kept, KeysChangeError};
pub use master_file::{MasterKeyError, MasterKeys, load_master_keys, read_master_keys};
pub use reload::ReloadError;
pub use reseal::Resealed;
pub use rewrap::Rewrapped;

use std::collections::BTreeSet;
use std::future::Future;

use restante_core::id::{TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::seal::{KekId, KeyClass, KeyRing, KeyState, SealError, TenantKeyRow, WrappedKey};
use restante_store::control::{second_factors, tenant_keys};
use restante_store::{Store, StoreError};

/// Keys that one step of the check at start reads.
const CHECK_ROWS: u32 = 1_000;

/// Where a row of `tenant_keys` stands, to go on behind it.
pub type KeyPosition = (TenantId, KeyClass, u32);

/// The wrapped keys of tenants, wherever they are kept.
pub trait TenantKeyRows: Sync {
    /// Every key of a tenant; none when there is no such tenant.
    fn of_tenant(
        &self,
        tenant: TenantId,
    ) -> impl Future<Output = Result<Vec<TenantKeyRow>, StoreError>> + Send;

    /// The keys of all tenants in steps, in order, those behind `after`.
    fn page(
        &self,
        after: Option<KeyPosition>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<(TenantId, TenantKeyRow)>, StoreError>> + Send;

    /// The wrapped keys of people in steps, in order, those behind `after`.
    fn people_page(
        &self,
        after: Option<UserId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<(UserId, Vec<u8>)>, StoreError>> + Send;
}

impl TenantKeyRows for Store {
    async fn of_tenant(&self, tenant: TenantId) -> Result<Vec<TenantKeyRow>, StoreError> {
        self.read(|conn| Box::pin(tenant_keys::of_tenant(conn, tenant))).await
    }

    async fn page(
        &self,
        after: Option<KeyPosition>,
        limit: u32,
    ) -> Result<Vec<(TenantId, TenantKeyRow)>, StoreError> {
        self.read(|conn| Box::pin(tenant_keys::of_all_tenants(conn, after, limit))).await
    }

    async fn people_page(
        &self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<(UserId, Vec<u8>)>, StoreError> {
        let rows = self.read(|conn| Box::pin(second_factors::page(conn, after, limit))).await?;
        Ok(rows.into_iter().map(|row| (row.user, row.key_wrapped)).collect())
    }
}

/// Why a tenant's keys can't be had. Holds no bytes of keys.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The database couldn't be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tenant has no keys, so there is no such tenant.
    #[error("there is no tenant {0}")]
    NoTenant(TenantId),
    /// The keys can't be used.
    #[error("the keys of tenant {tenant} can't be used: {cause}")]
    Unusable {
        /// Whose keys.
        tenant: TenantId,
        /// Why.
        cause: SealError,
    },
}

impl KeysError {
    /// What a client is told. A missing master key is the operator's matter and stands in the log.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Store(error) => error.into_problem(),
            Self::NoTenant(_) => Problem::new(Code::NotFound, "There is no such tenant."),
            Self::Unusable { .. } => Problem::new(
                Code::Unavailable,
                "The keys of this tenant can't be used now. The log of the server says why.",
            ),
        }
    }
}

/// Why the server must not start with these master keys.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The database couldn't be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Some keys are wrapped under master keys that are not loaded.
    #[error(
        "the database holds keys that are wrapped under master keys which are not loaded ({}): add these to \
         the master key file, below the first key",
        names(.0)
    )]
    NotLoaded(Vec<KekId>),
    /// A key doesn't unwrap, although its master key is loaded.
    #[error(
        "a key of tenant {tenant} is damaged and does not unwrap: restore the table tenant_keys from a backup"
    )]
    Damaged {
        /// Whose key it is.
        tenant: TenantId,
    },
}

fn names(ids: &[KekId]) -> String {
    ids.iter().map(KekId::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether nothing is sealed yet: only then may a master key be made.
///
/// # Errors
/// What the database ran into.
pub async fn is_instance_empty(rows: &impl TenantKeyRows) -> Result<bool, StoreError> {
    Ok(rows.page(None, 1).await?.is_empty() && rows.people_page(None, 1).await?.is_empty())
}

/// Checks at start that every master key in use is loaded, and that one key under each unwraps, so
/// that a wrong key file is found before the first request and not by it.
///
/// # Errors
/// All master keys that are missing, or a key that is damaged.
pub async fn check_master_keys(ring: &KeyRing, rows: &impl TenantKeyRows) -> Result<(), CheckError> {
    let (mut tried, mut missing) = (BTreeSet::new(), BTreeSet::new());
    let mut after = None;
    loop {
        let page = rows.page(after, CHECK_ROWS).await?;
        let Some((tenant, last)) = page.last() else { break };
        after = Some((*tenant, last.class, last.version));
        for (tenant, row) in page.iter().filter(|(_, row)| row.state != KeyState::Destroyed) {
            let damaged = |_| CheckError::Damaged { tenant: *tenant };
            let wrapped = WrappedKey::parse(&row.wrapped).map_err(damaged)?;
            if !ring.holds(wrapped.kek_id()) {
                missing.insert(wrapped.kek_id());
            } else if tried.insert(wrapped.kek_id()) {
                ring.unwrap(*tenant, row.version, &wrapped).map_err(damaged)?;
            }
        }
    }
    // A damaged key of a person keeps one person out, and no server down.
    let mut after = None;
    loop {
        let page = rows.people_page(after, CHECK_ROWS).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        let wrapped = page.iter().filter_map(|(_, wrapped)| WrappedKey::parse(wrapped).ok());
        missing.extend(wrapped.map(|wrapped| wrapped.kek_id()).filter(|id| !ring.holds(*id)));
    }
    if missing.is_empty() { Ok(()) } else { Err(CheckError::NotLoaded(missing.into_iter().collect())) }
}
