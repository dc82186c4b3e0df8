//! The token in an endpoint's URL, `/in/{token}`: 160 random bits in 32 characters. Besides its
//! signature, that path is the whole credential that a provider knows.

use super::TokenHash;
use crate::secret::Secret;

/// Base 32 in lower case without `i`, `l`, `o`, `u`: reads the same aloud and on paper.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TEXT_BYTES: usize = 32;

/// A token of an endpoint.
#[derive(Debug, Clone)]
pub struct IngestToken(Secret<[u8; TEXT_BYTES]>);

impl IngestToken {
    /// Makes a token.
    pub fn new(random: [u8; 20]) -> Self {
        let mut text = [0; TEXT_BYTES];
        for (five_bytes, eight_characters) in random.chunks_exact(5).zip(text.chunks_exact_mut(8)) {
            let bits = five_bytes.iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
            for (place, character) in eight_characters.iter_mut().rev().enumerate() {
                *character = ALPHABET[(bits >> (5 * place) & 31) as usize];
            }
        }
        Self(Secret::new(text))
    }

    /// Reads the last part of a path; `None` when it can't be a token, so that a database is asked
    /// only about what might be there.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; TEXT_BYTES] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(|byte| ALPHABET.contains(byte)).then_some(Self(Secret::new(bytes)))
    }

    /// The text, to be shown to the tenant and sealed for display.
    pub fn expose(&self) -> &str {
        // Only characters of the alphabet get in.
        std::str::from_utf8(self.0.expose()).unwrap_or_default()
    }

    /// What the look-up uses: SHA-256 of the text.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.expose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_shows_nothing_in_debug() {
        let token = IngestToken::new([0xA5; 20]);
        let text = token.expose().to_string();
        assert_eq!(text.len(), 32);
        assert_eq!(IngestToken::parse(&text).map(|read| read.hash()), Some(token.hash()));
        assert!(!format!("{token:?}").contains(&text[..4]));
    }

    #[test]
    fn every_random_bit_counts() {
        let zero = IngestToken::new([0; 20]);
        for bit in 0..160 {
            let mut random = [0; 20];
            random[bit / 8] = 1 << (bit % 8);
            assert!(IngestToken::new(random).hash() != zero.hash(), "bit {bit}");
        }
    }

    #[test]
    fn another_shape_is_no_token() {
        let text = IngestToken::new([7; 20]).expose().to_string();
        for wrong in ["", &text[1..], &(text.clone() + "0"), &text.to_uppercase(), &text.replace('0', "o")] {
            assert!(wrong == text || IngestToken::parse(wrong).is_none(), "{wrong}");
        }
        assert!(IngestToken::parse(&"é".repeat(16)).is_none());
    }
}
