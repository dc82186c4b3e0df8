//! Security headers: which rule a request is for, and that none of the headers it depends on is ambiguous.
//! Proxies and programs differ in which of two equal names they read, so two values are a refusal.

use std::cell::Cell;

use super::{Endpoint, Reason, Rejection, reject};
use crate::catalogue::{Check, TimestampPlace};
use crate::identity::{Fields, Plan, Read, Reader, Test};
use crate::request::{HeaderList, Request};

/// A header that is there and not empty.
pub(super) fn there<'a>(headers: &'a HeaderList, name: &'a str) -> Option<&'a [u8]> {
    headers.first(name).filter(|value| !value.is_empty())
}

/// The first rule whose headers are all there; else the first whose signature is; else a refusal that
/// names what is missing. So a sender with two families of headers is read by one of them, never by a mixture.
pub(super) fn choose<'a>(endpoint: &Endpoint<'a>, request: &Request) -> Result<&'a Check, Rejection> {
    let fitting = || endpoint.scheme.checks.iter().filter(|check| holds(&check.when, request));
    let signed = |check: &&Check| there(&request.headers, &check.rule.header).is_some();
    let complete = |check: &&Check| needed(check).all(|name| there(&request.headers, name).is_some());
    if let Some(check) = fitting().find(complete).or_else(|| fitting().find(signed)) {
        return Ok(check);
    }
    let mut names: Vec<&str> = fitting().map(|check| check.rule.header.as_str()).collect();
    names.dedup();
    let came: Vec<&str> = request
        .headers
        .0
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| looks_signed(name))
        .take(8)
        .collect();
    let instead = if came.is_empty() {
        "The request has no header that looks like a signature.".into()
    } else {
        format!("What looks like one is {}: is the endpoint for another provider?", came.join(", "))
    };
    let title = &endpoint.scheme.provider.title;
    Err(reject(
        endpoint,
        Reason::MissingSignature,
        format!(
            "{title} signs in the header {}, which is not there or empty. {instead} A proxy on the way may drop headers, and some providers sign only when a secret is set.",
            names.join(" or ")
        ),
    ))
}

/// The headers without which a rule can't be followed.
fn needed(check: &Check) -> impl Iterator<Item = &str> {
    let optional = check.rule.algorithm_named_by.as_ref().map(|named| named.header.as_str());
    check.headers.iter().map(String::as_str).filter(move |name| Some(*name) != optional)
}

/// A header of the signed text, or with the signed time, that isn't there.
pub(super) fn missing<'a>(check: &'a Check, request: &Request) -> Option<(&'a str, Reason)> {
    let name = needed(check).find(|name| there(&request.headers, name).is_none())?;
    let time = matches!(check.rule.timestamp.0.as_ref().map(|time| &time.place), Some(TimestampPlace::Header(known)) if known == name);
    Some((name, if time { Reason::TimestampMissing } else { Reason::MissingHeader }))
}

/// Every header that verification or identity depends on has one value.
pub(super) fn same_when_repeated(
    endpoint: &Endpoint<'_>,
    request: &Request,
    check: &Check,
) -> Result<(), Rejection> {
    let family = check.rule.family;
    let events = endpoint.scheme.events.iter().filter(|rule| rule.family.is_none() || rule.family == family);
    let names = check.headers.iter().chain(events.flat_map(|rule| &rule.headers));
    for name in names {
        let mut values = request.headers.all(name);
        let first = values.next();
        if values.any(|value| Some(value) != first) {
            return Err(reject(
                endpoint,
                Reason::AmbiguousHeader,
                format!(
                    "The header {name} stands in the request several times with different values, so it is not clear which one is meant."
                ),
            ));
        }
    }
    Ok(())
}

/// Whether conditions on headers and the query hold.
pub(super) fn holds(tests: &[Test], request: &Request) -> bool {
    tests.is_empty() || with_reader(request, |reader| tests.iter().all(|test| test.holds(reader)))
}

/// A value of the headers or the query.
pub(super) fn read(read: &Read, request: &Request) -> Option<String> {
    with_reader(request, |reader| reader.text(read).map(|text| text.text.into_owned()))
}

/// Reads a request whose body stays out of sight.
fn with_reader<T>(request: &Request, look: impl FnOnce(&Reader<'_>) -> T) -> T {
    let (plan, form, query) = (Plan::new(), Fields::default(), Fields::of_query(request));
    look(&Reader {
        request,
        document: &[],
        scan: None,
        plan: &plan,
        element: None,
        digested: &[],
        form: &form,
        query: &query,
        ambiguous: Cell::new(false),
    })
}

fn looks_signed(name: &str) -> bool {
    ["signature", "hmac", "-sign", "authorization", "token", "hub-sig"].iter().any(|word| name.contains(word))
}
