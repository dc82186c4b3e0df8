//! The form for an endpoint's reconciliation: its fields are the recipe's.

use std::collections::BTreeMap;

use restante_app::reconcile::{Reconciliation, ReconciliationAsked, ReconciliationOffer};
use restante_core::problem::Problem;
use restante_core::reconcile::Field;
use restante_core::secret::Secret;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::parts::form::Faults;

/// Between two runs, and how that is said.
const INTERVALS: [(&str, &str); 6] = [
    ("300", "every 5 minutes"),
    ("900", "every 15 minutes"),
    ("3600", "every hour"),
    ("21600", "every 6 hours"),
    ("86400", "every day"),
    ("604800", "every week"),
];

/// A field of the form.
#[derive(Debug, Clone)]
pub(super) struct FormField {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) help: String,
    pub(super) value: String,
    /// What a credential that stays is known by.
    pub(super) hint: String,
    pub(super) optional: bool,
    pub(super) secret: bool,
    /// Whether it has several lines.
    pub(super) long: bool,
    pub(super) one_of: Vec<(String, bool)>,
}

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Typed {
    values: BTreeMap<String, String>,
}

impl Typed {
    pub(super) fn read(body: &[u8]) -> Self {
        Self { values: form_urlencoded::parse(body).into_owned().collect() }
    }

    /// The form as it is set.
    pub(super) fn of(set: Option<&Reconciliation>) -> Self {
        let mut values = BTreeMap::new();
        let Some(set) = set else {
            values.insert("enabled".to_owned(), "yes".to_owned());
            return Self { values };
        };
        if set.enabled {
            values.insert("enabled".to_owned(), "yes".to_owned());
        }
        values.insert("base_url".to_owned(), set.base_url.clone().unwrap_or_default());
        values.insert("interval_seconds".to_owned(), set.interval_seconds.to_string());
        for (name, value) in &set.options {
            let text = match value {
                Value::String(text) => text.clone(),
                other => serde_json::to_string_pretty(other).unwrap_or_default(),
            };
            values.insert(format!("option-{name}"), text);
        }
        Self { values }
    }

    fn get(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    pub(super) fn enabled(&self) -> bool {
        self.get("enabled") == "yes"
    }

    pub(super) fn base_url(&self) -> &str {
        self.get("base_url")
    }

    pub(super) fn recipe(&self) -> &str {
        self.get("option-recipe")
    }

    /// The intervals that can be chosen, one of them marked; one of the API's that is none of ours stays.
    pub(super) fn intervals(&self) -> Vec<(String, String, bool)> {
        let chosen =
            if self.get("interval_seconds").is_empty() { "3600" } else { self.get("interval_seconds") };
        let mut all: Vec<(String, String, bool)> = INTERVALS
            .iter()
            .map(|(value, label)| ((*value).to_owned(), (*label).to_owned(), *value == chosen))
            .collect();
        if !all.iter().any(|one| one.2) {
            all.push((chosen.to_owned(), format!("every {chosen} seconds"), true));
        }
        all
    }

    /// The fields of the recipe with what was typed; a credential is never shown again.
    pub(super) fn fields(&self, offer: &ReconciliationOffer) -> Vec<FormField> {
        let hints = offer.set.as_ref().map(|set| set.credentials.clone()).unwrap_or_default();
        let credential = |field: &Field| FormField {
            value: String::new(),
            hint: hints.get(&field.name).cloned().unwrap_or_default(),
            long: field.name.contains("private"),
            secret: true,
            ..form_field("credential", field)
        };
        let option = |field: &Field| {
            let mut shown = form_field("option", field);
            let typed = self.get(&shown.id).to_owned();
            shown.value = if typed.is_empty() { field.default.clone().unwrap_or_default() } else { typed };
            shown.one_of = field.one_of.iter().map(|one| (one.clone(), *one == shown.value)).collect();
            shown
        };
        offer.credentials.iter().map(credential).chain(offer.options.iter().map(option)).collect()
    }

    /// What is asked to be set; the fault is a recipe that is no JSON.
    pub(super) fn asked(&self, overlap_seconds: Option<u32>) -> Result<ReconciliationAsked, String> {
        let mut options = Map::new();
        let mut credentials = BTreeMap::new();
        for (name, value) in &self.values {
            let value = value.trim();
            if value.is_empty() {
                continue;
            }
            if name == "option-recipe" {
                let words =
                    serde_json::from_str(value).map_err(|error| format!("This is no JSON: {error}."))?;
                options.insert("recipe".to_owned(), words);
            } else if let Some(option) = name.strip_prefix("option-") {
                options.insert(option.to_owned(), Value::String(value.to_owned()));
            } else if let Some(credential) = name.strip_prefix("credential-") {
                credentials.insert(credential.to_owned(), Secret::new(value.to_owned()));
            }
        }
        let base_url = self.base_url().trim();
        Ok(ReconciliationAsked {
            enabled: Some(self.enabled()),
            credentials,
            base_url: (!base_url.is_empty()).then(|| base_url.to_owned()),
            interval_seconds: self.get("interval_seconds").parse().ok(),
            overlap_seconds,
            options,
        })
    }
}

fn form_field(kind: &str, field: &Field) -> FormField {
    FormField {
        id: format!("{kind}-{}", field.name),
        title: sentence_case(&field.title),
        help: field.help.clone(),
        value: String::new(),
        hint: String::new(),
        optional: field.optional,
        secret: false,
        long: false,
        one_of: Vec::new(),
    }
}

fn sentence_case(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// The faults of a refusal at the fields of the form.
pub(super) fn faults(problem: &Problem) -> Faults {
    Faults::of(problem, |pointer| {
        let mut steps = pointer.strip_prefix('/')?.split('/');
        match (steps.next()?, steps.next()) {
            ("options", Some(name)) => Some(format!("option-{name}")),
            ("credentials", Some(name)) => Some(format!("credential-{name}")),
            (name @ ("base_url" | "interval_seconds"), _) => Some(name.to_owned()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_becomes_what_is_asked() {
        let typed = Typed::read(
            b"enabled=yes&credential-api_key=+rk_1+&option-account=acct_1&option-types=&interval_seconds=900",
        );
        let asked = typed.asked(Some(60)).unwrap();
        assert_eq!(asked.credentials["api_key"].expose(), "rk_1");
        assert_eq!(asked.options.len(), 1);
        assert_eq!((asked.enabled, asked.interval_seconds, asked.base_url), (Some(true), Some(900), None));
        assert!(Typed::read(b"option-recipe=%7B").asked(None).is_err());
        assert_eq!(Typed::read(b"").asked(None).unwrap().enabled, Some(false));
        assert!(Typed::read(b"interval_seconds=77").intervals().iter().any(|one| one.0 == "77" && one.2));
    }
}
