//! Lease tokens: which receipt, which attempt, and 128 random bits that only the holder knows. What
//! the first two say is a hint for finding the row; the stored hash decides.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use super::TokenHash;
use crate::id::ReceiptId;
use crate::secret::Secret;

const BYTES: usize = 16 + 4 + 16;
// 36 bytes fill 48 characters to the last bit, so that two texts never mean one token.
const TEXT_BYTES: usize = 48;

/// The token of one lease.
#[derive(Debug, Clone)]
pub struct LeaseToken(Secret<[u8; BYTES]>);

impl LeaseToken {
    /// Makes the token of an attempt.
    pub fn new(receipt: ReceiptId, attempt: u32, random: [u8; 16]) -> Self {
        let mut bytes = [0; BYTES];
        bytes[..16].copy_from_slice(receipt.0.as_bytes());
        bytes[16..20].copy_from_slice(&attempt.to_be_bytes());
        bytes[20..].copy_from_slice(&random);
        Self(Secret::new(bytes))
    }

    /// Reads a presented token; `None` when it can't be one, which is answered as `unknown`.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != TEXT_BYTES {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        bytes.try_into().ok().map(|bytes| Self(Secret::new(bytes)))
    }

    /// The text that the claimer gets.
    pub fn expose(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.expose())
    }

    /// The receipt that the token claims to be of.
    pub fn receipt(&self) -> ReceiptId {
        let mut id = [0; 16];
        id.copy_from_slice(&self.0.expose()[..16]);
        ReceiptId(Uuid::from_bytes(id))
    }

    /// The attempt that it claims to be of.
    pub fn attempt(&self) -> u32 {
        let mut attempt = [0; 4];
        attempt.copy_from_slice(&self.0.expose()[16..20]);
        u32::from_be_bytes(attempt)
    }

    /// What is stored and compared: SHA-256 of the 36 bytes.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.expose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> LeaseToken {
        LeaseToken::new(ReceiptId(Uuid::from_bytes([0x22; 16])), 7, [0x5A; 16])
    }

    #[test]
    fn a_token_reads_back_with_what_it_is_of() {
        let read = LeaseToken::parse(&token().expose()).unwrap();
        assert_eq!((read.receipt(), read.attempt()), (token().receipt(), 7));
        assert_eq!(read.hash(), token().hash());
    }

    #[test]
    fn any_other_character_anywhere_makes_another_token_or_none() {
        let text = token().expose();
        let characters: Vec<char> =
            ('0'..='9').chain('A'..='Z').chain('a'..='z').chain(['-', '_', '=']).collect();
        for place in 0..text.len() {
            for other in &characters {
                let mut wrong = text.clone();
                wrong.replace_range(place..=place, &other.to_string());
                let differs = LeaseToken::parse(&wrong).is_none_or(|read| read.hash() != token().hash());
                assert!(wrong == text || differs, "{wrong}");
            }
        }
    }

    #[test]
    fn rubbish_of_any_length_is_no_token() {
        let text = token().expose();
        for wrong in [
            "",
            &text[1..],
            &(text.clone() + "A"),
            &format!("{text}="),
            &"A".repeat(1 << 20),
            &"é".repeat(24),
        ] {
            assert!(LeaseToken::parse(wrong).is_none());
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_written_the_same(text in "[A-Za-z0-9_=-]{48}") {
            if let Some(read) = LeaseToken::parse(&text) {
                proptest::prop_assert_eq!(read.expose(), text);
            }
        }
    }
}
