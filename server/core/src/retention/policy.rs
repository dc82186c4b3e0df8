//! What one level says about retention, and the bounds that the instance sets for all of them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::problem::FieldError;

/// The most that any of the values may be, in days: ten years.
const DAYS_MAX: u32 = 3_650;
/// The same in hours.
const HOURS_MAX: u32 = DAYS_MAX * 24;

/// Something that happens after a while, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// It does not happen.
    Never,
    /// After so many of the field's unit.
    After(u32),
}

impl Limit {
    /// The number; `None` for never.
    pub const fn value(self) -> Option<u32> {
        match self {
            Self::Never => None,
            Self::After(value) => Some(value),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Never => serializer.serialize_str("never"),
            Self::After(value) => serializer.serialize_u32(*value),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Read {
            Number(u32),
            Word(String),
        }
        match Read::deserialize(deserializer) {
            Ok(Read::Number(value)) => Ok(Self::After(value)),
            Ok(Read::Word(word)) if word == "never" => Ok(Self::Never),
            _ => Err(serde::de::Error::custom("a whole number, or \"never\"")),
        }
    }
}

/// What a level says. What it leaves out, a wider level says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Days after which the sealed request goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_days: Option<u32>,
    /// Days for which the key refuses its event a second life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt_days: Option<u32>,
    /// Hours after the last consumer has processed an event after which its request may go, before its days are over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_after_processed_hours: Option<Limit>,
    /// Days after which what nobody has processed is given up, with a record of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_unprocessed_days: Option<Limit>,
    /// Days for which it must be possible to show that an event came. Instance and tenant only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_days: Option<u32>,
    /// Days for which people may have a provider's events sent or imported again by their own means. Instance and tenant only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_days: Option<u32>,
    /// Days of the longest outage after which senders or operators catch up. Instance and tenant only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage_days: Option<u32>,
    /// Days for which a line of the audit log is kept. Instance and tenant only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_days: Option<u32>,
}

impl Policy {
    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it says something that only the instance and tenants may say.
    const fn of_tenants(&self) -> [(&'static str, Option<u32>); 4] {
        [
            ("audit_days", self.audit_days),
            ("replay_days", self.replay_days),
            ("outage_days", self.outage_days),
            ("log_days", self.log_days),
        ]
    }

    /// What can't be in it, by itself and within the bounds. `narrow` is a provider's or an endpoint's policy.
    pub fn faults(&self, bounds: &Bounds, narrow: bool) -> Vec<FieldError> {
        let mut faults = Vec::new();
        let mut fault = |name: &str, detail: String| {
            faults.push(FieldError { pointer: format!("/{name}"), detail });
        };
        for (name, value, range, what) in [
            ("payload_days", self.payload_days, bounds.payload_days, "Payloads are kept"),
            ("receipt_days", self.receipt_days, bounds.receipt_days, "Keys of events are kept"),
        ] {
            if value.is_some_and(|value| !range.contains(value)) {
                let Range { min, max } = range;
                fault(
                    name,
                    format!(
                        "{what} for {min} to {max} days on this instance, as its administrators have set it."
                    ),
                );
            }
        }
        if let Some(Limit::After(hours)) = self.payload_after_processed_hours
            && hours > HOURS_MAX
        {
            fault("payload_after_processed_hours", format!("This is \"never\" or 0 to {HOURS_MAX} hours."));
        }
        if let Some(Limit::After(days)) = self.expire_unprocessed_days
            && !(1..=DAYS_MAX).contains(&days)
        {
            fault("expire_unprocessed_days", format!("This is \"never\" or 1 to {DAYS_MAX} days."));
        }
        for (name, value) in self.of_tenants() {
            let Some(days) = value else { continue };
            if narrow {
                fault(name, "This is decided for the whole tenant. Leave it out here.".to_owned());
            } else if days > DAYS_MAX || (name == "log_days" && days < LOG_DAYS_MIN) {
                let min = if name == "log_days" { LOG_DAYS_MIN } else { 0 };
                fault(name, format!("This is {min} to {DAYS_MAX} days."));
            }
        }
        faults
    }
}

/// The shortest life of a line of the audit log, in days.
const LOG_DAYS_MIN: u32 = 30;

/// From, to; both count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
}

