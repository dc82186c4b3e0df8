//! All keys of one tenant, unwrapped. Callers name a place and never choose a key: the column says
//! the class, a sealed field says the version, and new fields take the active one.

use super::field::Field;
use super::{BodyMac, KEY_BYTES, KeyClass, KeyRing, NONCE_BYTES, Place, SealError, TenantKey, WrappedKey};
use crate::id::TenantId;
use crate::secret::Secret;

/// What a tenant's key may still do. The numbers are stored and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KeyState {
    /// Seals and opens. Each class has exactly one.
    Active = 1,
    /// Only opens what it sealed earlier.
    DecryptOnly = 2,
    /// Gone on purpose; its row stays, so that what it sealed is known to be erased, not damaged.
    Destroyed = 3,
}

impl KeyState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Active, Self::DecryptOnly, Self::Destroyed];

    /// The stored number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The state of a stored number.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|state| i64::from(state.code()) == code)
    }

    /// The word for logs and the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::DecryptOnly => "decrypt_only",
            Self::Destroyed => "destroyed",
        }
    }
}

/// How long a new key only opens: two minutes. Nodes hold keys for at most one, so that each of them has a
/// key before anybody seals with it.
pub const KEY_SETTLES_SECONDS: i64 = 120;

/// One row of `tenant_keys`.
#[derive(Clone, PartialEq, Eq)]
pub struct TenantKeyRow {
    /// What the key is for.
    pub class: KeyClass,
    /// Its version within the class, from 1.
    pub version: u32,
    /// What it may still do.
    pub state: KeyState,
    /// The 84 bytes of a [`WrappedKey`]; empty once destroyed.
    pub wrapped: Vec<u8>,
    /// Whether it is older than [`KEY_SETTLES_SECONDS`], by the database's clock.
    pub settled: bool,
}

/// The randomness of a new key.
pub struct NewKey {
    /// The key itself.
    pub key: Secret<[u8; KEY_BYTES]>,
    /// The nonce under which it is wrapped.
    pub nonce: [u8; NONCE_BYTES],
}

struct ClassKeys {
    /// The one that seals.
    active: TenantKey,
    // A destroyed key stands as `None`.
    others: Vec<(u32, Option<TenantKey>)>,
}

impl ClassKeys {
    fn of_version(&self, class: KeyClass, version: u32) -> Result<&TenantKey, SealError> {
        if version == self.active.version() {
            return Ok(&self.active);
        }
        match self.others.iter().find(|(known, _)| *known == version) {
            Some((_, Some(key))) => Ok(key),
            Some((_, None)) => Err(SealError::KeyDestroyed { class, version }),
            None => Err(SealError::UnknownVersion { class, version }),
        }
    }
}

/// A tenant's keys of all classes. Has no `Debug`; wiped from memory when dropped.
pub struct TenantKeyset {
    tenant: TenantId,
    payload: ClassKeys,
    digest: ClassKeys,
    secrets: ClassKeys,
}

impl TenantKeyset {
    /// Makes the first keys of a new tenant, in the order of [`KeyClass::ALL`], and the rows to insert.
    pub fn create(ring: &KeyRing, tenant: TenantId, new: &[NewKey; 3]) -> (Self, [TenantKeyRow; 3]) {
        let [payload, digest, secrets] = new;
        let made = |class: KeyClass, new: &NewKey| ClassKeys {
            active: TenantKey::new(tenant, class, 1, &new.key),
            others: Vec::new(),
        };
        let keyset = Self {
            tenant,
            payload: made(KeyClass::Payload, payload),
            digest: made(KeyClass::Digest, digest),
            secrets: made(KeyClass::Secrets, secrets),
        };
        let row = |class, new| Self::new_row(ring, tenant, class, 1, new);
        let rows =
            [row(KeyClass::Payload, payload), row(KeyClass::Digest, digest), row(KeyClass::Secrets, secrets)];
        (keyset, rows)
    }

    /// The row of a new active key. Who inserts it demotes the one before in the same transaction.
    pub fn new_row(
        ring: &KeyRing,
        tenant: TenantId,
        class: KeyClass,
        version: u32,
        new: &NewKey,
    ) -> TenantKeyRow {
        let wrapped = ring.wrap(tenant, class, version, &new.key, new.nonce);
        let wrapped = wrapped.as_bytes().to_vec();
        TenantKeyRow { class, version, state: KeyState::Active, wrapped, settled: false }
    }

