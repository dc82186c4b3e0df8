//! The two schemas say the same: tables, columns, which may be NULL, keys and indexes. Types are
//! each engine's own and are compared by what they hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Url;
use crate::testing::TestStore;

/// A table as either engine describes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) columns: BTreeMap<String, Column>,
    /// Primary key, unique keys and other indexes: unique or not, partial or not, the columns in order.
    keys: BTreeSet<(bool, bool, Vec<String>)>,
    primary: Vec<String>,
    /// The columns, and the table they point at.
    references: BTreeSet<(Vec<String>, String)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    holds: &'static str,
    may_be_null: bool,
}

/// What a type holds, in words of both engines.
fn holds(data_type: &str) -> &'static str {
    match data_type {
        "BLOB" | "uuid" | "bytea" => "bytes",
        "INTEGER" | "bigint" | "integer" | "smallint" | "boolean" => "a number",
        "TEXT" | "text" => "text",
        other => panic!("a type that the other engine may lack: {other}"),
    }
}

const SQLITE_COLUMNS: &str =
    "SELECT m.name AS t, c.name AS c, c.type AS type, c.\"notnull\" = 0 AS may_be_null
    FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'";
const SQLITE_KEYS: &str =
    "SELECT m.name AS t, i.name AS k, i.\"unique\" AS is_unique, i.partial AS is_partial,
    i.origin = 'pk' AS is_primary, x.name AS c FROM sqlite_master AS m JOIN pragma_index_list(m.name) AS i
    JOIN pragma_index_info(i.name) AS x WHERE m.type = 'table' ORDER BY m.name, i.name, x.seqno";
const SQLITE_REFERENCES: &str = "SELECT m.name AS t, f.id AS k, f.\"table\" AS target, f.\"from\" AS c
    FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq";

const POSTGRES_COLUMNS: &str = "SELECT CAST(table_name AS text) AS t, CAST(column_name AS text) AS c,
    CAST(data_type AS text) AS type, CAST(is_nullable = 'YES' AS integer) AS may_be_null
    FROM information_schema.columns WHERE table_schema = 'public'";
const POSTGRES_KEYS: &str = "SELECT CAST(t.relname AS text) AS t, CAST(k.relname AS text) AS k,
    CAST(i.indisunique AS integer) AS is_unique, CAST(i.indpred IS NOT NULL AS integer) AS is_partial,
    CAST(i.indisprimary AS integer) AS is_primary, CAST(a.attname AS text) AS c
    FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid JOIN pg_class AS k ON k.oid = i.indexrelid
    JOIN pg_namespace AS n ON n.oid = t.relnamespace AND n.nspname = 'public'
    CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS x (attnum, seq)
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.attnum ORDER BY t.relname, k.relname, x.seq";
const POSTGRES_REFERENCES: &str = "SELECT CAST(t.relname AS text) AS t, CAST(f.conname AS text) AS k,
    CAST(r.relname AS text) AS target, CAST(a.attname AS text) AS c
    FROM pg_constraint AS f JOIN pg_class AS t ON t.oid = f.conrelid JOIN pg_class AS r ON r.oid = f.confrelid
    CROSS JOIN unnest(f.conkey) WITH ORDINALITY AS x (attnum, seq)
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.attnum
    WHERE f.contype = 'f' ORDER BY t.relname, f.conname, x.seq";

/// The table of sqlx itself, which differs between the engines.
const MIGRATIONS: &str = "_sqlx_migrations";

/// A row of any of the queries above: texts by name; numbers as text.
type Found = BTreeMap<&'static str, String>;

const TEXTS: [&str; 5] = ["t", "c", "k", "type", "target"];
const FLAGS: [&str; 4] = ["may_be_null", "is_unique", "is_partial", "is_primary"];

async fn ask(t: &TestStore, sqlite: &'static str, postgres: &'static str) -> Vec<Found> {
    macro_rules! rows {
        ($connection:expr, $text:expr) => {{
            let rows = sqlx::query($text).fetch_all(&mut $connection).await.expect("a catalogue");
            let row = |row: &_| {
                let mut found = Found::new();
                for name in TEXTS {
                    let text = sqlx::Row::try_get_unchecked::<String, _>(row, name);
                    found.extend(text.map(|text| (name, text)));
                }
                for name in FLAGS {
                    let flag = sqlx::Row::try_get_unchecked::<i32, _>(row, name);
                    found.extend(flag.map(|flag| (name, flag.to_string())));
                }
                found
            };
            rows.iter().map(row).collect()
        }};
    }
    match &t.options().url {
        Url::Sqlite(_) => rows!(t.sqlite_connection().await, sqlite),
        Url::Postgres(_) => rows!(t.postgres_connection().await, postgres),
    }
}

