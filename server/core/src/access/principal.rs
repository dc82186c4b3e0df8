//! Who makes a request within a tenant, and what they may do there: an API key, or a person by their
//! role.

use super::{Scope, Scopes};
use crate::id::{KeyId, TenantId, UserId};
use crate::problem::{Code, Problem};

/// Who makes a request, as the credential says; nothing in the request itself can change the tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Principal {
    /// The tenant within which everything is looked up.
    pub tenant: TenantId,
    /// The API key that was presented; `None` for a person in the browser.
    pub key: Option<KeyId>,
    /// The person who is signed in; `None` for an API key.
    pub user: Option<UserId>,
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
                match self.user {
                    None => format!("This needs the scope {scope}, which the API key does not have."),
                    Some(_) => format!("This needs the right {scope}, which your role here does not have."),
                },
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn principal(scopes: Scopes) -> Principal {
        Principal { tenant: TenantId(Uuid::nil()), key: None, user: None, scopes }
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
}
