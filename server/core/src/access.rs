//! Who may do what: the scopes of API keys, the roles of people, and the caller of a request. It
//! says what a caller holds; which scope a route asks for stands with the route.

use std::fmt;

use crate::id::{KeyId, TenantId};
use crate::problem::{Code, FieldError, Problem};

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

/// Who makes a request, as the credential says; nothing in the request itself can change the tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Principal {
    /// The tenant within which everything is looked up.
    pub tenant: TenantId,
    /// The API key that was presented; `None` for a person in the browser.
    pub key: Option<KeyId>,
    /// What the caller may do.
    pub scopes: Scopes,
}

impl Principal {
    /// Demands a scope.
    ///
    /// # Errors
    /// A missing scope, by name.
    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.scopes.contains(scope) {
            Ok(())
        } else {
            Err(Problem::new(
                Code::MissingScope,
                format!("This needs the scope {scope}, which the API key does not have."),
            ))
        }
    }

    /// Demands that the caller holds all of what a new key is to have.
    ///
    /// # Errors
    /// A missing scope, with all that are missing.
    pub fn may_grant(&self, wanted: Scopes) -> Result<(), Problem> {
        let missing = wanted.without(self.scopes);
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Problem::new(
                Code::MissingScope,
                format!("A key can grant only scopes that it has itself; it lacks: {missing}."),
            ))
        }
    }
}

/// What a person is; stored as its word. The first four are held within a
/// tenant; the last one within the instance, beside any of the others, and opens no tenant's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything within the tenant, its members and keys included.
    Owner,
    /// Endpoints, consumers and events.
    Developer,
    /// Events: replay, repair, settle.
    Operator,
    /// Look only.
    Viewer,
    /// The instance: tenants, people, keys of the operator.
    InstanceAdministrator,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 5] =
        [Self::Owner, Self::Developer, Self::Operator, Self::Viewer, Self::InstanceAdministrator];

    /// The word on pages and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Developer => "developer",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
            Self::InstanceAdministrator => "instance administrator",
        }
    }

    /// The role of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn principal(scopes: Scopes) -> Principal {
        Principal { tenant: TenantId(Uuid::nil()), key: None, scopes }
    }

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

    #[test]
    fn no_scope_implies_another() {
        for held in Scope::ALL {
            let caller = principal(Scopes::NONE.with(held));
            for wanted in Scope::ALL {
                assert_eq!(caller.require(wanted).is_ok(), held == wanted);
            }
        }
    }

    #[test]
    fn a_key_grants_only_its_own() {
        let own = Scopes::NONE.with(Scope::EventsRead).with(Scope::ConfigWrite);
        assert_eq!(principal(own).may_grant(own), Ok(()));
        let refused = principal(own).may_grant(own.with(Scope::PayloadsRead)).unwrap_err();
        assert_eq!(refused.code, Code::MissingScope);
        assert!(refused.detail.ends_with("lacks: payloads:read."), "{}", refused.detail);
    }

    #[test]
    fn roles_read_back() {
        for role in Role::ALL {
            assert_eq!(Role::from_word(role.as_str()), Some(role));
        }
        assert_eq!(Role::from_word("root"), None);
    }
}
