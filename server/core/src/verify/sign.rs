//! Makes a request as a provider would sign it: for the test-event button, `restante sign`, the demo and
//! the benchmark. It follows the same rules as verification, so what is made here passes there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Endpoint;
use super::sample::{self, Values};
use super::signed::{self, Signed};
use crate::catalogue::{
    Algorithm, Check, Encoding, Key, Part, Scheme, SignatureRule, TimeUnit, TimestampPlace,
};
use crate::request::{HeaderList, Request};
use crate::time::Timestamp;

/// What to sign, for a test event.
#[derive(Debug, Clone)]
pub struct SignRequest<'a> {
    /// The body as it is to be sent; `None` takes a sample.
    pub body: Option<&'a [u8]>,
    /// The sample, by its name; `None` is the provider's first.
    pub sample: Option<&'a str>,
    /// The event id; `None` keeps the sample's. In a body of your own it is not looked for.
    pub id: Option<&'a str>,
    /// The event type; `None` keeps the sample's.
    pub event_type: Option<&'a str>,
    /// The time of signing.
    pub at: Timestamp,
}

/// A request as the provider would send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRequest {
    /// The method.
    pub method: String,
    /// Headers, the content type and the signature among them.
    pub headers: Vec<(String, String)>,
    /// The body, exactly.
    pub body: Vec<u8>,
    /// The query string, where the scheme needs one.
    pub query: Option<String>,
}

impl SignedRequest {
    /// The same as it would be received.
    pub fn into_request(self) -> Request {
        let headers = self.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value.into()));
        Request {
            method: self.method,
            query: self.query,
            headers: HeaderList(headers.collect()),
            body: self.body.into(),
        }
    }
}

/// Makes a request as the provider would sign it with the endpoint's first key.
///
/// # Errors
/// A sentence for the person, where only a public key is held or the sample isn't known.
pub fn sign(endpoint: &Endpoint<'_>, request: &SignRequest<'_>) -> Result<SignedRequest, String> {
    let scheme = endpoint.scheme;
    let key = endpoint.keys.first().ok_or("The endpoint has no secret to sign with.")?;
    let fits = |check: &Check, one: &SignatureRule| {
        can_make(key, one) && (one.named.is_none() || one.named.as_deref() == named(scheme, check))
    };
    let found = plain_checks(scheme)
        .find_map(|check| Some((check, check.rule.signatures.iter().find(|one| fits(check, one))?)));
    let (check, signature) = found.ok_or(
        "This sender signs with a private key, and the endpoint holds only the public one, so nothing can be signed in its name.",
    )?;
    let (mut made, timestamp) = unsigned(scheme, check, request)?;
    let list = HeaderList(
        made.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone().into())).collect(),
    );
    let form = if check.rule.signed.has(&Part::Form) { signed::form(&made.body) } else { None };
    let signed = Signed {
        template: &check.rule.signed,
        body: &made.body,
        timestamp: timestamp.as_bytes(),
        method: &made.method,
        url: &signed::url(endpoint.registered_url(), None),
        headers: &list,
        form: form.as_deref().unwrap_or_default(),
    };
    let value = value(key, signature, &signed).ok_or("The endpoint's secret can't sign.")?;
    let value = match (&check.rule.separator, check.rule.timestamp.0.as_ref().map(|time| &time.place)) {
        (Some(separator), Some(TimestampPlace::Entry(prefix))) => {
            format!("{prefix}{timestamp}{separator}{value}")
        }
        _ => value,
    };
    made.headers.push((check.rule.header.clone(), value));
    Ok(made)
}

/// A sample as the provider would send it, without its signature: for an endpoint that holds only a public key.
///
/// # Errors
/// A sentence for the person, where the sample isn't known.
pub fn sample(endpoint: &Endpoint<'_>, request: &SignRequest<'_>) -> Result<SignedRequest, String> {
    let check = plain_checks(endpoint.scheme).next().ok_or("This sender has no sample.")?;
    unsigned(endpoint.scheme, check, request).map(|(made, _)| made)
}

/// The rules for usual requests; one with conditions is for unusual ones.
fn plain_checks(scheme: &Scheme) -> impl Iterator<Item = &Check> {
    scheme.checks.iter().filter(|check| check.when.is_empty())
}

/// The name of the algorithm to sign with, where a header names it: the first that the endpoint takes.
fn named<'a>(scheme: &'a Scheme, check: &'a Check) -> Option<&'a str> {
    let rule = check.rule.algorithm_named_by.as_ref()?;
    let allowed = scheme.settings.lists.get(&rule.allowed_option).and_then(|list| list.first());
    Some(allowed.map_or(rule.default.as_str(), String::as_str))
}

/// Everything but the signature, and the time of signing as it is written.
fn unsigned(
    scheme: &Scheme,
    check: &Check,
    request: &SignRequest<'_>,
) -> Result<(SignedRequest, String), String> {
    let made = sample::make(scheme, check, request, &Values::new(scheme, request))?;
    let mut headers = made.headers;
    if let (Some(rule), Some(name)) = (&check.rule.algorithm_named_by, named(scheme, check))
        && name != rule.default
    {
        headers.push((rule.header.clone(), format!("{}{name}", rule.entry)));
    }
    let timestamp = match &check.rule.timestamp.0 {
        None => String::new(),
        Some(time) => match &time.place {
            TimestampPlace::Json(_) => made
                .timestamp
                .ok_or("The body does not hold the time of signing where the sender writes it.")?,
            place => {
                let text = written(request.at, time.unit);
                if let TimestampPlace::Header(name) = place {
                    headers.push((name.clone(), text.clone()));
                }
                text
            }
        },
    };
    let method = scheme.methods().first().cloned().unwrap_or_else(|| "POST".into());
    Ok((SignedRequest { method, headers, body: made.body, query: None }, timestamp))
}

fn can_make(key: &Key, rule: &SignatureRule) -> bool {
    key.kind == rule.algorithm.key_kind() && key.bytes().is_some()
}

fn written(at: Timestamp, unit: TimeUnit) -> String {
    match unit {
        TimeUnit::S => at.seconds().to_string(),
        TimeUnit::Ms => at.millis().to_string(),
        TimeUnit::Rfc3339 => at.to_string(),
    }
}

/// The entry of the signature header, or the credential.
fn value(key: &Key, rule: &SignatureRule, signed: &Signed<'_>) -> Option<String> {
    let bytes = key.bytes()?;
    Some(match rule.algorithm {
        Algorithm::Token => format!("{}{}", rule.prefix, std::str::from_utf8(bytes).ok()?),
        Algorithm::Basic => format!("Basic {}", STANDARD.encode(bytes)),
        _ => {
            let mut mac = key.mac(rule.algorithm)?;
            signed.feed(|piece| mac.update(piece));
            let made = mac.finish();
            let text = match rule.encoding {
                Encoding::Hex => hex::encode(made.as_bytes()),
                Encoding::Base64 => STANDARD.encode(made.as_bytes()),
            };
            format!("{}{text}", rule.prefix)
        }
    })
}
