//! API keys: `rst_`, eight characters by which the key is looked up, `_`, 43 that are the secret
//! (256 bits), six of checksum. Scanners find such keys in published code by prefix and checksum,
//! and a mistyped key costs no query. This file knows the text, not what a key may do (`access`).

use super::{TokenHash, base62};
use crate::secret::Secret;

const PREFIX: &str = "rst_";
const LOOKUP_BYTES: usize = 8;
const SECRET_BYTES: usize = 43;
const CHECKSUM_BYTES: usize = 6;

/// What a presented secret is compared with when no key of that name exists, so that the answer
/// takes as long. No secret has this hash.
pub const NO_KEY_HASH: TokenHash = TokenHash([0; 32]);

/// An API key, whole: made once, shown once, or just presented.
#[derive(Debug, Clone)]
pub struct ApiKey {
    lookup: [u8; LOOKUP_BYTES],
    secret: Secret<[u8; SECRET_BYTES]>,
}

impl ApiKey {
    /// Makes a key. The look-up part needs to be unique in the instance; the database says whether it is.
    pub fn new(lookup_random: [u8; 8], secret_random: &Secret<[u8; 32]>) -> Self {
        Self {
            lookup: base62::write(&lookup_random),
            secret: Secret::new(base62::write(secret_random.expose())),
        }
    }

    /// Reads a presented key; `None` when its form or checksum is wrong, before any query.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.as_bytes().strip_prefix(PREFIX.as_bytes())?;
        let (lookup, rest) = rest.split_first_chunk::<LOOKUP_BYTES>()?;
        let (secret, checksum) = rest.strip_prefix(b"_")?.split_first_chunk::<SECRET_BYTES>()?;
        if !base62::is_base62(lookup) || !base62::is_base62(secret) {
            return None;
        }
        let covered = text.as_bytes().get(..text.len().checked_sub(CHECKSUM_BYTES)?)?;
        (checksum == checksum_of(covered)).then(|| Self { lookup: *lookup, secret: Secret::new(*secret) })
    }

    /// The text, to be shown once.
    pub fn expose(&self) -> Secret<String> {
        let mut text = String::with_capacity(PREFIX.len() + LOOKUP_BYTES + 1 + SECRET_BYTES + CHECKSUM_BYTES);
        text.push_str(PREFIX);
        text.push_str(self.lookup());
        text.push('_');
        text.extend(self.secret.expose().iter().map(|&byte| char::from(byte)));
        let checksum = checksum_of(text.as_bytes());
        text.extend(checksum.iter().map(|&byte| char::from(byte)));
        Secret::new(text)
    }

    /// The part by which the key is looked up. It is no secret: `rst_` and these eight characters
    /// name the key to people.
    pub fn lookup(&self) -> &str {
        std::str::from_utf8(&self.lookup).unwrap_or_default()
    }

    /// SHA-256 of the look-up part, for the table that answers which tenant a key belongs to.
    pub fn lookup_hash(&self) -> TokenHash {
        TokenHash::of(&self.lookup)
    }

    /// What is stored and compared (with [`TokenHash::matches`]): SHA-256 of the secret part.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.secret.expose())
    }
}

fn checksum_of(text: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut crc = flate2::Crc::new();
    crc.update(text);
    base62::write(&crc.sum().to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ApiKey {
        ApiKey::new([1, 2, 3, 4, 5, 6, 7, 8], &Secret::new([0xC3; 32]))
    }

    #[test]
    fn a_key_reads_back() {
        let text = key().expose();
        assert_eq!(text.expose().len(), 62);
        let read = ApiKey::parse(text.expose()).unwrap();
        assert_eq!((read.lookup(), read.hash()), (key().lookup(), key().hash()));
        assert!(read.hash().matches(&key().hash()) && !read.hash().matches(&NO_KEY_HASH));
    }

    /// CRC-32 finds every change of one character, so a mistyped key costs no query.
    #[test]
    fn a_changed_character_anywhere_is_refused() {
        let text = key().expose().expose().clone();
        for place in 0..text.len() {
            for other in ["0", "z", "_", " "] {
                let mut wrong = text.clone();
                wrong.replace_range(place..=place, other);
                assert!(wrong == text || ApiKey::parse(&wrong).is_none(), "{wrong}");
            }
        }
    }

    #[test]
    fn cut_or_lengthened_keys_are_refused() {
        let text = key().expose().expose().clone();
        for end in 0..text.len() {
            assert!(ApiKey::parse(&text[..end]).is_none());
        }
        assert!(ApiKey::parse(&(text + "0")).is_none());
    }

    #[test]
    fn a_key_shows_nothing_of_its_secret_in_debug() {
        let text = key().expose();
        assert!(!format!("{:?}", key()).contains(&text.expose()[13..20]));
        assert_eq!(format!("{text:?}"), "[secret]");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}") {
            let _ = ApiKey::parse(&text);
        }
    }
}
