//! Who belongs to the tenant, who is invited, and what administrators may see.

use restante_store::StoreError;
use restante_store::control::grants::{self, GrantRow};
use restante_store::control::invites::{self, InviteRow};
use restante_store::control::member_list::{self, MemberRow};

use crate::{App, By};

/// Members that are listed.
const MEMBERS_SHOWN_MAX: u32 = 1_000;
/// Open invitations that are listed.
const INVITES_SHOWN_MAX: u32 = 100;
/// Grants that are listed, those that are over among them.
const GRANTS_SHOWN_MAX: u32 = 20;

/// Everything about who has to do with a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    /// Its members, by address.
    pub members: Vec<MemberRow>,
    /// Its open invitations, the newest first.
    pub invites: Vec<InviteRow>,
    /// What administrators of the instance may see or might, the newest first.
    pub grants: Vec<GrantRow>,
}

impl App {
    /// The members of the tenant with its open invitations and its grants.
    ///
    /// # Errors
    /// What the database ran into; `missing-scope` for who is no owner.
    pub async fn members(&self, by: &By) -> Result<Members, StoreError> {
        let (now, by) = (self.clock.now(), by.clone());
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    super::owner(conn, &by).await?;
                    let tenant = by.tenant();
                    Ok(Members {
                        members: member_list::page(conn, tenant, MEMBERS_SHOWN_MAX).await?,
                        invites: invites::open(conn, tenant, now, INVITES_SHOWN_MAX).await?,
                        grants: grants::page(conn, tenant, GRANTS_SHOWN_MAX).await?,
                    })
                })
            })
            .await
    }
}
