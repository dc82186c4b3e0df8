//! Schemes whose header holds the credential itself: a token, or HTTP basic authentication.
//! Nothing is signed there, so all they show is that the sender knows the secret.

use subtle::ConstantTimeEq;

use super::check::Passed;
use super::{Endpoint, Reason, Rejection, entries, explain, reject};
use crate::catalogue::{Algorithm, Check, SignatureRule, base64};
use crate::limits::SIGNATURES_COMPARED_MAX;

/// The header holds the token, or user and password, itself.
pub(super) fn pass(endpoint: &Endpoint<'_>, check: &Check, value: &[u8]) -> Result<Passed, Rejection> {
    for signature in &check.rule.signatures {
        let offered = match signature.algorithm {
            Algorithm::Basic => basic(value),
            _ => tokens(check, signature, value),
        };
        for (number, key) in endpoint.keys.iter().enumerate() {
            let Some(right) = key.bytes() else { continue };
            let mut found = subtle::Choice::from(0);
            for one in &offered {
                found |= one.as_slice().ct_eq(right);
            }
            if found.into() {
                return Ok(Passed { signed_at: None, key_index: Some(number) });
            }
        }
    }
    Err(reject(endpoint, Reason::TokenMismatch, explain::credential(check, value)))
}

fn tokens(check: &Check, signature: &SignatureRule, value: &[u8]) -> Vec<Vec<u8>> {
    let cut = |entry: &[u8]| entry.strip_prefix(signature.prefix.as_bytes()).map(<[u8]>::to_vec);
    match (&check.rule.separator, std::str::from_utf8(value)) {
        (Some(_), Ok(text)) => {
            let entries = entries::entries(&check.rule, text).filter_map(|entry| cut(entry.as_bytes()));
            entries.take(SIGNATURES_COMPARED_MAX).collect()
        }
        _ => cut(value).into_iter().collect(),
    }
}

fn basic(value: &[u8]) -> Vec<Vec<u8>> {
    let scheme = value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic "));
    let text = value.get(6..).filter(|_| scheme);
    text.and_then(|text| base64(text.trim_ascii())).into_iter().collect()
}
