//! People: how they come in, what they may then do, and how they leave. A file an action.

pub(crate) mod password;
mod session;
mod sign_in;
#[cfg(test)]
mod tests;
mod throttle;
mod who;

pub use password::Passwords;
pub use session::{CONFIRMED_SECONDS_MAX, IDLE_SECONDS_MAX, Session, TOTAL_SECONDS_MAX};
pub use sign_in::{DEVICE_SECONDS_MAX, PasswordAccepted, SignIn};
pub use throttle::Throttle;
pub use who::{Here, MembershipRow, Standing, Who};
