//! Who acts upon people and the instance, for its audit log: a person, the operator at the command line, or
//! the schedule by itself. Within a tenant that is the business of `By`.

use restante_core::id::{UserId, uuid_v7};
use restante_core::time::Timestamp;
use restante_store::control::audit::AuditRow;
use serde_json::Value;

use crate::random::Random;

/// How the log names the command line.
pub(crate) const OPERATOR: &str = "operator";
/// How the log names what the program does by itself.
const SCHEDULE: &str = "schedule";

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    user: Option<UserId>,
    /// Who it is where it is no person.
    program: &'static str,
    request_id: Option<String>,
}

impl Actor {
    /// A person in the browser.
    pub const fn person(user: UserId, request_id: Option<String>) -> Self {
        Self { user: Some(user), program: OPERATOR, request_id }
    }

    /// The operator at the command line.
    pub const fn operator() -> Self {
        Self { user: None, program: OPERATOR, request_id: None }
    }

    /// A job of the schedule, which nobody asked.
    pub(crate) const fn schedule() -> Self {
        Self { user: None, program: SCHEDULE, request_id: None }
    }

    /// The name in the log.
    pub fn name(&self) -> String {
        self.user.map_or_else(|| self.program.to_owned(), |user| user.to_string())
    }

    /// The person; `None` for the operator and the schedule.
    pub const fn user(&self) -> Option<UserId> {
        self.user
    }

    /// A line for the instance's log. `detail` is JSON that holds no secret.
    pub(crate) fn line(
        &self,
        random: &dyn Random,
        at: Timestamp,
        action: &'static str,
        subject: String,
        detail: &Value,
    ) -> AuditRow {
        AuditRow {
            id: uuid_v7(at, random.bytes()),
            at,
            actor: self.name(),
            action,
            subject,
            detail: detail.to_string(),
            request_id: self.request_id.clone(),
        }
    }
}
