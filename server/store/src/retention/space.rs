//! Giving space back to the file system. On SQLite free pages are cut off the file in steps; on PostgreSQL vacuum
//! makes room that is used again, and there is nothing to do here.

use crate::engine::sql::statements;
use crate::engine::{Conn, Engine, StoreError, values};

/// Pages of an SQLite file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pages {
    /// All of them.
    pub all: u64,
    /// Those that hold nothing.
    pub free: u64,
}

statements! {
    // Differs because PostgreSQL has no such thing.
    /// How many pages the file has, and how many of them are free.
    SPACE_PAGES =
        sqlite "SELECT p.page_count AS pages, f.freelist_count AS free FROM pragma_page_count AS p, pragma_freelist_count AS f"
        postgres "SELECT CAST(0 AS BIGINT) AS pages, CAST(0 AS BIGINT) AS free";

    // Differs because PostgreSQL has no such thing. 512 pages of 4 KiB: some milliseconds.
    /// Cuts free pages off the file.
    SPACE_GIVE_BACK =
        sqlite "PRAGMA incremental_vacuum(512)"
        postgres "SELECT 1";
}

/// How many pages the file has; none at all on PostgreSQL.
///
/// # Errors
/// What the database ran into.
pub async fn pages(conn: &mut Conn<'_>) -> Result<Pages, StoreError> {
    let row = conn.fetch_one(&SPACE_PAGES, values![]).await?;
    Ok(Pages { all: row.count("pages")?, free: row.count("free")? })
}

/// Cuts some free pages off the file; gives how many are left after it.
///
/// # Errors
/// What the database ran into.
pub async fn give_back(conn: &mut Conn<'_>) -> Result<Pages, StoreError> {
    if conn.engine() == Engine::Sqlite {
        conn.fetch_all(&SPACE_GIVE_BACK, values![]).await?;
    }
    pages(conn).await
}
