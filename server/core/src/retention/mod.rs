//! How long things are kept: policies at four levels, the bounds of the instance, and the guardrail that
//! keeps a key for as long as its event may come again. All of it is pure; `app::retention` has the facts.

mod guardrail;
mod policy;
mod resolve;

pub use guardrail::{
    Breach, Facts, KeyLife, LiveSecrets, RetryHorizon, UNKNOWN_WINDOW_DAYS, Window, WindowKind, check,
    key_life, largest, windows,
};
pub use policy::{Bounds, Limit, Policy, Range};
pub use resolve::{Level, Resolved, Sourced, resolve};

/// Seconds of a day.
pub const DAY_SECONDS: u64 = 24 * 60 * 60;
