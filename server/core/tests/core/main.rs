//! The rules from the outside: requests with known answers, senders that people describe, and what no
//! input may do.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod custom;
mod custom_faults;
mod explanations;
mod identity;
mod kit;
mod properties;
mod providers;
mod secrets;
mod signing;
mod times;
mod vectors;
