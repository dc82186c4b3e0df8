//! The page of the members, as every action on them shows it again.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use restante_app::members::{GrantRow, MemberRow};
use restante_core::access::Role;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::moment::Moment;
use crate::parts::new_link::NewLink;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

#[derive(Template)]
#[template(path = "tenant/members.html")]
struct MembersPage {
    shell: Shell,
    roles: [Role; 4],
    members: Vec<MemberLine>,
    invites: Vec<InviteLine>,
    grants: Vec<GrantLine>,
    typed: Typed,
    link: Option<NewLink>,
    faults: Faults,
    status: StatusCode,
}

/// What was typed into the forms, to be shown again.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub(super) email: String,
    pub(super) role: Role,
    pub(super) hours: String,
    pub(super) note: String,
    pub(super) payloads: bool,
}

impl Default for Typed {
    fn default() -> Self {
        Self {
            email: String::new(),
            role: Role::Developer,
            hours: "4".to_owned(),
            note: String::new(),
            payloads: false,
        }
    }
}

#[derive(Debug, Clone)]
struct MemberLine {
    id: String,
    email: String,
    role: Role,
    is_self: bool,
    since: Moment,
    signed_in: Option<Moment>,
    disabled: bool,
    has_second_factor: bool,
}

#[derive(Debug, Clone)]
struct InviteLine {
    id: String,
    email: String,
    role: Role,
    until: Moment,
}

#[derive(Debug, Clone)]
struct GrantLine {
    id: String,
    what: &'static str,
    note: String,
    until: Moment,
    open: bool,
}

impl Page for MembersPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    said: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let notice = match asked.said.as_str() {
        "role" => Some("The role is changed. It counts from their next request on."),
        "removed" => Some("They don’t belong to this tenant any more."),
        "revoked" => Some("The invitation is taken back. Its link opens nothing."),
        "granted" => Some("Administrators of the instance may look into this tenant now."),
        "ended" => Some("Administrators see nothing of this tenant any more by that grant."),
        _ => None,
    };
    Shown { notice, ..Shown::default() }.answer(&web, &member).await
}

/// What the page shows beside the lists.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) notice: Option<&'static str>,
    pub(super) link: Option<NewLink>,
    pub(super) typed: Typed,
    pub(super) refused: Option<Problem>,
}

impl Shown {
    /// The page.
    pub(super) async fn answer(self, web: &Web, member: &Member) -> Result<Response, Fault> {
        let now = web.app.clock.now();
        let all = web.app.members(&member.by).await?;
        let mut shell = frame(web, member, Area::Members, &Said::default()).await?;
        shell.notices.extend(self.notice.map(Notice::done));
        let status = self.refused.as_ref().map_or(StatusCode::OK, |problem| {
            StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY)
        });
        let invites = all.invites.into_iter().map(|invite| InviteLine {
            id: invite.id.to_string(),
            email: invite.email,
            role: invite.role,
            until: Moment::new(invite.expires_at, now),
        });
        Ok(answer(&MembersPage {
            shell,
            roles: Role::ALL,
            members: all.members.into_iter().map(|row| MemberLine::of(row, member, now)).collect(),
            invites: invites.collect(),
            grants: all.grants.into_iter().map(|row| GrantLine::of(row, now)).collect(),
            typed: self.typed,
            link: self.link,
            faults: self.refused.map(|problem| Faults::of(&problem, first_step)).unwrap_or_default(),
            status,
        }))
    }
}

impl MemberLine {
    fn of(row: MemberRow, member: &Member, now: Timestamp) -> Self {
        Self {
            is_self: row.user == member.who.user,
            id: row.user.to_string(),
            email: row.email,
            role: row.role,
            since: Moment::new(row.created_at, now),
            signed_in: row.signed_in_at.map(|at| Moment::new(at, now)),
            disabled: row.disabled_at.is_some(),
            has_second_factor: row.has_second_factor,
        }
    }
}

impl GrantLine {
    fn of(row: GrantRow, now: Timestamp) -> Self {
        let end = row.ended_at.unwrap_or(row.ends_at);
        Self {
            id: row.id.to_string(),
            what: if row.payloads { "events with their payloads" } else { "events without payloads" },
            note: row.note,
            until: Moment::new(end, now),
            open: end > now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn sample(text: &str, lines: usize) -> MembersPage {
        let moment = Moment::new(NOW.plus_seconds(3_600), NOW);
        let member = |number: usize| MemberLine {
            id: format!("usr_{number}"),
            email: text.to_owned(),
            role: Role::ALL[number % 4],
            is_self: number == 0,
            since: moment,
            signed_in: (number > 0).then_some(moment),
            disabled: number == 2,
            has_second_factor: number == 1,
        };
        let invite = |number: usize| InviteLine {
            id: format!("inv_{number}"),
            email: text.to_owned(),
            role: Role::Viewer,
            until: moment,
        };
        let grant = |number: usize| GrantLine {
            id: format!("grt_{number}"),
            what: "events without payloads",
            note: text.to_owned(),
            until: moment,
            open: number == 0,
        };
        MembersPage {
            shell: Shell::sample(Area::Members),
            roles: Role::ALL,
            members: (0..lines.max(1)).map(member).collect(),
            invites: (0..lines).map(invite).collect(),
            grants: (0..lines).map(grant).collect(),
            typed: Typed { email: text.to_owned(), note: text.to_owned(), ..Typed::default() },
            link: (lines > 0).then(|| NewLink::sample(text)),
            faults: Faults::default(),
            status: StatusCode::OK,
        }
    }

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        for page in [
            sample("", 0),
            sample("ada@example.com", 3),
            sample(samples::HOSTILE, 3),
            sample(&samples::long(), 300),
        ] {
            samples::check(&page.render().unwrap());
        }
    }

    #[test]
    fn only_an_open_grant_can_be_ended() {
        let text = sample("x", 2).render().unwrap();
        assert!(text.contains("/grants/grt_0/end") && !text.contains("/grants/grt_1/end"));
    }
}
