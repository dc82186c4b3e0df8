//! How far the deletion of a tenant is. While it is under way the page looks again by itself.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use restante_app::administration::tenants::RemovalRow;
use restante_core::time::Timestamp;

use super::tenant;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::number;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/tenants/removal.html")]
struct RemovalPage {
    shell: Shell,
    href: String,
    name: String,
    slug: String,
    events: String,
    rows: String,
    /// The table that is being emptied.
    table: Option<String>,
    asked: Moment,
    stepped: Option<Moment>,
    ended: Option<Moment>,
}

impl Page for RemovalPage {}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let removal = web.app.tenant_removal(&person.actor(), tenant(&id)?).await?;
    Ok(answer(&RemovalPage::new(person.shell(Area::AdminTenants), &removal, web.app.clock.now())))
}

impl RemovalPage {
    fn new(shell: Shell, removal: &RemovalRow, now: Timestamp) -> Self {
        Self {
            shell,
            href: format!("/admin/tenants/{}/removal", removal.tenant),
            name: removal.name.clone(),
            slug: removal.slug.clone(),
            events: number(removal.events),
            rows: number(removal.rows_removed),
            table: (removal.finished_at.is_none() && !removal.at_table.is_empty())
                .then(|| removal.at_table.clone()),
            asked: Moment::new(removal.requested_at, now),
            stepped: removal.stepped_at.map(|at| Moment::new(at, now)),
            ended: removal.finished_at.map(|at| Moment::new(at, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use restante_core::id::TenantId;

    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_under_way_and_done_and_looks_again_only_while_it_is_not() {
        let now = Timestamp::from_seconds(1_796_040_000);
        for text in ["acme", samples::HOSTILE, &samples::long()] {
            for ended in [None, Some(now)] {
                let removal = RemovalRow {
                    tenant: TenantId(Default::default()),
                    slug: text.to_owned(),
                    name: text.to_owned(),
                    actor: text.to_owned(),
                    requested_at: now.plus_seconds(-60),
                    events: u64::MAX,
                    rows_removed: 12_408,
                    at_table: "payloads".to_owned(),
                    stepped_at: Some(now),
                    finished_at: ended,
                };
                let shown =
                    RemovalPage::new(Shell::hostile(Area::AdminTenants), &removal, now).render().unwrap();
                samples::check(&shown);
                assert_eq!(shown.contains("hx-trigger"), ended.is_none());
            }
        }
    }
}
