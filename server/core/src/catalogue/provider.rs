//! One provider: its folder in `server/core/providers/`, parsed and ready to be asked.

use serde_json::{Value, json};

use super::entry::{Entry, Possible, Stated};
use crate::reconcile::Recipe;
use crate::verify::Weak;

/// The files of an entry, as the build script embeds them.
pub(super) struct Files {
    pub(super) slug: &'static str,
    pub(super) provider: &'static str,
    pub(super) setup: &'static str,
    /// Name and content of each file in `samples/`.
    pub(super) samples: &'static [(&'static str, &'static [u8])],
}

/// One entry of the catalogue.
pub struct Provider {
    /// Its name in the API.
    pub slug: String,
    /// Its name for people.
    pub title: String,
    /// What a person clicks at the provider and pastes here: Markdown in plain sentences.
    pub setup: &'static str,
    /// Raised whenever the entry reads a request differently.
    pub revision: u32,
    /// The methods that deliver.
    pub methods: Vec<String>,
    /// The largest body that the provider documents, in bytes.
    pub body_bytes_max: Option<u64>,
    /// How long the provider itself may send an event again, in seconds; 0 where it doesn't or nobody says.
    pub retry_seconds: u64,
    /// How long a person may have the provider send it again, in seconds; 0 likewise.
    pub redelivery_seconds: u64,
    /// Where the two figures come from, in a sentence.
    pub windows_source: String,
    /// What a person should know: unsure facts, weaknesses, limits.
    pub notes: Vec<String>,
    /// The options that are secrets: sealed when stored, never returned.
    pub secret_options: Vec<String>,
    pub(crate) entry: Entry,
    pub(crate) samples: &'static [(&'static str, &'static [u8])],
}

