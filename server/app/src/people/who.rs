//! Who somebody is who is signed in: their account, the tenants they belong to, and their place in the
//! one that the path names. Asked anew at each request, so that a change of role counts at the next one.

use restante_core::access::{Principal, Role, Scope, Scopes};
use restante_core::id::{TenantId, UserId};
use restante_core::time::Timestamp;
use restante_store::StoreError;
pub use restante_store::control::members::MembershipRow;
use restante_store::control::{members, users};

use crate::{App, By};

/// Tenants that one person sees in the list for switching.
const TENANTS_SHOWN_MAX: u32 = 200;

/// Somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// Their id.
    pub user: UserId,
    /// Their e-mail address.
    pub email: String,
    /// Whether they administer the instance.
    pub administrator: bool,
    /// Whether they are asked for a code after the password.
    pub has_second_factor: bool,
    /// The tenants they belong to, by name.
    pub tenants: Vec<MembershipRow>,
    /// Their place in the tenant that was asked for; `None` when none was, or they may not go there.
    pub here: Option<Here>,
}

/// Somebody's place in a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Whether it takes no events for now.
    pub suspended: bool,
    /// Why, in the words of the administrator who did it.
    pub suspended_because: Option<String>,
    /// What the person may do there.
    pub scopes: Scopes,
    /// Why they may be there.
    pub standing: Standing,
}

/// Why somebody may be in a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As a member.
    Member(Role),
    /// As an administrator of the instance whom the tenant lets look until then.
    Granted(Timestamp),
}

impl Here {
    /// The role, for a member.
    pub const fn role(&self) -> Option<Role> {
        match self.standing {
            Standing::Member(role) => Some(role),
            Standing::Granted(_) => None,
        }
    }

    /// Who acts, for the verbs.
    pub fn by(&self, user: UserId, request_id: Option<String>) -> By {
        let principal = Principal { tenant: self.tenant, key: None, user: Some(user), scopes: self.scopes };
        By { principal, request_id }
    }
}

impl App {
    /// Who that is, with their place in the tenant of that slug; `None` when the account is gone.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn who(&self, user: UserId, slug: Option<&str>) -> Result<Option<Who>, StoreError> {
        let (now, slug) = (self.clock.now(), slug.map(str::to_owned));
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let Some((row, _)) = users::by_id(conn, user).await? else { return Ok(None) };
                    let tenants = members::of_user(conn, user, TENANTS_SHOWN_MAX).await?;
                    let mut here = None;
                    if let Some(slug) = slug {
                        here = members::by_slug(conn, &slug, user).await?.map(Here::from);
                        if here.is_none() && row.administrator {
                            here = members::granted_by_slug(conn, &slug, now).await?.map(Here::from);
                        }
                    }
                    Ok(Some(Who {
                        user,
                        email: row.email,
                        administrator: row.administrator,
                        has_second_factor: row.has_second_factor,
                        tenants,
                        here,
                    }))
                })
            })
            .await
    }
}

impl From<MembershipRow> for Here {
    fn from(row: MembershipRow) -> Self {
        let MembershipRow { tenant, slug, name, suspended, suspended_because, role } = row;
        let (scopes, standing) = (role.scopes(), Standing::Member(role));
        Self { tenant, slug, name, suspended, suspended_because, scopes, standing }
    }
}

impl From<members::GrantedRow> for Here {
    fn from(row: members::GrantedRow) -> Self {
        let members::GrantedRow { tenant, slug, name, suspended, suspended_because, payloads, ends_at } = row;
        let looks = Scopes::NONE.with(Scope::EventsRead).with(Scope::ConfigRead);
        let scopes = if payloads { looks.with(Scope::PayloadsRead) } else { looks };
        let standing = Standing::Granted(ends_at);
        Self { tenant, slug, name, suspended, suspended_because, scopes, standing }
    }
}
