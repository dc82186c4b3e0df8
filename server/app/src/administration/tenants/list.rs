//! Tenants with their figures, those that are near a limit, and deletions with their progress.

use restante_core::id::TenantId;
use restante_core::tenant_limits::{Measure, measures};
use restante_store::StoreError;
use restante_store::control::member_list::{self, MemberRow};
use restante_store::control::tenant_list::{self, TenantFigures, TenantsWanted};
use restante_store::tenant_removal::{self, RemovalRow};

use super::super::administrator;
use super::no_tenant;
use crate::App;
use crate::people::Actor;

/// Tenants on a page.
pub(crate) const TENANTS_PER_PAGE: u32 = 50;
/// Tenants with limits that are looked at for those who are near one.
const LIMITED_LOOKED_AT: u32 = 500;
/// Deletions that are shown.
const REMOVALS_SHOWN: u32 = 20;
/// Members of a tenant that are shown.
const MEMBERS_SHOWN: u32 = 50;

/// A page of tenants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantsPage {
    /// The tenants, by slug.
    pub tenants: Vec<TenantFigures>,
    /// The slug behind which the next page goes on.
    pub next: Option<String>,
    /// Tenants that are near a limit or have reached one, with what is; on the first page alone.
    pub near: Vec<(TenantFigures, Vec<Measure>)>,
    /// Deletions, the newest first; on the first page alone.
    pub removals: Vec<RemovalRow>,
}

/// One tenant with its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantDetail {
    /// Its figures.
    pub tenant: TenantFigures,
    /// Its first members.
    pub members: Vec<MemberRow>,
}

impl App {
    /// Tenants whose slug begins so, those behind a slug.
    ///
    /// # Errors
    /// What the database ran into; `missing-scope` for who is no administrator.
    pub async fn tenants(
        &self,
        actor: &Actor,
        begins: &str,
        after: Option<&str>,
    ) -> Result<TenantsPage, StoreError> {
        let now = self.clock.now();
        let first = begins.is_empty() && after.is_none();
        let wanted = TenantsWanted {
            begins: begins.trim().to_lowercase(),
            after: after.unwrap_or_default().to_owned(),
            only_limited: false,
            limit: TENANTS_PER_PAGE + 1,
        };
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let mut tenants = tenant_list::page(conn, wanted, now).await?;
                    let more = tenants.len() > TENANTS_PER_PAGE as usize;
                    tenants.truncate(TENANTS_PER_PAGE as usize);
                    let next = tenants.last().filter(|_| more).map(|last| last.slug.clone());
                    let (mut near, mut removals) = (Vec::new(), Vec::new());
                    if first {
                        let limited = TenantsWanted {
                            only_limited: true,
                            limit: LIMITED_LOOKED_AT,
                            ..TenantsWanted::default()
                        };
                        for tenant in tenant_list::page(conn, limited, now).await? {
                            let mut all = measures(&tenant.limits, &tenant.used);
                            all.retain(Measure::is_near);
                            if !all.is_empty() {
                                near.push((tenant, all));
                            }
                        }
                        removals = tenant_removal::newest(conn, REMOVALS_SHOWN).await?;
                    }
                    Ok(TenantsPage { tenants, next, near, removals })
                })
            })
            .await
    }

    /// One tenant with its figures and members.
    ///
    /// # Errors
    /// `not-found`; `missing-scope` for who is no administrator.
    pub async fn tenant_detail(&self, actor: &Actor, tenant: TenantId) -> Result<TenantDetail, StoreError> {
        let (now, actor) = (self.clock.now(), actor.clone());
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let figures = tenant_list::one(conn, tenant, now).await?.ok_or_else(no_tenant)?;
                    let members = member_list::page(conn, tenant, MEMBERS_SHOWN).await?;
                    Ok(TenantDetail { tenant: figures, members })
                })
            })
            .await
    }

    /// How far the deletion of a tenant is.
    ///
    /// # Errors
    /// `not-found`; `missing-scope` for who is no administrator.
    pub async fn tenant_removal(&self, actor: &Actor, tenant: TenantId) -> Result<RemovalRow, StoreError> {
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    tenant_removal::of_tenant(conn, tenant).await?.ok_or_else(no_tenant)
                })
            })
            .await
    }
}
