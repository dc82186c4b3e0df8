//! One tenant: what it holds, its limits, its people, and what an administrator may do about it. Every
//! action that could not be done shows the page again.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use restante_app::administration::tenants::TenantDetail;
use restante_core::id::TenantId;
use restante_core::tenant_limits::{Limited, Measure};
use restante_core::time::Timestamp;
use serde::Deserialize;

use super::list::TenantLine;
use super::tenant;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::badge::Badge;
use crate::parts::form::Faults;
use crate::parts::limits;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/tenants/detail.html")]
struct DetailPage {
    shell: Shell,
    id: String,
    tenant: TenantLine,
    suspension: Option<Suspension>,
    endpoints: String,
    consumers: String,
    deliveries: String,
    limits: Vec<LimitField>,
    members: Vec<(String, String, String)>,
    typed: Typed,
    faults: Faults,
}

/// Why and since when it takes no events.
#[derive(Debug, Clone)]
struct Suspension {
    since: Option<Moment>,
    because: Option<String>,
}

/// A limit in the form.
#[derive(Debug, Clone)]
struct LimitField {
    word: &'static str,
    title: &'static str,
    effect: &'static str,
    used: String,
    value: String,
    badge: Option<Badge>,
    fault: Option<String>,
}

/// What was typed and could not be taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Typed {
    pub(super) name: Option<String>,
    pub(super) slug: Option<String>,
    pub(super) because: String,
    pub(super) limits: HashMap<String, String>,
}

impl Page for DetailPage {
    fn status(&self) -> StatusCode {
        if self.faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
    }
}

impl DetailPage {
    fn name(&self) -> &str {
        self.typed.name.as_deref().unwrap_or(&self.tenant.name)
    }

    fn slug(&self) -> &str {
        self.typed.slug.as_deref().unwrap_or(&self.tenant.slug)
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    said: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let notice = match asked.said.as_str() {
        "named" => Some("The names are changed. URLs of endpoints stay as they are."),
        "limited" => Some("The limits are set. On other nodes they count within five seconds."),
        "suspended" => Some(
            "The tenant is suspended: its endpoints answer 503 and store nothing, and its people see why.",
        ),
        "resumed" => Some("The tenant takes events again."),
        _ => None,
    };
    page(&web, &person, tenant(&id)?, notice, Typed::default(), Faults::default()).await
}

pub(super) async fn page(
    web: &Web,
    person: &Person,
    id: TenantId,
    notice: Option<&'static str>,
    typed: Typed,
    faults: Faults,
) -> Result<Response, Fault> {
    let found = web.app.tenant_detail(&person.actor(), id).await?;
    let mut shell = person.shell(Area::AdminTenants);
    shell.notices.extend(notice.map(Notice::done));
    Ok(answer(&view(shell, &found, typed, faults, web.app.clock.now())))
}

fn view(shell: Shell, found: &TenantDetail, typed: Typed, faults: Faults, now: Timestamp) -> DetailPage {
    let tenant = &found.tenant;
    let used = |what| limits::amount(what, tenant.used.get(what).unwrap_or(0));
    let field = |what: Limited| {
        let limit = tenant.limits.get(what);
        let measure = limit.map(|limit| Measure { what, used: tenant.used.get(what).unwrap_or(0), limit });
        let stored = limit.map(|limit| limits::written(what, limit)).unwrap_or_default();
        LimitField {
            word: what.as_str(),
            title: limits::title(what),
            effect: limits::effect(what),
            used: used(what),
            value: typed.limits.get(what.as_str()).cloned().unwrap_or(stored),
            badge: measure.as_ref().and_then(limits::badge),
            fault: faults.get(what.as_str()).map(str::to_owned),
        }
    };
    DetailPage {
        id: tenant.id.to_string(),
        suspension: tenant.suspended.then(|| Suspension {
            since: tenant.suspended_at.map(|at| Moment::new(at, now)),
            because: tenant.suspended_because.clone(),
        }),
        endpoints: used(Limited::Endpoints),
        consumers: used(Limited::Consumers),
        deliveries: used(Limited::DeliveriesPerMinute),
        limits: Limited::ALL.into_iter().map(field).collect(),
        members: found
            .members
            .iter()
            .map(|member| {
                (format!("/admin/people/{}", member.user), member.email.clone(), member.role.to_string())
            })
            .collect(),
        tenant: TenantLine::of(tenant, now),
        typed,
        shell,
        faults,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::tenants::list::sample;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_with_any_text() {
        let now = Timestamp::from_seconds(1_796_040_000);
        for text in ["", "acme", samples::HOSTILE, &samples::long()] {
            for suspended in [false, true] {
                let found = TenantDetail { tenant: sample(text, suspended), members: Vec::new() };
                let mut faults = Faults::default();
                let mut typed = Typed::default();
                if suspended {
                    for field in ["name", "slug", "because", "typed_name", "events"] {
                        faults.add(field, text);
                    }
                    typed.because = text.to_owned();
                    typed.limits.insert("events".to_owned(), text.to_owned());
                }
                let shell = Shell::hostile(Area::AdminTenants);
                samples::check(&view(shell, &found, typed, faults, now).render().unwrap());
            }
        }
    }
}