    /// Unwraps a tenant's keys as they are stored.
    ///
    /// # Errors
    /// When a master key is not loaded, a row is damaged or is not this tenant's, or a class has
    /// not exactly one active key.
    pub fn unwrap(ring: &KeyRing, tenant: TenantId, rows: &[TenantKeyRow]) -> Result<Self, SealError> {
        let class = |class| unwrap_class(ring, tenant, class, rows);
        Ok(Self {
            tenant,
            payload: class(KeyClass::Payload)?,
            digest: class(KeyClass::Digest)?,
            secrets: class(KeyClass::Secrets)?,
        })
    }

    /// Whose keys they are.
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The key that seals now in a class.
    pub const fn active(&self, class: KeyClass) -> &TenantKey {
        &self.of_class(class).active
    }

    /// Seals `plain` for `place` under the active key of the column's class. The nonce is fresh from
    /// the system's randomness for each call.
    ///
    /// # Panics
    /// Beyond 64 GiB.
    pub fn seal(&self, place: &Place, plain: &[u8], nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        self.active(place.column().class()).seal(place, plain, nonce)
    }

    /// Seals as [`seal`](Self::seal) does and appends to `out`.
    ///
    /// # Panics
    /// Beyond 64 GiB.
    pub fn seal_into(&self, place: &Place, plain: &[u8], nonce: [u8; NONCE_BYTES], out: &mut Vec<u8>) {
        self.active(place.column().class()).seal_into(place, plain, nonce, out);
    }

    /// Opens what was sealed for `place`, under whichever version sealed it.
    ///
    /// # Errors
    /// As [`TenantKey::open`]; [`SealError::KeyDestroyed`] when the key is gone on purpose.
    pub fn open(&self, place: &Place, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let class = place.column().class();
        let field = Field::parse(sealed)?;
        self.of_class(class).of_version(class, field.key_version)?.open_field(place, &field)
    }

    /// Opens a credential into custody.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_secret(&self, place: &Place, sealed: &[u8]) -> Result<Secret<Vec<u8>>, SealError> {
        self.open(place, sealed).map(Secret::new)
    }

    /// The keyed digest of a body under the active digest key.
    pub fn body_mac(&self, body: &[u8]) -> BodyMac {
        self.digest.active.body_mac(body)
    }

    /// Whether a body is the one of which a digest was stored, whichever version made the digest.
    ///
    /// # Errors
    /// When the version is not known or was destroyed.
    pub fn is_same_body(&self, stored: &BodyMac, body: &[u8]) -> Result<bool, SealError> {
        let key = self.digest.of_version(KeyClass::Digest, stored.key_version)?;
        Ok(key.body_mac(body).equals(stored))
    }

    const fn of_class(&self, class: KeyClass) -> &ClassKeys {
        match class {
            KeyClass::Payload => &self.payload,
            KeyClass::Digest => &self.digest,
            KeyClass::Secrets => &self.secrets,
        }
    }
}

/// The keys of a class. The newest that has settled seals; while none has, the oldest does, which is
/// the one that every node knows.
fn unwrap_class(
    ring: &KeyRing,
    tenant: TenantId,
    class: KeyClass,
    rows: &[TenantKeyRow],
) -> Result<ClassKeys, SealError> {
    let inconsistent = SealError::KeysInconsistent { class };
    let rows: Vec<&TenantKeyRow> = rows.iter().filter(|row| row.class == class).collect();
    if rows.iter().filter(|row| row.state == KeyState::Active).count() != 1 {
        return Err(inconsistent);
    }
    let usable = || rows.iter().filter(|row| row.state != KeyState::Destroyed).map(|row| (row.version, row));
    let settled = usable().filter(|(_, row)| row.settled).map(|(version, _)| version).max();
    let seals = settled.or_else(|| usable().map(|(version, _)| version).min()).ok_or(inconsistent)?;
    let (mut active, mut others) = (None, Vec::new());
    for row in rows {
        if row.state == KeyState::Destroyed {
            others.push((row.version, None));
            continue;
        }
        let wrapped = WrappedKey::parse(&row.wrapped)?;
        // The class is authenticated within the wrapped key; the row's column is not.
        if wrapped.class() != class {
            return Err(SealError::NotAuthentic);
        }
        let key = ring.unwrap(tenant, row.version, &wrapped)?;
        if row.version == seals {
            active = Some(key);
        } else {
            others.push((row.version, Some(key)));
        }
    }
    active.map(|active| ClassKeys { active, others }).ok_or(inconsistent)
}
