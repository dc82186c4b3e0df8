//! The form of an endpoint: its name, its secret, the options that its provider takes, its limits. What was
//! typed stays as it was typed until all of it is right; secrets are never sent back to the browser.

use restante_core::catalogue::{DedupScope, Provider};
use restante_core::problem::Problem;
use restante_core::secret::Secret;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::sender::Sender;
use crate::parts::form::Faults;
use crate::tenant::choices::Choice;

/// What is typed before a name of an option.
const OPTION: &str = "option.";

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    pub(crate) name: String,
    pub(super) secret: Option<Secret<String>>,
    /// Options by their names, as texts.
    pub(crate) options: Map<String, Value>,
    pub(crate) dedup_scope: String,
    pub(crate) max_body_bytes: String,
    /// How a sender is described, for the provider `custom`.
    pub(crate) sender: Sender,
    /// Whether to make a consumer, and its name.
    pub(crate) with_consumer: bool,
    pub(crate) consumer: String,
    /// The request that a description is tried on.
    pub(crate) try_headers: String,
    pub(crate) try_body: String,
    /// When it came; empty is now.
    pub(crate) try_at: String,
    /// Which button was pressed.
    pub(crate) action: String,
    /// The typed name, to confirm.
    pub(crate) retire: String,
}

impl Typed {
    /// Reads a form.
    pub(crate) fn read(body: &[u8]) -> Self {
        let mut typed = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            let value = value.into_owned();
            match &*name {
                "name" => typed.name = value,
                "secret" => typed.secret = Some(Secret::new(value)),
                "dedup_scope" => typed.dedup_scope = value,
                "max_body_bytes" => typed.max_body_bytes = value,
                "with_consumer" => typed.with_consumer = true,
                "consumer" => typed.consumer = value,
                "try_headers" => typed.try_headers = value,
                "try_body" => typed.try_body = value,
                "try_at" => typed.try_at = value,
                "action" => typed.action = value,
                "retire" => typed.retire = value,
                other => match other.strip_prefix(OPTION) {
                    Some(option) => {
                        typed.options.insert(option.to_owned(), Value::String(value));
                    }
                    None => typed.sender.set(other, value),
                },
            }
        }
        typed
    }

    /// The secret; `None` when nothing was pasted.
    pub(crate) fn secret(&self) -> Option<Secret<String>> {
        self.secret.clone().filter(|secret| !secret.expose().trim().is_empty())
    }

    /// The text of an option.
    fn option(&self, name: &str) -> &str {
        self.options.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The options as the verbs take them. An empty field is no option; with `null_for_empty` it takes
    /// the option away, except for a secret one, which stays as it is.
    pub(crate) fn options(&self, provider: &Provider, null_for_empty: bool) -> Map<String, Value> {
        let mut options = Map::new();
        for rule in rules(provider) {
            let text = self.option(&rule.name).trim();
            let value = match (text.is_empty(), rule.list) {
                (true, _) if null_for_empty && !rule.secret => Value::Null,
                (true, _) => continue,
                (false, true) => {
                    let parts = text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
                    parts.map(Value::from).collect()
                }
                (false, false) if rule.name == "tolerance_seconds" => {
                    text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from)
                }
                (false, false) => Value::from(text),
            };
            options.insert(rule.name, value);
        }
        if provider.slug == "custom" {
            options.insert("verify".to_owned(), self.sender.verify());
        }
        options
    }

    /// The scope; empty is what the catalogue knows.
    pub(crate) fn dedup_scope(&self) -> Result<Option<DedupScope>, &'static str> {
        match self.dedup_scope.as_str() {
            "" => Ok(None),
            word => serde_json::from_value(Value::from(word))
                .map(Some)
                .map_err(|_| "This is no scope. Choose one of the list."),
        }
    }

    /// The limit in bytes; empty is what the provider documents.
    pub(crate) fn max_body_bytes(&self) -> Result<Option<u64>, &'static str> {
        match self.max_body_bytes.trim() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| "This is a whole number of bytes."),
        }
    }

    /// What can't be read at all.
    pub(crate) fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        if let Err(fault) = self.dedup_scope() {
            faults.add("dedup_scope", fault);
        }
        if let Err(fault) = self.max_body_bytes() {
            faults.add("max_body_bytes", fault);
        }
        if let Err(fault) = self.sender.readable() {
            faults.add("v_json", fault);
        }
        if self.action == "try"
            && let Err(fault) = super::try_out::came_at(self)
        {
            faults.add("try_at", fault);
        }
        faults
    }
}

/// The faults of a verb at the fields of the form.
pub(crate) fn faults(problem: &Problem) -> Faults {
    Faults::of(problem, |pointer| {
        let mut steps = pointer.split('/').skip(1);
        match (steps.next()?, steps.next()) {
            ("secrets" | "secret", _) => Some("secret".to_owned()),
            ("options", Some("verify")) => Some(super::sender::field(&steps.collect::<Vec<_>>())),
            ("options", Some(option)) => Some(format!("{OPTION}{option}")),
            (field @ ("name" | "dedup_scope" | "max_body_bytes"), _) => Some(field.to_owned()),
            _ => None,
        }
    })
}

/// An option as the catalogue describes it.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) name: String,
    title: String,
    help: String,
    list: bool,
    one_of: Vec<String>,
    secret: bool,
}

