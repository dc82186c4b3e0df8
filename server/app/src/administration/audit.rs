//! Reading the audit logs: a tenant's for its owners, the instance's for administrators. Who acted is
//! shown by address where the log has a person's id.

use std::collections::HashMap;

use restante_core::id::UserId;
use restante_core::problem::{Code, Problem};
use restante_store::control::audit::{self, AuditLine, AuditOf};
use restante_store::control::{instance_audit, people};
use restante_store::{Conn, StoreError};
use uuid::Uuid;

use super::administrator;
use crate::people::Actor;
use crate::{App, By};

/// Lines on a page.
pub(crate) const LINES_PER_PAGE: u32 = 50;

/// A page of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The lines, the newest first.
    pub lines: Vec<AuditLine>,
    /// The line before which the next page goes on.
    pub next: Option<Uuid>,
    /// The addresses of the people who acted or were acted upon, by their id as it stands in the log.
    pub people: HashMap<String, String>,
}

impl App {
    /// A page of the tenant's log.
    ///
    /// # Errors
    /// `missing-scope` for who is no owner.
    pub async fn audit_log(
        &self,
        by: &By,
        of: AuditOf,
        before: Option<Uuid>,
    ) -> Result<AuditPage, StoreError> {
        let by = by.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    crate::members::owner(conn, &by).await?;
                    let lines = audit::page(conn, by.tenant(), of, before, LINES_PER_PAGE + 1).await?;
                    page(conn, lines).await
                })
            })
            .await
    }

    /// A page of the instance's log.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator.
    pub async fn instance_audit_log(
        &self,
        actor: &Actor,
        before: Option<Uuid>,
    ) -> Result<AuditPage, StoreError> {
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let lines = instance_audit::page(conn, before, LINES_PER_PAGE + 1).await?;
                    page(conn, lines).await
                })
            })
            .await
    }
}

async fn page(conn: &mut Conn<'_>, mut lines: Vec<AuditLine>) -> Result<AuditPage, StoreError> {
    let more = lines.len() > LINES_PER_PAGE as usize;
    lines.truncate(LINES_PER_PAGE as usize);
    let next = lines.last().filter(|_| more).map(|last| last.id);
    let ids = lines.iter().flat_map(|line| [&line.actor, &line.subject]);
    let ids: Vec<Uuid> = ids.filter_map(|id| id.parse::<UserId>().ok()).map(|id| id.0).collect();
    let people = if ids.is_empty() { Vec::new() } else { people::emails(conn, ids).await? };
    let people = people.into_iter().map(|(user, email)| (user.to_string(), email)).collect();
    Ok(AuditPage { lines, next, people })
}

/// The place in a log that a query names.
///
/// # Errors
/// `bad-cursor` when it is none.
pub fn place_in_log(text: &str) -> Result<Uuid, Problem> {
    text.parse()
        .map_err(|_| Problem::new(Code::BadCursor, "This is no place in the log. Begin at its first page."))
}
