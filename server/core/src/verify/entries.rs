//! The grammar of a signature header: one value or a list, entries with a prefix, hex or base64.

use crate::catalogue::{Encoding, Signature, SignatureRule, VerifyRule, base64};
use crate::limits::SIGNATURES_COMPARED_MAX;

/// The entries of a header, without the spaces around them.
pub(super) fn entries<'a>(rule: &'a VerifyRule, value: &'a str) -> impl Iterator<Item = &'a str> {
    let separator = rule.separator.as_deref();
    let (list, single) = match separator {
        Some(separator) => (Some(value.split(separator)), None),
        None => (None, Some(value)),
    };
    list.into_iter().flatten().map(str::trim).filter(|entry| !entry.is_empty()).chain(single)
}

/// The signatures of one kind that a header carries.
pub(super) struct Candidates {
    /// Those that can be signatures, by their bytes.
    pub(super) decoded: Vec<Signature>,
    /// Entries with the right prefix, decodable or not.
    pub(super) seen: usize,
}

/// Reads the entries that count for a kind of signature.
pub(super) fn candidates(rule: &VerifyRule, signature: &SignatureRule, value: &str) -> Candidates {
    let mut found = Candidates { decoded: Vec::new(), seen: 0 };
    for entry in entries(rule, value) {
        let Some(text) = entry.strip_prefix(signature.prefix.as_str()) else { continue };
        found.seen += 1;
        if found.decoded.len() < SIGNATURES_COMPARED_MAX {
            found.decoded.extend(decode(signature, text));
        }
    }
    found
}

fn decode(rule: &SignatureRule, text: &str) -> Option<Signature> {
    let signature = match rule.encoding {
        Encoding::Hex => hex(text)?,
        Encoding::Base64 => {
            Signature::new(&base64(text.as_bytes()).filter(|bytes| bytes.len() <= Signature::BYTES_MAX)?)
        }
    };
    match rule.algorithm.signature_bytes() {
        Some(bytes) if signature.as_bytes().len() != bytes => None,
        _ => Some(signature),
    }
}

/// Hex digits of either case, without an allocation.
fn hex(text: &str) -> Option<Signature> {
    let mut bytes = [0; Signature::BYTES_MAX];
    let place = bytes.get_mut(..text.len() / 2)?;
    hex::decode_to_slice(text, place).ok()?;
    Some(Signature::new(place))
}

/// The value of the entry with a prefix, such as `t=`. Different values are told apart from none.
pub(super) enum Entry<'a> {
    Missing,
    One(&'a str),
    Differing,
}

/// Finds the entry with a prefix in a list.
pub(super) fn entry<'a>(rule: &'a VerifyRule, value: &'a str, prefix: &str) -> Entry<'a> {
    let mut found = entries(rule, value).filter_map(|entry| entry.strip_prefix(prefix));
    match found.next() {
        None => Entry::Missing,
        Some(first) if found.all(|other| other == first) => Entry::One(first),
        Some(_) => Entry::Differing,
    }
}
