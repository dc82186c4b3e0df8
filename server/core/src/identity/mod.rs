//! Which events are in a request that has been verified, and what makes each of them the same as another.
//! Nothing here decides whether a request is authentic.

mod coding;
mod fields;
mod json;
mod key;
mod lex;
mod moment;
mod plan;
mod reader;
mod rules;
mod text;

use std::cell::Cell;

pub(crate) use coding::{Decoded, decode};
pub(crate) use fields::Fields;
pub(crate) use json::scan;
pub use key::key_of_event_id;
pub(crate) use key::{bounded, join, shown};
pub(crate) use moment::signed as signed_time;
pub(crate) use plan::Plan;
pub(crate) use reader::{Read, Reader, Test};
pub(crate) use rules::{Events, Greeting, repaired};
pub(crate) use text::Text;

use crate::catalogue::DedupScope;
use crate::request::Request;
use crate::verify::{EventKey, Item, Slice};

/// What identification needs to know beside the rules.
pub(crate) struct Place<'a> {
    pub(crate) endpoint_id: &'a str,
    pub(crate) dedup_scope: Option<DedupScope>,
}

/// What is in a verified request.
pub(crate) enum Identified {
    /// These events; the document, where it is not the body itself; and whether it was a batch.
    Events { items: Vec<Item>, decoded: Option<Vec<u8>>, batch: bool },
    /// A signed handshake, by its number in the scheme, and what it wants echoed.
    Greeting { number: usize, echo: String },
}

/// Reads the events of a request. `inflated` is the body after decoding, where it came compressed.
pub(crate) fn identify(
    rules: &[Events],
    family: Option<usize>,
    place: &Place<'_>,
    request: &Request,
    inflated: Option<&[u8]>,
) -> Identified {
    let body = inflated.unwrap_or(&request.body);
    let form =
        if rules.iter().any(|rule| rule.reads_form) { Fields::of_body(body) } else { Fields::default() };
    let query =
        if rules.iter().any(|rule| rule.reads_query) { Fields::of_query(request) } else { Fields::default() };
    let fitting = rules.iter().filter(|rule| rule.family.is_none() || rule.family == family);
    let mut last = None;
    for rule in fitting {
        let document = match &rule.document_in_form {
            None => Some(body),
            Some(name) => form.first(name).map(|field| field.value),
        };
        let Some(document) = document else { continue };
        let mut reader = Reader {
            request,
            document,
            scan: None,
            plan: &rule.plan,
            element: None,
            digested: &request.body,
            form: &form,
            query: &query,
            ambiguous: Cell::new(false),
        };
        if !rule.when.iter().filter(|test| !test.json).all(|test| test.holds(&reader)) {
            continue;
        }
        let scanned = scan(document, &rule.plan).ok();
        reader.scan = scanned.as_ref();
        if let Some((number, echo)) = greeting(rule, request, &reader) {
            return Identified::Greeting { number, echo };
        }
        last = Some(rule);
        if rule.when.iter().filter(|test| test.json).all(|test| test.holds(&reader)) {
            let in_body = rule.document_in_form.is_none() && inflated.is_none();
            return events(rule, place, &reader, in_body);
        }
    }
    // No rule fits, so nothing can be read: it is kept as it came.
    let envelope = Item {
        event_id: None,
        event_key: EventKey::Envelope,
        scope: match last.or(rules.first()).and_then(|rule| rule.items.first()).map(|item| &item.scope) {
            Some(rules::Scope::Usual(usual)) => scope(place.dedup_scope.unwrap_or(*usual), place, None),
            _ => String::new(),
        },
        event_type: None,
        account: None,
        api_version: None,
        occurred_at: None,
        livemode: None,
        slice: Slice::Body(0..request.body.len()),
        ambiguous: false,
    };
    Identified::Events { items: vec![envelope], decoded: None, batch: false }
}

fn greeting(rule: &Events, request: &Request, reader: &Reader<'_>) -> Option<(usize, String)> {
    let fits = |greeting: &&Greeting| {
        greeting.method == request.method && greeting.when.iter().all(|test| test.holds(reader))
    };
    let found = rule.greetings.iter().find(fits)?;
    let echo = reader.text(&found.echo)?;
    let short = echo.text.len() <= crate::limits::ECHO_BYTES_MAX;
    short.then(|| (found.number, echo.text.into_owned()))
}

