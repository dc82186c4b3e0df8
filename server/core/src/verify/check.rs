//! One request held against one rule: the time is read, the signature compared, then the age judged.
//! In that order, so that a clock that runs wrong is told apart from a forged request.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::headers::{missing, there};
use super::signed::{self, Signed};
use super::signing_time::{fresh, signing_time};
use super::{Endpoint, Reason, Rejection, credential, entries, explain, reject, shorten};
use crate::catalogue::{Algorithm, Check, Key, Material, Part, Signature, SignatureRule};
use crate::identity::Fields;
use crate::limits::SIGNATURE_HEADER_BYTES_MAX;
use crate::request::Request;
use crate::time::Timestamp;

/// What a passed check tells.
pub(super) struct Passed {
    pub(super) signed_at: Option<Timestamp>,
    pub(super) key_index: Option<usize>,
}

/// A request under check, for explaining what is wrong with it.
pub(super) struct Held<'a> {
    pub(super) endpoint: &'a Endpoint<'a>,
    pub(super) check: &'a Check,
    pub(super) request: &'a Request,
    pub(super) value: &'a str,
    pub(super) signed: Signed<'a>,
}

/// Holds a request against a rule. `body` is what `{body}` means.
pub(super) fn pass(
    endpoint: &Endpoint<'_>,
    check: &Check,
    request: &Request,
    body: &[u8],
    now: Timestamp,
) -> Result<Passed, Rejection> {
    let rule = &check.rule;
    let refuse = |reason, text: String| Err(reject(endpoint, reason, text));
    if endpoint.keys.is_empty() {
        return refuse(
            Reason::NoUsableSecret,
            format!(
                "The endpoint holds no secret. Paste the {} of the sender.",
                endpoint.scheme.secret.title
            ),
        );
    }
    let value = there(&request.headers, &rule.header).unwrap_or_default();
    if rule.signatures.iter().any(|signature| signature.algorithm.is_credential()) {
        return credential::pass(endpoint, check, value);
    }
    if value.len() > SIGNATURE_HEADER_BYTES_MAX || !value.is_ascii() {
        return refuse(
            Reason::MalformedSignature,
            format!(
                "The header {} has {} bytes{}. A signature header is ASCII and has at most {SIGNATURE_HEADER_BYTES_MAX} bytes.",
                rule.header,
                value.len(),
                if value.is_ascii() { "" } else { " and some that are not ASCII" },
            ),
        );
    }
    let value = std::str::from_utf8(value).unwrap_or_default();
    if let Some((name, reason)) = missing(check, request) {
        return refuse(
            reason,
            format!(
                "The signed text holds the header {name}, which is not there or empty. A proxy on the way may drop it."
            ),
        );
    }
    let time = signing_time(endpoint, check, request, value, body)?;
    let named = named_algorithm(endpoint, check, request)?;
    let url = if rule.signed.has(&Part::Url) {
        signed::url(endpoint.registered_url(), request.query.as_deref())
    } else {
        String::new()
    };
    let form = if rule.signed.has(&Part::Form) {
        match signed::form(body) {
            Some(form) => form,
            None => {
                return refuse(
                    Reason::SignatureMismatch,
                    "The signature is over the fields of a form, and the body has none, or too many.".into(),
                );
            }
        }
    } else {
        Vec::new()
    };
    let signed = Signed {
        template: &rule.signed,
        body,
        timestamp: time.as_ref().map_or(b"", |(text, _)| text.as_bytes()),
        method: &request.method,
        url: &url,
        headers: &request.headers,
        form: &form,
    };
    let held = Held { endpoint, check, request, value, signed };
    let key_index = signature(&held, named.as_deref())?;
    body_hash(&held)?;
    let signed_at = time.map(|(_, at)| at);
    if let (Some(at), Some(time)) = (signed_at, &rule.timestamp.0) {
        fresh(endpoint, time, at, now)?;
    }
    Ok(Passed { signed_at, key_index: Some(key_index) })
}

