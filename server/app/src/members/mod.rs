//! The members of a tenant: invited, changed, removed; and what the tenant lets administrators of the
//! instance see. Owners alone do this; the table of routes holds the pages to it, and each verb asks once
//! more. A file an action.

mod accept;
mod grants;
mod invite;
mod list;
mod remove;
mod role;
#[cfg(test)]
mod tests;

pub use accept::Accepted;
pub use grants::{GRANT_HOURS_MAX, NewGrant};
pub use invite::{INVITE_SECONDS, Invited};
pub use list::Members;
pub use restante_store::control::grants::GrantRow;
pub use restante_store::control::invites::InviteRow;
pub use restante_store::control::member_list::MemberRow;

use restante_core::access::Role;
use restante_core::id::{TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_store::control::member_list;
use restante_store::{Conn, StoreError};

use crate::By;

/// The owner who acts.
///
/// # Errors
/// `missing-scope` for an API key, and for who is no owner at the moment of the change.
pub(crate) async fn owner(conn: &mut Conn<'_>, by: &By) -> Result<UserId, StoreError> {
    let refused = || Problem::new(Code::MissingScope, "This is for owners of the tenant. Ask one of them.");
    let user = by.principal.user.ok_or_else(refused)?;
    let role = restante_store::control::members::role_of(conn, by.tenant(), user).await?;
    if role == Some(Role::Owner) { Ok(user) } else { Err(refused().into()) }
}

/// Sees to it that somebody owns the tenant when this person does no longer. Others who change owners at
/// the same time wait.
async fn leave_an_owner(conn: &mut Conn<'_>, tenant: TenantId, leaving: UserId) -> Result<(), StoreError> {
    let owners = member_list::lock_owners(conn, tenant).await?;
    if owners == [leaving] {
        let detail = "This is the only owner of the tenant. Make somebody else owner before.";
        return Err(Problem::new(Code::Conflict, detail).into());
    }
    Ok(())
}