impl Provider {
    /// Reads an entry.
    pub(super) fn load(files: &Files) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", files.slug);
        let mut table: toml::Table =
            files.provider.parse().map_err(|error: toml::de::Error| wrong(&error))?;
        let families = families(table.remove("families")).map_err(|error| wrong(&error))?;
        let verify = expand(&mut table, "verify", &families);
        let event = expand(&mut table, "event", &families);
        let mut entry: Entry = table.try_into().map_err(|error: toml::de::Error| wrong(&error))?;
        for (rule, family) in entry.verify.iter_mut().zip(verify) {
            rule.family = family;
        }
        for (rule, family) in entry.events.iter_mut().zip(event) {
            rule.family = family;
        }
        Ok(Self {
            slug: files.slug.into(),
            title: entry.title.clone(),
            setup: files.setup,
            revision: entry.revision,
            methods: entry.methods.clone(),
            body_bytes_max: entry.body_bytes_max.value().copied(),
            retry_seconds: entry.windows.retry_seconds.value().copied().unwrap_or(0),
            redelivery_seconds: entry.windows.redelivery_seconds.value().copied().unwrap_or(0),
            windows_source: entry.windows.source.clone(),
            notes: entry.notes.clone(),
            secret_options: entry
                .options
                .iter()
                .filter(|rule| rule.secret)
                .map(|rule| rule.name.clone())
                .collect(),
            samples: files.samples,
            entry,
        })
    }

    /// What the secret is called and looks like at the provider: title and a made-up example.
    pub fn secret_hint(&self) -> (&str, &str) {
        (&self.entry.secret.title, &self.entry.secret.example)
    }

    /// The names of the sample events, the first of which the test-event button sends.
    pub fn sample_names(&self) -> impl Iterator<Item = &str> {
        self.entry.samples.iter().map(|sample| sample.name.as_str())
    }

    /// Whether each of its schemes signs the event's id and a time, so that a captured request is soon worth nothing.
    /// Of a sender that is described by options nothing is known here.
    pub fn signs_id_and_time(&self) -> bool {
        let rules = &self.entry.verify;
        let open = |weak: &Weak| matches!(weak, Weak::Id | Weak::Time);
        !rules.is_empty() && rules.iter().all(|rule| !rule.weak.iter().any(open))
    }

    /// The periods of automatic retries and of redelivery by hand, in seconds; 0 where the provider has none, `None`
    /// where nobody says.
    pub fn windows_known(&self) -> (Option<u64>, Option<u64>) {
        let known = |stated: &Stated<u64>| match stated {
            Stated::Is(seconds) => Some(*seconds),
            Stated::No => Some(0),
            Stated::Unknown => None,
        };
        let windows = &self.entry.windows;
        (known(&windows.retry_seconds), known(&windows.redelivery_seconds))
    }

    /// How the provider is asked what it sent, where the catalogue knows.
    pub const fn recipe(&self) -> Option<&Recipe> {
        self.entry.reconciliation.recipe.as_ref()
    }

    /// Whether a tenant may describe how the sender is asked.
    pub fn takes_recipe(&self) -> bool {
        self.entry.reconciliation.possible == Possible::Described
    }

    /// Whether and how the provider can be asked what it sent, in a sentence.
    pub fn reconciliation_how(&self) -> &str {
        &self.entry.reconciliation.how
    }

    fn reconciliation_summary(&self) -> Value {
        let reconciliation = &self.entry.reconciliation;
        json!({
            "possible": reconciliation.possible != Possible::None,
            "how": reconciliation.how,
            "supported": reconciliation.possible,
            "credentials": self.recipe().map(|recipe| &recipe.credentials),
            "options": self.recipe().map(|recipe| &recipe.options),
            "reaches_seconds": self.recipe().map(|recipe| recipe.reaches_seconds),
            "inserts": self.recipe().is_some_and(|recipe| recipe.compare.is_none()),
        })
    }

    /// The entry as `GET /v1/providers` prints it.
    pub fn summary(&self) -> Value {
        let entry = &self.entry;
        let verify: Vec<Value> = entry
            .verify
            .iter()
            .map(|rule| {
                let algorithms: Vec<&str> =
                    rule.signatures.iter().map(|one| one.algorithm.as_str()).collect();
                let time = rule.timestamp.0.as_ref();
                json!({
                    "header": rule.header,
                    "algorithms": algorithms,
                    "weak": rule.weak,
                    "tolerance_seconds": time.and_then(|time| time.tolerance_seconds.value()),
                })
            })
            .collect();
        let items = entry.events.iter().flat_map(|rule| &rule.items);
        let mut ids: Vec<String> =
            items.filter_map(|item| item.id.0.as_ref().map(super::describe::source)).collect();
        ids.dedup();
        json!({
            "name": self.slug,
            "title": self.title,
            "revision": self.revision,
            "certainty": entry.certainty,
            "notes": entry.notes,
            "docs": entry.docs,
            "setup": self.setup,
            "secret": { "title": entry.secret.title, "example": entry.secret.example },
            "options": entry.options,
            "methods": entry.methods,
            "verification": verify,
            "event_id": ids,
            "batch": entry.events.iter().flat_map(|rule| &rule.items).any(|item| item.each.is_some()),
            "handshakes": entry.handshakes.iter().map(|rule| rule.method.as_str()).collect::<Vec<_>>(),
            "body_bytes_max": entry.body_bytes_max,
            "retry_seconds": entry.windows.retry_seconds,
            "redelivery_seconds": entry.windows.redelivery_seconds,
            "windows_source": entry.windows.source,
            "rotation": entry.rotation,
            "reply": { "status": entry.reply.status, "deadline_seconds": entry.reply.deadline_seconds, "harm": entry.reply.harm },
            "reconciliation": self.reconciliation_summary(),
            "samples": self.sample_names().collect::<Vec<_>>(),
        })
    }
}

/// The prefixes of header names for which an entry's rules stand: `{family}` in a rule is each in turn.
fn families(value: Option<toml::Value>) -> Result<Vec<String>, toml::de::Error> {
    value.map_or_else(|| Ok(Vec::new()), toml::Value::try_into)
}

/// Writes each rule of a list that says `{family}` once for each family, and tells whose it is.
fn expand(table: &mut toml::Table, name: &str, families: &[String]) -> Vec<Option<usize>> {
    let Some(toml::Value::Array(rules)) = table.get_mut(name) else { return Vec::new() };
    let mut expanded = Vec::new();
    for rule in rules.drain(..) {
        let says = mentions(&rule);
        if families.is_empty() || !says {
            expanded.push((rule, None));
            continue;
        }
        for (number, family) in families.iter().enumerate() {
            let mut copy = rule.clone();
            put_in(&mut copy, family);
            expanded.push((copy, Some(number)));
        }
    }
    let (written, owners) = expanded.into_iter().unzip();
    *rules = written;
    owners
}

fn mentions(value: &toml::Value) -> bool {
    match value {
        toml::Value::String(text) => text.contains("{family}"),
        toml::Value::Array(values) => values.iter().any(mentions),
        toml::Value::Table(table) => table.values().any(mentions),
        _ => false,
    }
}

fn put_in(value: &mut toml::Value, family: &str) {
    match value {
        toml::Value::String(text) => *text = text.replace("{family}", family),
        toml::Value::Array(values) => values.iter_mut().for_each(|value| put_in(value, family)),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| put_in(value, family)),
        _ => {}
    }
}
