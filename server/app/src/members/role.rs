//! Changing a member's role. It counts from their next request on.

use restante_core::access::Role;
use restante_core::id::UserId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::{audit, member_list, members};
use serde_json::json;

use super::{leave_an_owner, owner};
use crate::{App, By};

impl App {
    /// Gives a member another role.
    ///
    /// # Errors
    /// `not-found` when they are no member; `conflict` for the last owner; `missing-scope` for who is no
    /// owner.
    pub async fn set_member_role(&self, by: &By, user: UserId, role: Role) -> Result<(), StoreError> {
        let (now, tenant) = (self.clock.now(), by.tenant());
        let (by, random) = (by.clone(), std::sync::Arc::clone(&self.random));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    owner(conn, &by).await?;
                    let Some(old) = members::role_of(conn, tenant, user).await? else {
                        return Err(Problem::not_found("member").into());
                    };
                    if old == role {
                        return Ok(());
                    }
                    if old == Role::Owner {
                        leave_an_owner(conn, tenant, user).await?;
                    }
                    member_list::set_role(conn, tenant, user, role).await?;
                    let detail = json!({ "from": old.as_str(), "to": role.as_str() });
                    let line = by.audit(&*random, now, "member.role", user.to_string(), &detail);
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }
}
