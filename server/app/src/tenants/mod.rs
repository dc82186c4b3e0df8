//! Tenants and their first people. A file an action.

mod bootstrap;
#[cfg(test)]
mod tests;

pub use bootstrap::Bootstrapped;
