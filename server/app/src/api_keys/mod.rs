//! API keys: made, listed, revoked. A key is shown once; what is kept is a hash. How a presented
//! one is recognised stands in `authenticate.rs`.

mod create;
mod delete;
mod list;
#[cfg(test)]
mod tests;

use restante_core::access::Scopes;
use restante_core::id::KeyId;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::token::{ApiKey, TokenHash};
pub use restante_store::control::api_keys::ApiKeyRow;

use crate::random::Random;

/// A key to be made.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// Its name for people.
    pub name: String,
    /// What it may do; at most what its maker may.
    pub scopes: Scopes,
    /// From when on it opens nothing; `None`: until it is revoked.
    pub expires_at: Option<Timestamp>,
}

/// A key that was just made. The key itself is in nobody's hands but the caller's from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedApiKey {
    /// What is kept of it.
    pub row: ApiKeyRow,
    /// The key.
    pub key: Secret<String>,
}

/// A new key with its hashes.
pub(crate) struct Drawn {
    pub(crate) created: CreatedApiKey,
    pub(crate) lookup_hash: TokenHash,
    pub(crate) secret_hash: TokenHash,
}

/// Draws a key.
pub(crate) fn draw(random: &dyn Random, new: NewApiKey, created_by: String, now: Timestamp) -> Drawn {
    let key = ApiKey::new(random.bytes(), &Secret::new(random.bytes()));
    let row = ApiKeyRow {
        id: KeyId::new(now, random.bytes()),
        name: new.name,
        hint: format!("rst_{}…", key.lookup()),
        scopes: new.scopes,
        created_by,
        created_at: now,
        expires_at: new.expires_at,
        last_used_at: None,
    };
    Drawn {
        lookup_hash: key.lookup_hash(),
        secret_hash: key.hash(),
        created: CreatedApiKey { row, key: key.expose() },
    }
}
