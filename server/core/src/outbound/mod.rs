//! Where the program may call: rules for URLs that people write and for the addresses that names resolve to.
//! Nothing here resolves or connects; `restante_app::outbound` does, and asks here before it does.

mod address;
mod location;

pub use address::is_public;
pub use location::{Location, Scheme};
