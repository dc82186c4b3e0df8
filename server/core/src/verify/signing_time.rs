//! The time of signing: where it stands, whether it can be read, and whether it is fresh.

use std::borrow::Cow;

use super::entries::{self, Entry};
use super::headers::there;
use super::{Endpoint, Reason, Rejection, explain, reject, shorten};
use crate::catalogue::{Check, TimestampPlace, TimestampRule};
use crate::identity::{self, Decoded, Read, Text};
use crate::request::Request;
use crate::time::Timestamp;

/// The time of signing, as sent and as a moment. Where the scheme has none: nothing.
pub(super) fn signing_time<'a>(
    endpoint: &Endpoint<'_>,
    check: &'a Check,
    request: &'a Request,
    value: &'a str,
    body: &'a [u8],
) -> Result<Option<(Cow<'a, str>, Timestamp)>, Rejection> {
    let Some(time) = &check.rule.timestamp.0 else { return Ok(None) };
    let header = &check.rule.header;
    let refuse = |reason, text: String| Err(reject(endpoint, reason, text));
    let text = match &time.place {
        TimestampPlace::Header(name) => {
            String::from_utf8_lossy(there(&request.headers, name).unwrap_or_default())
        }
        TimestampPlace::Entry(prefix) => match entries::entry(&check.rule, value, prefix) {
            Entry::One(text) => text.into(),
            Entry::Missing => {
                let text = format!(
                    "The header {header} has no entry that begins with {prefix}, where the time of signing stands."
                );
                return refuse(Reason::TimestampMissing, text);
            }
            Entry::Differing => {
                let text = format!("The header {header} has several entries {prefix} with different values.");
                return refuse(Reason::AmbiguousHeader, text);
            }
        },
        TimestampPlace::Json(_) => match time_in_body(endpoint, check, request, body) {
            Some(text) => text.into(),
            None => {
                let text = "The time of signing should stand in the body, and can't be found there, or stands twice.";
                return refuse(Reason::TimestampMissing, text.into());
            }
        },
    };
    if let Some(at) = identity::signed_time(text.as_bytes(), time.unit) {
        return Ok(Some((text, at)));
    }
    let place = match &time.place {
        TimestampPlace::Header(name) => format!("the header {name}"),
        TimestampPlace::Entry(prefix) => format!("the entry {prefix} of the header {header}"),
        TimestampPlace::Json(_) => "the body".into(),
    };
    refuse(
        Reason::MalformedTimestamp,
        format!(
            "The time of signing in {place} is “{}”, which is not {}.{}",
            shorten(&text),
            explain::unit(time.unit),
            explain::other_unit(&text, time.unit)
        ),
    )
}

/// A time in the document. The body is read before it is verified here, which the reader stands: it is
/// total and bounded.
fn time_in_body(endpoint: &Endpoint<'_>, check: &Check, request: &Request, body: &[u8]) -> Option<String> {
    let received = std::ptr::eq(body, &*request.body);
    let coding = request.headers.first("content-encoding").filter(|_| received);
    let inflated = match identity::decode(coding, body, endpoint.body_bytes_max) {
        Decoded::Bytes(bytes) => Some(bytes),
        Decoded::AsReceived | Decoded::Undecodable | Decoded::TooLarge => None,
    };
    let document = inflated.as_deref().unwrap_or(body);
    let (plan, read) = check.time_in_json.as_ref()?;
    let Read::Whole(slot) = read else { return None };
    let scan = identity::scan(document, plan).ok()?;
    // A time that stands twice could be read one way here and another way by the application.
    let token = if scan.ambiguous { None } else { scan.unstarred(plan, *slot) };
    Text::from_token(document, token?).map(|text| text.text.into_owned())
}

/// Whole seconds, both ways, the bound included.
pub(super) fn fresh(
    endpoint: &Endpoint<'_>,
    rule: &TimestampRule,
    at: Timestamp,
    now: Timestamp,
) -> Result<(), Rejection> {
    let own = endpoint.scheme.settings.tolerance_seconds;
    let Some(tolerance) = own.or(rule.tolerance_seconds.value().copied()) else { return Ok(()) };
    if now.seconds().abs_diff(at.seconds()) <= tolerance {
        return Ok(());
    }
    let age = now.seconds().saturating_sub(at.seconds());
    let mut rejection =
        reject(endpoint, Reason::TimestampOutOfTolerance, explain::age(at, now, age, tolerance));
    rejection.age_seconds = Some(age);
    Err(rejection)
}
