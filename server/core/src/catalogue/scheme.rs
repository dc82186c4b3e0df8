//! A provider together with an endpoint's options, checked and compiled once. Every request of the
//! endpoint runs through it, so whatever can be decided beforehand is decided here.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::entry::ReplyBody;
use super::event_rule::{EventRule, ScopeRule};
use super::key::Key;
use super::options::Settings;
use super::provider::Provider;
use super::secret_rule::SecretRule;
use super::source::{Condition, Source};
use super::template::Part;
use super::verify_rule::{Algorithm, HandshakeRule, TimestampPlace, VerifyRule};
use super::{CheckedSecret, DedupScope, ReplyTable, SuccessBody, custom, options, removal, secret};
use crate::identity::{Events, Plan, Read, Test, repaired};
use crate::problem::FieldError;

/// A provider together with an endpoint's options, checked and compiled once.
pub struct Scheme {
    pub(crate) provider: &'static Provider,
    decoder: String,
    methods: Vec<String>,
    reply: ReplyTable,
    credential_headers: Vec<String>,
    pub(crate) secret: SecretRule,
    pub(crate) checks: Vec<Check>,
    pub(crate) events: Vec<Events>,
    pub(crate) event_rules: Vec<EventRule>,
    pub(crate) handshakes: Vec<Handshake>,
    pub(crate) settings: Settings,
    algorithms: Vec<Algorithm>,
    default_scope: DedupScope,
}

/// A rule of verification, compiled.
pub(crate) struct Check {
    pub(crate) rule: VerifyRule,
    pub(crate) when: Vec<Test>,
    /// Every header that the rule names, in lower case.
    pub(crate) headers: Vec<String>,
    /// The plan that finds a signed time in the document.
    pub(crate) time_in_json: Option<(Plan, Read)>,
}

/// A handshake, compiled. The conditions of a signed one stand with the event rules.
pub(crate) struct Handshake {
    pub(crate) rule: HandshakeRule,
    pub(crate) when: Vec<Test>,
    pub(crate) echo: Read,
}

