//! The operator's master keys. One is active and wraps new tenant keys; the others only unwrap, so
//! that a master key can be changed without a pause. Where the keys come from is not known here.

use std::fmt;
use std::str::FromStr;

use zeroize::Zeroize;

use super::tenant_key::derive;
use super::wrapped::{self, WrappedKey};
use super::xaes::Xaes256Gcm;
use super::{KEY_BYTES, KeyClass, NONCE_BYTES, SealError, TenantKey};
use crate::id::TenantId;
use crate::secret::Secret;

/// The name of a master key: derived from the key itself, so that wrong bytes can't come under a
/// right name. It tells nothing of the key and may be printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KekId(pub [u8; 8]);

impl KekId {
    /// The name of a key.
    pub fn of(key: &Secret<[u8; KEY_BYTES]>) -> Self {
        Self(derive(b"inbox-kek-v1", key.expose()).expand(b"id"))
    }
}

impl FromStr for KekId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut id = [0; 8];
        hex::decode_to_slice(text, &mut id).map_err(|_| NotAnId)?;
        Ok(Self(id))
    }
}

/// A text that is no id of a master key. It may be the key itself, so it is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no id of a master key: an id has 16 hexadecimal digits, as `restante keys list` shows them")]
pub struct NotAnId;

impl fmt::Display for KekId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KekId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why keys make no ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// There is none.
    #[error("there is no master key: at least one is needed")]
    Empty,
    /// The same key stands twice.
    #[error("master key {0} is given twice: remove one of the two")]
    Twice(KekId),
}

struct MasterKey {
    id: KekId,
    wrapping: Xaes256Gcm,
}

impl MasterKey {
    fn new(key: &Secret<[u8; KEY_BYTES]>) -> Self {
        let derived = derive(b"inbox-kek-v1", key.expose());
        let mut wrapping_key = derived.expand(b"wrap");
        let made = Self { id: KekId::of(key), wrapping: Xaes256Gcm::new(&wrapping_key) };
        wrapping_key.zeroize();
        made
    }
}

/// The master keys that are loaded. Wiped from memory when dropped; has no `Debug`.
pub struct KeyRing {
    active: MasterKey,
    others: Vec<MasterKey>,
}

impl KeyRing {
    /// Makes a ring. The first key is active, the others only unwrap.
    ///
    /// # Errors
    /// Without a key, or when one stands twice.
    pub fn new(keys: &[Secret<[u8; KEY_BYTES]>]) -> Result<Self, RingError> {
        let (first, rest) = keys.split_first().ok_or(RingError::Empty)?;
        let mut ring = Self { active: MasterKey::new(first), others: Vec::with_capacity(rest.len()) };
        for key in rest {
            let key = MasterKey::new(key);
            if ring.holds(key.id) {
                return Err(RingError::Twice(key.id));
            }
            ring.others.push(key);
        }
        Ok(ring)
    }

    /// The key that wraps.
    pub const fn active_id(&self) -> KekId {
        self.active.id
    }

    /// Every key that is loaded, the active one first.
    pub fn ids(&self) -> impl Iterator<Item = KekId> + '_ {
        std::iter::once(self.active.id).chain(self.others.iter().map(|key| key.id))
    }

    /// Whether a key is loaded.
    pub fn holds(&self, id: KekId) -> bool {
        self.ids().any(|known| known == id)
    }

    /// Wraps a tenant's key under the active master key.
    pub fn wrap(
        &self,
        tenant: TenantId,
        class: KeyClass,
        version: u32,
        key: &Secret<[u8; KEY_BYTES]>,
        nonce: [u8; NONCE_BYTES],
    ) -> WrappedKey {
        let head = wrapped::head(class, self.active.id);
        let mut encrypted = *key.expose();
        let associated = wrapped::associated_data(&head, tenant, version);
        let tag = self.active.wrapping.encrypt(&nonce, &associated, &mut encrypted);
        WrappedKey::assemble(&head, class, &nonce, &encrypted, &tag)
    }

    /// Unwraps a tenant's key for use.
    ///
    /// # Errors
    /// [`SealError::UnknownMasterKey`] when the key that wraps it is not loaded,
    /// [`SealError::NotAuthentic`] when it is another tenant's, another version, or was changed.
    pub fn unwrap(
        &self,
        tenant: TenantId,
        version: u32,
        wrapped: &WrappedKey,
    ) -> Result<TenantKey, SealError> {
        let key = self.unwrap_bytes(tenant, version, wrapped)?;
        Ok(TenantKey::new(tenant, wrapped.class(), version, &key))
    }

    /// Wraps anew under the active master key what another one wrapped.
    ///
    /// # Errors
    /// As [`unwrap`](Self::unwrap).
    pub fn rewrap(
        &self,
        tenant: TenantId,
        version: u32,
        wrapped: &WrappedKey,
        nonce: [u8; NONCE_BYTES],
    ) -> Result<WrappedKey, SealError> {
        let key = self.unwrap_bytes(tenant, version, wrapped)?;
        Ok(self.wrap(tenant, wrapped.class(), version, &key, nonce))
    }

    fn unwrap_bytes(
        &self,
        tenant: TenantId,
        version: u32,
        wrapped: &WrappedKey,
    ) -> Result<Secret<[u8; KEY_BYTES]>, SealError> {
        let id = wrapped.kek_id();
        let master = std::iter::once(&self.active)
            .chain(&self.others)
            .find(|key| key.id == id)
            .ok_or(SealError::UnknownMasterKey(id))?;
        let mut key = wrapped.encrypted_key();
        let associated = wrapped::associated_data(&wrapped.head(), tenant, version);
        let opened = master.wrapping.decrypt(&wrapped.nonce(), &associated, &mut key, &wrapped.tag());
        let unwrapped = Secret::new(key);
        key.zeroize();
        opened.map(|()| unwrapped).map_err(|_| SealError::NotAuthentic)
    }
}
