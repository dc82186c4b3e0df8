//! Who opens a page: the session behind the cookie, the guard that lets a request through by the table of
//! routes, and what handlers get of the person. What a session holds and how long it lives is decided in
//! `restante_app::people`.

mod confirm;
mod cookie;
mod device;
mod form_token;
mod guard;
mod kept;
mod origin;
mod person;
mod public_address;
mod store;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;

pub(crate) use cookie::{device_mark, layer, remember_device, removal};
pub(crate) use device::device_name;
pub(crate) use form_token::FORM_BYTES_MAX;
pub(crate) use guard::guard;
pub(crate) use kept::{begin, end, read};
pub(crate) use origin::OpenedAs;
pub(crate) use person::{Member, Person};
pub(crate) use public_address::PublicAddress;
