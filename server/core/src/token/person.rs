//! What people hold beside passwords: one-time links, and a mark in a browser that has been here before.

use super::spelled::spelled;

spelled! {
    /// The token of a one-time link: who has it may do once what the link is for.
    LinkToken
}

spelled! {
    /// The mark of a browser in which somebody has signed in. It opens nothing.
    DeviceToken
}
