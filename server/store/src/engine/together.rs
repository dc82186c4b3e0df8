//! Several writes in one go. Each statement costs a way to the database and back, two changes of
//! threads at least, and a commit of deliveries is half a dozen of them.
//!
//! They must not depend on each other: PostgreSQL runs them as parts of one statement that all see
//! the state before it. On SQLite they run one after another.

use sqlx::AssertSqlSafe;

use super::{Batch, Engine, Sql};

/// Statements with their rows, in the order in which they were added. Rows that may be locked by
/// others are added last, and in the same order everywhere.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub(super) parts: Vec<(&'static Sql, Batch)>,
}

impl Together {
    /// Adds a statement.
    pub(crate) fn add(&mut self, sql: &'static Sql, batch: Batch) {
        self.parts.push((sql, batch));
    }

    /// The text of all of them for an engine, with their parameters numbered through.
    pub(super) fn text(&self, engine: Engine) -> AssertSqlSafe<String> {
        let mut parameters = 0;
        let mut texts: Vec<String> = Vec::with_capacity(self.parts.len());
        for (sql, batch) in &self.parts {
            texts.push(numbered_from(sql.text(engine), parameters));
            parameters += batch.parameters(engine);
        }
        // Nothing but registered statements and numbers.
        AssertSqlSafe(match engine {
            Engine::Sqlite => texts.join(";\n"),
            Engine::Postgres => {
                // PostgreSQL runs the last of them first (ExecInitModifyTable in its source says why).
                let parts: Vec<String> = texts
                    .iter()
                    .rev()
                    .enumerate()
                    .map(|(place, text)| format!("w{place} AS ({text})"))
                    .collect();
                format!("WITH {} SELECT 1", parts.join(", "))
            }
        })
    }
}

/// A text whose parameters (`$1`, `$2`, …) count from another number.
fn numbered_from(text: &str, before: usize) -> String {
    let mut pieces = text.split('$');
    let mut numbered = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let number: usize = number.parse().unwrap_or(0);
        numbered.push_str(&format!("${}{rest}", number + before));
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through() {
        assert_eq!(numbered_from("SELECT 1", 5), "SELECT 1");
        assert_eq!(numbered_from("f($1::uuid[], $12) $2", 3), "f($4::uuid[], $15) $5");
        assert_eq!(numbered_from("$1", 0), "$1");
    }
}
