//! Tenants and their first people. A file an action.

mod bootstrap;
pub(crate) mod make;
#[cfg(test)]
mod tests;

pub use bootstrap::Bootstrapped;
pub use make::slug_of;
