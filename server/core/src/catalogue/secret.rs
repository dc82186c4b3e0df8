//! From a pasted text to a key: the forms of a scheme, tried in order. What can't become a key is
//! refused with a sentence that shows what it should look like; what is only unusual is a notice.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::key::Key;
use super::secret_rule::{KeyKind, SecretEncoding, SecretForm, SecretRule};
use super::verify_rule::Algorithm;
use crate::limits::SECRET_BYTES_MAX;
use crate::secret::Secret;

/// A secret that can be used, as it is to be kept.
#[derive(Debug)]
pub struct CheckedSecret {
    /// The text without surrounding white space.
    pub secret: Secret<String>,
    /// What a person should know about it: unusual length, white space taken off.
    pub notices: Vec<String>,
}

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Base64 in either alphabet, with or without padding.
pub(crate) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

/// Checks a text that was pasted as a secret.
pub(super) fn check(rule: &SecretRule, pasted: &str) -> Result<CheckedSecret, String> {
    let text = pasted.trim();
    let (form, key) = derive(rule, text, &[])?;
    let mut notices = Vec::new();
    if text != pasted {
        notices.push("White space around the secret was taken off.".into());
    }
    if form.encoding == SecretEncoding::Utf8 && text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        notices.push(
            "The secret has white space inside. It is used exactly as pasted; check that nothing came along."
                .into(),
        );
    }
    if let Some(usual) = form.usual_prefix.as_ref().filter(|usual| !text.starts_with(usual.as_str())) {
        notices.push(format!("This usually begins with {usual}. Check that it is the {}.", rule.title));
    }
    if let (Some((least, most)), Some(bytes)) = (form.usual_bytes, key.bytes())
        && !(least..=most).contains(&bytes.len())
    {
        notices.push(format!("The key has {} bytes; usual are {least} to {most}.", bytes.len()));
    }
    Ok(CheckedSecret { secret: Secret::new(text.to_owned()), notices })
}

/// Makes the key of a secret, with an HMAC begun for each algorithm.
pub(super) fn key(rule: &SecretRule, text: &str, algorithms: &[Algorithm]) -> Result<Key, String> {
    derive(rule, text.trim(), algorithms).map(|(_, key)| key)
}

fn derive<'r>(
    rule: &'r SecretRule,
    text: &str,
    algorithms: &[Algorithm],
) -> Result<(&'r SecretForm, Key), String> {
    let wrong = |why: &str| format!("{why} The {} looks like this: {}", rule.title, rule.example);
    if text.is_empty() {
        return Err(wrong("The secret is empty."));
    }
    if text.len() > SECRET_BYTES_MAX {
        return Err(wrong(&format!("The secret is longer than {SECRET_BYTES_MAX} bytes.")));
    }
    let fits = |form: &&SecretForm| !form.prefix_required || prefixed(form, text).is_some();
    let Some(form) = rule.forms.iter().find(fits) else {
        return Err(wrong("The secret has none of the forms that can be used."));
    };
    if let Some(why) = &form.refuse {
        return Err(wrong(why));
    }
    let rest = prefixed(form, text).unwrap_or(text);
    if rest.is_empty() {
        return Err(wrong("Nothing stands behind the prefix of the secret."));
    }
    if let KeyKind::Ed25519 | KeyKind::EcdsaP256 = form.key {
        let bytes = public_key_bytes(form.encoding, rest);
        let key = bytes.and_then(|bytes| Key::public(form.key, text, &bytes));
        return key.map(|key| (form, key)).ok_or_else(|| {
            let kind = if form.key == KeyKind::Ed25519 { "Ed25519" } else { "P-256" };
            wrong(&format!("That can't be read as {kind} public key{}.", spelling(form.encoding)))
        });
    }
    let bytes = match form.encoding {
        SecretEncoding::Utf8 => Some(rest.as_bytes().to_vec()),
        SecretEncoding::Hex => hex::decode(rest).ok(),
        SecretEncoding::Base64 => base64(rest.as_bytes()),
        SecretEncoding::Pem | SecretEncoding::Any => None,
    };
    let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
        return Err(wrong(&format!("The secret can't be read{}.", spelling(form.encoding))));
    };
    if form.key == KeyKind::Basic && !bytes.contains(&b':') {
        return Err(wrong("The secret has to be the user name and the password with a colon between."));
    }
    Ok((form, Key::shared(form.key, text, bytes, algorithms)))
}

fn prefixed<'t>(form: &SecretForm, text: &'t str) -> Option<&'t str> {
    form.prefixes.iter().find_map(|prefix| text.strip_prefix(prefix.as_str()))
}

const fn spelling(encoding: SecretEncoding) -> &'static str {
    match encoding {
        SecretEncoding::Utf8 => "",
        SecretEncoding::Hex => " as hex digits",
        SecretEncoding::Base64 => " as base64",
        SecretEncoding::Pem => " as PEM",
        SecretEncoding::Any => " as PEM, base64 or hex",
    }
}

/// PEM armour is taken whatever the encoding says, since nothing else looks like it.
fn public_key_bytes(encoding: SecretEncoding, text: &str) -> Option<Vec<u8>> {
    if text.starts_with("-----BEGIN") {
        let inner =
            text.strip_prefix("-----BEGIN PUBLIC KEY-----")?.split_once("-----END PUBLIC KEY-----")?.0;
        return base64(packed(inner).as_bytes());
    }
    match encoding {
        SecretEncoding::Utf8 => None,
        SecretEncoding::Hex => hex::decode(text).ok(),
        SecretEncoding::Base64 | SecretEncoding::Pem => base64(packed(text).as_bytes()),
        // Hex first: 64 hex digits are base64 too, of a key that is none.
        SecretEncoding::Any => hex::decode(text).ok().or_else(|| base64(packed(text).as_bytes())),
    }
}

/// Without the line breaks of PEM, also where a form turned them into a backslash and an n.
fn packed(text: &str) -> String {
    text.replace("\\n", "").split_whitespace().collect()
}
