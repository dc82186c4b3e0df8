//! A new tenant with its keys, as every way to one makes it.

use restante_core::id::TenantId;
use restante_core::limits::{NAME_CHARS_MAX, SLUG_CHARS_MAX};
use restante_core::problem::{Code, FieldError, Problem};
use restante_core::seal::TenantKeyRow;
use restante_core::time::Timestamp;
use restante_store::control::tenants::TenantRow;
use restante_store::control::{tenant_keys, tenants};
use restante_store::{Conn, StoreError};

use crate::App;

/// A tenant that is still to be written.
pub(crate) struct NewTenant {
    pub(crate) row: TenantRow,
    keys: [TenantKeyRow; 3],
}

impl NewTenant {
    pub(crate) fn draw(app: &App, slug: &str, name: &str, now: Timestamp) -> Self {
        let id = TenantId::new(now, app.random.bytes());
        let (_, keys) = app.keys.create(id, &*app.random);
        let row =
            TenantRow { id, slug: slug.to_owned(), name: name.to_owned(), suspended: false, created_at: now };
        Self { row, keys }
    }

    /// Writes the tenant.
    ///
    /// # Errors
    /// `conflict` when its name in URLs is taken.
    pub(crate) async fn insert(&self, conn: &mut Conn<'_>) -> Result<(), StoreError> {
        if !tenants::insert(conn, &self.row).await? {
            let sentence = format!("There is already a tenant \"{}\".", self.row.slug);
            return Err(Problem::new(Code::Conflict, sentence).into());
        }
        for key in &self.keys {
            tenant_keys::insert(conn, self.row.id, key, self.row.created_at).await?;
        }
        Ok(())
    }
}

/// What is wrong with a tenant's name in URLs.
pub(crate) fn slug_fault(slug: &str, pointer: &str) -> Option<FieldError> {
    let is_slug = (1..=SLUG_CHARS_MAX).contains(&slug.len())
        && slug.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    (!is_slug).then(|| FieldError {
        pointer: pointer.to_owned(),
        detail: format!("A tenant's name has 1 to {SLUG_CHARS_MAX} of the characters a-z, 0-9 and -."),
    })
}

/// What is wrong with a tenant's name for people.
pub(crate) fn name_fault(name: &str, pointer: &str) -> Option<FieldError> {
    let is_name =
        (1..=NAME_CHARS_MAX).contains(&name.trim().chars().count()) && !name.chars().any(char::is_control);
    (!is_name).then(|| FieldError {
        pointer: pointer.to_owned(),
        detail: format!("A name has 1 to {NAME_CHARS_MAX} characters on one line."),
    })
}

/// A name in URLs made of a name for people: `Acme & Söhne` gives `acme-s-hne`.
pub fn slug_of(name: &str) -> String {
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == SLUG_CHARS_MAX {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_a_slug_that_is_one() {
        assert_eq!(slug_of("Acme & Söhne, Inc."), "acme-s-hne-inc");
        assert_eq!(slug_of("  --x--  "), "x");
        assert_eq!(slug_of("日本"), "");
        let long = slug_of(&"a b".repeat(100));
        assert!(slug_fault(&long, "").is_none(), "{long}");
    }

    #[test]
    fn names_have_their_bounds() {
        assert!(slug_fault("", "/x").is_some() && slug_fault("A", "/x").is_some());
        assert!(slug_fault(&"a".repeat(SLUG_CHARS_MAX), "/x").is_none());
        assert!(name_fault(" ", "/x").is_some() && name_fault("a\nb", "/x").is_some());
        assert!(name_fault(&"ä".repeat(NAME_CHARS_MAX), "/x").is_none());
        assert!(name_fault(&"ä".repeat(NAME_CHARS_MAX + 1), "/x").is_some());
    }
}
