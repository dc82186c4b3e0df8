//! Asking a provider what it sent: how the list is asked for, how its pages hang together, and how a
//! listed event becomes the request that the provider would have sent. All of it is data (`recipe.rs`), and
//! no line here names a provider. Nothing here calls anybody.

mod auth;
mod event;
mod kept;
mod lister;
mod page;
mod pick;
mod recipe;
mod template;
#[cfg(test)]
mod tests;
mod units;
mod wait;

pub use kept::{CLOCK_ERROR_SECONDS, keys_held_from, may_have_been_here};
pub use lister::{ListRequest, Lister, Window};
pub use page::{ListPage, Listed};
pub use recipe::{Compare, Field, Recipe};
pub use wait::wait_seconds;

/// The text at a place of a JSON document: a string, a number or a boolean.
pub fn text_at(document: &str, pointer: &str) -> Option<String> {
    pick::text(document, pointer)
}

/// The longest position in a list: a cursor or a URL.
pub const POSITION_BYTES_MAX: usize = 4 * 1024;
/// Entries of one page that are read.
pub const ITEMS_PER_PAGE_MAX: usize = 1_000;
/// Credentials and options of one endpoint's reconciliation.
pub const VALUE_BYTES_MAX: usize = 8 * 1024;
