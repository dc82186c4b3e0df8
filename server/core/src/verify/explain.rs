//! Why a request was refused, in sentences for the tenant: what was looked for, what came instead, and
//! the likely cause. A cause is named only when trying it made the signature fit; the tries are bounded.
//! Nothing here can make a request pass, and no sentence holds a secret or an expected signature.

use super::check::{Held, matches};
use super::entries;
use super::reshape;
use super::signed::Signed;
use super::{Reason, Rejection, reject, shorten};
use crate::catalogue::{
    Algorithm, Check, Encoding, Key, KeyKind, Part, Signature, SignatureRule, Template, TimeUnit, base64,
};
use crate::limits::EXPLAIN_BYTES_MAX;
use crate::time::Timestamp;

/// The refusal of a signature. `seen` entries had a known prefix, `decoded` of them could be signatures.
pub(super) fn mismatch(held: &Held<'_>, seen: usize, decoded: usize) -> Rejection {
    let rule = &held.check.rule;
    let kinds: Vec<&str> =
        rule.signatures.iter().map(|one| one.prefix.as_str()).filter(|one| !one.is_empty()).collect();
    let first = shorten(held.value.get(..12).unwrap_or(held.value));
    if seen == 0 {
        // In a list, versions that aren't known are passed over, so what is left matches nothing.
        let reason =
            if rule.separator.is_some() { Reason::SignatureMismatch } else { Reason::MalformedSignature };
        let wanted = if kinds.is_empty() {
            String::new()
        } else {
            format!(" that begins with {}", kinds.join(" or "))
        };
        let text = format!("The header {} has no signature{wanted}; it begins with “{first}”.", rule.header);
        return reject(held.endpoint, reason, text);
    }
    if decoded == 0 {
        let text = format!(
            "The header {} holds no signature that can be read: {}.",
            rule.header,
            rule.signatures.first().map_or_else(String::new, |one| malformed(held, one))
        );
        return reject(held.endpoint, Reason::MalformedSignature, text);
    }
    let usable =
        |one: &SignatureRule| held.endpoint.keys.iter().any(|key| key.kind == one.algorithm.key_kind());
    let mut text = if rule.signatures.iter().any(usable) {
        let secrets = match held.endpoint.keys.len() {
            1 => "the endpoint's secret".to_owned(),
            more => format!("any of the endpoint's {more} secrets"),
        };
        format!(
            "The signature in the header {} is not the one that {secrets} makes over this request.",
            rule.header
        )
    } else {
        format!(
            "The endpoint's secret is a key of another kind than the signature in the header {}.",
            rule.header
        )
    };
    let url = rule.signed.has(&Part::Url);
    if url {
        text.push_str(&format!(" The signed URL was taken to be {}.", held.signed.url));
    }
    match Search::new(held).cause() {
        Some(cause) => text.push_str(&format!(" {cause}")),
        None => {
            text.push_str(" No usual cause fits: most likely the secret is another one than the sender's, or the body was changed on the way.");
            if url {
                text.push_str(" The URL has to be, to the letter, the one that is registered with the sender (options.public_url).");
            }
        }
    }
    reject(held.endpoint, Reason::SignatureMismatch, text)
}

fn malformed(held: &Held<'_>, rule: &SignatureRule) -> String {
    let text = entries::entries(&held.check.rule, held.value)
        .find_map(|entry| entry.strip_prefix(rule.prefix.as_str()))
        .unwrap_or_default();
    let as_hex = hex::decode(text).ok().map(|bytes| bytes.len());
    let as_base64 = base64(text.as_bytes()).map(|bytes| bytes.len());
    let (written, bytes, other, other_bytes) = match rule.encoding {
        Encoding::Hex => ("hex", as_hex, "base64", as_base64),
        Encoding::Base64 => ("base64", as_base64, "hex", as_hex),
    };
    let wanted = rule.algorithm.signature_bytes();
    let name = rule.algorithm.as_str();
    match (bytes, wanted) {
        _ if wanted.is_some() && other_bytes == wanted => {
            format!("it is written in {other}, and {written} is expected")
        }
        (Some(20), Some(_)) => format!("it has the 20 bytes of an hmac-sha1, and {name} is expected"),
        (Some(32), Some(_)) => format!("it has the 32 bytes of an hmac-sha256, and {name} is expected"),
        (Some(64), Some(_)) => format!("it has the 64 bytes of an hmac-sha512, and {name} is expected"),
        (Some(bytes), Some(wanted)) => format!("it has {bytes} bytes, and {name} has {wanted}"),
        (None, _) | (Some(_), None) => {
            format!("“{}” is not {written}", shorten(text.get(..12).unwrap_or(text)))
        }
    }
}

