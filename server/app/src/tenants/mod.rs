//! Tenants and their first people. A file an action.

mod bootstrap;
mod password;
#[cfg(test)]
mod tests;

pub use bootstrap::Bootstrapped;
