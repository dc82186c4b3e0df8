//! Everybody who has an account.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::administration::UserRow;
use restante_app::people::MembershipRow;
use restante_core::time::Timestamp;
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/people.html")]
struct PeoplePage {
    shell: Shell,
    begins: String,
    people: Vec<PersonLine>,
    next: Option<String>,
    first: Option<String>,
}

/// A person in the list.
#[derive(Debug, Clone)]
pub(super) struct PersonLine {
    pub(super) id: String,
    pub(super) email: String,
    pub(super) administrator: bool,
    pub(super) disabled: bool,
    pub(super) has_second_factor: bool,
    pub(super) signed_in: Option<Moment>,
    pub(super) made: Moment,
    /// Tenant and role.
    pub(super) tenants: Vec<(String, String)>,
}

impl Page for PeoplePage {}

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
    let found = web.app.people(&person.actor(), &asked.begins, asked.after.as_deref()).await?;
    let href = |after: Option<&str>| {
        let mut query = Serializer::new(String::new());
        if !asked.begins.is_empty() {
            query.append_pair("begins", &asked.begins);
        }
        query.extend_pairs(after.map(|after| ("after", after)));
        format!("?{}", query.finish())
    };
    Ok(answer(&PeoplePage {
        shell: person.shell(Area::AdminPeople),
        people: found.people.into_iter().map(|(row, tenants)| PersonLine::of(row, &tenants, now)).collect(),
        next: found.next.map(|next| href(Some(&next))),
        first: asked.after.as_ref().map(|_| href(None)),
        begins: asked.begins,
    }))
}

impl PersonLine {
    pub(super) fn of(row: UserRow, tenants: &[MembershipRow], now: Timestamp) -> Self {
        Self {
            id: row.id.to_string(),
            email: row.email,
            administrator: row.administrator,
            disabled: row.disabled_at.is_some(),
            has_second_factor: row.has_second_factor,
            signed_in: row.signed_in_at.map(|at| Moment::new(at, now)),
            made: Moment::new(row.created_at, now),
            tenants: tenants.iter().map(|tenant| (tenant.name.clone(), tenant.role.to_string())).collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn sample(text: &str, number: usize) -> Self {
        let now = Timestamp::from_seconds(1_796_040_000);
        Self {
            id: format!("usr_{number}"),
            email: text.to_owned(),
            administrator: number.is_multiple_of(2),
            disabled: number.is_multiple_of(3),
            has_second_factor: number % 2 == 1,
            signed_in: (number > 0).then_some(Moment::new(now, now)),
            made: Moment::new(now, now),
            tenants: vec![(text.to_owned(), "owner".to_owned()); number % 4],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        for (text, count) in
            [("", 0), ("ada@example.com", 4), (samples::HOSTILE, 4), (samples::long().as_str(), 50)]
        {
            let page = PeoplePage {
                shell: Shell::hostile(Area::AdminPeople),
                begins: text.to_owned(),
                people: (0..count).map(|number| PersonLine::sample(text, number)).collect(),
                next: (count > 0).then(|| "?after=x".to_owned()),
                first: None,
            };
            samples::check(&page.render().unwrap());
        }
    }
}
