//! Registered statements: every SQL text of the product has a name and stands in a list, so that a
//! test can prepare each of them on both engines and look for the tenant in it.

use super::Engine;

/// One statement. Its text begins with its name as a comment, so that it can be found in the
/// database's own logs.
#[derive(Debug)]
pub struct Sql {
    /// What it is called in errors and logs.
    pub name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
    /// Why the statement names no tenant; `None` where it does.
    pub(crate) crosses_tenants: Option<&'static str>,
}

impl Sql {
    /// One text for both engines: the habit.
    pub(crate) const fn both(name: &'static str, text: &'static str) -> Self {
        Self { name, sqlite: text, postgres: text, crosses_tenants: None }
    }

    /// A text for each engine: the exception. The statement's comment says why they differ.
    pub(crate) const fn split(name: &'static str, sqlite: &'static str, postgres: &'static str) -> Self {
        Self { name, sqlite, postgres, crosses_tenants: None }
    }

    /// Marks a statement on tenants' tables that names no tenant, with the reason.
    pub(crate) const fn across_tenants(mut self, reason: &'static str) -> Self {
        self.crosses_tenants = Some(reason);
        self
    }

    /// Whether its rows come gathered on SQLite.
    pub(crate) fn is_gathered(&self) -> bool {
        self.sqlite.contains(" AS gathered")
    }

    /// The text for an engine.
    pub(crate) const fn text(&self, engine: Engine) -> &'static str {
        match engine {
            Engine::Sqlite => self.sqlite,
            Engine::Postgres => self.postgres,
        }
    }
}

/// Defines statements and the list of them (`ALL`) that the tests walk.
///
/// `NAME = "text";` is one text for both engines,
/// `NAME = sqlite "text" postgres "text";` is a text for each; a comment says why they differ.
/// `NAME = across_tenants "reason" …` marks a statement that names no tenant.
macro_rules! statements {
    ($($(#[doc = $doc:literal])* $name:ident = $(across_tenants $reason:literal)? $(both $text:literal)? $(sqlite $sqlite:literal postgres $postgres:literal)?;)*) => {
        $(
            $(#[doc = $doc])*
            pub(crate) static $name: $crate::engine::Sql = {
                let sql = $crate::engine::sql::statements!(@make $name $(both $text)? $(sqlite $sqlite postgres $postgres)?);
                $(let sql = sql.across_tenants($reason);)?
                sql
            };
        )*
        /// Every statement of this file.
        #[cfg(test)]
        pub(crate) static ALL: &[&$crate::engine::Sql] = &[$(&$name),*];
    };
    (@make $name:ident both $text:literal) => {
        $crate::engine::Sql::both(stringify!($name), concat!("/* ", stringify!($name), " */ ", $text))
    };
    (@make $name:ident sqlite $sqlite:literal postgres $postgres:literal) => {
        $crate::engine::Sql::split(
            stringify!($name),
            concat!("/* ", stringify!($name), " */ ", $sqlite),
            concat!("/* ", stringify!($name), " */ ", $postgres),
        )
    };
}
pub(crate) use statements;
