//! The cursor of a list: the last id that was shown, and a digest of what the list was asked for, so
//! that a cursor of another list is refused and not silently misread. It is no credential: the
//! tenant comes from the API key or session, and an invented cursor shows nothing that the list
//! itself would not.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::id::TenantId;
use crate::problem::{Code, Problem};

const VERSION: u8 = 1;
const BYTES: usize = 1 + 16 + 8;
const TEXT_BYTES: usize = 34;

/// The cursor can't be used with this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "This cursor is not one of this list: take next_cursor from an answer to the same query, or leave it out."
)]
pub struct BadCursor;

impl From<BadCursor> for Problem {
    fn from(fault: BadCursor) -> Self {
        Self::new(Code::BadCursor, fault.to_string())
    }
}

/// What a list was asked for, in eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FiltersDigest([u8; 8]);

impl FiltersDigest {
    /// The digest of a tenant's list: its name and its filters in a fixed order. The page's size is
    /// no filter and may change between pages.
    pub fn new(tenant: TenantId, list: &str, filters: &[(&str, &str)]) -> Self {
        let mut hash = Sha256::new();
        hash.update(tenant.0.as_bytes());
        let texts = std::iter::once(list).chain(filters.iter().flat_map(|(name, value)| [*name, *value]));
        for text in texts {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        let mut digest = [0; 8];
        digest.copy_from_slice(&hash.finalize()[..8]);
        Self(digest)
    }
}

/// Where the next page goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The last id of the page before.
    pub last: Uuid,
}

impl Cursor {
    /// The text for `next_cursor`.
    pub fn encode(self, filters: FiltersDigest) -> String {
        let mut bytes = [0; BYTES];
        bytes[0] = VERSION;
        bytes[1..17].copy_from_slice(self.last.as_bytes());
        bytes[17..].copy_from_slice(&filters.0);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a cursor that came with a query.
    ///
    /// # Errors
    /// When it was changed, is of another version of Restante, or belongs to another list or filter.
    pub fn decode(text: &str, filters: FiltersDigest) -> Result<Self, BadCursor> {
        let bytes = if text.len() == TEXT_BYTES { URL_SAFE_NO_PAD.decode(text).ok() } else { None };
        let bytes: [u8; BYTES] = bytes.and_then(|bytes| bytes.try_into().ok()).ok_or(BadCursor)?;
        let mut last = [0; 16];
        last.copy_from_slice(&bytes[1..17]);
        let usable = bytes[0] == VERSION && bytes[17..] == filters.0;
        usable.then(|| Self { last: Uuid::from_bytes(last) }).ok_or(BadCursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENANT: TenantId = TenantId(Uuid::from_bytes([0x11; 16]));

    fn filters() -> FiltersDigest {
        FiltersDigest::new(TENANT, "events", &[("provider", "stripe"), ("type", "invoice.*")])
    }

    #[test]
    fn a_cursor_reads_back_with_its_own_filters() {
        let cursor = Cursor { last: Uuid::from_bytes([0x33; 16]) };
        assert_eq!(Cursor::decode(&cursor.encode(filters()), filters()), Ok(cursor));
    }

    #[test]
    fn a_cursor_of_another_list_filter_or_tenant_is_refused() {
        let text = Cursor { last: Uuid::nil() }.encode(filters());
        let same = &[("provider", "stripe"), ("type", "invoice.*")];
        for other in [
            FiltersDigest::new(TENANT, "endpoints", same),
            FiltersDigest::new(TenantId(Uuid::nil()), "events", same),
            FiltersDigest::new(TENANT, "events", &[("provider", "stripe")]),
            FiltersDigest::new(TENANT, "events", &[("provider", "stripetype"), ("", "invoice.*")]),
        ] {
            assert_eq!(Cursor::decode(&text, other), Err(BadCursor));
        }
    }

    #[test]
    fn a_changed_last_character_is_refused_or_another_cursor() {
        let cursor = Cursor { last: Uuid::from_bytes([0x44; 16]) };
        let text = cursor.encode(filters());
        for other in ('0'..='9').chain('A'..='Z').chain('a'..='z').chain(['-', '_', '=']) {
            let wrong = format!("{}{other}", &text[..text.len() - 1]);
            assert!(wrong == text || Cursor::decode(&wrong, filters()).is_err(), "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_written_the_same(text in ".{0,40}") {
            if let Ok(read) = Cursor::decode(&text, filters()) {
                proptest::prop_assert_eq!(read.encode(filters()), text);
            }
        }
    }
}
