//! A tenant's key as it is stored, wrapped under a master key, in 84 bytes:
//!
//! ```text
//! 'W' 01 01 | class | id of the master key, 8 | nonce, 24 | encrypted key, 32 | tag, 16
//! ```
//!
//! This file knows the format; wrapping and unwrapping are the ring's.

use super::{KEY_BYTES, KekId, KeyClass, NONCE_BYTES, SealError};
use crate::id::TenantId;

/// Bytes of a wrapped key.
pub const WRAPPED_BYTES: usize = 84;

const MAGIC: [u8; 3] = [b'W', 1, 1];
pub(super) const HEAD_BYTES: usize = 12;
const KEY_START: usize = HEAD_BYTES + NONCE_BYTES;
const TAG_START: usize = KEY_START + KEY_BYTES;

/// A wrapped key: of the right form, and not believed until it is unwrapped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WrappedKey {
    class: KeyClass,
    bytes: [u8; WRAPPED_BYTES],
}

impl WrappedKey {
    /// Reads the stored bytes.
    ///
    /// # Errors
    /// [`SealError::Corrupt`] when they are not of the format.
    pub fn parse(stored: &[u8]) -> Result<Self, SealError> {
        let bytes: [u8; WRAPPED_BYTES] = stored.try_into().map_err(|_| SealError::Corrupt)?;
        match (bytes.starts_with(&MAGIC), KeyClass::from_code(bytes[3].into())) {
            (true, Some(class)) => Ok(Self { class, bytes }),
            _ => Err(SealError::Corrupt),
        }
    }

    pub(super) fn assemble(
        head: &[u8; HEAD_BYTES],
        class: KeyClass,
        nonce: &[u8; NONCE_BYTES],
        key: &[u8; KEY_BYTES],
        tag: &[u8; 16],
    ) -> Self {
        let mut bytes = [0; WRAPPED_BYTES];
        bytes[..HEAD_BYTES].copy_from_slice(head);
        bytes[HEAD_BYTES..KEY_START].copy_from_slice(nonce);
        bytes[KEY_START..TAG_START].copy_from_slice(key);
        bytes[TAG_START..].copy_from_slice(tag);
        Self { class, bytes }
    }

    /// What is stored.
    pub const fn as_bytes(&self) -> &[u8; WRAPPED_BYTES] {
        &self.bytes
    }

    /// The class that it claims.
    pub const fn class(&self) -> KeyClass {
        self.class
    }

    /// The master key that it claims.
    pub fn kek_id(&self) -> KekId {
        KekId(part(&self.bytes, 4))
    }

    pub(super) fn head(&self) -> [u8; HEAD_BYTES] {
        part(&self.bytes, 0)
    }

    pub(super) fn nonce(&self) -> [u8; NONCE_BYTES] {
        part(&self.bytes, HEAD_BYTES)
    }

    pub(super) fn encrypted_key(&self) -> [u8; KEY_BYTES] {
        part(&self.bytes, KEY_START)
    }

    pub(super) fn tag(&self) -> [u8; 16] {
        part(&self.bytes, TAG_START)
    }
}

pub(super) fn head(class: KeyClass, kek: KekId) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..3].copy_from_slice(&MAGIC);
    head[3] = class.code();
    head[4..].copy_from_slice(&kek.0);
    head
}

pub(super) fn associated_data(head: &[u8; HEAD_BYTES], tenant: TenantId, version: u32) -> [u8; 48] {
    let mut data = [0; 48];
    data[..16].copy_from_slice(b"inbox-dek-wrap-1");
    data[16..28].copy_from_slice(head);
    data[28..44].copy_from_slice(tenant.0.as_bytes());
    data[44..].copy_from_slice(&version.to_be_bytes());
    data
}

fn part<const N: usize>(bytes: &[u8; WRAPPED_BYTES], start: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[start..start + N]);
    part
}
