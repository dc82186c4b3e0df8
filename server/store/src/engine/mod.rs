//! The seam between Restante and its two databases. Above it, a statement is a name and a list of
//! values, whatever database answers; below it stands sqlx, which no other crate knows.

mod batch;
mod conn;
mod error;
mod gathered;
mod guest;
mod held;
mod open;
mod row;
pub(crate) mod sql;
mod together;
mod value;

pub(crate) use batch::Batch;
pub use conn::Conn;
pub use error::StoreError;
pub(crate) use guest::{Guest, Turns};
pub(crate) use held::{Asked, Held};
pub use open::{Options, Url};
pub(crate) use open::{Pools, migrations_known};
pub(crate) use row::Row;
pub(crate) use sql::Sql;
pub(crate) use together::Together;
pub(crate) use value::Value;
pub(crate) use value::values;

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Embedded, for one server.
    Sqlite,
    /// For many nodes.
    Postgres,
}

impl Engine {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

sql::statements! {
    // Differs because each engine has a clock of its own. `clock_timestamp` rather than `now()`,
    // which stands still from the beginning of the transaction.
    /// The database's time in microseconds.
    DATABASE_NOW =
        sqlite "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000 AS now"
        postgres "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now";
}