impl Scheme {
    /// Checks an endpoint's options and prepares everything that requests need. Secret options are passed opened.
    ///
    /// # Errors
    /// Every fault, with a pointer relative to `options`.
    pub fn compile(
        provider: &'static Provider,
        options: &Map<String, Value>,
    ) -> Result<Self, Vec<FieldError>> {
        let (settings, mut errors) = options::read(provider, options);
        let entry = &provider.entry;
        let described = entry.described_by.as_ref().map(|name| {
            let at = format!("/{}", options::escape(name));
            (custom::read(options.get(name), &at), options.get(name))
        });
        let (methods, secret, verify, events, decoder) = match described {
            None => {
                let decoder = format!("{}/{}", provider.slug, provider.revision);
                (
                    provider.methods.clone(),
                    entry.secret.clone(),
                    entry.verify.clone(),
                    entry.events.clone(),
                    decoder,
                )
            }
            Some((Err(mut faults), _)) => {
                errors.append(&mut faults);
                return Err(errors);
            }
            Some((Ok(described), value)) => {
                let text = value.map(Value::to_string).unwrap_or_default();
                let hash = hex::encode(Sha256::digest(text));
                let decoder = format!("{}/{}", provider.slug, hash.get(..12).unwrap_or_default());
                (described.methods, described.secret, vec![described.verify], vec![described.event], decoder)
            }
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut credential_headers = Vec::new();
        let mut algorithms = Vec::new();
        for rule in &verify {
            for signature in &rule.signatures {
                if signature.algorithm.is_credential() && !credential_headers.contains(&rule.header) {
                    credential_headers.push(rule.header.clone());
                }
                if !algorithms.contains(&signature.algorithm) {
                    algorithms.push(signature.algorithm);
                }
            }
        }
        let default_scope = match events.iter().flat_map(|rule| &rule.items).next().map(|item| &item.scope) {
            Some(ScopeRule::Usual(scope)) => *scope,
            Some(ScopeRule::Values(_)) => DedupScope::Account,
            None => DedupScope::Endpoint,
        };
        Ok(Self {
            provider,
            decoder,
            methods,
            reply: reply_table(provider),
            credential_headers,
            secret,
            checks: verify.into_iter().map(Check::compile).collect(),
            events: events.iter().map(|rule| Events::compile(rule, &entry.handshakes)).collect(),
            event_rules: events,
            handshakes: entry.handshakes.iter().map(Handshake::compile).collect(),
            settings,
            algorithms,
            default_scope,
        })
    }

    /// What a JSON merge into an endpoint's options may not remove, since no option has that name. The
    /// rest of a patch is judged by what the merge makes.
    ///
    /// # Errors
    /// Every fault, with a pointer relative to `options`.
    pub fn check_removals(provider: &Provider, patch: &Map<String, Value>) -> Result<(), Vec<FieldError>> {
        let errors = removal::check(provider, patch);
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The options that are secrets: sealed when stored, never returned.
    pub fn secret_options(provider: &Provider) -> &[String] {
        &provider.secret_options
    }

    /// Whether a text can be this endpoint's secret.
    ///
    /// # Errors
    /// A sentence that says what it should look like.
    pub fn check_secret(&self, text: &str) -> Result<CheckedSecret, String> {
        secret::check(&self.secret, text)
    }

    /// The key that a secret stands for.
    ///
    /// # Errors
    /// A sentence, where the secret can't be made into a key.
    pub fn key(&self, secret: &str) -> Result<Key, String> {
        secret::key(&self.secret, secret, &self.algorithms)
    }

    /// The slug of the provider.
    pub fn provider(&self) -> &'static Provider {
        self.provider
    }

    /// Which revision of which rules reads the requests: `stripe/3`, `custom/1f09ab34c2d1`. Kept on each receipt.
    pub fn decoder(&self) -> String {
        self.decoder.clone()
    }

    /// The methods that deliver, for `Allow`.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// The largest body that the provider documents, in bytes.
    pub fn body_bytes_max(&self) -> Option<u64> {
        self.provider.body_bytes_max
    }

    /// How this provider wants to be answered.
    pub fn reply(&self) -> &ReplyTable {
        &self.reply
    }

    /// Headers whose value is itself the credential, in lower case: kept and handed out as `[removed]`.
    pub fn credential_headers(&self) -> &[String] {
        &self.credential_headers
    }

    /// The event key of a receipt that waited for repair, from the id and type that a person read.
    pub fn repaired_key(&self, event_id: &str, event_type: Option<&str>) -> String {
        repaired(&self.events, event_id, event_type)
    }

    /// What the catalogue knows of the provider's ids.
    pub fn default_dedup_scope(&self) -> DedupScope {
        self.default_scope
    }
}

impl Check {
    fn compile(rule: VerifyRule) -> Self {
        let mut headers = vec![rule.header.clone()];
        let mut note = |name: &String| {
            if !headers.contains(name) {
                headers.push(name.clone());
            }
        };
        for part in &rule.signed.0 {
            if let Part::Header(name) = part {
                note(name);
            }
        }
        if let Some(TimestampPlace::Header(name)) = rule.timestamp.0.as_ref().map(|time| &time.place) {
            note(name);
        }
        if let Some(named) = &rule.algorithm_named_by {
            note(&named.header);
        }
        let time_in_json = match rule.timestamp.0.as_ref().map(|time| &time.place) {
            Some(TimestampPlace::Json(pointer)) => {
                let mut plan = Plan::new();
                let read = Read::compile(&Source::Json(pointer.clone()), &mut plan, None, true);
                Some((plan.finish(), read))
            }
            _ => None,
        };
        let when = tests(&rule.when);
        Self { rule, when, headers, time_in_json }
    }
}

impl Handshake {
    fn compile(rule: &HandshakeRule) -> Self {
        let mut plan = Plan::new();
        Self {
            when: if rule.signed { Vec::new() } else { tests(&rule.when) },
            echo: Read::compile(&rule.reply.echo, &mut plan, None, false),
            rule: rule.clone(),
        }
    }
}

/// Conditions that look at headers and the query alone, so that they need no plan.
fn tests(conditions: &[Condition]) -> Vec<Test> {
    let mut plan = Plan::new();
    conditions.iter().map(|condition| Test::compile(condition, &mut plan)).collect()
}

fn reply_table(provider: &Provider) -> ReplyTable {
    let reply = &provider.entry.reply;
    ReplyTable {
        success_status: reply.status,
        success_body: match &reply.body {
            ReplyBody::Receipt => SuccessBody::Receipt,
            ReplyBody::Empty => SuccessBody::Fixed { content_type: None, body: String::new() },
            ReplyBody::Text(content_type, body) => {
                SuccessBody::Fixed { content_type: Some(content_type.clone()), body: body.clone() }
            }
        },
        signature_status: reply.signature_status,
        timestamp_status: reply.timestamp_status,
        deadline_seconds: reply.deadline_seconds.value().copied(),
    }
}
