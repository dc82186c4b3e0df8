//! Recovery codes: what a person writes down for the day on which the app with the second factor is gone.
//! 125 random bits in five groups of five characters, so that a plain hash can't be reversed by trying.

use super::TokenHash;
use crate::secret::Secret;

/// Base 32 without `i`, `l`, `o`, `u`: what is misread on paper is read as meant.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const CHARS: usize = 25;
const GROUP: usize = 5;

/// A recovery code.
#[derive(Debug, Clone)]
pub struct RecoveryCode(Secret<[u8; CHARS]>);

impl RecoveryCode {
    /// Makes a code of 125 of these bits.
    pub fn new(random: [u8; 16]) -> Self {
        let mut bits = u128::from_be_bytes(random);
        let mut text = [0; CHARS];
        for character in &mut text {
            *character = ALPHABET[(bits & 31) as usize];
            bits >>= 5;
        }
        Self(Secret::new(text))
    }

    /// Reads what a person typed: in any case, with or without hyphens and spaces, and with the letters
    /// that look like digits. `None` when it can't be a code.
    pub fn parse(typed: &str) -> Option<Self> {
        let mut text = [0; CHARS];
        let mut length = 0;
        for byte in typed.bytes().filter(|byte| !matches!(byte, b'-' | b' ')) {
            let read = match byte.to_ascii_lowercase() {
                b'o' => b'0',
                b'i' | b'l' => b'1',
                other => other,
            };
            *text.get_mut(length)? = ALPHABET.contains(&read).then_some(read)?;
            length += 1;
        }
        (length == CHARS).then_some(Self(Secret::new(text)))
    }

    /// The code as it is shown, once: `abcde-…`.
    pub fn expose(&self) -> String {
        let groups: Vec<&str> =
            self.0.expose().chunks(GROUP).filter_map(|group| std::str::from_utf8(group).ok()).collect();
        groups.join("-")
    }

    /// What is stored: SHA-256 of the characters.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.expose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_reads_back_however_it_is_typed() {
        let code = RecoveryCode::new([0x5A; 16]);
        let shown = code.expose();
        assert_eq!(shown.len(), 29);
        let spaced = shown.replace('-', " ");
        let misread = shown.replace('0', "O").replace('1', "l");
        for typed in [&shown, &shown.to_uppercase(), &shown.replace('-', ""), &spaced, &misread] {
            assert_eq!(RecoveryCode::parse(typed).map(|read| read.hash()), Some(code.hash()), "{typed}");
        }
        assert!(!format!("{code:?}").contains(&shown[..5]));
    }

    #[test]
    fn another_shape_is_no_code_and_another_character_another_code() {
        let shown = RecoveryCode::new([0x5A; 16]).expose();
        for wrong in
            ["", &shown[1..], &format!("{shown}0"), &shown.replace(&shown[..1], "u"), &"é".repeat(25)]
        {
            assert!(RecoveryCode::parse(wrong).is_none(), "{wrong}");
        }
        let other = RecoveryCode::new([0x5B; 16]);
        assert!(other.hash() != RecoveryCode::new([0x5A; 16]).hash());
    }
}
