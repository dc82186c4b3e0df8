//! The form of a policy.

use restante_core::problem::Problem;
use restante_core::retention::{Limit, Policy, Resolved};
use serde::Deserialize;

use super::words;
use crate::parts::form::Faults;

/// What was typed; an empty field says nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Typed {
    payload_days: String,
    receipt_days: String,
    payload_after_processed_hours: String,
    expire_unprocessed_days: String,
    audit_days: String,
    replay_days: String,
    outage_days: String,
    log_days: String,
}

/// One field of the form.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) value: String,
    /// What is in force now, and who says so.
    pub(crate) now: String,
    pub(crate) fault: Option<String>,
}

fn number(text: &str) -> Result<Option<u32>, &'static str> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| "This is a whole number, or empty."),
    }
}

fn limit(text: &str) -> Result<Option<Limit>, &'static str> {
    match text.trim() {
        "never" => Ok(Some(Limit::Never)),
        text => number(text)
            .map(|number| number.map(Limit::After))
            .map_err(|_| "This is a whole number, never, or empty."),
    }
}

impl Typed {
    /// The form as a policy is.
    pub(crate) fn of(policy: &Policy) -> Self {
        let text = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
        let limit = |value: Option<Limit>| match value {
            Some(Limit::After(value)) => value.to_string(),
            Some(Limit::Never) => "never".to_owned(),
            None => String::new(),
        };
        Self {
            payload_days: text(policy.payload_days),
            receipt_days: text(policy.receipt_days),
            payload_after_processed_hours: limit(policy.payload_after_processed_hours),
            expire_unprocessed_days: limit(policy.expire_unprocessed_days),
            audit_days: text(policy.audit_days),
            replay_days: text(policy.replay_days),
            outage_days: text(policy.outage_days),
            log_days: text(policy.log_days),
        }
    }

    /// The policy that was typed.
    pub(crate) fn policy(&self) -> Result<Policy, Faults> {
        let mut faults = Faults::default();
        let mut days = |name: &'static str, text: &str| {
            number(text).unwrap_or_else(|fault| {
                faults.add(name, fault);
                None
            })
        };
        let mut policy = Policy {
            payload_days: days("payload_days", &self.payload_days),
            receipt_days: days("receipt_days", &self.receipt_days),
            audit_days: days("audit_days", &self.audit_days),
            replay_days: days("replay_days", &self.replay_days),
            outage_days: days("outage_days", &self.outage_days),
            log_days: days("log_days", &self.log_days),
            ..Policy::default()
        };
        for (name, text, place) in [
            (
                "payload_after_processed_hours",
                &self.payload_after_processed_hours,
                &mut policy.payload_after_processed_hours,
            ),
            ("expire_unprocessed_days", &self.expire_unprocessed_days, &mut policy.expire_unprocessed_days),
        ] {
            match limit(text) {
                Ok(value) => *place = value,
                Err(fault) => faults.add(name, fault),
            }
        }
        if faults.is_empty() { Ok(policy) } else { Err(faults) }
    }

    /// The fields of the form, with what is in force beside each. `narrow` leaves out what only a tenant says.
    pub(crate) fn fields(&self, in_force: &Resolved, faults: &Faults, narrow: bool) -> Vec<Field> {
        let now = |value: String, source: String| format!("Now {value}, by {source}.");
        let days = words::days;
        let r = in_force;
        let mut fields = vec![
            (
                "payload_days",
                "Days for payloads",
                "Then the body and headers are removed, once no consumer needs them.",
                &self.payload_days,
                now(days(r.payload_days.value), words::source(&r.payload_days)),
            ),
            (
                "receipt_days",
                "Days for ids",
                "For so long a repeat is known as a duplicate.",
                &self.receipt_days,
                now(days(r.receipt_days.value), words::source(&r.receipt_days)),
            ),
            (
                "payload_after_processed_hours",
                "Hours after everybody is done",
                "The payload may go so many hours after the last consumer has processed it. A number, or never.",
                &self.payload_after_processed_hours,
                now(
                    words::limit(r.payload_after_processed_hours.value, "hour", "hours"),
                    r.payload_after_processed_hours.from.words().to_owned(),
                ),
            ),
            (
                "expire_unprocessed_days",
                "Days until unprocessed work is given up",
                "Each handoff that is given up gets a record. A number, or never.",
                &self.expire_unprocessed_days,
                now(
                    words::limit(r.expire_unprocessed_days.value, "day", "days"),
                    r.expire_unprocessed_days.from.words().to_owned(),
                ),
            ),
        ];
        if !narrow {
            fields.extend([
                (
                    "audit_days",
                    "Days for which you must show that an event came",
                    "Ids stay longer than that.",
                    &self.audit_days,
                    now(days(r.audit_days.value), words::source(&r.audit_days)),
                ),
                (
                    "replay_days",
                    "Days for which your people have events sent again",
                    "By their own means, such as an import. Ids stay longer than that.",
                    &self.replay_days,
                    now(days(r.replay_days.value), words::source(&r.replay_days)),
                ),
                (
                    "outage_days",
                    "Days of the longest outage",
                    "After which somebody catches up. Ids stay longer than that.",
                    &self.outage_days,
                    now(days(r.outage_days.value), words::source(&r.outage_days)),
                ),
                (
                    "log_days",
                    "Days for the audit log",
                    "Older lines are removed.",
                    &self.log_days,
                    now(days(r.log_days.value), words::source(&r.log_days)),
                ),
            ]);
        }
        fields
            .into_iter()
            .map(|(name, label, hint, value, now)| Field {
                name,
                label,
                hint,
                value: value.clone(),
                now,
                fault: faults.get(name).map(str::to_owned),
            })
            .collect()
    }
}

/// The faults of a verb at the fields of the form.
pub(crate) fn faults(problem: &Problem) -> Faults {
    Faults::of(problem, |pointer| {
        pointer.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_reads_back_as_the_policy() {
        let typed = Typed {
            payload_days: " 7 ".to_owned(),
            expire_unprocessed_days: "never".to_owned(),
            payload_after_processed_hours: "2".to_owned(),
            ..Typed::default()
        };
        let policy = typed.policy().unwrap();
        assert_eq!(policy.payload_days, Some(7));
        assert_eq!(policy.expire_unprocessed_days, Some(Limit::Never));
        assert_eq!(Typed::of(&policy).policy().unwrap(), policy);
        assert!(Typed::default().policy().unwrap().is_empty());
    }

    #[test]
    fn what_is_no_number_is_told_at_its_field() {
        let typed = Typed {
            payload_days: "-1".to_owned(),
            receipt_days: "never".to_owned(),
            expire_unprocessed_days: "soon".to_owned(),
            ..Typed::default()
        };
        let faults = typed.policy().unwrap_err();
        for field in ["payload_days", "receipt_days", "expire_unprocessed_days"] {
            assert!(faults.get(field).is_some(), "{field}");
        }
    }
}