impl Range {
    const fn contains(self, value: u32) -> bool {
        self.min <= value && value <= self.max
    }

    /// The value, or the edge that it lies beyond.
    pub fn clamp(self, value: u32) -> u32 {
        // Not `Ord::clamp`, which panics on a range that is upside down.
        value.min(self.max).max(self.min)
    }
}

/// Within what every level has to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Of `payload_days`.
    pub payload_days: Range,
    /// Of `receipt_days`.
    pub receipt_days: Range,
}

impl Default for Bounds {
    fn default() -> Self {
        let all = Range { min: 1, max: DAYS_MAX };
        Self { payload_days: all, receipt_days: all }
    }
}

impl Bounds {
    /// What can't be in them.
    pub fn faults(&self) -> Vec<FieldError> {
        [("payload_days", self.payload_days), ("receipt_days", self.receipt_days)]
            .into_iter()
            .filter(|(_, range)| range.min < 1 || range.max > DAYS_MAX || range.min > range.max)
            .map(|(name, _)| FieldError {
                pointer: format!("/bounds/{name}"),
                detail: format!("The least is at least 1, the most at most {DAYS_MAX}, and the least is not above the most."),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_reads_back_and_takes_no_unknown_word() {
        let text =
            r#"{"payload_days":7,"payload_after_processed_hours":"never","expire_unprocessed_days":90}"#;
        let read: Policy = serde_json::from_str(text).unwrap();
        assert_eq!(read.payload_after_processed_hours, Some(Limit::Never));
        assert_eq!(read.expire_unprocessed_days, Some(Limit::After(90)));
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        for wrong in [
            r#"{"payload_day":7}"#,
            r#"{"payload_days":-1}"#,
            r#"{"expire_unprocessed_days":"soon"}"#,
            r#"{"receipt_days":1.5}"#,
        ] {
            assert!(serde_json::from_str::<Policy>(wrong).is_err(), "{wrong}");
        }
        assert!(serde_json::from_str::<Policy>("{}").unwrap().is_empty());
    }

    fn faulty(policy: Policy, narrow: bool) -> Vec<String> {
        let bounds =
            Bounds { payload_days: Range { min: 2, max: 30 }, receipt_days: Range { min: 31, max: 400 } };
        policy.faults(&bounds, narrow).into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn each_value_has_its_range_and_each_level_its_words() {
        let none = Policy::default();
        assert!(faulty(Policy { payload_days: Some(2), receipt_days: Some(400), ..none }, true).is_empty());
        assert_eq!(
            faulty(Policy { payload_days: Some(1), receipt_days: Some(401), ..none }, true),
            ["/payload_days", "/receipt_days"]
        );
        assert_eq!(
            faulty(Policy { expire_unprocessed_days: Some(Limit::After(0)), ..none }, true),
            ["/expire_unprocessed_days"]
        );
        assert!(
            faulty(Policy { payload_after_processed_hours: Some(Limit::After(0)), ..none }, true).is_empty()
        );
        let of_tenant = Policy {
            audit_days: Some(1),
            replay_days: Some(1),
            outage_days: Some(1),
            log_days: Some(30),
            ..none
        };
        assert!(faulty(of_tenant, false).is_empty());
        assert_eq!(faulty(of_tenant, true).len(), 4);
        assert_eq!(
            faulty(Policy { log_days: Some(29), audit_days: Some(3_651), ..none }, false),
            ["/audit_days", "/log_days"]
        );
    }

    #[test]
    fn bounds_are_the_right_way_round() {
        assert!(Bounds::default().faults().is_empty());
        for (min, max) in [(0, 5), (5, 4), (1, 3_651)] {
            let range = Range { min, max };
            assert_eq!(Bounds { payload_days: range, ..Bounds::default() }.faults().len(), 1);
            assert_eq!(range.clamp(5), min.max(5.min(max)));
        }
    }
}
