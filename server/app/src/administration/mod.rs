//! The administration of the instance: its tenants, its people, whether strangers may sign up, its own audit log. The
//! table of routes holds the pages to administrators, and each verb asks once more. A file an action.

mod audit;
pub mod health;
mod keys;
mod people;
mod sign_up;
pub mod tenants;
#[cfg(test)]
mod tests;

pub use audit::{AuditPage, place_in_log};
pub use keys::KeysPage;
pub use people::PeoplePage;
pub use restante_store::control::audit::{AuditLine, AuditOf};
pub use restante_store::control::users::UserRow;
pub use sign_up::SignUp;

use restante_core::problem::{Code, Problem};
use restante_store::control::users;
use restante_store::{Conn, StoreError};

use crate::people::Actor;

/// Demands that the actor administers the instance, or is the operator.
pub(crate) async fn administrator(conn: &mut Conn<'_>, actor: &Actor) -> Result<(), StoreError> {
    let Some(user) = actor.user() else { return Ok(()) };
    let is = users::by_id(conn, user)
        .await?
        .is_some_and(|(person, _)| person.administrator && person.disabled_at.is_none());
    if is {
        return Ok(());
    }
    Err(Problem::new(Code::MissingScope, "This is for administrators of the instance.").into())
}
