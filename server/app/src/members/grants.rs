//! Letting administrators of the instance look into the tenant for a while. Without such a grant they see
//! neither its events nor its settings. It only ever lets them look.

use restante_core::id::GrantId;
use restante_core::limits::NOTE_BYTES_MAX;
use restante_core::problem::{FieldError, Problem};
use restante_store::StoreError;
use restante_store::control::audit;
use restante_store::control::grants::{self, GrantRow};
use serde_json::json;

use super::owner;
use crate::{App, By};

/// The longest grant, in hours: a week.
pub const GRANT_HOURS_MAX: u32 = 7 * 24;

/// A grant to be given.
#[derive(Debug, Clone)]
pub struct NewGrant {
    /// Whether payloads are among what may be seen.
    pub payloads: bool,
    /// For how many hours.
    pub hours: u32,
    /// What it is for.
    pub note: String,
}

impl App {
    /// Lets administrators look into the tenant until a time.
    ///
    /// # Errors
    /// A fault of a field; `missing-scope` for who is no owner.
    pub async fn grant(&self, by: &By, asked: NewGrant) -> Result<GrantRow, StoreError> {
        check(&asked)?;
        let (now, tenant) = (self.clock.now(), by.tenant());
        let row = GrantRow {
            id: GrantId::new(now, self.random.bytes()),
            payloads: asked.payloads,
            note: asked.note.trim().to_owned(),
            created_by: by.actor(),
            created_at: now,
            ends_at: now.plus_seconds(i64::from(asked.hours) * 60 * 60),
            ended_at: None,
        };
        let detail = json!({ "payloads": row.payloads, "ends_at": row.ends_at, "note": row.note });
        let line = by.audit(&*self.random, now, "grant.create", row.id.to_string(), &detail);
        let (by, kept) = (by.clone(), row.clone());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    owner(conn, &by).await?;
                    grants::insert(conn, tenant, kept).await?;
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        Ok(row)
    }

    /// Ends a grant before its time.
    ///
    /// # Errors
    /// `not-found` when it is over or is none of the tenant; `missing-scope` for who is no owner.
    pub async fn end_grant(&self, by: &By, grant: GrantId) -> Result<(), StoreError> {
        let (now, tenant) = (self.clock.now(), by.tenant());
        let line = by.audit(&*self.random, now, "grant.end", grant.to_string(), &json!({}));
        let by = by.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    owner(conn, &by).await?;
                    if !grants::end(conn, tenant, grant, now).await? {
                        return Err(Problem::not_found("grant").into());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }
}

fn check(asked: &NewGrant) -> Result<(), Problem> {
    let mut errors = Vec::new();
    let mut wrong = |pointer: &str, detail: String| {
        errors.push(FieldError { pointer: pointer.to_owned(), detail });
    };
    if !(1..=GRANT_HOURS_MAX).contains(&asked.hours) {
        wrong("/hours", format!("A grant lasts 1 to {GRANT_HOURS_MAX} hours."));
    }
    if asked.note.len() > NOTE_BYTES_MAX {
        wrong("/note", format!("A note has at most {NOTE_BYTES_MAX} bytes."));
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}
