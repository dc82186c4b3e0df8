//! Refused requests: counters, and the newest few per endpoint as sealed samples, for the person who
//! asks why.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Entered, RefusalRecord, newest, one, with_request_id};
pub use write::{RefusalCounts, RefusalSample, enter};

/// Every statement of this folder.
#[cfg(test)]
pub(crate) fn all_statements() -> impl Iterator<Item = &'static crate::engine::Sql> {
    [read::ALL, write::ALL].into_iter().flatten().copied()
}