fn events(rule: &Events, place: &Place<'_>, reader: &Reader<'_>, in_body: bool) -> Identified {
    let whole = Slice::Body(0..reader.request.body.len());
    let batch = rule.plan.batch;
    let Some(scan) = reader.scan.filter(|scan| !batch || scan.arrays) else {
        // Unreadable, or no array where the batch should be. Headers may still tell the id of a single event.
        let items = rule.items.first().map(|item| {
            let mut read = event(item, place, reader, whole);
            if batch {
                read.event_key = EventKey::Envelope;
                read.event_id = None;
            }
            read
        });
        return Identified::Events { items: items.into_iter().collect(), decoded: None, batch: false };
    };
    let mut items = Vec::with_capacity(scan.elements.len());
    for element in &scan.elements {
        let Some(item) = rule.items.get(element.rule) else { continue };
        let one = Reader {
            element: Some(element),
            digested: if batch {
                reader.document.get(element.range.clone()).unwrap_or_default()
            } else {
                reader.digested
            },
            ambiguous: Cell::new(scan.ambiguous || element.ambiguous),
            ..*reader
        };
        let slice = match (batch, in_body) {
            (false, _) => whole.clone(),
            (true, true) => Slice::Body(element.range.clone()),
            (true, false) => Slice::Decoded(element.range.clone()),
        };
        items.push(event(item, place, &one, slice));
    }
    let decoded = if batch && !in_body { Some(reader.document.to_vec()) } else { None };
    Identified::Events { items, decoded, batch }
}

/// Reads one event. Where an id is required and isn't there, it is an envelope to repair.
fn event(rule: &rules::Item, place: &Place<'_>, reader: &Reader<'_>, slice: Slice) -> Item {
    let text = |read: &Option<Read>| read.as_ref().and_then(|read| reader.text(read));
    let id = text(&rule.id);
    let event_type = text(&rule.event_type);
    let account = text(&rule.account);
    let occurred_at =
        rule.occurred_at.iter().find_map(|(read, unit)| moment::shown(&reader.text(read)?.text, *unit));
    let livemode = rule.livemode.as_ref().and_then(|(read, live, test)| {
        let written = reader.written(read)?;
        if written == *live { Some(true) } else { (written == *test).then_some(false) }
    });
    let event_key = match &rule.unique_by {
        None => EventKey::Fresh,
        Some(parts) => {
            let values: Vec<Option<Text<'_>>> = parts
                .iter()
                .map(|part| match part {
                    rules::Part::Id => id.clone(),
                    rules::Part::Type => event_type.clone(),
                    rules::Part::Account => account.clone(),
                    // As it is written: a time that can't be read still sets events apart.
                    rules::Part::OccurredAt => {
                        rule.occurred_at.iter().find_map(|(read, _)| reader.text(read))
                    }
                    rules::Part::Read(read) => reader.text(read),
                })
                .collect();
            let id_missing = id.is_none() && parts.iter().any(|part| matches!(part, rules::Part::Id));
            if id_missing || values.iter().all(Option::is_none) {
                EventKey::Envelope
            } else {
                EventKey::Known(bounded(&join(values.iter().map(Option::as_ref))))
            }
        }
    };
    let scope = match (&rule.scope, place.dedup_scope) {
        (rules::Scope::Values(reads), None | Some(DedupScope::Account)) => {
            let values: Vec<_> = reads.iter().map(|read| reader.text(read)).collect();
            bounded(&join(values.iter().map(Option::as_ref)))
        }
        (rules::Scope::Values(_), Some(chosen)) => scope(chosen, place, account.as_ref()),
        (rules::Scope::Usual(usual), chosen) => scope(chosen.unwrap_or(*usual), place, account.as_ref()),
    };
    Item {
        event_id: id.as_ref().map(shown),
        event_key,
        scope,
        event_type: event_type.as_ref().map(shown),
        account: account.as_ref().map(shown),
        api_version: text(&rule.api_version).as_ref().map(shown),
        occurred_at,
        livemode,
        slice,
        ambiguous: reader.ambiguous.get(),
    }
}

fn scope(chosen: DedupScope, place: &Place<'_>, account: Option<&Text<'_>>) -> String {
    match chosen {
        DedupScope::Provider => String::new(),
        DedupScope::Account => account.map_or_else(String::new, bounded),
        DedupScope::Endpoint => place.endpoint_id.to_owned(),
    }
}
