//! Many rows of SQLite as one. sqlx hands each row from its thread to the caller's by itself and wakes the caller for it,
//! which costs more than the row. A statement that answers a row for each record of a group gathers them in one JSON
//! array of objects, in a column of this name; bytes and ids stand in it as hex, and what a row leaves out is NULL.

use serde_json::{Map, Value};

use super::row::Inner;
use super::{Row, StoreError};

/// The one column of a statement that gathers its rows.
const COLUMN: &str = "gathered";

/// A row that was gathered. The outer `None` of an answer says that something else stands there.
pub(super) struct Gathered(Map<String, Value>);

impl Gathered {
    pub(super) fn int(&self, column: &str) -> Option<Option<i64>> {
        match self.0.get(column) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_i64().map(Some),
        }
    }

    pub(super) fn text(&self, column: &str) -> Option<Option<String>> {
        match self.0.get(column) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())),
        }
    }

    pub(super) fn bytes(&self, column: &str) -> Option<Option<Vec<u8>>> {
        match self.text(column)? {
            None => Some(None),
            Some(text) => hex::decode(text).ok().map(Some),
        }
    }
}

/// The rows that a gathering statement answered.
pub(super) fn spread(statement: &'static str, rows: &[Row]) -> Result<Vec<Row>, StoreError> {
    let mut spread = Vec::new();
    for row in rows {
        let Some(text) = row.text_or_null(COLUMN)? else { continue };
        let maps: Vec<Map<String, Value>> = serde_json::from_str(&text).map_err(|_| row.broken(COLUMN))?;
        spread.extend(maps.into_iter().map(|map| Row { statement, inner: Inner::Gathered(Gathered(map)) }));
    }
    Ok(spread)
}
