//! The own account: where the person belongs, their password, their second factor, their sessions.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use restante_app::people::{MembershipRow, SecondFactor};
use restante_core::problem::Problem;
use restante_core::secret::Secret;
use restante_store::StoreError;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "account/overview.html")]
struct AccountPage {
    shell: Shell,
    email: String,
    tenants: Vec<MembershipRow>,
    factor: Factor,
    sessions: Vec<SessionLine>,
    faults: Faults,
    status: StatusCode,
}

/// The second factor in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    Off,
    On { codes_left: u64 },
}

/// A session in the list.
#[derive(Debug, Clone)]
struct SessionLine {
    id: String,
    device: String,
    signed_in: Moment,
    seen: Moment,
    current: bool,
}

impl Page for AccountPage {
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
    person: Person,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let notice = match asked.said.as_str() {
        "password" => Some("The password is changed. You are signed out everywhere else."),
        "session" => Some("That session has ended."),
        "others" => Some("You are signed out everywhere else."),
        "factor-off" => Some("The second factor is gone. Your password alone opens the account now."),
        _ => None,
    };
    page(&web, &person, notice, Faults::default(), StatusCode::OK).await
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    old_password: String,
    new_password: String,
}

pub(crate) async fn change_password(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let (old, new) = (Secret::new(typed.old_password), Secret::new(typed.new_password));
    match web.app.change_password(&person.actor(), person.session, old, new).await {
        Ok(()) => Ok(Redirect::to("/account?said=password").into_response()),
        Err(StoreError::Problem(problem)) => refused(&web, &person, &problem).await,
        Err(error) => Err(error.into()),
    }
}

async fn refused(web: &Web, person: &Person, problem: &Problem) -> Result<Response, Fault> {
    let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    page(web, person, None, Faults::of(problem, first_step), status).await
}

async fn page(
    web: &Web,
    person: &Person,
    notice: Option<&str>,
    faults: Faults,
    status: StatusCode,
) -> Result<Response, Fault> {
    let now = web.app.clock.now();
    let sessions = web.app.sessions_of(person.who.user).await?;
    let sessions = sessions.into_iter().filter(|session| !session.awaits_code);
    let mut shell = person.shell(Area::Account);
    shell.notices.extend(notice.map(Notice::done));
    Ok(answer(&AccountPage {
        shell,
        email: person.who.email.clone(),
        tenants: person.who.tenants.clone(),
        factor: match web.app.second_factor(person.who.user).await? {
            SecondFactor::On { codes_left } => Factor::On { codes_left },
            SecondFactor::Off | SecondFactor::Pending(_) => Factor::Off,
        },
        sessions: sessions
            .map(|session| SessionLine {
                current: session.id == person.session,
                id: session.id.to_string(),
                device: session.device,
                signed_in: Moment::new(session.signed_in_at, now),
                seen: Moment::new(session.seen_at, now),
            })
            .collect(),
        faults,
        status,
    }))
}

#[cfg(test)]
mod tests {
    use restante_core::access::Role;
    use restante_core::id::TenantId;
    use restante_core::time::Timestamp;

    use super::*;
    use crate::parts::samples;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn sample(text: &str, lines: usize) -> AccountPage {
        let line = |number: usize| SessionLine {
            id: format!("ses_{number}"),
            device: text.to_owned(),
            signed_in: Moment::new(NOW.plus_seconds(-3_600), NOW),
            seen: Moment::new(NOW, NOW),
            current: number == 0,
        };
        let tenant = |_| MembershipRow {
            tenant: TenantId(Default::default()),
            slug: "acme".to_owned(),
            name: text.to_owned(),
            suspended: true,
            suspended_because: Some(text.to_owned()),
            role: Role::Viewer,
        };
        AccountPage {
            shell: Shell::sample(Area::Account),
            email: text.to_owned(),
            tenants: (0..lines).map(tenant).collect(),
            factor: Factor::On { codes_left: 2 },
            sessions: (0..lines).map(line).collect(),
            faults: Faults::default(),
            status: StatusCode::OK,
        }
    }

    #[test]
    fn the_page_stands_empty_full_and_hostile() {
        let empty = AccountPage { factor: Factor::Off, ..sample("", 0) };
        for page in
            [empty, sample("Firefox on Linux", 3), sample(samples::HOSTILE, 2), sample(&samples::long(), 200)]
        {
            samples::check(&page.render().unwrap());
        }
    }

    #[test]
    fn the_present_session_is_marked_and_can_t_be_ended_from_the_list() {
        let text = sample("Firefox on Linux", 2).render().unwrap();
        assert!(text.contains("this one"));
        assert!(
            !text.contains("/account/sessions/ses_0/end") && text.contains("/account/sessions/ses_1/end")
        );
    }
}