impl Rule {
    /// The name and the title.
    pub(crate) fn named(self) -> (String, String) {
        (self.name, self.title)
    }
}

/// The options of a provider that are typed into a field: its own, and the two that every one takes.
pub(crate) fn rules(provider: &Provider) -> Vec<Rule> {
    let summary = provider.summary();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let own = summary["options"].as_array().into_iter().flatten().filter(|rule| rule["kind"] != "sender");
    let mut rules: Vec<Rule> = own
        .map(|rule| Rule {
            name: text(&rule["name"]),
            title: text(&rule["title"]),
            help: text(&rule["help"]),
            list: rule["kind"] == "list",
            one_of: rule["one_of"].as_array().into_iter().flatten().map(text).collect(),
            secret: rule["secret"] == true,
        })
        .collect();
    let more = |name: &str, title: &str, help: &str| Rule {
        name: name.to_owned(),
        title: title.to_owned(),
        help: help.to_owned(),
        list: false,
        one_of: Vec::new(),
        secret: false,
    };
    rules.push(more(
        "public_url",
        "URL as it is registered with the sender",
        "Only where the sender signs its URL and calls another one than the endpoint’s, for instance a proxy’s.",
    ));
    rules.push(more(
        "tolerance_seconds",
        "Tolerance of signed times, in seconds",
        "How far a signed time may be off, both ways. Empty: what the provider documents.",
    ));
    rules
}

/// An option as a field of the form.
#[derive(Debug, Clone)]
pub(crate) struct OptionField {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) help: String,
    pub(crate) value: String,
    pub(crate) one_of: Vec<Choice>,
    /// The end of the secret that is there.
    pub(crate) hint: String,
    pub(crate) secret: bool,
}

/// The options of a provider as fields: those that most people need, and the rest.
pub(crate) fn option_fields(
    provider: &Provider,
    typed: &Typed,
    hints: &Map<String, Value>,
) -> (Vec<OptionField>, Vec<OptionField>) {
    let fields = rules(provider).into_iter().map(|rule| {
        let value = typed.option(&rule.name);
        let hint = hints.get(&rule.name).and_then(|hint| hint["hint"].as_str()).unwrap_or_default();
        OptionField {
            id: format!("{OPTION}{}", rule.name),
            help: if rule.list { format!("{} Several with commas between.", rule.help) } else { rule.help },
            one_of: if rule.list {
                Vec::new()
            } else {
                rule.one_of.iter().map(|word| Choice::plain(word, value)).collect()
            },
            // A secret is never sent back.
            value: if rule.secret { String::new() } else { value.to_owned() },
            hint: hint.to_owned(),
            title: rule.title,
            secret: rule.secret,
        }
    });
    let general = ["option.public_url", "option.tolerance_seconds"];
    fields.partition(|field| !general.contains(&field.id.as_str()))
}

/// The scopes within which an event's id counts as the same.
pub(crate) fn scopes(present: &str) -> Vec<Choice> {
    vec![
        Choice::labelled("", "what the provider’s ids ask for", present),
        Choice::labelled("provider", "everywhere at the provider", present),
        Choice::labelled("account", "within the account at the provider", present),
        Choice::labelled("endpoint", "within this endpoint", present),
    ]
}

#[cfg(test)]
mod tests {
    use restante_core::catalogue::Catalogue;
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_read_by_their_kinds_and_empty_ones_are_none() {
        let twilio = Catalogue::builtin().get("twilio").unwrap();
        let typed = Typed::read(
            b"name=A&option.allowed_algorithms=HMAC_SHA256%2C%20HMAC_SHA1&option.public_url=+&option.tolerance_seconds=60&option.elsewhere=x",
        );
        let options = typed.options(twilio, false);
        assert_eq!(options["allowed_algorithms"], json!(["HMAC_SHA256", "HMAC_SHA1"]));
        assert_eq!(options["tolerance_seconds"], json!(60));
        assert!(!options.contains_key("public_url") && !options.contains_key("elsewhere"));
        assert_eq!(typed.options(twilio, true)["public_url"], Value::Null);
    }

    #[test]
    fn a_secret_option_that_is_left_empty_stays_and_is_never_sent_back() {
        let whatsapp = Catalogue::builtin().get("whatsapp").unwrap();
        let empty = Typed::read(b"option.verify_token=");
        assert!(!empty.options(whatsapp, true).contains_key("verify_token"));
        let typed = Typed::read(b"option.verify_token=canary-token");
        let hints = json!({ "verify_token": { "hint": "…oken" } });
        let (fields, _) = option_fields(whatsapp, &typed, hints.as_object().unwrap());
        assert_eq!((fields[0].value.as_str(), fields[0].hint.as_str()), ("", "…oken"));
    }

    #[test]
    fn faults_stand_at_their_fields() {
        let problem = Problem::fields(
            ["/name", "/secrets/0", "/options/verify/header", "/options/public_url", "/enabled"]
                .map(|pointer| restante_core::problem::FieldError {
                    pointer: pointer.to_owned(),
                    detail: "Wrong.".to_owned(),
                })
                .into(),
        );
        let faults = faults(&problem);
        for field in ["name", "secret", "v_header", "option.public_url"] {
            assert!(faults.get(field).is_some(), "{field}");
        }
        assert!(faults.whole().is_some());
        let typed = Typed::read(b"dedup_scope=world&max_body_bytes=many");
        assert_eq!(typed.faults().fields().len(), 2);
    }
}
