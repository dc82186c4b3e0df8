//! What administrators decide for the whole instance, by name. What the operator decides stands in the
//! settings of the program.

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// A decision. The words are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceSetting {
    /// Whether strangers may make an account and a tenant: `open`, or anything else.
    SignUp,
    /// The bounds and defaults of retention, as JSON.
    Retention,
}

impl InstanceSetting {
    const fn name(self) -> &'static str {
        match self {
            Self::SignUp => "sign_up",
            Self::Retention => "retention",
        }
    }
}

statements! {
    /// What was decided.
    INSTANCE_SETTING_READ = both
        "SELECT value FROM instance WHERE name = $1";

    /// Decides.
    INSTANCE_SETTING_WRITE = both
        "INSERT INTO instance (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
}

/// What was decided; `None` while nobody has.
///
/// # Errors
/// What the database ran into.
pub async fn read(conn: &mut Conn<'_>, setting: InstanceSetting) -> Result<Option<String>, StoreError> {
    let row = conn.fetch_optional(&INSTANCE_SETTING_READ, values![setting.name()]).await?;
    row.map(|row| row.text("value")).transpose()
}

/// Decides.
///
/// # Errors
/// What the database ran into.
pub async fn write(conn: &mut Conn<'_>, setting: InstanceSetting, value: &str) -> Result<(), StoreError> {
    conn.execute(&INSTANCE_SETTING_WRITE, values![setting.name(), value]).await.map(|_| ())
}
