//! Kept refusals as a tenant looks at them: the list with its explanations, one with its request, and
//! another look at one under today's secrets. How they come to be kept stands in `receive/refusals.rs`.

pub(crate) mod kept;
mod list;
mod open;
#[cfg(test)]
mod tests;
mod verify_again;

pub use open::OpenedRefusal;
pub use restante_store::refusals::{Entered, RefusalRecord};
pub use verify_again::VerifiedAgain;
