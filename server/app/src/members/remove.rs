//! Taking a member out of the tenant. Their account stays, and so do the API keys that they made here:
//! those belong to the tenant.

use restante_core::access::Role;
use restante_core::id::UserId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::{audit, member_list, members};
use serde_json::json;

use super::{leave_an_owner, owner};
use crate::{App, By};

impl App {
    /// Takes a member out of the tenant.
    ///
    /// # Errors
    /// `not-found` when they are no member; `conflict` for the last owner; `missing-scope` for who is no
    /// owner.
    pub async fn remove_member(&self, by: &By, user: UserId) -> Result<(), StoreError> {
        let (now, tenant) = (self.clock.now(), by.tenant());
        let (by, random) = (by.clone(), std::sync::Arc::clone(&self.random));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    owner(conn, &by).await?;
                    let Some(role) = members::role_of(conn, tenant, user).await? else {
                        return Err(Problem::not_found("member").into());
                    };
                    if role == Role::Owner {
                        leave_an_owner(conn, tenant, user).await?;
                    }
                    member_list::remove(conn, tenant, user).await?;
                    let detail = json!({ "role": role.as_str() });
                    let line = by.audit(&*random, now, "member.remove", user.to_string(), &detail);
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }
}
