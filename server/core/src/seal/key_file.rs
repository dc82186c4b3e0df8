//! The text of a master key file: a key a line, in hex (64 characters) or base64 (44), the active one
//! first; `#` begins a comment. Reading and writing the file itself is the caller's.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::{KEY_BYTES, KeyRing, RingError};
use crate::secret::Secret;

/// Keys that one file may hold. A change of key needs two.
pub const MASTER_KEYS_MAX: usize = 32;
/// The largest key file, in bytes.
pub const KEY_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Why a text is no key file. Names lines, never what stands in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// A line is neither a key nor a comment.
    #[error(
        "line {line} is not a key: write 32 random bytes as 64 hexadecimal digits or 44 characters of base64"
    )]
    NotAKey {
        /// The line, from 1.
        line: usize,
    },
    /// It is not text.
    #[error("it is not a text file: write one key a line, in hex or base64")]
    NotText,
    /// More keys than any change of keys needs.
    #[error("it holds more than {MASTER_KEYS_MAX} keys: remove those that wrap nothing any more")]
    TooMany,
    /// No key, or one twice.
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// Reads a key file.
///
/// # Errors
/// When a line is no key, or the keys make no ring.
pub fn read_key_file(bytes: &[u8]) -> Result<KeyRing, KeyFileError> {
    let text = std::str::from_utf8(bytes).map_err(|_| KeyFileError::NotText)?;
    let mut keys = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let written = line.split('#').next().unwrap_or_default().trim();
        if written.is_empty() {
            continue;
        }
        if keys.len() == MASTER_KEYS_MAX {
            return Err(KeyFileError::TooMany);
        }
        keys.push(read_key(written).ok_or(KeyFileError::NotAKey { line: place + 1 })?);
    }
    Ok(KeyRing::new(&keys)?)
}

pub(super) fn read_key(text: &str) -> Option<Secret<[u8; KEY_BYTES]>> {
    let bytes = match text.len() {
        64 => hex::decode(text).ok(),
        44 => STANDARD.decode(text).ok(),
        _ => None,
    };
    let bytes = Zeroizing::new(bytes?);
    let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok()?;
    Some(Secret::new(key))
}

/// The text of a new key file.
pub fn write_key_file(key: &Secret<[u8; KEY_BYTES]>) -> Secret<String> {
    let written = Zeroizing::new(hex::encode(key.expose()));
    Secret::new(format!(
        "# The master key of this Restante. Without it, nobody can read what is sealed in the database;\n\
         # with it and the database, anybody can. Keep a copy apart from the database's backups.\n\
         {}\n",
        written.as_str()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn ids(text: &str) -> Result<Vec<String>, KeyFileError> {
        read_key_file(text.as_bytes()).map(|ring| ring.ids().map(|id| id.to_string()).collect())
    }

    #[test]
    fn hex_and_base64_are_the_same_key() {
        let base64 = STANDARD.encode(hex::decode(HEX).unwrap());
        assert_eq!(base64.len(), 44);
        let expected = Ok(vec!["e85a02a3e12707cb".to_string()]);
        assert_eq!(ids(HEX), expected);
        assert_eq!(ids(&base64), expected);
        assert_eq!(ids(&HEX.to_uppercase()), expected);
    }

    #[test]
    fn the_first_key_is_active_and_comments_count_for_nothing() {
        let other = "11".repeat(32);
        let text = format!("# new\r\n\r\n  {other}  # since December\r\n{HEX}\n#{HEX}");
        let ring = read_key_file(text.as_bytes()).unwrap();
        assert_eq!(ring.ids().count(), 2);
        assert_eq!(Ok(vec![ring.active_id().to_string()]), ids(&other));
    }

    #[test]
    fn a_written_file_reads_back() {
        let key = Secret::new([7; KEY_BYTES]);
        let ring = read_key_file(write_key_file(&key).expose().as_bytes()).unwrap();
        assert_eq!(ring.active_id(), KeyRing::new(&[key]).unwrap().active_id());
    }

    #[test]
    fn a_wrong_line_is_named_and_never_shown() {
        let wrong = format!("{HEX}\n\nnot-the-key");
        let error = ids(&wrong).unwrap_err();
        assert_eq!(error, KeyFileError::NotAKey { line: 3 });
        assert!(!error.to_string().contains("not-the-key"));
        for line in [&HEX[1..], &HEX.replace('0', "g"), &"=".repeat(44), &"A".repeat(44), &"é".repeat(32)] {
            assert_eq!(ids(line), Err(KeyFileError::NotAKey { line: 1 }), "{line}");
        }
    }

    #[test]
    fn a_file_without_a_key_or_with_too_many_is_refused() {
        assert_eq!(ids("# nothing yet\n"), Err(KeyFileError::Ring(RingError::Empty)));
        assert!(matches!(ids(&format!("{HEX}\n{HEX}")), Err(KeyFileError::Ring(RingError::Twice(_)))));
        let many: String = (0..=MASTER_KEYS_MAX).map(|place| format!("{place:064x}\n")).collect();
        assert_eq!(ids(&many), Err(KeyFileError::TooMany));
        assert_eq!(read_key_file(&[0xff, 0xfe]).err(), Some(KeyFileError::NotText));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = read_key_file(&bytes);
        }
    }
}