/// Tries the usual causes one after another, within a budget of hashed bytes.
struct Search<'h> {
    held: &'h Held<'h>,
    candidates: Vec<(&'h SignatureRule, Vec<Signature>)>,
    budget: usize,
}

impl<'h> Search<'h> {
    fn new(held: &'h Held<'h>) -> Self {
        let rule = &held.check.rule;
        let read = |one: &'h SignatureRule| (one, entries::candidates(rule, one, held.value).decoded);
        Self { held, candidates: rule.signatures.iter().map(read).collect(), budget: EXPLAIN_BYTES_MAX }
    }

    /// Whether a request that differs so would have passed.
    fn fits(&mut self, signed: &Signed<'_>) -> bool {
        self.fits_with(signed, None)
    }

    fn fits_with(&mut self, signed: &Signed<'_>, other: Option<&Key>) -> bool {
        let keys = self.held.endpoint.keys;
        let own: Vec<&Key> = other.map_or_else(|| keys.iter().collect(), |key| vec![key]);
        for (rule, candidates) in &self.candidates {
            for key in own.iter().filter(|key| key.kind == rule.algorithm.key_kind()) {
                // Four blocks stand for what an HMAC costs beside its text, and much more for a public key.
                let cost = signed.len() + if key.bytes().is_some() { 256 } else { 64 * 1024 };
                let Some(left) = self.budget.checked_sub(cost) else { return false };
                self.budget = left;
                if matches(key, rule, signed, candidates) {
                    return true;
                }
            }
        }
        false
    }

    fn cause(mut self) -> Option<String> {
        self.body().or_else(|| self.url()).or_else(|| self.secret()).or_else(|| self.template())
    }

    fn body(&mut self) -> Option<String> {
        let signed = self.held.signed;
        if !signed.template.has(&Part::Body) || signed.body.len() > reshape::BODY_BYTES_MAX {
            return None;
        }
        let with = |end: &[u8]| [signed.body, end].concat();
        let end = signed.body.trim_ascii_end();
        let tries: [(Vec<u8>, &str); 5] = [
            (
                with(b"\n"),
                "It fits when a line break is added to the body: something on the way took the last one off.",
            ),
            (
                with(b"\r\n"),
                "It fits when CR LF is added to the body: something on the way took the last line break off.",
            ),
            (
                end.to_vec(),
                "It fits without the white space at the end of the body: something on the way added it.",
            ),
            (
                Vec::new(),
                "It fits an empty body: the body was added or replaced after signing, or the sender does not sign it.",
            ),
            (
                reshape::unix_lines(signed.body),
                "It fits when CR LF in the body is LF: something on the way changed the line breaks.",
            ),
        ];
        for (body, cause) in &tries {
            if body != signed.body && self.fits(&Signed { body, ..signed }) {
                return Some((*cause).into());
            }
        }
        for body in reshape::serialisations(signed.body) {
            if body != signed.body && self.fits(&Signed { body: &body, ..signed }) {
                return Some(
                    "It fits the same JSON with other white space: something on the way parsed the body and wrote it anew. The bytes have to arrive as they were sent."
                        .into(),
                );
            }
        }
        None
    }

    fn url(&mut self) -> Option<String> {
        let signed = self.held.signed;
        if !signed.template.has(&Part::Url) {
            return None;
        }
        for (url, cause) in reshape::urls(signed.url) {
            if self.fits(&Signed { url: &url, ..signed }) {
                return Some(format!("{cause} The sender signed {url}."));
            }
        }
        None
    }

