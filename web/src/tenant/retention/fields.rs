//! The form of a policy.

use restante_core::problem::Problem;
use restante_core::retention::{Limit, Policy, Resolved, Sourced};
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

/// Fields that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) fields: Vec<Field>,
}

/// One field of the form.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) value: String,
    /// What is in force, as it would be typed: it counts while the field is empty.
    pub(crate) placeholder: String,
    /// The same in words, and who says so.
    pub(crate) now: String,
    pub(crate) fault: Option<String>,
}

/// What a field says of itself: its name, label, unit and hint.
struct Label(&'static str, &'static str, &'static str, &'static str);

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

    /// What was typed, by the names of the fields.
    pub(crate) fn pairs(&self) -> [(&'static str, &str); 8] {
        [
            ("payload_days", &self.payload_days),
            ("receipt_days", &self.receipt_days),
            ("payload_after_processed_hours", &self.payload_after_processed_hours),
            ("expire_unprocessed_days", &self.expire_unprocessed_days),
            ("audit_days", &self.audit_days),
            ("replay_days", &self.replay_days),
            ("outage_days", &self.outage_days),
            ("log_days", &self.log_days),
        ]
    }

    /// The fields of the form, with what is in force beside each. `narrow` leaves out what only a tenant says.
    pub(crate) fn groups(&self, in_force: &Resolved, faults: &Faults, narrow: bool) -> Vec<Group> {
        let r = in_force;
        let days = |label, sourced: &Sourced<u32>| {
            self.field(label, words::days(sourced.value), words::source(sourced), faults)
        };
        let limit = |label, sourced: &Sourced<Limit>, one, many| {
            let from = sourced.from.words().to_owned();
            self.field(label, words::limit(sourced.value, one, many), from, faults)
        };
        let mut groups = vec![
            Group {
                title: "What is kept",
                fields: vec![
                    days(
                        Label(
                            "payload_days",
                            "Payloads are kept for",
                            "days",
                            "Then body and headers are removed, once no consumer needs them.",
                        ),
                        &r.payload_days,
                    ),
                    days(
                        Label(
                            "receipt_days",
                            "Ids are known for",
                            "days",
                            "For so long an event that comes again is a duplicate.",
                        ),
                        &r.receipt_days,
                    ),
                ],
            },
            Group {
                title: "Earlier, or not at all",
                fields: vec![
                    limit(
                        Label(
                            "payload_after_processed_hours",
                            "Payloads may go early, after",
                            "hours, or never",
                            "Counted from when the last consumer has processed the event.",
                        ),
                        &r.payload_after_processed_hours,
                        "hour",
                        "hours",
                    ),
                    limit(
                        Label(
                            "expire_unprocessed_days",
                            "Unprocessed work is given up after",
                            "days, or never",
                            "What is given up is recorded, event by event.",
                        ),
                        &r.expire_unprocessed_days,
                        "day",
                        "days",
                    ),
                ],
            },
        ];
        if narrow {
            return groups;
        }
        groups.push(Group {
            title: "What ids have to outlive",
            fields: vec![
                days(
                    Label(
                        "audit_days",
                        "That an event came can be shown for",
                        "days",
                        "To an auditor, for example.",
                    ),
                    &r.audit_days,
                ),
                days(
                    Label(
                        "replay_days",
                        "Events may be sent again for",
                        "days",
                        "By your people, such as with an import.",
                    ),
                    &r.replay_days,
                ),
                days(
                    Label(
                        "outage_days",
                        "The longest outage lasts",
                        "days",
                        "Somebody catches up after it, and still meets the ids.",
                    ),
                    &r.outage_days,
                ),
            ],
        });
        groups.push(Group {
            title: "The audit log",
            fields: vec![days(
                Label("log_days", "Lines are kept for", "days", "Older lines are removed."),
                &r.log_days,
            )],
        });
        groups
    }

    /// `now` is what is in force, and `from` who says so.
    fn field(
        &self,
        Label(name, label, unit, hint): Label,
        now: String,
        from: String,
        faults: &Faults,
    ) -> Field {
        let value = self.pairs().into_iter().find(|(known, _)| *known == name);
        Field {
            name,
            label,
            unit,
            hint,
            value: value.map(|(_, text)| text.to_owned()).unwrap_or_default(),
            placeholder: now.split(' ').next().unwrap_or_default().replace(',', ""),
            now: format!("Now {now}: {from}."),
            fault: faults.get(name).map(str::to_owned),
        }
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
