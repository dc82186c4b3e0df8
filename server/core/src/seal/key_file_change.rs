//! A master key file taken apart, to change one thing in it and leave the rest as people wrote it.

use zeroize::Zeroizing;

use super::key_file::{KeyFileError, MASTER_KEYS_MAX, read_key, read_key_file};
use super::{KEY_BYTES, KekId};
use crate::secret::Secret;

/// The lines of a key file. Has no `Debug`; wiped from memory when dropped.
pub struct KeyFileText {
    lines: Vec<Line>,
}

struct Line {
    // Comments too: a key that somebody commented out is still a key.
    text: Zeroizing<String>,
    key: Option<KekId>,
}

impl KeyFileText {
    /// Takes a file apart.
    ///
    /// # Errors
    /// As [`read_key_file`]: what can't be read is not changed either.
    pub fn read(bytes: &[u8]) -> Result<Self, KeyFileError> {
        read_key_file(bytes)?;
        let text = std::str::from_utf8(bytes).map_err(|_| KeyFileError::NotText)?;
        let lines = text.lines().map(|line| {
            let written = line.split('#').next().unwrap_or_default().trim();
            Line { text: Zeroizing::new(line.to_owned()), key: read_key(written).map(|key| KekId::of(&key)) }
        });
        Ok(Self { lines: lines.collect() })
    }

    /// The ids of its keys, the active one first.
    pub fn ids(&self) -> impl Iterator<Item = KekId> + '_ {
        self.lines.iter().filter_map(|line| line.key)
    }

    /// Adds a key below all others, with a remark behind it: it unwraps, and does not wrap yet.
    ///
    /// # Errors
    /// [`KeyFileError::TooMany`] when the file is full.
    pub fn add(&mut self, key: &Secret<[u8; KEY_BYTES]>, remark: &str) -> Result<KekId, KeyFileError> {
        if self.ids().count() == MASTER_KEYS_MAX {
            return Err(KeyFileError::TooMany);
        }
        let id = KekId::of(key);
        let written = Zeroizing::new(hex::encode(key.expose()));
        let text = Zeroizing::new(format!("{} # {remark}", written.as_str()));
        self.lines.push(Line { text, key: Some(id) });
        Ok(id)
    }

    /// Moves a key above the others, so that it wraps; `false` when the file does not hold it.
    pub fn activate(&mut self, id: KekId) -> bool {
        let first = self.lines.iter().position(|line| line.key.is_some());
        let Some((place, first)) = self.place_of(id).zip(first) else { return false };
        let line = self.lines.remove(place);
        self.lines.insert(first, line);
        true
    }

    /// Takes a key out; gives its line, or `None` when the file does not hold it.
    pub fn remove(&mut self, id: KekId) -> Option<Secret<String>> {
        let place = self.place_of(id)?;
        let line = self.lines.remove(place);
        Some(Secret::new(line.text.as_str().to_owned()))
    }

    /// The text of the file.
    pub fn text(&self) -> Secret<String> {
        let length = self.lines.iter().map(|line| line.text.len() + 1).sum();
        // At once as long as it gets: a text that grows leaves copies behind.
        let mut text = String::with_capacity(length);
        for line in &self.lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        Secret::new(text)
    }

    fn place_of(&self, id: KekId) -> Option<usize> {
        self.lines.iter().position(|line| line.key == Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::KeyRing;

    fn key(byte: u8) -> Secret<[u8; KEY_BYTES]> {
        Secret::new([byte; KEY_BYTES])
    }

    fn id(byte: u8) -> KekId {
        KekId::of(&key(byte))
    }

    fn file() -> KeyFileText {
        let text = format!("# of ours\n\n{}  # the first\n# below\n{}\n", "01".repeat(32), "02".repeat(32));
        KeyFileText::read(text.as_bytes()).unwrap()
    }

    fn ring(file: &KeyFileText) -> KeyRing {
        read_key_file(file.text().expose().as_bytes()).unwrap()
    }

    #[test]
    fn what_is_not_changed_stays_as_it_was_written() {
        let text = format!("# a\r\n\n {} #b\n", "01".repeat(32));
        let file = KeyFileText::read(text.as_bytes()).unwrap();
        assert_eq!(*file.text().expose(), text.replace('\r', ""));
    }

    #[test]
    fn a_key_is_added_below_and_wraps_once_it_is_activated() {
        let mut file = file();
        assert_eq!(file.add(&key(3), "added").unwrap(), id(3));
        assert_eq!(file.ids().collect::<Vec<_>>(), [id(1), id(2), id(3)]);
        assert_eq!(ring(&file).active_id(), id(1));
        assert!(file.activate(id(3)));
        assert_eq!(ring(&file).ids().collect::<Vec<_>>(), [id(3), id(1), id(2)]);
        assert!(file.text().expose().starts_with("# of ours\n\n0303"), "the comments above stay above");
        assert!(file.activate(id(3)), "twice is once");
        assert!(!file.activate(id(9)));
        assert_eq!(ring(&file).active_id(), id(3));
    }

    #[test]
    fn a_removed_key_is_given_back_as_a_line_that_reads() {
        let mut file = file();
        let line = file.remove(id(1)).unwrap();
        assert_eq!(read_key_file(line.expose().as_bytes()).unwrap().active_id(), id(1));
        assert_eq!(ring(&file).ids().collect::<Vec<_>>(), [id(2)]);
        assert!(file.remove(id(1)).is_none());
    }

    #[test]
    fn a_full_file_takes_no_more_keys() {
        let many: String = (0..MASTER_KEYS_MAX).map(|place| format!("{place:064x}\n")).collect();
        let mut file = KeyFileText::read(many.as_bytes()).unwrap();
        assert_eq!(file.add(&key(3), "added").err(), Some(KeyFileError::TooMany));
    }
}
