//! Who asks, and on which request: what a verb needs to act within the right tenant and to write its
//! line into the audit log. The tenant comes from the credential and from nowhere else.

use restante_core::access::Principal;
use restante_core::id::{TenantId, uuid_v7};
use restante_core::time::Timestamp;
use restante_store::control::audit::AuditRow;
use serde_json::Value;

use crate::random::Random;

/// The caller of a verb.
#[derive(Debug, Clone)]
pub struct By {
    /// Who calls, within which tenant.
    pub principal: Principal,
    /// The request that it came with.
    pub request_id: Option<String>,
}

impl By {
    /// The tenant in which everything is looked up.
    pub const fn tenant(&self) -> TenantId {
        self.principal.tenant
    }

    /// The name of who acts, for the audit log.
    pub fn actor(&self) -> String {
        match (self.principal.key, self.principal.user) {
            (Some(key), _) => key.to_string(),
            (None, Some(user)) => user.to_string(),
            // Every credential names one of the two.
            (None, None) => "nobody".to_owned(),
        }
    }

    /// A line for the audit log. `detail` is JSON that holds no secret.
    pub fn audit(
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
            actor: self.actor(),
            action,
            subject,
            detail: detail.to_string(),
            request_id: self.request_id.clone(),
        }
    }
}
