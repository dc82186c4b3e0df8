//! The side that is read.

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Row as _, TypeInfo as _, ValueRef as _};

use super::cell::Cell;
use super::plan::Table;
use super::{BYTES_PER_STEP, CopyError, ROWS_PER_STEP, number};
use crate::engine::StoreError;

/// The id of the instance, by which a copy knows its own beginning; the one of an instance that was never
/// served is empty.
pub(super) async fn instance_id(connection: &mut SqliteConnection) -> Result<String, StoreError> {
    let failed = |error| StoreError::from_sqlx("read the instance's id", error);
    let text = "SELECT value FROM instance WHERE name = 'instance_id'";
    let row = sqlx::query::<sqlx::Sqlite>(text).fetch_optional(connection).await.map_err(failed)?;
    row.map_or_else(|| Ok(String::new()), |row| row.try_get(0).map_err(failed))
}

/// The rows behind a key, in the key's order: as many as one step takes.
pub(super) async fn step(
    connection: &mut SqliteConnection,
    table: &Table,
    after: Option<&[Cell]>,
) -> Result<Vec<Vec<Cell>>, CopyError> {
    let failed = |error| StoreError::from_sqlx("read a table", error);
    let key = table.names(true);
    let behind = after.map_or_else(String::new, |after| {
        let places: Vec<String> = (1..=after.len()).map(|place| format!("?{place}")).collect();
        format!("WHERE ({key}) > ({})", places.join(", "))
    });
    let text = format!(
        "SELECT {} FROM \"{}\" {behind} ORDER BY {key} LIMIT {ROWS_PER_STEP}",
        table.names(false),
        table.name
    );
    // Every name in it comes from the schema, and every value is bound.
    let mut query = sqlx::query::<sqlx::Sqlite>(AssertSqlSafe(text));
    for cell in after.unwrap_or_default() {
        query = match cell.clone() {
            Cell::Null => query.bind(None::<i64>),
            Cell::Int(number) => query.bind(number),
            Cell::Text(text) => query.bind(text),
            Cell::Blob(bytes) => query.bind(bytes),
        };
    }
    let mut rows = query.fetch(connection);
    let (mut read, mut bytes) = (Vec::new(), 0);
    while bytes < BYTES_PER_STEP
        && let Some(row) = rows.try_next().await.map_err(failed)?
    {
        let cells = (0..table.columns.len()).map(|place| cell(&row, place)).collect::<Result<Vec<_>, _>>()?;
        bytes += cells.iter().map(Cell::bytes).sum::<usize>();
        read.push(cells);
    }
    Ok(read)
}

fn cell(row: &SqliteRow, place: usize) -> Result<Cell, StoreError> {
    let failed = |error| StoreError::from_sqlx("read a column", error);
    let raw = row.try_get_raw(place).map_err(failed)?;
    if raw.is_null() {
        return Ok(Cell::Null);
    }
    let kind = raw.type_info().name().to_owned();
    match kind.as_str() {
        "INTEGER" => row.try_get_unchecked(place).map(Cell::Int),
        "TEXT" => row.try_get_unchecked(place).map(Cell::Text),
        _ => row.try_get_unchecked(place).map(Cell::Blob),
    }
    .map_err(failed)
}

/// The rows of a table.
pub(super) async fn count(connection: &mut SqliteConnection, table: &Table) -> Result<i64, StoreError> {
    let text = format!("SELECT COUNT(*) FROM \"{}\"{}", table.name, except_marks(&table.name));
    let row = sqlx::query::<sqlx::Sqlite>(AssertSqlSafe(text)).fetch_one(connection).await;
    number(&row.map_err(|error| StoreError::from_sqlx("count", error))?)
}

/// What this copy writes into the source itself is not compared.
pub(super) fn except_marks(table: &str) -> &'static str {
    if table == "instance" { " WHERE name <> 'moved_at'" } else { "" }
}
