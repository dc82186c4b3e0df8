//! What may be asked of a consumer. Every fault is told at once, each with its pointer.

use restante_core::catalogue::Catalogue;
use restante_core::filter::{Filter, FilterInput};
use restante_core::id::{TenantId, uuid_v7_floor};
use restante_core::limits::{ATTEMPTS_DEFAULT, ATTEMPTS_MAX, CONSUMER_NAME_BYTES_MAX};
use restante_core::problem::{FieldError, Problem};
use restante_core::time::Timestamp;
use restante_store::{Conn, StoreError, consumers};
use serde_json::Value;
use uuid::Uuid;

use super::NewConsumer;

/// A consumer that can be made.
pub(super) struct Checked {
    pub(super) name: String,
    pub(super) filter: Filter,
    pub(super) max_attempts: u32,
    pub(super) enabled: bool,
    pub(super) start: String,
    pub(super) start_from: Option<Uuid>,
}

/// Checks everything but what the tenant's other things decide.
pub(super) fn new_consumer(asked: NewConsumer, now: Timestamp) -> Result<Checked, Problem> {
    let mut errors = Vec::new();
    if !is_name(&asked.name) {
        errors.push(FieldError {
            pointer: "/name".to_owned(),
            detail: format!(
                "A name has 1 to {CONSUMER_NAME_BYTES_MAX} characters of a-z, 0-9 and -, such as \"billing\"."
            ),
        });
    }
    mode(asked.mode.as_deref(), &mut errors);
    ordering(asked.ordering.as_ref(), &mut errors);
    push(asked.push.as_ref(), &mut errors);
    let filter = filter(asked.filter, &mut errors);
    let max_attempts = max_attempts(asked.max_attempts, &mut errors);
    let start = asked.start.unwrap_or_else(|| "now".to_owned());
    let start_from = start_from(&start, now, &mut errors);
    if !errors.is_empty() {
        return Err(Problem::fields(errors));
    }
    let enabled = asked.enabled.unwrap_or(true);
    Ok(Checked { name: asked.name, filter, max_attempts, enabled, start, start_from })
}

/// Whether a consumer may be called so.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=CONSUMER_NAME_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

pub(super) fn mode(asked: Option<&str>, errors: &mut Vec<FieldError>) {
    let detail = match asked {
        None | Some("pull") => return,
        Some("push") => "Consumers that events are pushed to are not built yet: make one with \"pull\".",
        Some(_) => "The mode is \"pull\".",
    };
    errors.push(FieldError { pointer: "/mode".to_owned(), detail: detail.to_owned() });
}

pub(super) fn ordering(asked: Option<&Value>, errors: &mut Vec<FieldError>) {
    let detail = match asked {
        None | Some(Value::Null) => return,
        Some(Value::String(text)) if text == "none" => return,
        Some(Value::Object(_)) => "Ordering by a key is not built yet: leave it out, or write \"none\".",
        Some(_) => "The ordering is \"none\".",
    };
    errors.push(FieldError { pointer: "/ordering".to_owned(), detail: detail.to_owned() });
}

pub(super) fn push(asked: Option<&Value>, errors: &mut Vec<FieldError>) {
    if asked.is_some_and(|asked| !asked.is_null()) {
        let detail = "Consumers that events are pushed to are not built yet: leave it out.";
        errors.push(FieldError { pointer: "/push".to_owned(), detail: detail.to_owned() });
    }
}

pub(super) fn filter(asked: Option<FilterInput>, errors: &mut Vec<FieldError>) -> Filter {
    let asked = asked.unwrap_or_default();
    asked.check("/filter", |name| Catalogue::builtin().get(name).is_some()).unwrap_or_else(|faults| {
        errors.extend(faults);
        Filter::default()
    })
}

pub(super) fn max_attempts(asked: Option<u32>, errors: &mut Vec<FieldError>) -> u32 {
    let max_attempts = asked.unwrap_or(ATTEMPTS_DEFAULT);
    if !(1..=ATTEMPTS_MAX).contains(&max_attempts) {
        errors.push(FieldError {
            pointer: "/max_attempts".to_owned(),
            detail: format!("An event can be given up after 1 to {ATTEMPTS_MAX} attempts."),
        });
    }
    max_attempts
}

/// The smallest id of what is handed off of what is here already.
fn start_from(start: &str, now: Timestamp, errors: &mut Vec<FieldError>) -> Option<Uuid> {
    let detail = match start {
        "now" => return None,
        "beginning" => return Some(Uuid::nil()),
        time => match Timestamp::parse_rfc3339(time) {
            Some(moment) if moment <= now => return Some(uuid_v7_floor(moment)),
            Some(_) => "The start lies in the future: leave it out, and it is now.",
            None => "The start is \"now\", \"beginning\", or a time such as 2026-11-30T12:00:00Z.",
        },
    };
    errors.push(FieldError { pointer: "/start".to_owned(), detail: detail.to_owned() });
    None
}

/// Checks that the endpoints of a filter are the tenant's.
pub(super) async fn endpoints_exist(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    filter: &Filter,
) -> Result<(), StoreError> {
    let known = consumers::endpoints_known(conn, tenant, &filter.endpoints).await?;
    let errors: Vec<FieldError> = filter
        .endpoints
        .iter()
        .enumerate()
        .filter(|(_, endpoint)| !known.contains(endpoint))
        .map(|(place, _)| FieldError {
            pointer: format!("/filter/endpoints/{place}"),
            detail: "There is no such endpoint in this tenant.".to_owned(),
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors).into()) }
}
