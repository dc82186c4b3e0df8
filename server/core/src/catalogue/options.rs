//! An endpoint's `options`: the two that every provider takes, and those that its entry names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use super::entry::{OptionKind, OptionRule};
use super::provider::Provider;
use crate::limits::TOLERANCE_SECONDS_MAX;
use crate::problem::FieldError;
use crate::secret::Secret;

/// The options of an endpoint, checked.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The URL as it was registered with the sender.
    pub(crate) public_url: Option<String>,
    /// How far a signed time may be off.
    pub(crate) tolerance_seconds: Option<u64>,
    /// Options that are texts, by name.
    pub(crate) texts: BTreeMap<String, Secret<String>>,
    /// Options that are lists, by name.
    pub(crate) lists: BTreeMap<String, Vec<String>>,
}

/// Reads the options of an endpoint. The one that describes a sender is left to `custom`.
pub(super) fn read(provider: &Provider, options: &Map<String, Value>) -> (Settings, Vec<FieldError>) {
    let (mut settings, mut errors) = (Settings::default(), Vec::new());
    let known = known_names(provider);
    for (name, value) in options {
        let fault = match name.as_str() {
            other if !known.contains(&other) => Err(unknown(provider, other)),
            // `null` is an option that is left out, if it is one.
            _ if value.is_null() => Ok(()),
            "public_url" => public_url(value).map(|url| settings.public_url = Some(url)),
            "tolerance_seconds" => tolerance(value).map(|seconds| settings.tolerance_seconds = Some(seconds)),
            other => match provider.entry.options.iter().find(|rule| rule.name == other) {
                Some(rule) => named(rule, value, &mut settings),
                None => Ok(()),
            },
        };
        if let Err(detail) = fault {
            errors.push(FieldError { pointer: format!("/{}", escape(name)), detail });
        }
    }
    (settings, errors)
}

/// A name as a step of a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The options that an endpoint of a provider can have.
pub(super) fn known_names(provider: &Provider) -> Vec<&str> {
    let named = provider.entry.options.iter().map(|rule| rule.name.as_str());
    ["public_url", "tolerance_seconds"].into_iter().chain(named).collect()
}

/// The sentence about an option that isn't one of them.
pub(super) fn unknown(provider: &Provider, name: &str) -> String {
    let known = known_names(provider).join(", ");
    format!("There is no option “{name}” for {}. It takes {known}.", provider.title)
}

fn named(rule: &OptionRule, value: &Value, settings: &mut Settings) -> Result<(), String> {
    let possible = |text: &str| {
        if rule.one_of.is_empty() || rule.one_of.iter().any(|known| known == text) {
            Ok(())
        } else {
            Err(format!("“{text}” is none of {}.", rule.one_of.join(", ")))
        }
    };
    match rule.kind {
        OptionKind::Sender => {}
        OptionKind::Text => {
            let text = value.as_str().ok_or("This is a text.")?;
            if text.trim().is_empty() {
                return Err("This is empty. Leave the option out instead.".into());
            }
            if text.len() > crate::limits::SECRET_BYTES_MAX {
                return Err("This is too long.".into());
            }
            possible(text)?;
            settings.texts.insert(rule.name.clone(), Secret::new(text.to_owned()));
        }
        OptionKind::List => {
            let values = value.as_array().filter(|values| !values.is_empty() && values.len() <= 32);
            let values = values.ok_or("This is a list of texts with at least one.")?;
            let mut list = Vec::new();
            for value in values {
                let text = value.as_str().ok_or("This is a list of texts.")?;
                possible(text)?;
                list.push(text.to_owned());
            }
            settings.lists.insert(rule.name.clone(), list);
        }
    }
    Ok(())
}

fn public_url(value: &Value) -> Result<String, String> {
    let like = "such as https://hooks.example.com/in/abc.";
    let text = value
        .as_str()
        .ok_or_else(|| format!("This is the URL that you registered with the sender, {like}"))?;
    if text.len() > 2_048 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("A URL has at most 2,048 visible ASCII characters, {like}"));
    }
    if text.contains('#') {
        return Err("Leave out the # and what stands behind it: it is never sent.".into());
    }
    let web = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    // The text is what counts, since the sender signed it; parsing only says that it can be one.
    web.map(|_| text.to_owned()).ok_or_else(|| format!("This is an http or https URL, {like}"))
}

/// A tolerance in whole seconds.
pub(super) fn tolerance(value: &Value) -> Result<u64, String> {
    value.as_u64().filter(|seconds| (1..=TOLERANCE_SECONDS_MAX).contains(seconds)).ok_or_else(|| {
        format!("This is a whole number of seconds from 1 to {TOLERANCE_SECONDS_MAX} (31 days).")
    })
}
