//! 160 random bits in 32 characters: how the token of an endpoint's URL, of a one-time link and of a
//! remembered browser is spelled.

use super::TokenHash;
use crate::secret::Secret;

/// Base 32 in lower case without `i`, `l`, `o`, `u`: reads the same aloud and on paper.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TEXT_BYTES: usize = 32;

/// A token as it is spelled.
#[derive(Debug, Clone)]
pub(super) struct Spelled(Secret<[u8; TEXT_BYTES]>);

impl Spelled {
    pub(super) fn new(random: [u8; 20]) -> Self {
        let mut text = [0; TEXT_BYTES];
        for (five_bytes, eight_characters) in random.chunks_exact(5).zip(text.chunks_exact_mut(8)) {
            let bits = five_bytes.iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
            for (place, character) in eight_characters.iter_mut().rev().enumerate() {
                *character = ALPHABET[(bits >> (5 * place) & 31) as usize];
            }
        }
        Self(Secret::new(text))
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; TEXT_BYTES] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(|byte| ALPHABET.contains(byte)).then_some(Self(Secret::new(bytes)))
    }

    pub(super) fn expose(&self) -> &str {
        // Only characters of the alphabet get in.
        std::str::from_utf8(self.0.expose()).unwrap_or_default()
    }

    pub(super) fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.expose())
    }
}

/// Defines a kind of token, so that one can't be passed where another is meant.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name($crate::token::spelled::Spelled);

        impl $name {
            /// Makes a token.
            pub fn new(random: [u8; 20]) -> Self {
                Self($crate::token::spelled::Spelled::new(random))
            }

            /// Reads a token; `None` when the text can't be one, so that a database is asked only about
            /// what might be there.
            pub fn parse(text: &str) -> Option<Self> {
                $crate::token::spelled::Spelled::parse(text).map(Self)
            }

            /// The text, for whom it is meant.
            pub fn expose(&self) -> &str {
                self.0.expose()
            }

            /// What is stored and looked up: SHA-256 of the text.
            pub fn hash(&self) -> $crate::token::TokenHash {
                self.0.hash()
            }
        }
    };
}
pub(super) use spelled;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_shows_nothing_in_debug() {
        let token = Spelled::new([0xA5; 20]);
        let text = token.expose().to_string();
        assert_eq!(text.len(), 32);
        assert_eq!(Spelled::parse(&text).map(|read| read.hash()), Some(token.hash()));
        assert!(!format!("{token:?}").contains(&text[..4]));
    }

    #[test]
    fn every_random_bit_counts() {
        let zero = Spelled::new([0; 20]);
        for bit in 0..160 {
            let mut random = [0; 20];
            random[bit / 8] = 1 << (bit % 8);
            assert!(Spelled::new(random).hash() != zero.hash(), "bit {bit}");
        }
    }

    #[test]
    fn another_shape_is_no_token() {
        let text = Spelled::new([7; 20]).expose().to_string();
        for wrong in ["", &text[1..], &(text.clone() + "0"), &text.to_uppercase(), &text.replace('0', "o")] {
            assert!(wrong == text || Spelled::parse(wrong).is_none(), "{wrong}");
        }
        assert!(Spelled::parse(&"é".repeat(16)).is_none());
    }
}
