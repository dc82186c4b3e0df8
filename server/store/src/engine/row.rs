//! Rows on their way out: typed by name, with an error that names the column when the data is broken.

use restante_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Column as _, Row as _, TypeInfo as _, ValueRef as _};
use uuid::Uuid;

use super::StoreError;
use super::gathered::Gathered;

/// One row of a result.
pub struct Row {
    pub(super) statement: &'static str,
    pub(super) inner: Inner,
}

pub(super) enum Inner {
    Sqlite(SqliteRow),
    Postgres(PgRow),
    /// See [`super::gathered`].
    Gathered(Gathered),
}

type Result<T> = std::result::Result<T, StoreError>;

impl Row {
    /// What stands in the column can't be what it should be.
    pub(crate) fn broken(&self, column: &str) -> StoreError {
        StoreError::Corrupt { statement: self.statement, column: column.to_owned() }
    }

    /// A whole number, whatever its width in the table; `None` for NULL.
    pub fn int_or_null(&self, column: &str) -> Result<Option<i64>> {
        let read = match &self.inner {
            Inner::Sqlite(row) => row.try_get_unchecked::<Option<i64>, _>(column).ok(),
            Inner::Postgres(row) => {
                let Some(found) = row.columns().iter().find(|known| known.name() == column) else {
                    return Err(self.broken(column));
                };
                match found.type_info().name() {
                    "INT2" => row.try_get::<Option<i16>, _>(column).ok().map(|v| v.map(i64::from)),
                    "INT4" => row.try_get::<Option<i32>, _>(column).ok().map(|v| v.map(i64::from)),
                    _ => row.try_get::<Option<i64>, _>(column).ok(),
                }
            }
            Inner::Gathered(row) => row.int(column),
        };
        read.ok_or_else(|| self.broken(column))
    }

    /// A whole number.
    pub fn int(&self, column: &str) -> Result<i64> {
        self.int_or_null(column)?.ok_or_else(|| self.broken(column))
    }

    /// A whole number that can't be negative.
    pub fn count(&self, column: &str) -> Result<u64> {
        u64::try_from(self.int(column)?).map_err(|_| self.broken(column))
    }

    /// A moment.
    pub fn time(&self, column: &str) -> Result<Timestamp> {
        self.int(column).map(Timestamp::from_micros)
    }

    /// A moment; `None` for NULL.
    pub fn time_or_null(&self, column: &str) -> Result<Option<Timestamp>> {
        Ok(self.int_or_null(column)?.map(Timestamp::from_micros))
    }

    /// Yes or no; `None` for NULL.
    pub fn bool_or_null(&self, column: &str) -> Result<Option<bool>> {
        let read = match &self.inner {
            Inner::Sqlite(row) => {
                row.try_get_unchecked::<Option<i64>, _>(column).ok().map(|v| v.map(|n| n != 0))
            }
            Inner::Postgres(row) => row.try_get::<Option<bool>, _>(column).ok(),
            Inner::Gathered(row) => row.int(column).map(|v| v.map(|n| n != 0)),
        };
        read.ok_or_else(|| self.broken(column))
    }

    /// Yes or no.
    pub fn bool(&self, column: &str) -> Result<bool> {
        self.bool_or_null(column)?.ok_or_else(|| self.broken(column))
    }

    /// A text; `None` for NULL.
    pub fn text_or_null(&self, column: &str) -> Result<Option<String>> {
        let read = match &self.inner {
            Inner::Sqlite(row) => row.try_get_unchecked::<Option<String>, _>(column).ok(),
            Inner::Postgres(row) => row.try_get::<Option<String>, _>(column).ok(),
            Inner::Gathered(row) => row.text(column),
        };
        read.ok_or_else(|| self.broken(column))
    }

    /// A text.
    pub fn text(&self, column: &str) -> Result<String> {
        self.text_or_null(column)?.ok_or_else(|| self.broken(column))
    }

    /// Bytes; `None` for NULL.
    pub fn blob_or_null(&self, column: &str) -> Result<Option<Vec<u8>>> {
        let read = match &self.inner {
            Inner::Sqlite(row) => row.try_get_unchecked::<Option<Vec<u8>>, _>(column).ok(),
            Inner::Postgres(row) => row.try_get::<Option<Vec<u8>>, _>(column).ok(),
            Inner::Gathered(row) => row.bytes(column),
        };
        read.ok_or_else(|| self.broken(column))
    }

    /// Bytes.
    pub fn blob(&self, column: &str) -> Result<Vec<u8>> {
        self.blob_or_null(column)?.ok_or_else(|| self.broken(column))
    }

    /// An id; `None` for NULL.
    pub fn uuid_or_null(&self, column: &str) -> Result<Option<Uuid>> {
        let read = match &self.inner {
            Inner::Sqlite(row) => match row.try_get_raw(column) {
                Ok(raw) if raw.is_null() => Some(None),
                Ok(_) => row
                    .try_get_unchecked::<Vec<u8>, _>(column)
                    .ok()
                    .and_then(|bytes| Uuid::from_slice(&bytes).ok())
                    .map(Some),
                Err(_) => None,
            },
            Inner::Postgres(row) => row.try_get::<Option<Uuid>, _>(column).ok(),
            Inner::Gathered(row) => match row.bytes(column) {
                Some(Some(bytes)) => Uuid::from_slice(&bytes).ok().map(Some),
                read => read.map(|_| None),
            },
        };
        read.ok_or_else(|| self.broken(column))
    }

    /// An id.
    pub fn uuid(&self, column: &str) -> Result<Uuid> {
        self.uuid_or_null(column)?.ok_or_else(|| self.broken(column))
    }
}