/// The algorithm that the request asks for, where the scheme lets it: only one that the endpoint takes.
fn named_algorithm(
    endpoint: &Endpoint<'_>,
    check: &Check,
    request: &Request,
) -> Result<Option<String>, Rejection> {
    let Some(named) = &check.rule.algorithm_named_by else { return Ok(None) };
    let header = there(&request.headers, &named.header).map(String::from_utf8_lossy);
    let listed = header.as_ref().and_then(|value| {
        let mut entries = value.split(named.separator.as_str()).map(str::trim);
        entries.find_map(|entry| entry.strip_prefix(named.entry.as_str()))
    });
    let name = match (&header, listed) {
        (None, _) => named.default.as_str(),
        (Some(_), Some(name)) => name,
        (Some(_), None) => "",
    };
    let known = check.rule.signatures.iter().any(|signature| signature.named.as_deref() == Some(name));
    let allowed = endpoint.scheme.settings.lists.get(&named.allowed_option);
    if known && allowed.is_none_or(|allowed| allowed.iter().any(|one| one == name)) {
        return Ok(Some(name.to_owned()));
    }
    let from = if header.is_some() { "names" } else { "is missing, which means" };
    let wanted = match allowed {
        Some(allowed) => {
            format!("The endpoint takes {} alone ({}).", allowed.join(" and "), named.allowed_option)
        }
        None => "That is none that is known.".into(),
    };
    Err(reject(
        endpoint,
        Reason::AlgorithmNotAllowed,
        format!(
            "The header {}, which is not signed, {from} the algorithm “{}”. {wanted}",
            named.header,
            shorten(name)
        ),
    ))
}

/// Compares each candidate with what each key makes of the signed bytes; the number of the key that fits.
fn signature(held: &Held<'_>, named: Option<&str>) -> Result<usize, Rejection> {
    let rule = &held.check.rule;
    let other_url = if rule.url_with_port { signed::other_port(held.signed.url) } else { None };
    let urls = [Some(held.signed.url), other_url.as_deref()];
    let (mut seen, mut decoded) = (0, 0);
    for signature in rule.signatures.iter().filter(|rule| named.is_none() || rule.named.as_deref() == named) {
        let candidates = entries::candidates(rule, signature, held.value);
        seen += candidates.seen;
        decoded += candidates.decoded.len();
        if candidates.decoded.is_empty() {
            continue;
        }
        for (number, key) in held.endpoint.keys.iter().enumerate() {
            if key.kind != signature.algorithm.key_kind() {
                continue;
            }
            for url in urls.into_iter().flatten() {
                if matches(key, signature, &Signed { url, ..held.signed }, &candidates.decoded) {
                    return Ok(number);
                }
            }
        }
    }
    Err(explain::mismatch(held, seen, decoded))
}

/// Whether any candidate is the key's signature. Digests are compared in constant time.
pub(super) fn matches(
    key: &Key,
    rule: &SignatureRule,
    signed: &Signed<'_>,
    candidates: &[Signature],
) -> bool {
    match &key.material {
        Material::Shared { .. } => {
            let Some(mut mac) = key.mac(rule.algorithm) else { return false };
            signed.feed(|piece| mac.update(piece));
            let right = mac.finish();
            let mut found = subtle::Choice::from(0);
            for candidate in candidates {
                found |= candidate.as_bytes().ct_eq(right.as_bytes());
            }
            found.into()
        }
        Material::Public(public) => {
            let message = signed.bytes();
            candidates
                .iter()
                .any(|candidate| public_matches(public, rule.algorithm, &message, candidate.as_bytes()))
        }
    }
}

fn public_matches(key: &ParsedPublicKey, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
    if key.verify_sig(message, signature).is_ok() {
        return true;
    }
    // A DER signature can have 64 bytes too, though hardly ever, so both readings are tried.
    algorithm == Algorithm::EcdsaP256
        && signature.len() == 64
        && ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.as_ref())
            .is_ok_and(|fixed| fixed.verify_sig(message, signature).is_ok())
}

/// A digest of the body that stands among the signed bytes has to be the body's.
fn body_hash(held: &Held<'_>) -> Result<(), Rejection> {
    let Some(hash) = &held.check.rule.body_hash else { return Ok(()) };
    let query = Fields::of_query(held.request);
    let told = query.first(&hash.query).and_then(|field| hex::decode(field.value).ok()).unwrap_or_default();
    if told.ct_eq(&Sha256::digest(held.signed.body)).into() {
        return Ok(());
    }
    Err(reject(
        held.endpoint,
        Reason::BodyHashMismatch,
        format!(
            "The URL is signed, and its parameter {} is not SHA-256 of the body in hex. The body was changed on the way.",
            hash.query
        ),
    ))
}