/// Rows of one key each, with their columns in order.
fn by_key(rows: Vec<Found>) -> BTreeMap<(String, String), (Found, Vec<String>)> {
    let mut keys: BTreeMap<(String, String), (Found, Vec<String>)> = BTreeMap::new();
    for row in rows {
        let key = (row["t"].clone(), row["k"].clone());
        let column = row["c"].clone();
        keys.entry(key).or_insert_with(|| (row, Vec::new())).1.push(column);
    }
    keys
}

/// The schema of an engine, without the table of migrations.
pub(super) async fn read(t: &TestStore) -> BTreeMap<String, Table> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    for row in ask(t, SQLITE_COLUMNS, POSTGRES_COLUMNS).await.into_iter().filter(|row| row["t"] != MIGRATIONS)
    {
        let column = Column { holds: holds(&row["type"]), may_be_null: row["may_be_null"] == "1" };
        tables.entry(row["t"].clone()).or_default().columns.insert(row["c"].clone(), column);
    }
    for ((table, _), (row, columns)) in by_key(ask(t, SQLITE_KEYS, POSTGRES_KEYS).await) {
        let table = tables.entry(table).or_default();
        if row["is_primary"] == "1" {
            table.primary.clone_from(&columns);
        }
        table.keys.insert((row["is_unique"] == "1", row["is_partial"] == "1", columns));
    }
    for ((table, _), (row, columns)) in by_key(ask(t, SQLITE_REFERENCES, POSTGRES_REFERENCES).await) {
        tables.entry(table).or_default().references.insert((columns, row["target"].clone()));
    }
    tables.remove(MIGRATIONS);
    tables
}

#[tokio::test]
async fn sqlite_and_postgres_have_the_same_schema() {
    let sqlite = read(&TestStore::sqlite().await).await;
    assert!(sqlite.len() > 15);
    let Some(postgres) = TestStore::postgres().await else {
        return crate::testing::say_skipped("sqlite_and_postgres_have_the_same_schema");
    };
    let postgres = read(&postgres).await;
    assert_eq!(sqlite.keys().collect::<Vec<_>>(), postgres.keys().collect::<Vec<_>>());
    for (name, table) in &sqlite {
        assert_eq!(table, &postgres[name], "{name}");
    }
}

/// A unique key or a reference that doesn't begin with the tenant would let one tenant learn what
/// another holds, and would not shard by tenant.
#[tokio::test]
async fn every_key_and_reference_of_a_tenants_table_begins_with_the_tenant() {
    for (name, table) in read(&TestStore::sqlite().await).await {
        // The hash of a credential is what leads to the tenant.
        if !table.columns.contains_key("tenant_id") || name == "lookups" {
            continue;
        }
        assert_eq!(table.primary.first().map(String::as_str), Some("tenant_id"), "{name}");
        for (unique, _, columns) in &table.keys {
            assert!(!unique || columns[0] == "tenant_id", "{name}: {columns:?}");
        }
        for (columns, target) in &table.references {
            let at_the_tenant = columns[0] == "tenant_id" || (target == "users" && name == "members");
            assert!(at_the_tenant, "{name}: {columns:?} points at {target}");
        }
    }
}

/// Rows in a table that the removal of a tenant doesn't know would outlive it.
#[tokio::test]
async fn every_table_of_tenants_things_is_emptied_when_a_tenant_goes() {
    let of_tenants: BTreeSet<String> = read(&TestStore::sqlite().await)
        .await
        .into_iter()
        .filter(|(_, table)| table.columns.contains_key("tenant_id"))
        .map(|(name, _)| name)
        // It tells of the removal, and stays.
        .filter(|name| name != "tenant_deletions")
        .collect();
    let emptied: BTreeSet<String> = crate::tenant_removal::table_names().map(str::to_owned).collect();
    assert_eq!(of_tenants, emptied);
}
