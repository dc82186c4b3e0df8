//! What a person is within a tenant, and what that lets them do there. Whether somebody administers the
//! instance is no role: it stands beside any of these and opens no tenant's events.

use std::fmt;

use super::{Scope, Scopes};

/// What a person is within a tenant; stored as its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything, and alone: members, the audit log, grants to administrators, settings of the tenant.
    Owner,
    /// Endpoints, consumers, API keys, and what an operator may.
    Developer,
    /// Sees payloads; replays, repairs and settles.
    Operator,
    /// Looks only, and at no payload.
    Viewer,
}

impl Role {
    /// Every role, the mightiest first.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Developer, Self::Operator, Self::Viewer];

    /// The word on pages and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Developer => "developer",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
        }
    }

    /// The role of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// What the role is for, in a sentence for the page on which one is chosen.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Owner => "Everything, with members, keys and the audit log.",
            Self::Developer => "Endpoints, consumers and keys; sees payloads and replays.",
            Self::Operator => "Sees events with their payloads; replays, repairs and settles.",
            Self::Viewer => "Looks at events and settings, but not at payloads.",
        }
    }

    /// What the role may do.
    pub const fn scopes(self) -> Scopes {
        let viewer = Scopes::NONE.with(Scope::EventsRead).with(Scope::ConfigRead);
        let operator = viewer.with(Scope::PayloadsRead).with(Scope::EventsReplay);
        match self {
            Self::Viewer => viewer,
            Self::Operator => operator,
            Self::Developer => operator.with(Scope::ConfigWrite).with(Scope::EventsConsume),
            Self::Owner => Scopes::ALL,
        }
    }

    /// The least of the roles that may do it.
    pub fn least_with(scope: Scope) -> Self {
        let may = |role: &Self| role.scopes().contains(scope);
        Self::ALL.into_iter().rev().find(may).unwrap_or(Self::Owner)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_read_back() {
        for role in Role::ALL {
            assert_eq!(Role::from_word(role.as_str()), Some(role));
        }
        assert_eq!(Role::from_word("root"), None);
    }

    #[test]
    fn each_role_may_what_the_next_one_may_and_a_viewer_sees_no_payload() {
        for pair in Role::ALL.windows(2) {
            assert!(pair[1].scopes().without(pair[0].scopes()).is_empty(), "{pair:?}");
        }
        assert!(!Role::Viewer.scopes().contains(Scope::PayloadsRead));
        assert!(!Role::Operator.scopes().contains(Scope::ConfigWrite));
        assert_eq!(Role::Owner.scopes(), Scopes::ALL);
    }

    #[test]
    fn the_least_role_of_a_scope_is_the_last_that_has_it() {
        assert_eq!(Role::least_with(Scope::EventsRead), Role::Viewer);
        assert_eq!(Role::least_with(Scope::EventsReplay), Role::Operator);
        assert_eq!(Role::least_with(Scope::ConfigWrite), Role::Developer);
    }
}
