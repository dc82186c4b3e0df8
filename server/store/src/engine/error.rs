//! What can go wrong in the store, sorted by what the caller can do about it.

use restante_core::problem::{Code, Problem};

/// A failure of the store. None of its texts holds a bound value.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique key is taken: someone was first.
    #[error("{statement}: the key is taken")]
    Taken {
        /// The statement that met the key.
        statement: &'static str,
    },
    /// What stands in the database can't be what it should be.
    #[error("{statement}: the column {column} can't be read")]
    Corrupt {
        /// The statement that read it.
        statement: &'static str,
        /// The column.
        column: String,
    },
    /// The database refused this very row, and would refuse it again.
    #[error("{statement}: the database refused the data: {detail}")]
    Refused {
        /// The statement.
        statement: &'static str,
        /// The database's code and class, without values.
        detail: String,
    },
    /// The database can't do it now: it is away, busy, full, or the wait was too long.
    #[error("{statement}: the database can't do it now: {detail}")]
    Unavailable {
        /// The statement, or the step.
        statement: &'static str,
        /// What the database said, without values.
        detail: String,
    },
    /// The endpoint has changed since the request was verified, so nothing of it was stored: it has to be
    /// judged anew.
    #[error("the endpoint has changed since the request was verified")]
    Stale,
    /// Whether it was committed is unknown.
    #[error("whether the transaction was committed is unknown: {detail}")]
    CommitUnknown {
        /// What the database said.
        detail: String,
    },
    /// A rule of the caller refused; the transaction was rolled back.
    #[error("{0}")]
    Problem(#[from] Problem),
}

impl StoreError {
    /// Sorts a database's answer.
    pub(crate) fn from_sqlx(statement: &'static str, error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(refusal) => {
                if refusal.is_unique_violation() {
                    return Self::Taken { statement };
                }
                let code = refusal.code().unwrap_or_default().into_owned();
                let detail = format!("{} ({code})", first_line(refusal.message()));
                if is_about_the_row(&code) {
                    Self::Refused { statement, detail }
                } else {
                    Self::Unavailable { statement, detail }
                }
            }
            sqlx::Error::Encode(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                Self::Refused { statement, detail: "a value can't be encoded".to_owned() }
            }
            other => Self::Unavailable { statement, detail: first_line(&other.to_string()) },
        }
    }

    /// Whether the same rows may be tried again in smaller groups to find the one at fault.
    pub(crate) const fn is_about_a_row(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Taken { .. })
    }

    /// The same failure, for the next of those who share it.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Taken { statement } => Self::Taken { statement },
            Self::Corrupt { statement, column } => Self::Corrupt { statement, column: column.clone() },
            Self::Refused { statement, detail } => Self::Refused { statement, detail: detail.clone() },
            Self::Unavailable { statement, detail } => {
                Self::Unavailable { statement, detail: detail.clone() }
            }
            Self::Stale => Self::Stale,
            Self::CommitUnknown { detail } => Self::CommitUnknown { detail: detail.clone() },
            Self::Problem(problem) => Self::Problem(problem.clone()),
        }
    }

    /// What a client is told.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Taken { .. } => Problem::new(
                Code::Conflict,
                "Someone else made the same thing at the same moment. Try again.",
            ),
            Self::Unavailable { .. } | Self::Stale | Self::CommitUnknown { .. } => Problem::new(
                Code::Unavailable,
                "The database can't take the request now. Try again in a few seconds.",
            ),
            Self::Corrupt { .. } | Self::Refused { .. } => Problem::new(
                Code::Internal,
                "Restante could not carry out the request. The log of the server says why under this request's id.",
            ),
        }
    }
}

/// PostgreSQL classes 22 (data), 23 (constraints), 54 (limits); SQLite's "too big", "mismatch",
/// "constraint" (extended codes carry the primary one in their low byte).
fn is_about_the_row(code: &str) -> bool {
    if code.len() == 5 {
        return ["22", "23", "54"].iter().any(|class| code.starts_with(class));
    }
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 18 | 19 | 20 | 25))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
