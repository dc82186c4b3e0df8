//! Inviting somebody into the tenant, and taking it back. The link is shown to who invites, this once;
//! how it reaches the other person is theirs.

use restante_core::access::Role;
use restante_core::id::InviteId;
use restante_core::problem::{Code, Problem};
use restante_core::tenant_limits::Limited;
use restante_core::token::LinkToken;
use restante_store::StoreError;
use restante_store::control::invites::{self, InviteRow};
use restante_store::control::{audit, members, tenant_limits, users};
use serde_json::json;

use super::owner;
use crate::people::email;
use crate::quota::room_for;
use crate::{App, By};

/// How long an invitation is good: a week.
pub const INVITE_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Invitations of a tenant that may be open at once.
const OPEN_INVITES_MAX: u32 = 100;

/// An invitation with its link.
#[derive(Debug, Clone)]
pub struct Invited {
    /// What is kept of it.
    pub row: InviteRow,
    /// The link's token, which is shown this once.
    pub link: LinkToken,
}

impl App {
    /// Invites an address. An earlier invitation of the same address ends.
    ///
    /// # Errors
    /// A fault of a field; `conflict` when they belong to the tenant already or too many invitations are
    /// open; `missing-scope` for who is no owner.
    pub async fn invite(&self, by: &By, address: &str, role: Role) -> Result<Invited, StoreError> {
        let address = email::normal(address);
        if let Some(error) = email::fault(&address, "/email") {
            return Err(Problem::fields(vec![error]).into());
        }
        let (now, tenant) = (self.clock.now(), by.tenant());
        let link = LinkToken::new(self.random.bytes());
        let hash = link.hash();
        let row = InviteRow {
            id: InviteId::new(now, self.random.bytes()),
            email: address,
            role,
            created_by: by.actor(),
            created_at: now,
            expires_at: now.plus_seconds(INVITE_SECONDS),
        };
        let detail = json!({ "email": row.email, "role": role.as_str() });
        let line = by.audit(&*self.random, now, "member.invite", row.id.to_string(), &detail);
        let (by, kept) = (by.clone(), row.clone());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    owner(conn, &by).await?;
                    if let Some((person, _)) = users::by_email(conn, &kept.email).await?
                        && members::role_of(conn, tenant, person.id).await?.is_some()
                    {
                        let detail = "This person belongs to the tenant already.";
                        return Err(Problem::field("/email", detail).into());
                    }
                    invites::revoke_of_email(conn, tenant, &kept.email, now).await?;
                    let open = invites::count_open(conn, tenant, now, OPEN_INVITES_MAX).await?;
                    if open >= u64::from(OPEN_INVITES_MAX) {
                        let detail = format!(
                            "{OPEN_INVITES_MAX} invitations are open, which is the most. Take some back."
                        );
                        return Err(Problem::new(Code::Conflict, detail).into());
                    }
                    room_for(conn, tenant, Limited::Members, async |conn| {
                        Ok(open + tenant_limits::count_members(conn, tenant).await?)
                    })
                    .await?;
                    invites::insert(conn, tenant, &hash, kept).await?;
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        Ok(Invited { row, link })
    }

    /// Takes an invitation back.
    ///
    /// # Errors
    /// `not-found` when it isn't open; `missing-scope` for who is no owner.
    pub async fn revoke_invite(&self, by: &By, invite: InviteId) -> Result<(), StoreError> {
        let (now, tenant) = (self.clock.now(), by.tenant());
        let line = by.audit(&*self.random, now, "member.invite_revoke", invite.to_string(), &json!({}));
        let by = by.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    owner(conn, &by).await?;
                    if !invites::revoke(conn, tenant, invite, now).await? {
                        return Err(Problem::not_found("open invitation").into());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }
}
