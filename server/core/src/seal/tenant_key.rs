//! One key of a tenant, unwrapped and ready for use: it seals, opens and digests. Which key is the
//! right one for a column is decided in `keyset.rs`.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::field::{self, Binding, FIELD_OVERHEAD_BYTES, Field};
use super::xaes::Xaes256Gcm;
use super::{KEY_BYTES, KeyClass, NONCE_BYTES, Place, SealError};
use crate::id::TenantId;
use crate::secret::Secret;

/// A keyed digest of an event's bytes, with the version of the key that made it. Stored in clear.
#[derive(Debug, Clone, Copy)]
pub struct BodyMac {
    /// The version of the tenant's digest key.
    pub key_version: u32,
    /// HMAC-SHA256.
    pub mac: [u8; 32],
}

/// One key of a tenant. Wiped from memory when dropped, and never printed: it has no `Debug`.
pub struct TenantKey {
    tenant: TenantId,
    class: KeyClass,
    version: u32,
    // Both are kept in the form in which they are used, so that a message costs no derivation.
    encryption: Xaes256Gcm,
    digest: Hmac<Sha256>,
}

impl TenantKey {
    /// Derives what seals and what digests from a tenant's key.
    pub(super) fn new(
        tenant: TenantId,
        class: KeyClass,
        version: u32,
        key: &Secret<[u8; KEY_BYTES]>,
    ) -> Self {
        let derived = derive(tenant.0.as_bytes(), key.expose());
        let mut encryption_key = derived.expand(b"enc");
        let mut digest_key = derived.expand(b"dig");
        let made = Self {
            tenant,
            class,
            version,
            encryption: Xaes256Gcm::new(&encryption_key),
            digest: keyed(&digest_key),
        };
        encryption_key.zeroize();
        digest_key.zeroize();
        made
    }

    /// Whose key it is.
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// What it is for.
    pub const fn class(&self) -> KeyClass {
        self.class
    }

    /// Its version within the class.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Seals `plain` for `place`. The nonce is fresh from the system's randomness for each call.
    ///
    /// # Panics
    /// Beyond 64 GiB.
    pub fn seal(&self, place: &Place, plain: &[u8], nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(plain.len() + FIELD_OVERHEAD_BYTES);
        self.seal_into(place, plain, nonce, &mut sealed);
        sealed
    }

    /// Seals as [`seal`](Self::seal) does and appends to `out`.
    ///
    /// # Panics
    /// Beyond 64 GiB.
    pub fn seal_into(&self, place: &Place, plain: &[u8], nonce: [u8; NONCE_BYTES], out: &mut Vec<u8>) {
        debug_assert_eq!(self.class, place.column().class(), "a column has one class of key");
        let binding = Binding::new(self.tenant, place);
        field::seal_into(&self.encryption, self.version, &binding, plain, &nonce, out);
    }

    /// Opens what was sealed for `place`.
    ///
    /// # Errors
    /// [`SealError::Corrupt`] for bytes that are not of the format, [`SealError::UnknownVersion`]
    /// when another version of the key sealed it, [`SealError::NotAuthentic`] when the bytes were
    /// changed or belong elsewhere. No byte of the plain text is returned then.
    pub fn open(&self, place: &Place, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        self.open_field(place, &Field::parse(sealed)?)
    }

    #[cfg(test)]
    pub(super) const fn cipher(&self) -> &Xaes256Gcm {
        &self.encryption
    }

    pub(super) fn open_field(&self, place: &Place, field: &Field<'_>) -> Result<Vec<u8>, SealError> {
        // The format does not commit to a key, so a field is never tried under another version's.
        if field.key_version != self.version {
            return Err(SealError::UnknownVersion { class: self.class, version: field.key_version });
        }
        field.open(&self.encryption, &Binding::new(self.tenant, place))
    }

    /// The keyed digest of a body: HMAC-SHA256 over `01`, the length as u64 BE, the body.
    pub fn body_mac(&self, body: &[u8]) -> BodyMac {
        let mut mac = self.digest.clone();
        mac.update(&[1]);
        mac.update(&(body.len() as u64).to_be_bytes());
        mac.update(body);
        BodyMac { key_version: self.version, mac: mac.finalize().into_bytes().into() }
    }
}

impl BodyMac {
    /// What is stored, in one column: the key version as u32 BE, then the digest. Equal bodies have
    /// equal columns for as long as the key version stays.
    pub fn to_bytes(&self) -> [u8; 36] {
        let mut bytes = [0; 36];
        bytes[..4].copy_from_slice(&self.key_version.to_be_bytes());
        bytes[4..].copy_from_slice(&self.mac);
        bytes
    }

    /// Reads what is stored.
    ///
    /// # Errors
    /// [`SealError::Corrupt`] when it has another length.
    pub fn from_bytes(stored: &[u8]) -> Result<Self, SealError> {
        let (version, mac) = stored.split_first_chunk::<4>().ok_or(SealError::Corrupt)?;
        let mac = mac.try_into().map_err(|_| SealError::Corrupt)?;
        Ok(Self { key_version: u32::from_be_bytes(*version), mac })
    }

    /// Whether two digests of one key version are the same, in constant time.
    pub fn equals(&self, other: &Self) -> bool {
        self.key_version == other.key_version && bool::from(self.mac.ct_eq(&other.mac))
    }
}

/// HKDF-SHA256 with outputs of one block, which is all that is derived here.
pub(super) struct Derived(Hkdf<Sha256>);

pub(super) fn derive(salt: &[u8], key: &[u8; KEY_BYTES]) -> Derived {
    let (mut pseudorandom, hkdf) = Hkdf::<Sha256>::extract(Some(salt), key);
    pseudorandom.as_mut_slice().zeroize();
    Derived(hkdf)
}

impl Derived {
    pub(super) fn expand<const N: usize>(&self, purpose: &[u8]) -> [u8; N] {
        const { assert!(N <= 32, "one block of HMAC-SHA256") };
        let mut output = [0; N];
        match self.0.expand(purpose, &mut output) {
            Ok(()) => output,
            Err(_) => unreachable!("32 bytes are far below the limit of HKDF"),
        }
    }
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(keyed) => keyed,
        Err(_) => unreachable!("HMAC takes a key of any length"),
    }
}
