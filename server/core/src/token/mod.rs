//! The texts that are credentials or act like one: the token in an endpoint's URL, API keys, lease
//! tokens, one-time links, and the cursors of lists. Each has one spelling: a text that was changed
//! anywhere either names something else or is refused. Randomness is an argument; databases keep only
//! hashes, and hashes are what is compared: credentials themselves have no `==`, which would leak by
//! its time.

mod api_key;
mod base62;
mod cursor;
mod ingest;
mod lease;
mod person;
mod recovery;
mod spelled;

pub use api_key::{ApiKey, NO_KEY_HASH};
pub use cursor::{BadCursor, Cursor, FiltersDigest};
pub use ingest::IngestToken;
pub use lease::LeaseToken;
pub use person::{DeviceToken, LinkToken};
pub use recovery::RecoveryCode;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256 of a credential, as databases keep it. Each credential holds at least 128 random bits, so
/// a plain hash can't be reversed by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// The hash of a credential that holds at least 128 random bits.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Compares in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
