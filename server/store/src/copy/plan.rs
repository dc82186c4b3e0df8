//! What is copied, in which order: the tables that both databases have, those first that others refer to.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row as _;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;

use super::cell::Cell;
use super::{CopyError, LEFT_OUT};
use crate::engine::StoreError;

/// What a column of PostgreSQL holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Uuid,
    Bytes,
    Number,
    Bool,
    Text,
}

/// A table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<(String, Kind)>,
    /// The places of the primary key's columns.
    pub(super) key: Vec<usize>,
}

impl Table {
    pub(super) fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        self.key.iter().filter_map(|place| row.get(*place).cloned()).collect()
    }

    /// The names of its columns, or those of its key.
    pub(super) fn names(&self, of_key: bool) -> String {
        let name = |place: usize| format!("\"{}\"", self.columns[place].0);
        let places: Vec<usize> = if of_key { self.key.clone() } else { (0..self.columns.len()).collect() };
        places.into_iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// The tables of both, in the order in which they can be filled.
pub(super) async fn tables(
    sqlite: &mut SqliteConnection,
    postgres: &mut PgConnection,
) -> Result<Vec<Table>, CopyError> {
    let of_sqlite = columns_of_sqlite(sqlite).await?;
    let of_postgres = kinds_of_postgres(postgres).await?;
    let (one, other): (BTreeSet<_>, BTreeSet<_>) = (of_sqlite.keys().collect(), of_postgres.keys().collect());
    if let Some(name) = one.symmetric_difference(&other).next() {
        return Err(CopyError::Unlike(format!("one of them alone has a table {name}")));
    }
    let references = references(sqlite).await?;
    let mut left: Vec<Table> = Vec::new();
    for (name, columns) in of_sqlite {
        let kinds = &of_postgres[&name];
        let mut table = Table { name: name.clone(), columns: Vec::new(), key: Vec::new() };
        let mut key: Vec<(i64, usize)> = Vec::new();
        for (place, (column, in_key)) in columns.into_iter().enumerate() {
            let kind = kinds.get(&column).copied().ok_or_else(|| {
                CopyError::Unlike(format!("PostgreSQL has no column {column} in the table {name}"))
            })?;
            table.columns.push((column, kind));
            if in_key > 0 {
                key.push((in_key, place));
            }
        }
        if key.is_empty() || table.columns.len() != kinds.len() {
            return Err(CopyError::Unlike(format!("the table {name} has other columns, or no key")));
        }
        key.sort_unstable();
        table.key = key.into_iter().map(|(_, place)| place).collect();
        left.push(table);
    }
    // Those first that refer to nothing which is still to come.
    let mut ordered: Vec<Table> = Vec::new();
    while !left.is_empty() {
        let waits = |table: &Table| {
            references.iter().any(|(from, to)| {
                *from == table.name && to != from && left.iter().any(|other| other.name == *to)
            })
        };
        let Some(place) = left.iter().position(|table| !waits(table)) else {
            return Err(CopyError::Unlike("tables refer to each other in a circle".to_owned()));
        };
        ordered.push(left.remove(place));
    }
    Ok(ordered)
}

/// The columns of each table with their place in its primary key, from 1; 0 for the others.
async fn columns_of_sqlite(
    connection: &mut SqliteConnection,
) -> Result<BTreeMap<String, Vec<(String, i64)>>, StoreError> {
    let failed = |error| StoreError::from_sqlx("read the tables of SQLite", error);
    let text = "SELECT m.name, c.name, c.pk FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY m.name, c.cid";
    let mut found: BTreeMap<String, Vec<(String, i64)>> = BTreeMap::new();
    for row in sqlx::query(text).fetch_all(connection).await.map_err(failed)? {
        let table: String = row.try_get(0).map_err(failed)?;
        if !LEFT_OUT.contains(&table.as_str()) {
            let column = (row.try_get(1).map_err(failed)?, row.try_get(2).map_err(failed)?);
            found.entry(table).or_default().push(column);
        }
    }
    Ok(found)
}

async fn kinds_of_postgres(
    connection: &mut PgConnection,
) -> Result<BTreeMap<String, BTreeMap<String, Kind>>, CopyError> {
    let failed = |error| StoreError::from_sqlx("read the tables of PostgreSQL", error);
    let text = "SELECT CAST(c.table_name AS text), CAST(c.column_name AS text), CAST(c.data_type AS text)
        FROM information_schema.columns AS c JOIN information_schema.tables AS t
        ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
        WHERE c.table_schema = current_schema()";
    let mut found: BTreeMap<String, BTreeMap<String, Kind>> = BTreeMap::new();
    for row in sqlx::query(text).fetch_all(connection).await.map_err(failed)? {
        let read = |at: usize| row.try_get::<String, _>(at).map_err(failed);
        let (table, column, data_type) = (read(0)?, read(1)?, read(2)?);
        if LEFT_OUT.contains(&table.as_str()) {
            continue;
        }
        let kind = match data_type.as_str() {
            "uuid" => Kind::Uuid,
            "bytea" => Kind::Bytes,
            "bigint" | "integer" | "smallint" => Kind::Number,
            "boolean" => Kind::Bool,
            "text" => Kind::Text,
            other => return Err(CopyError::Unlike(format!("{table}.{column} is of the type {other}"))),
        };
        found.entry(table).or_default().insert(column, kind);
    }
    Ok(found)
}

/// Which table refers to which.
async fn references(connection: &mut SqliteConnection) -> Result<Vec<(String, String)>, StoreError> {
    let failed = |error| StoreError::from_sqlx("read the tables of SQLite", error);
    let text = "SELECT m.name, f.\"table\" FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f
        WHERE m.type = 'table'";
    let rows = sqlx::query(text).fetch_all(connection).await.map_err(failed)?;
    rows.iter().map(|row| Ok((row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?))).collect()
}
