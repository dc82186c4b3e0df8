//! All tenants with what they hold; above them who is near a limit, and which ones are being deleted.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::administration::tenants::{RemovalRow, TenantFigures};
use restante_core::tenant_limits::{Limited, Measure, measures};
use restante_core::time::Timestamp;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::{bytes, number};
use crate::parts::badge::Badge;
use crate::parts::limits;
use crate::parts::link::Link;
use crate::parts::moment::{Moment, span};
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/tenants/list.html")]
struct TenantsPage {
    shell: Shell,
    begins: String,
    tenants: Vec<TenantLine>,
    near: Vec<NearLine>,
    removals: Vec<RemovalLine>,
    next: Option<String>,
    first: Option<String>,
}

impl Page for TenantsPage {}

/// A tenant in the list.
#[derive(Debug, Clone)]
pub(super) struct TenantLine {
    pub(super) href: String,
    pub(super) name: String,
    pub(super) slug: String,
    pub(super) badges: Vec<Badge>,
    pub(super) events: String,
    pub(super) bytes: String,
    /// How long the oldest event waits.
    pub(super) oldest: Option<String>,
    pub(super) members: String,
    pub(super) made: Moment,
}

/// A limit that is near, with its tenant.
#[derive(Debug, Clone)]
struct NearLine {
    href: String,
    name: String,
    what: &'static str,
    used: String,
    limit: String,
    badge: Option<Badge>,
}

/// A deletion in the list.
#[derive(Debug, Clone)]
struct RemovalLine {
    href: String,
    name: String,
    asked: Moment,
    rows: String,
    ended: Option<Moment>,
}

impl TenantLine {
    pub(super) fn of(tenant: &TenantFigures, now: Timestamp) -> Self {
        let used = |what| tenant.used.get(what).unwrap_or(0);
        let mut badges = vec![if tenant.suspended { Badge::SUSPENDED } else { Badge::ACTIVE }];
        let all = measures(&tenant.limits, &tenant.used);
        badges.extend(all.iter().max_by_key(|one| (one.is_reached(), one.is_near())).and_then(limits::badge));
        let waits = |since| u64::try_from(now.micros_since(since) / 1_000_000).unwrap_or(0);
        Self {
            href: format!("/admin/tenants/{}", tenant.id),
            name: tenant.name.clone(),
            slug: tenant.slug.clone(),
            badges,
            events: number(used(Limited::Events)),
            bytes: bytes(used(Limited::PayloadBytes)),
            oldest: tenant.oldest_pending.map(|since| span(waits(since))),
            members: number(used(Limited::Members)),
            made: Moment::new(tenant.created_at, now),
        }
    }
}

impl NearLine {
    fn of(tenant: &TenantFigures, measure: &Measure) -> Self {
        Self {
            href: format!("/admin/tenants/{}", tenant.id),
            name: tenant.name.clone(),
            what: limits::title(measure.what),
            used: limits::amount(measure.what, measure.used),
            limit: limits::amount(measure.what, measure.limit),
            badge: limits::badge(measure),
        }
    }
}

impl RemovalLine {
    fn of(removal: &RemovalRow, now: Timestamp) -> Self {
        Self {
            href: format!("/admin/tenants/{}/removal", removal.tenant),
            name: removal.name.clone(),
            asked: Moment::new(removal.requested_at, now),
            rows: number(removal.rows_removed),
            ended: removal.finished_at.map(|at| Moment::new(at, now)),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    begins: String,
    after: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let now = web.app.clock.now();
    let found = web.app.tenants(&person.actor(), &asked.begins, asked.after.as_deref()).await?;
    let href = |after: Option<&str>| {
        Link::to("/admin/tenants")
            .with("begins", &*asked.begins)
            .with("after", after.unwrap_or_default())
            .to_string()
    };
    let near =
        found.near.iter().flat_map(|(tenant, all)| all.iter().map(move |one| NearLine::of(tenant, one)));
    Ok(answer(&TenantsPage {
        shell: person.shell(Area::AdminTenants),
        tenants: found.tenants.iter().map(|tenant| TenantLine::of(tenant, now)).collect(),
        near: near.collect(),
        removals: found.removals.iter().map(|removal| RemovalLine::of(removal, now)).collect(),
        next: found.next.map(|next| href(Some(&next))),
        first: asked.after.as_ref().map(|_| href(None)),
        begins: asked.begins,
    }))
}

#[cfg(test)]
pub(super) fn sample(text: &str, suspended: bool) -> TenantFigures {
    use restante_core::id::TenantId;
    use restante_core::tenant_limits::PerLimit;

    let now = Timestamp::from_seconds(1_796_040_000);
    let every =
        |value| Limited::ALL.into_iter().fold(PerLimit::default(), |all, what| all.with(what, Some(value)));
    TenantFigures {
        id: TenantId(Default::default()),
        slug: text.to_owned(),
        name: text.to_owned(),
        created_at: now.plus_seconds(-86_400),
        suspended,
        suspended_at: suspended.then_some(now),
        suspended_because: suspended.then(|| text.to_owned()),
        limits: if suspended { every(1_000) } else { PerLimit::default() },
        used: every(900),
        oldest_pending: suspended.then(|| now.plus_seconds(-7_200)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        let now = Timestamp::from_seconds(1_796_040_000);
        for (text, count) in [("", 0), ("acme", 2), (samples::HOSTILE, 4), (samples::long().as_str(), 50)] {
            let figures: Vec<_> = (0..count).map(|number| sample(text, number % 2 == 1)).collect();
            let removal = |number: usize| RemovalLine {
                href: "/admin/tenants/x/removal".to_owned(),
                name: text.to_owned(),
                asked: Moment::new(now, now),
                rows: "1,204".to_owned(),
                ended: (number % 2 == 1).then(|| Moment::new(now, now)),
            };
            let page = TenantsPage {
                shell: Shell::hostile(Area::AdminTenants),
                begins: text.to_owned(),
                near: figures
                    .iter()
                    .flat_map(|tenant| {
                        measures(&tenant.limits, &tenant.used)
                            .into_iter()
                            .map(|one| NearLine::of(tenant, &one))
                    })
                    .collect(),
                tenants: figures.iter().map(|tenant| TenantLine::of(tenant, now)).collect(),
                removals: (0..count).map(removal).collect(),
                next: (count > 0).then(|| "?after=x".to_owned()),
                first: None,
            };
            samples::check(&page.render().unwrap());
        }
    }
}
