//! The rules for statements: each is on the list, prepares on both engines, begins with its name, and
//! names the tenant wherever it touches a tenant's table.

use std::collections::BTreeSet;
use std::path::Path;

use sqlx::{Executor as _, SqlSafeStr as _};

use super::all_statements;
use crate::engine::{Engine, Sql};
use crate::testing::TestStore;
use crate::{both_engines, engine::Url};

/// The words of a statement, without the marks between them.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

/// The tables that a statement reads or writes: what follows FROM, JOIN, INTO and UPDATE.
fn tables(text: &str) -> BTreeSet<&str> {
    let words = words(text);
    let after = |pair: &[&'static str; 4], word: &str| pair.contains(&word);
    words
        .windows(2)
        .filter(|pair| after(&["FROM", "JOIN", "INTO", "UPDATE"], pair[0]))
        .map(|pair| pair[1])
        .collect()
}

/// Whether the tenant decides which rows a statement touches, not only what it answers.
fn is_bound_to_a_tenant(text: &str) -> bool {
    if text.contains("INSERT INTO") {
        return text.contains("(tenant_id") || text.contains(", tenant_id,");
    }
    ["tenant_id = ", "tenant_id IN ", "(tenant_id, "].iter().any(|form| text.contains(form))
}

both_engines!(every_statement_prepares, |t| async {
    for sql in all_statements() {
        let text = sqlx::AssertSqlSafe(sql.text(t.engine())).into_sql_str();
        let prepared = match &t.options().url {
            Url::Sqlite(_) => t.sqlite_connection().await.prepare(text).await.map(|_| ()),
            Url::Postgres(_) => t.postgres_connection().await.prepare(text).await.map(|_| ()),
        };
        assert!(prepared.is_ok(), "{}: {prepared:?}", sql.name);
    }
});

both_engines!(a_statement_on_a_tenants_table_names_the_tenant, |t| async {
    let of_tenants = tables_of_tenants(&t).await;
    assert!(of_tenants.contains("receipts") && !of_tenants.contains("users"));
    for sql in all_statements() {
        let text = sql.text(t.engine());
        let touches = tables(text).into_iter().any(|table| of_tenants.contains(table));
        let says_why = sql.crosses_tenants.is_some_and(|reason| !reason.is_empty());
        assert!(!touches || is_bound_to_a_tenant(text) || says_why, "{} names no tenant: {text}", sql.name);
    }
});

async fn tables_of_tenants(t: &TestStore) -> BTreeSet<String> {
    super::schemas::read(t)
        .await
        .into_iter()
        .filter(|(_, table)| table.columns.contains_key("tenant_id"))
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn the_check_for_the_tenant_is_not_taken_in() {
    assert!(is_bound_to_a_tenant("SELECT a FROM receipts WHERE tenant_id = $1"));
    assert!(is_bound_to_a_tenant("INSERT INTO receipts (tenant_id, id) VALUES ($1, $2)"));
    assert!(!is_bound_to_a_tenant("SELECT tenant_id FROM receipts WHERE id = $1"));
    assert!(!is_bound_to_a_tenant("DELETE FROM receipts WHERE id = $1"));
}

#[test]
fn names_are_unique_and_begin_the_text() {
    let statements = all_statements();
    let names: BTreeSet<&str> = statements.iter().map(|sql| sql.name).collect();
    assert_eq!(names.len(), statements.len());
    for sql in statements {
        for engine in [Engine::Sqlite, Engine::Postgres] {
            assert!(sql.text(engine).starts_with(&format!("/* {} */ ", sql.name)), "{}", sql.name);
        }
    }
}

/// A statement in a file that `all_statements` does not know would escape every test above.
#[test]
fn every_statement_in_the_source_is_on_the_list() {
    let listed: BTreeSet<&str> = all_statements().iter().map(|sql: &&Sql| sql.name).collect();
    let mut found = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            for block in
                source.split("\nstatements! {").skip(1).chain(source.split("\nsql::statements! {").skip(1))
            {
                let names = block.lines().take_while(|line| *line != "}").filter_map(|line| {
                    let (name, _) = line.strip_prefix("    ")?.split_once(" =")?;
                    name.chars()
                        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
                        .then_some(name)
                });
                for name in names {
                    found += 1;
                    assert!(listed.contains(name), "{name} in {} is on no list", path.display());
                }
            }
        }
    }
    assert_eq!(found, listed.len());
}
