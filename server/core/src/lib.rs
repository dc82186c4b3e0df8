//! The rules of Restante, and nothing else: no I/O, no async, no clock.
//!
//! Everything here is a function of its arguments, so that each rule can be tested alone and
//! reads the same wherever it is used. What talks to a disk, a socket or a clock stands in the
//! crates to the right: `store`, `app`, `api`, `web`, `cli`.

pub mod access;
pub mod backoff;
pub mod catalogue;
pub mod filter;
pub mod handoff;
pub mod id;
mod identity;
pub mod limits;
pub mod outbound;
pub mod password;
pub mod problem;
pub mod rate;
pub mod reconcile;
pub mod request;
pub mod retention;
pub mod seal;
pub mod secret;
pub mod tenant_limits;
pub mod time;
pub mod token;
pub mod totp;
pub mod verify;
