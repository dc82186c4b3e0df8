//! Scopes: the single things that a caller may do within a tenant. An API key holds a set of them, and
//! so does each role of people.

use std::fmt;

use crate::problem::FieldError;

/// One thing that an API key may do. In storage each is its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scope {
    /// See receipts, their handoffs and deliveries, and figures; no bodies and no headers.
    EventsRead = 1,
    /// See bodies and headers.
    PayloadsRead = 2,
    /// Claim events of a consumer and ack, nack and extend their leases.
    EventsConsume = 4,
    /// Replay, repair and settle.
    EventsReplay = 8,
    /// See endpoints, consumers, keys and policies; never their secrets.
    ConfigRead = 16,
    /// Change them.
    ConfigWrite = 32,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 6] = [
        Self::EventsRead,
        Self::PayloadsRead,
        Self::EventsConsume,
        Self::EventsReplay,
        Self::ConfigRead,
        Self::ConfigWrite,
    ];

    /// The word in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EventsRead => "events:read",
            Self::PayloadsRead => "payloads:read",
            Self::EventsConsume => "events:consume",
            Self::EventsReplay => "events:replay",
            Self::ConfigRead => "config:read",
            Self::ConfigWrite => "config:write",
        }
    }

    /// The scope of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// None.
    pub const NONE: Self = Self(0);
    /// Every scope, as `bootstrap` gives it and as the owner of a tenant has it.
    pub const ALL: Self = Self(63);

    /// Reads what is stored, which is what `Display` writes: words with a space between; `None` when
    /// one is no scope.
    pub fn from_stored(text: &str) -> Option<Self> {
        text.split_ascii_whitespace()
            .try_fold(Self::NONE, |scopes, word| Some(scopes.with(Scope::from_word(word)?)))
    }

    /// Reads a list of words that stands at `pointer` in the request. A word that comes twice counts once.
    ///
    /// # Errors
    /// For each word that is no scope, and for an empty list: such a key could do nothing.
    pub fn parse<S: AsRef<str>>(words: &[S], pointer: &str) -> Result<Self, Vec<FieldError>> {
        let all = Scope::ALL.map(Scope::as_str).join(", ");
        if words.is_empty() {
            let detail = format!("A key needs at least one scope of: {all}.");
            return Err(vec![FieldError { pointer: pointer.to_string(), detail }]);
        }
        let mut scopes = Self::NONE;
        let mut errors = Vec::new();
        for (place, word) in words.iter().enumerate() {
            match Scope::from_word(word.as_ref()) {
                Some(scope) => scopes = scopes.with(scope),
                // One fault says enough about a list that is wrong as a whole.
                None if errors.len() < Scope::ALL.len() => errors.push(FieldError {
                    pointer: format!("{pointer}/{place}"),
                    detail: format!("There is no such scope: choose from {all}."),
                }),
                None => {}
            }
        }
        if errors.is_empty() { Ok(scopes) } else { Err(errors) }
    }

    /// This set and one more scope.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope as u8)
    }

    /// Whether a scope is in the set.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope as u8 != 0
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scopes, in the order of the documentation.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, scope) in self.iter().enumerate() {
            write!(f, "{}{scope}", if place == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Scope::as_str)).finish()
    }
}

impl serde::Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Scope::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_read_back_from_requests_and_from_storage() {
        let words = Scope::ALL.map(Scope::as_str);
        assert_eq!(Scopes::parse(&words, "/scopes"), Ok(Scopes::ALL));
        for scope in Scope::ALL {
            let one = Scopes::NONE.with(scope);
            assert_eq!(Scopes::parse(&[scope.as_str(), scope.as_str()], ""), Ok(one));
            assert_eq!(Scopes::from_stored(&one.to_string()), Some(one));
        }
        assert_eq!(Scopes::from_stored(&Scopes::ALL.to_string()), Some(Scopes::ALL));
        assert_eq!(Scopes::from_stored("events:read all"), None);
        assert_eq!(
            serde_json::to_string(&Scopes::NONE.with(Scope::ConfigRead)).unwrap(),
            r#"["config:read"]"#
        );
    }

    #[test]
    fn an_unknown_word_and_an_empty_list_are_refused_at_their_place() {
        let errors = Scopes::parse(&["events:read", "events:*"], "/scopes").unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].pointer, "/scopes/1");
        assert_eq!(Scopes::parse::<&str>(&[], "/scopes").unwrap_err()[0].pointer, "/scopes");
        assert!(Scopes::parse(&["x"; 10_000], "/scopes").unwrap_err().len() <= Scope::ALL.len());
    }
}
