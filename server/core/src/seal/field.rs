//! The bytes of a sealed field, 48 more than the plain text:
//!
//! ```text
//! 'E' 01 01 00 | key version, u32 BE | nonce, 24 | ciphertext, n | tag, 16
//! ```
//!
//! The third byte names the algorithm (1: XAES-256-GCM), the fourth holds flags and is zero: nothing
//! is compressed, since the size would then tell of the content. This file knows the format and the
//! associated data, not which key to take.

use uuid::Uuid;

use super::xaes::{TAG_BYTES, Xaes256Gcm};
use super::{EventBinding, NONCE_BYTES, Place, SealError};
use crate::id::TenantId;

/// Bytes that sealing adds.
pub const FIELD_OVERHEAD_BYTES: usize = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

const MAGIC: [u8; 4] = [b'E', 1, 1, 0];
const HEAD_BYTES: usize = 8;
const AAD_BYTES: usize = 16 + HEAD_BYTES + 16 + 2 + 16 + 32;

/// What a field is bound to, in the numbers that are authenticated.
pub(super) struct Binding<'a> {
    pub(super) tenant: TenantId,
    pub(super) column: (u8, u8),
    pub(super) row: Uuid,
    pub(super) event: &'a EventBinding,
}

impl<'a> Binding<'a> {
    pub(super) fn new(tenant: TenantId, place: &'a Place) -> Self {
        Self { tenant, column: place.column().numbers(), row: place.row(), event: place.event() }
    }

    fn associated_data(&self, head: &[u8; HEAD_BYTES]) -> [u8; AAD_BYTES] {
        let mut data = [0; AAD_BYTES];
        data[..16].copy_from_slice(b"inbox-field-enc1");
        data[16..24].copy_from_slice(head);
        data[24..40].copy_from_slice(self.tenant.0.as_bytes());
        data[40] = self.column.0;
        data[41] = self.column.1;
        data[42..58].copy_from_slice(self.row.as_bytes());
        data[58..].copy_from_slice(self.event.as_bytes());
        data
    }
}

/// Appends the sealed field to `out`.
pub(super) fn seal_into(
    cipher: &Xaes256Gcm,
    key_version: u32,
    binding: &Binding<'_>,
    plain: &[u8],
    nonce: &[u8; NONCE_BYTES],
    out: &mut Vec<u8>,
) {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&MAGIC);
    head[4..].copy_from_slice(&key_version.to_be_bytes());
    out.reserve(plain.len() + FIELD_OVERHEAD_BYTES);
    out.extend_from_slice(&head);
    out.extend_from_slice(nonce);
    let start = out.len();
    out.extend_from_slice(plain);
    let tag = cipher.encrypt(nonce, &binding.associated_data(&head), &mut out[start..]);
    out.extend_from_slice(&tag);
}

/// A sealed field taken apart; nothing of it is believed yet.
pub(super) struct Field<'a> {
    pub(super) key_version: u32,
    head: &'a [u8; HEAD_BYTES],
    nonce: &'a [u8; NONCE_BYTES],
    ciphertext: &'a [u8],
    tag: &'a [u8; TAG_BYTES],
}

impl<'a> Field<'a> {
    pub(super) fn parse(sealed: &'a [u8]) -> Result<Self, SealError> {
        let parts = || {
            let (head, rest) = sealed.split_first_chunk::<HEAD_BYTES>()?;
            let (nonce, rest) = rest.split_first_chunk::<NONCE_BYTES>()?;
            let (ciphertext, tag) = rest.split_last_chunk::<TAG_BYTES>()?;
            let (magic, version) = head.split_first_chunk::<4>()?;
            let key_version = u32::from_be_bytes(*version.first_chunk()?);
            (*magic == MAGIC).then_some(Self { key_version, head, nonce, ciphertext, tag })
        };
        parts().ok_or(SealError::Corrupt)
    }

    pub(super) fn open(&self, cipher: &Xaes256Gcm, binding: &Binding<'_>) -> Result<Vec<u8>, SealError> {
        let mut plain = self.ciphertext.to_vec();
        let associated = binding.associated_data(self.head);
        match cipher.decrypt(self.nonce, &associated, &mut plain, self.tag) {
            Ok(()) => Ok(plain),
            Err(_) => Err(SealError::NotAuthentic),
        }
    }
}

/// The key version that a sealed field names, for jobs that seal anew what an old key sealed.
///
/// # Errors
/// When the bytes are not of the format. The version is not authenticated until the field is opened.
pub fn sealed_version(sealed: &[u8]) -> Result<u32, SealError> {
    Field::parse(sealed).map(|field| field.key_version)
}
