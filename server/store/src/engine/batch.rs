//! Many rows for one statement.
//!
//! PostgreSQL takes a column as an array (`UNNEST($1::uuid[], $2::text[])`). SQLite takes all rows as
//! one JSON text (`jsonb_each($1)`) with the bytes in one blob (`$2`), because sqlx hops to a thread of
//! its own once a statement: few large statements cost a fraction of many small ones. The statements
//! keep each row for themselves first (`AS MATERIALIZED`), or SQLite would write it out as text and
//! read it again for each of its columns, which took a third longer.

use std::fmt::Write as _;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use uuid::Uuid;

use super::Engine;
use super::value::storable;

/// The rows, kept by column. All columns have the same length.
#[derive(Debug, Default)]
pub struct Batch {
    columns: Vec<Column>,
}

#[derive(Debug)]
enum Column {
    Uuids(Vec<Option<Uuid>>),
    Texts(Vec<Option<String>>),
    Ints(Vec<Option<i64>>),
    Bools(Vec<Option<bool>>),
    Blobs(Vec<Option<Vec<u8>>>),
}

impl Batch {
    /// A batch without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of ids.
    pub fn uuids(mut self, values: impl IntoIterator<Item = Uuid>) -> Self {
        self.columns.push(Column::Uuids(values.into_iter().map(Some).collect()));
        self
    }

    /// Adds a column of ids that may be NULL.
    pub fn uuids_or_null(mut self, values: impl IntoIterator<Item = Option<Uuid>>) -> Self {
        self.columns.push(Column::Uuids(values.into_iter().collect()));
        self
    }

    /// Adds a column of texts.
    pub fn texts(mut self, values: impl IntoIterator<Item = String>) -> Self {
        self.columns.push(Column::Texts(values.into_iter().map(storable).map(Some).collect()));
        self
    }

    /// Adds a column of texts that may be NULL.
    pub fn texts_or_null(mut self, values: impl IntoIterator<Item = Option<String>>) -> Self {
        self.columns.push(Column::Texts(values.into_iter().map(|text| text.map(storable)).collect()));
        self
    }

    /// Adds a column of numbers.
    pub fn ints(mut self, values: impl IntoIterator<Item = i64>) -> Self {
        self.columns.push(Column::Ints(values.into_iter().map(Some).collect()));
        self
    }

    /// Adds a column of numbers that may be NULL.
    pub fn ints_or_null(mut self, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.columns.push(Column::Ints(values.into_iter().collect()));
        self
    }

    /// Adds a column of yes or no.
    pub fn bools(mut self, values: impl IntoIterator<Item = bool>) -> Self {
        self.columns.push(Column::Bools(values.into_iter().map(Some).collect()));
        self
    }

    /// Adds a column of yes, no or NULL.
    pub fn bools_or_null(mut self, values: impl IntoIterator<Item = Option<bool>>) -> Self {
        self.columns.push(Column::Bools(values.into_iter().collect()));
        self
    }

    /// Adds a column of bytes. On SQLite it takes two places in a row: offset and length in `$2`.
    pub fn blobs(mut self, values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.columns.push(Column::Blobs(values.into_iter().map(Some).collect()));
        self
    }

    /// Adds a column of bytes that may be NULL (on SQLite: both places are null).
    pub fn blobs_or_null(mut self, values: impl IntoIterator<Item = Option<Vec<u8>>>) -> Self {
        self.columns.push(Column::Blobs(values.into_iter().collect()));
        self
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| match column {
            Column::Uuids(v) => v.len(),
            Column::Texts(v) => v.len(),
            Column::Ints(v) => v.len(),
            Column::Bools(v) => v.len(),
            Column::Blobs(v) => v.len(),
        })
    }

    /// How many parameters its statement has.
    pub(super) fn parameters(&self, engine: Engine) -> usize {
        match engine {
            Engine::Sqlite => 2,
            Engine::Postgres => self.columns.len(),
        }
    }

    /// For SQLite: an array of arrays, and the bytes that its offsets (from 1) point into.
    pub(super) fn into_json(self) -> (String, Vec<u8>) {
        let rows = self.rows();
        let mut json = String::with_capacity(rows * 40 * self.columns.len() + 2);
        let mut bytes = Vec::new();
        json.push('[');
        for row in 0..rows {
            json.push_str(if row == 0 { "[" } else { ",[" });
            for (place, column) in self.columns.iter().enumerate() {
                if place > 0 {
                    json.push(',');
                }
                match column {
                    Column::Uuids(v) => match v.get(row).copied().flatten() {
                        Some(id) => push_hex(&mut json, id),
                        None => json.push_str("null"),
                    },
                    Column::Texts(v) => match v.get(row).and_then(Option::as_deref) {
                        Some(text) => push_text(&mut json, text),
                        None => json.push_str("null"),
                    },
                    Column::Ints(v) => match v.get(row).copied().flatten() {
                        Some(number) => {
                            let _ = write!(json, "{number}");
                        }
                        None => json.push_str("null"),
                    },
                    Column::Bools(v) => json.push_str(match v.get(row).copied().flatten() {
                        Some(true) => "1",
                        Some(false) => "0",
                        None => "null",
                    }),
                    Column::Blobs(v) => match v.get(row).and_then(Option::as_deref) {
                        Some(blob) => {
                            let _ = write!(json, "{},{}", bytes.len() + 1, blob.len());
                            bytes.extend_from_slice(blob);
                        }
                        None => json.push_str("null,null"),
                    },
                }
            }
            json.push(']');
        }
        json.push(']');
        (json, bytes)
    }

    /// For PostgreSQL: an array a column.
    pub(super) fn bind_arrays(
        self,
        mut query: Query<'static, sqlx::Postgres, PgArguments>,
    ) -> Query<'static, sqlx::Postgres, PgArguments> {
        for column in self.columns {
            query = match column {
                Column::Uuids(v) => query.bind(v),
                Column::Texts(v) => query.bind(v),
                Column::Ints(v) => query.bind(v),
                Column::Bools(v) => query.bind(v),
                Column::Blobs(v) => query.bind(v),
            };
        }
        query
    }
}

fn push_hex(json: &mut String, id: Uuid) {
    let mut buffer = [0; 32];
    json.push('"');
    json.push_str(id.as_simple().encode_lower(&mut buffer));
    json.push('"');
}

fn push_text(json: &mut String, text: &str) {
    // A JSON string of valid text can always be written.
    json.push_str(&serde_json::Value::from(text).to_string());
}

pub(super) fn json_of_uuids(ids: &[Uuid]) -> String {
    let mut json = String::with_capacity(ids.len() * 35 + 2);
    json.push('[');
    for (place, id) in ids.iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        push_hex(&mut json, *id);
    }
    json.push(']');
    json
}

pub(super) fn json_of_texts(texts: &[String]) -> String {
    serde_json::Value::from(texts.to_vec()).to_string()
}
