//! Sealing: what is encrypted at rest, under which key, bound to which place.
//!
//! From the outside in: the operator's [`KeyRing`] wraps each tenant's keys ([`WrappedKey`]); a
//! [`TenantKeyset`] holds a tenant's keys unwrapped and seals or opens one field at a time, each
//! bound to its [`Place`]. Nothing here reads a file, a clock or a source of randomness: keys and
//! nonces are arguments. Formats and reasons stand in `docs/decisions/0003-sealing.md`.

mod event;
mod field;
mod key_file;
mod key_file_change;
mod keyset;
mod place;
mod ring;
mod tenant_key;
#[cfg(test)]
mod tests;
mod wrapped;
mod xaes;

pub use event::{EventBinding, event_binding};
pub use field::{FIELD_OVERHEAD_BYTES, sealed_version};
pub use key_file::{KEY_FILE_BYTES_MAX, KeyFileError, MASTER_KEYS_MAX, read_key_file, write_key_file};
pub use key_file_change::KeyFileText;
pub use keyset::{KEY_SETTLES_SECONDS, KeyState, NewKey, TenantKeyRow, TenantKeyset};
pub use place::{Column, Place};
pub use ring::{KekId, KeyRing, NotAnId, RingError};
pub use tenant_key::{BodyMac, TenantKey};
pub use wrapped::{WRAPPED_BYTES, WrappedKey};

use crate::problem::{Code, Problem};

/// Bytes of a nonce: random, never a counter and never a time, since a restored backup or a cloned
/// machine would repeat those.
pub const NONCE_BYTES: usize = 24;
/// Bytes of a master key and of a tenant's key.
pub const KEY_BYTES: usize = 32;

/// What a tenant's key is for. The numbers are stored and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum KeyClass {
    /// What came in: bodies, headers, source addresses, answers of consumers. Rotates, and can be
    /// destroyed so that every payload becomes unreadable at once.
    Payload = 1,
    /// Keyed digests of bodies. Lives as long as the tombstones that hold such digests.
    Digest = 2,
    /// What the tenant entrusts to Restante: endpoint, push and provider credentials.
    Secrets = 3,
}

impl KeyClass {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Payload, Self::Digest, Self::Secrets];

    /// The stored number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The class of a stored number.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|class| i64::from(class.code()) == code)
    }

    /// The word for logs and the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Digest => "digest",
            Self::Secrets => "secrets",
        }
    }
}

/// Why something sealed can't be opened. Holds no bytes of keys, plain text or ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The bytes are not of the format, so the stored value is damaged.
    #[error("the sealed value is damaged: it has not the form of one")]
    Corrupt,
    /// The bytes are of the format but do not belong to this place under this key: they were
    /// changed, or copied from another row.
    #[error("the sealed value is damaged: it does not belong to this row, or was changed")]
    NotAuthentic,
    /// The tenant has no key of that class and version.
    #[error("the tenant has no {} key of version {version}", class.as_str())]
    UnknownVersion {
        /// The class that was looked in.
        class: KeyClass,
        /// The version that the sealed value names.
        version: u32,
    },
    /// The tenant's key was destroyed on purpose: what it sealed is erased.
    #[error("the tenant's {} key of version {version} was destroyed, and what it sealed is erased with it", class.as_str())]
    KeyDestroyed {
        /// The class of the key.
        class: KeyClass,
        /// Its version.
        version: u32,
    },
    /// The master key that wraps the tenant's key is not loaded.
    #[error("master key {0} is not loaded: add it to the master key file")]
    UnknownMasterKey(KekId),
    /// The rows of a tenant's keys contradict each other, or an active one is missing.
    #[error("the tenant's {} keys are not usable: there must be exactly one active key", class.as_str())]
    KeysInconsistent {
        /// The class at fault.
        class: KeyClass,
    },
}

impl SealError {
    /// What a client is told. Which key or row it was stands in the log.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::KeyDestroyed { .. } => {
                Problem::new(Code::Gone, "This was erased together with the key that sealed it.")
            }
            Self::UnknownMasterKey(_) => Problem::new(
                Code::Unavailable,
                "The keys of this tenant can't be used now. The log of the server says why.",
            ),
            Self::Corrupt
            | Self::NotAuthentic
            | Self::UnknownVersion { .. }
            | Self::KeysInconsistent { .. } => Problem::new(
                Code::Internal,
                "What is stored is damaged and was not opened. The log of the server says why.",
            ),
        }
    }
}
