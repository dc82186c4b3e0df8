//! Event rules, compiled once for an endpoint: each with the plan that one pass over the document follows.

use super::key::{bounded, join};
use super::plan::Plan;
use super::reader::{Read, Test};
use super::text::Text;
use crate::catalogue::{
    DedupScope, EventRule, HandshakeRule, ItemRule, KeyName, KeyPart, OrNone, ScopeRule, Source, TimeUnit,
};

/// A rule that says which events are in a request.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    pub(crate) family: Option<usize>,
    pub(crate) when: Vec<Test>,
    pub(crate) document_in_form: Option<String>,
    pub(crate) plan: Plan,
    /// In the order of the plan's rules.
    pub(crate) items: Vec<Item>,
    /// Handshakes that come signed; they are looked for in the same pass.
    pub(crate) greetings: Vec<Greeting>,
    /// The headers that the rule names, in lower case.
    pub(crate) headers: Vec<String>,
    /// Whether form fields, and whether parameters of the query, are looked at.
    pub(crate) reads_form: bool,
    pub(crate) reads_query: bool,
}

/// How an event is read.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) id: Option<Read>,
    pub(crate) event_type: Option<Read>,
    pub(crate) account: Option<Read>,
    pub(crate) api_version: Option<Read>,
    pub(crate) occurred_at: Vec<(Read, TimeUnit)>,
    /// Where it says so, the value for live, the value for test.
    pub(crate) livemode: Option<(Read, String, String)>,
    /// `None`: each delivery is an event of its own.
    pub(crate) unique_by: Option<Vec<Part>>,
    pub(crate) scope: Scope,
}

/// A part of the event key.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Id,
    Type,
    Account,
    OccurredAt,
    Read(Read),
}

/// Within what the key is unique.
#[derive(Debug, Clone)]
pub(crate) enum Scope {
    Usual(DedupScope),
    Values(Vec<Read>),
}

/// A handshake that is looked for in the document.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) method: String,
    pub(crate) when: Vec<Test>,
    pub(crate) echo: Read,
    /// The handshake's number in the scheme.
    pub(crate) number: usize,
}

impl Events {
    /// `handshakes` are the scheme's, of which the signed ones are taken.
    pub(crate) fn compile(rule: &EventRule, handshakes: &[HandshakeRule]) -> Self {
        let mut plan = Plan::new();
        let items = rule.items.iter().map(|item| compile_item(item, &mut plan)).collect();
        let when = rule.when.iter().map(|condition| Test::compile(condition, &mut plan)).collect();
        let mut greetings = Vec::new();
        if rule.document_in_form.is_none() {
            for (number, handshake) in handshakes.iter().enumerate().filter(|(_, handshake)| handshake.signed)
            {
                greetings.push(Greeting {
                    method: handshake.method.clone(),
                    when: handshake
                        .when
                        .iter()
                        .map(|condition| Test::compile(condition, &mut plan))
                        .collect(),
                    echo: Read::compile(&handshake.reply.echo, &mut plan, None, false),
                    number,
                });
            }
        }
        Self {
            family: rule.family,
            when,
            document_in_form: rule.document_in_form.clone(),
            plan: plan.finish(),
            items,
            greetings,
            headers: headers(rule),
            reads_form: rule.document_in_form.is_some()
                || any(rule, handshakes, |source| matches!(source, Source::Form(_))),
            reads_query: any(rule, handshakes, |source| matches!(source, Source::Query(_))),
        }
    }
}

fn compile_item(rule: &ItemRule, plan: &mut Plan) -> Item {
    let number = plan.rule(rule.each.as_ref(), rule.unless_inside);
    let names = |name| match &rule.unique_by.0 {
        Some(parts) => parts.contains(&KeyPart::Named(name)),
        None => false,
    };
    let mut read = |source: &OrNone<Source>, identity: bool| {
        source.0.as_ref().map(|source| Read::compile(source, plan, Some(number), identity))
    };
    let id = read(&rule.id, true);
    let event_type = read(&rule.event_type, names(KeyName::Type));
    let account = read(&rule.account, true);
    let api_version = read(&rule.api_version, false);
    let times = rule.occurred_at.0.iter().flatten();
    let occurred_at = times
        .map(|time| (Read::compile(&time.at, plan, Some(number), names(KeyName::OccurredAt)), time.unit))
        .collect();
    let livemode = rule.livemode.0.as_ref().map(|mode| {
        (Read::compile(&mode.at, plan, Some(number), false), mode.live.clone(), mode.test.clone())
    });
    let unique_by = rule.unique_by.0.as_ref().map(|parts| {
        let part = |part: &KeyPart| match part {
            KeyPart::Named(KeyName::Id) => Part::Id,
            KeyPart::Named(KeyName::Type) => Part::Type,
            KeyPart::Named(KeyName::Account) => Part::Account,
            KeyPart::Named(KeyName::OccurredAt) => Part::OccurredAt,
            KeyPart::Source(source) => Part::Read(Read::compile(source, plan, Some(number), true)),
        };
        parts.iter().map(part).collect()
    });
    let scope = match &rule.scope {
        ScopeRule::Usual(scope) => Scope::Usual(*scope),
        ScopeRule::Values(sources) => Scope::Values(
            sources.iter().map(|source| Read::compile(source, plan, Some(number), true)).collect(),
        ),
    };
    Item { id, event_type, account, api_version, occurred_at, livemode, unique_by, scope }
}

fn any(rule: &EventRule, handshakes: &[HandshakeRule], fits: impl Fn(&Source) -> bool + Copy) -> bool {
    let signed = handshakes.iter().filter(|handshake| handshake.signed);
    let conditions = rule.when.iter().chain(signed.flat_map(|handshake| &handshake.when));
    conditions
        .map(|condition| &condition.source)
        .chain(rule.items.iter().flat_map(ItemRule::sources))
        .any(|source| source.any(fits))
}

/// The key of an event whose id a person has read and told, as its rule would have made it.
pub(crate) fn repaired(rules: &[Events], id: &str, event_type: Option<&str>) -> String {
    let named = |item: &&Item| item.unique_by.iter().flatten().any(|part| matches!(part, Part::Id));
    let parts =
        rules.iter().flat_map(|rule| &rule.items).find(named).and_then(|item| item.unique_by.as_ref());
    let (id, event_type) = (Text::new(id), event_type.filter(|text| !text.is_empty()).map(Text::new));
    let values: Vec<Option<&Text<'_>>> = match parts {
        None => vec![Some(&id)],
        Some(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Id => Some(&id),
                Part::Type => event_type.as_ref(),
                Part::Account | Part::OccurredAt | Part::Read(_) => None,
            })
            .collect(),
    };
    bounded(&join(values.into_iter()))
}

/// Every header that a rule names: none of them may stand twice with different values.
fn headers(rule: &EventRule) -> Vec<String> {
    let mut names = Vec::new();
    let mut note = |source: &Source| {
        source.walk(&mut |source| {
            if let Source::Header(name) = source
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        });
    };
    for condition in &rule.when {
        note(&condition.source);
    }
    for item in &rule.items {
        item.sources().for_each(&mut note);
    }
    names
}