    fn secret(&mut self) -> Option<String> {
        let signed = self.held.signed;
        let algorithms: Vec<Algorithm> = self.candidates.iter().map(|(rule, _)| rule.algorithm).collect();
        for key in self.held.endpoint.keys.iter().filter(|key| key.kind == KeyKind::Shared) {
            for (bytes, cause) in reshape::secrets(key.text.expose()) {
                let other = Key::shared(KeyKind::Shared, "", bytes, &algorithms);
                if key.bytes() != other.bytes() && self.fits_with(&signed, Some(&other)) {
                    return Some(format!(
                        "It fits when the secret is {cause}. This is the secret of another scheme, or the endpoint's provider is another one."
                    ));
                }
            }
        }
        None
    }

    /// The sender signs in another of the usual ways.
    fn template(&mut self) -> Option<String> {
        let signed = self.held.signed;
        for text in [
            "{body}",
            "{timestamp}.{body}",
            "{timestamp}{body}",
            "{timestamp}:{body}",
            "{body}{timestamp}",
            "{url}{body}",
        ] {
            let Ok(template) = Template::parse(text, false) else { continue };
            let timeless = signed.timestamp.is_empty() && template.has(&Part::Timestamp);
            let urlless = signed.url.is_empty() && template.has(&Part::Url);
            if timeless || urlless || template == *signed.template {
                continue;
            }
            if self.fits(&Signed { template: &template, ..signed }) {
                return Some(format!("It fits when the signed text is {text}."));
            }
        }
        None
    }
}

/// The refusal of a token, or of a user and password.
pub(super) fn credential(check: &Check, value: &[u8]) -> String {
    let header = &check.rule.header;
    let prefix = check.rule.signatures.first().map_or("", |one| one.prefix.as_str());
    if check.rule.signatures.iter().any(|one| one.algorithm == Algorithm::Basic) {
        return if value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic ")) {
            format!(
                "The user name and password in the header {header} are not the endpoint's secret, which is user:password."
            )
        } else {
            format!("The header {header} should hold HTTP basic authentication and begins otherwise.")
        };
    }
    if !prefix.is_empty() && check.rule.separator.is_none() && !value.starts_with(prefix.as_bytes()) {
        return format!("The header {header} should begin with “{prefix}” and begins otherwise.");
    }
    format!("The token in the header {header} is none of the endpoint's secrets.")
}

/// How a time should be written.
pub(super) const fn unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::S => "a number of seconds since 1970 (1 to 12 digits)",
        TimeUnit::Ms => "a number of milliseconds since 1970 (1 to 15 digits)",
        TimeUnit::Rfc3339 => "a time in RFC 3339",
    }
}

/// A hint when it is written in another unit that is known.
pub(super) fn other_unit(text: &str, meant: TimeUnit) -> &'static str {
    let reads = |unit| unit != meant && crate::identity::signed_time(text.as_bytes(), unit).is_some();
    if reads(TimeUnit::Rfc3339) {
        " It is a time in RFC 3339: is the unit rfc3339?"
    } else if text.len() == 13 && reads(TimeUnit::Ms) {
        " It looks like milliseconds: is the unit ms?"
    } else {
        ""
    }
}

/// The refusal of a time: how far it is off, and whose clock it may be.
pub(super) fn age(at: Timestamp, now: Timestamp, age_seconds: i64, tolerance_seconds: u64) -> String {
    let far = age_seconds.unsigned_abs();
    let side = if age_seconds > 0 { "before" } else { "after" };
    let hint = match (age_seconds > 0, far) {
        (_, 31_536_000..) => "So far off, the time is likely to be in another unit.",
        (true, _) => {
            "A request that was captured and sent again looks like this, and so does a queue on the way, or a clock here that is fast."
        }
        (false, _) => "The clock here is slow, or the sender's is fast.",
    };
    format!(
        "The signature is right, and was made at {at}, {far} s {side} the time here, {now}; the tolerance is {tolerance_seconds} s. {hint}"
    )
}
