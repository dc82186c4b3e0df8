//! One-time links: a new password, an invitation, the way into the demo. Opening one changes nothing;
//! only the form on its page does, so that whatever looks at links before the person does no harm.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, StatusCode, Uri};
use restante_app::context::RequestId;
use restante_app::people::{OpenLink, Session};
use restante_core::access::Role;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::token::LinkToken;
use restante_store::StoreError;
use restante_store::control::invites::FoundInvite;
use serde::Deserialize;
use tower_sessions::Session as Cookie;

use super::dead_link::dead_link;
use super::enter::{enter, id_of};
use super::sign_in::opened_wrongly;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::session;
use crate::state::Web;

/// A new password.
#[derive(Template)]
#[template(path = "account/reset.html")]
struct ResetPage {
    action: String,
    email: String,
    drops_second_factor: bool,
    faults: Faults,
    status: StatusCode,
}

/// The way into the demo.
#[derive(Template)]
#[template(path = "account/sign_in_link.html")]
struct SignInLinkPage {
    action: String,
    email: String,
}

/// An invitation.
#[derive(Template)]
#[template(path = "account/invite.html")]
struct InvitePage {
    action: String,
    tenant: String,
    role: Role,
    email: String,
    who: InviteFor,
    faults: Faults,
    status: StatusCode,
}

/// Whoever opens an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum InviteFor {
    /// They are signed in as the invited person.
    SignedIn,
    /// They are signed in as somebody else, of this address.
    SomebodyElse(String),
    /// They have an account and are not signed in.
    SignedOut,
    /// There is no account yet.
    New,
}

impl Page for ResetPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

impl Page for SignInLinkPage {}

impl Page for InvitePage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    Path(link): Path<String>,
    cookie: Cookie,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let Some((_, open)) = open(&web, &link).await? else { return Ok(dead_link()) };
    if opened_wrongly(&web, &headers, &uri).is_some() {
        // The page there explains; here a password would go out in clear.
        return Ok(Redirect::to("/sign-in").into_response());
    }
    page(&web, &cookie, &link, open, Faults::default(), StatusCode::OK).await
}

#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    password: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    Path(link): Path<String>,
    cookie: Cookie,
    request_id: Option<Extension<RequestId>>,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Some((token, open)) = open(&web, &link).await? else { return Ok(dead_link()) };
    let (app, password, request_id) = (&web.app, Secret::new(typed.password), id_of(request_id));
    let done = match &open {
        OpenLink::SetUp => return Ok(Redirect::to(&format!("/set-up/{link}")).into_response()),
        OpenLink::SignIn { .. } => match app.take_sign_in_link(&token).await {
            Ok(user) => return enter(&web, &cookie, &headers, user, None, "/").await,
            Err(error) => Err(error),
        },
        OpenLink::Reset { .. } => match app.reset_password(&token, password, request_id).await {
            Ok(_) => return Ok(Redirect::to("/sign-in?said=password-set").into_response()),
            Err(error) => Err(error),
        },
        OpenLink::Invite(found) => match invited(&web, &cookie, found).await? {
            InviteFor::New => match app.accept_as_new(&token, password, request_id).await {
                Ok(joined) => {
                    let to = format!("/t/{}", joined.slug);
                    return enter(&web, &cookie, &headers, joined.user, Some(joined.tenant), &to).await;
                }
                Err(error) => Err(error),
            },
            InviteFor::SignedIn => {
                let session = signed_in(&cookie).await?.ok_or_else(gone)?;
                match app.accept_as(&token, session.user, request_id).await {
                    Ok(joined) => {
                        let to = format!("/t/{}", joined.slug);
                        let session = Session { current_tenant: Some(joined.tenant), ..session };
                        session::begin(&cookie, session).await?;
                        return Ok(Redirect::to(&to).into_response());
                    }
                    Err(error) => Err(error),
                }
            }
            // Their page has no form.
            InviteFor::SignedOut | InviteFor::SomebodyElse(_) => Err(gone().into()),
        },
    };
    match done {
        Err(StoreError::Problem(problem)) if problem.code == Code::Gone => Ok(dead_link()),
        Err(StoreError::Problem(problem)) => {
            let status =
                StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            page(&web, &cookie, &link, open, Faults::of(&problem, first_step), status).await
        }
        Err(error) => Err(error.into()),
        Ok::<(), _>(()) => Ok(dead_link()),
    }
}

async fn open(web: &Web, link: &str) -> Result<Option<(LinkToken, OpenLink)>, Fault> {
    let Some(token) = LinkToken::parse(link) else { return Ok(None) };
    let found = web.app.open_link(&token).await?;
    Ok(found.map(|open| (token, open)))
}

async fn page(
    web: &Web,
    cookie: &Cookie,
    link: &str,
    open: OpenLink,
    faults: Faults,
    status: StatusCode,
) -> Result<Response, Fault> {
    let action = format!("/links/{link}");
    Ok(match open {
        OpenLink::SetUp => Redirect::to(&format!("/set-up/{link}")).into_response(),
        OpenLink::SignIn { email } => answer(&SignInLinkPage { action, email }),
        OpenLink::Reset { email, drops_second_factor } => {
            answer(&ResetPage { action, email, drops_second_factor, faults, status })
        }
        OpenLink::Invite(found) => {
            let who = invited(web, cookie, &found).await?;
            let FoundInvite { tenant_name, invite, .. } = *found;
            let (role, email) = (invite.role, invite.email);
            answer(&InvitePage { action, tenant: tenant_name, role, email, who, faults, status })
        }
    })
}

async fn invited(web: &Web, cookie: &Cookie, found: &FoundInvite) -> Result<InviteFor, Fault> {
    if let Some(session) = signed_in(cookie).await?
        && let Some(who) = web.app.who(session.user, None).await?
    {
        return Ok(if who.email == found.invite.email {
            InviteFor::SignedIn
        } else {
            InviteFor::SomebodyElse(who.email)
        });
    }
    let has_account = web.app.has_account(&found.invite.email).await?;
    Ok(if has_account { InviteFor::SignedOut } else { InviteFor::New })
}

async fn signed_in(cookie: &Cookie) -> Result<Option<Session>, Problem> {
    Ok(session::read(cookie).await?.filter(|session| !session.awaits_code))
}

fn gone() -> Problem {
    Problem::new(Code::Conflict, "You are signed in otherwise than a moment ago. Load the page again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn whoever_opens_an_invitation_has_one_thing_to_do_and_names_are_text() {
        for (who, form) in [
            (InviteFor::SignedIn, "Join"),
            (InviteFor::SomebodyElse(samples::HOSTILE.to_owned()), "signed in as"),
            (InviteFor::SignedOut, "/sign-in?next="),
            (InviteFor::New, "new-password"),
        ] {
            let page = InvitePage {
                action: "/links/abc".to_owned(),
                tenant: samples::HOSTILE.to_owned(),
                role: Role::Developer,
                email: samples::HOSTILE.to_owned(),
                who,
                faults: Faults::default(),
                status: StatusCode::OK,
            };
            let text = page.render().unwrap();
            samples::check(&text);
            assert!(text.contains(form), "{text}");
        }
    }
}
