//! People: how they come in, what they may then do, and how they leave. A file an action.

pub(crate) mod actor;
pub(crate) mod email;
mod forget;
mod links;
mod own_sessions;
pub(crate) mod password;
mod password_change;
mod reset;
pub(crate) mod second_factor;
mod session;
mod set_up;
mod sign_in;
#[cfg(test)]
mod tests;
pub(crate) mod throttle;
mod who;

pub use actor::Actor;
pub use links::{OpenLink, RESET_SECONDS};
pub use password::Passwords;
pub use second_factor::{CodeAccepted, RECOVERY_CODES, SecondFactor};
pub use session::{CONFIRMED_SECONDS_MAX, IDLE_SECONDS_MAX, Session, TOTAL_SECONDS_MAX};
pub use set_up::{SetUp, SetUpDone};
pub use sign_in::{DEVICE_SECONDS_MAX, PasswordAccepted, SignIn};
pub use throttle::Throttle;
pub use who::{Here, MembershipRow, Standing, Who};
