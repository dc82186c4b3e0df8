//! What surrounds every page of a person who is signed in: who they are, in which tenant, where they
//! may go from here. It is data; the template `shell.html` draws it.

use restante_core::access::{Scope, Scopes};

use super::badge::Tone;

/// A tenant as the switcher shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TenantName {
    /// Its name in addresses: `a-z`, `0-9` and `-`.
    pub(crate) slug: String,
    /// Its name for people.
    pub(crate) name: String,
}

impl TenantName {
    /// The letter on its sign.
    pub(crate) fn letter(&self) -> String {
        letter(&self.name)
    }
}

/// The first letter of a name.
pub(crate) fn letter(name: &str) -> String {
    name.chars()
        .find(|c| c.is_alphanumeric())
        .map_or_else(|| "·".to_owned(), |c| c.to_uppercase().to_string())
}

/// The parts of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Overview,
    Events,
    Failures,
    Endpoints,
    Consumers,
    Reconciliation,
    Keys,
    Members,
    Audit,
    Retention,
    Settings,
    Search,
    Account,
    Administration,
    AdminTenants,
    AdminPeople,
    AdminHealth,
    AdminSchedule,
    AdminRetention,
    AdminKeys,
    AdminAudit,
}

impl Area {
    /// The word in templates.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Events => "events",
            Self::Failures => "failures",
            Self::Endpoints => "endpoints",
            Self::Consumers => "consumers",
            Self::Reconciliation => "reconciliation",
            Self::Keys => "keys",
            Self::Members => "members",
            Self::Audit => "audit",
            Self::Retention => "retention",
            Self::Settings => "settings",
            Self::Search => "search",
            Self::Account => "account",
            Self::Administration => "administration",
            Self::AdminTenants => "admin-tenants",
            Self::AdminPeople => "admin-people",
            Self::AdminHealth => "admin-health",
            Self::AdminSchedule => "admin-schedule",
            Self::AdminRetention => "admin-retention",
            Self::AdminKeys => "admin-keys",
            Self::AdminAudit => "admin-audit",
        }
    }
}

/// A word of the product to the person, at the top of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) tone: Tone,
    pub(crate) icon: &'static str,
    pub(crate) text: String,
}

impl Notice {
    /// Something was done.
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { tone: Tone::Good, icon: "check", text: text.into() }
    }

    /// Something could not be done.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self { tone: Tone::Bad, icon: "failures", text: text.into() }
    }

    /// Something to look at again.
    pub(crate) fn look(text: impl Into<String>) -> Self {
        Self { tone: Tone::Warn, icon: "failures", text: text.into() }
    }
}

/// The frame of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shell {
    /// The tenant of the page; `None` on pages of the person or of the instance.
    pub(crate) tenant: Option<TenantName>,
    /// Every tenant that the person belongs to.
    pub(crate) tenants: Vec<TenantName>,
    /// The person's address.
    pub(crate) email: String,
    /// The role in this tenant, or what the person is otherwise.
    pub(crate) role: String,
    /// What the person may do in this tenant.
    pub(crate) scopes: Scopes,
    /// Whether the person manages this tenant: members and settings.
    pub(crate) owner: bool,
    /// Whether the person manages the instance.
    pub(crate) administrator: bool,
    /// The secret that each form of the page sends back.
    pub(crate) csrf: String,
    /// Which entry of the navigation this page belongs to.
    pub(crate) area: Area,
    /// Handoffs that wait for a person, for the navigation.
    pub(crate) failures: u64,
    /// Words at the top of the page.
    pub(crate) notices: Vec<Notice>,
}

impl Shell {
    /// The address below the tenant: `/t/acme` and then `rest`.
    pub(crate) fn at(&self, rest: &str) -> String {
        match &self.tenant {
            Some(tenant) => format!("/t/{}{rest}", tenant.slug),
            None => "/".to_owned(),
        }
    }

    /// Whether the entry of the navigation with this word is the present one. Templates name it by its
    /// word, so that no page's module has to bring the type along.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.area.as_str() == word
    }

    /// Whether the person may do what the scope of this word allows.
    pub(crate) fn may(&self, scope: &str) -> bool {
        Scope::from_word(scope).is_some_and(|scope| self.scopes.contains(scope))
    }

    /// The letter on the person's sign.
    pub(crate) fn letter(&self) -> String {
        letter(&self.email)
    }

    /// How many wait for a person, short: `99+`.
    pub(crate) fn failures_short(&self) -> String {
        if self.failures > 99 { "99+".to_owned() } else { self.failures.to_string() }
    }

    #[cfg(test)]
    pub(crate) fn sample(area: Area) -> Self {
        let name = |slug: &str, name: &str| TenantName { slug: slug.to_owned(), name: name.to_owned() };
        Self {
            tenant: Some(name("acme", "Acme payments")),
            tenants: vec![name("acme", "Acme payments"), name("beta", "Beta shop")],
            email: "ada@example.com".to_owned(),
            role: "developer".to_owned(),
            scopes: Scopes::ALL,
            owner: true,
            administrator: true,
            csrf: "sample-token".to_owned(),
            area,
            failures: 12,
            notices: Vec::new(),
        }
    }

    /// The same with names that try to be markup.
    #[cfg(test)]
    pub(crate) fn hostile(area: Area) -> Self {
        let mut shell = Self::sample(area);
        let name = TenantName { slug: "acme".to_owned(), name: super::samples::HOSTILE.to_owned() };
        shell.tenant = Some(name.clone());
        shell.tenants = vec![name];
        shell.email = format!("{}@example.com", super::samples::HOSTILE);
        shell.notices =
            vec![Notice::look(super::samples::HOSTILE), Notice::done("Done."), Notice::refused("Not.")];
        shell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_letters_has_a_sign_all_the_same() {
        assert_eq!(letter("acme"), "A");
        assert_eq!(letter("--9"), "9");
        assert_eq!(letter("ßtudio"), "SS");
        assert_eq!(letter("<>"), "·");
    }

    #[test]
    fn addresses_stand_below_the_tenant() {
        let shell = Shell::sample(Area::Events);
        assert_eq!(shell.at("/events"), "/t/acme/events");
        assert!(shell.is("events") && !shell.is("keys"));
        assert!(shell.may("payloads:read") && !shell.may("everything"));
        assert_eq!(Shell { failures: 100, ..shell }.failures_short(), "99+");
    }
}
