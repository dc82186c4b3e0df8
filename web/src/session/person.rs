//! What handlers get of the person: [`Person`] on every page that asks for somebody signed in, and
//! [`Member`] on the pages of a tenant. The guard has let them through before; a handler that asks for
//! more than its route does is refused.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::request::Parts;
use restante_app::By;
use restante_app::people::{Actor, Here, Session, Standing, Who};
use restante_core::access::Role;
use restante_core::id::SessionId;
use restante_core::problem::{Code, Problem};

use super::form_token;
use crate::fault::Fault;
use crate::parts::shell::{Area, Notice, Shell, TenantName};

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// Their account and tenants, and their place in the tenant of the path if it names one.
    pub(crate) who: Who,
    /// The session, as lists show it.
    pub(crate) session: SessionId,
    /// What each form carries in its field `csrf`.
    pub(crate) csrf: String,
    /// The id of the request, for the audit log.
    pub(crate) request_id: Option<String>,
}

impl Person {
    pub(super) fn new(who: Who, session: &Session, request_id: Option<String>) -> Self {
        Self { who, session: session.id, csrf: form_token::token(session), request_id }
    }

    /// Who acts, for the verbs about people and the instance.
    pub(crate) fn actor(&self) -> Actor {
        Actor::person(self.who.user, self.request_id.clone())
    }

    /// What surrounds a page of this area.
    pub(crate) fn shell(&self, area: Area) -> Shell {
        let who = &self.who;
        let here = who.here.as_ref();
        let name = |slug: &str, name: &str| TenantName { slug: slug.to_owned(), name: name.to_owned() };
        let mut notices = Vec::new();
        if let Some(here) = here.filter(|here| here.suspended) {
            let because = here.suspended_because.as_ref();
            let because = because.map(|because| format!(" The reason given: {because}")).unwrap_or_default();
            notices.push(Notice::look(format!(
                "This tenant is suspended: its endpoints store nothing and answer 503, and claims get nothing, until an \
                 administrator of the instance goes on with it. What is here stays.{because}"
            )));
        }
        Shell {
            tenant: here.map(|here| name(&here.slug, &here.name)),
            tenants: who.tenants.iter().map(|tenant| name(&tenant.slug, &tenant.name)).collect(),
            email: who.email.clone(),
            role: self.standing(),
            scopes: here.map(|here| here.scopes).unwrap_or_default(),
            owner: here.is_some_and(|here| here.role() == Some(Role::Owner)),
            administrator: who.administrator,
            csrf: self.csrf.clone(),
            area,
            failures: 0,
            notices,
        }
    }

    /// What the person is on this page, in words.
    fn standing(&self) -> String {
        match self.who.here.as_ref().map(|here| here.standing) {
            Some(Standing::Member(role)) => role.to_string(),
            Some(Standing::Granted(until)) => format!("administrator, let in until {until}"),
            None if self.who.administrator => "administrator".to_owned(),
            None => String::new(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Person {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            tracing::error!("a handler asked for a person on a public route");
            Problem::new(Code::Internal, "Restante could not tell who you are.").into()
        })
    }
}

/// Somebody in a tenant: a member, or an administrator whom the tenant lets look.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The person.
    pub(crate) person: Person,
    /// The tenant of the path, and what they may do there.
    pub(crate) here: Here,
    /// Who acts, for the verbs.
    pub(crate) by: By,
}

impl Deref for Member {
    type Target = Person;

    fn deref(&self) -> &Person {
        &self.person
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Member {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let person = Person::from_request_parts(parts, state).await?;
        let Some(here) = person.who.here.clone() else {
            tracing::error!("a handler asked for a member on a route of no tenant");
            return Err(Problem::new(Code::Internal, "Restante could not tell which tenant is meant.").into());
        };
        let by = here.by(person.who.user, person.request_id.clone());
        Ok(Self { person, here, by })
    }
}
