//! Kept refusals as a tenant looks at them: the list with its explanations, and one with its request.
//! How they come to be kept stands in `receive/refusals.rs`.

mod list;
mod open;
#[cfg(test)]
mod tests;

pub use open::OpenedRefusal;
pub use restante_store::refusals::RefusalRecord;
