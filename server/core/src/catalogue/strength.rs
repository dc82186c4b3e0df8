//! What a scheme leaves unprotected, worked out from its words. Entries state it too; a test compares.

use super::event_rule::{ItemRule, KeyPart};
use super::source::Source;
use super::template::Part;
use super::verify_rule::VerifyRule;
use crate::verify::Weak;

/// What a rule of verification leaves unprotected for the events that are read after it.
pub(crate) fn weak<'a>(rule: &VerifyRule, items: impl Iterator<Item = &'a ItemRule>) -> Vec<Weak> {
    if rule.signatures.iter().any(|signature| signature.algorithm.is_credential()) {
        return vec![Weak::Body, Weak::Id, Weak::Time];
    }
    let body = rule.signed.covers_body() || rule.body_hash.is_some();
    let open = |source: &Source| {
        source.any(|source| match source {
            Source::Header(name) => !rule.signed.has_header(name),
            Source::Query(_) => !rule.signed.has(&Part::Url),
            Source::Json(_) | Source::Whole(_) | Source::Form(_) | Source::Digest => !body,
            Source::Text(_) | Source::Join { .. } | Source::First(_) => false,
        })
    };
    let mut weak = Vec::new();
    if !body {
        weak.push(Weak::Body);
    }
    let mut items = items;
    if items.any(|item| {
        let parts = item.unique_by.0.iter().flatten().filter_map(|part| match part {
            KeyPart::Source(source) => Some(source),
            KeyPart::Named(_) => None,
        });
        item.id.0.iter().chain(parts).any(open)
    }) {
        weak.push(Weak::Id);
    }
    if rule.timestamp.0.is_none() {
        weak.push(Weak::Time);
    }
    weak
}
