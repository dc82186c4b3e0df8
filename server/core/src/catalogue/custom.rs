//! `options.verify`: the words with which a person describes a sender that the catalogue lacks. They
//! become the same rules as a catalogue file's. What can't be right is told here, each fault with its
//! pointer, so that no delivery is the first to find out.

use serde_json::{Map, Value};

use super::entry::{OrNone, Stated};
use super::event_rule::EventRule;
use super::fields::Fields;
use super::header::header_name;
use super::options::tolerance;
use super::pointer::Pointer;
use super::secret_rule::{KeyKind, SecretEncoding, SecretForm, SecretRule};
use super::template::{Part, Template};
use super::verify_rule::{
    Algorithm, CompressedBody, Encoding, SignatureRule, TimeUnit, TimestampPlace, TimestampRule, VerifyRule,
};
use super::{custom_event, strength};
use crate::problem::FieldError;

/// A sender as a person described it.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) methods: Vec<String>,
    pub(super) secret: SecretRule,
    pub(super) verify: VerifyRule,
    pub(super) event: EventRule,
}

/// The fields of a description.
pub(super) const FIELDS: [&str; 14] = [
    "methods",
    "algorithm",
    "header",
    "separator",
    "prefix",
    "encoding",
    "signed",
    "compressed_body",
    "secret_prefix",
    "secret_encoding",
    "timestamp",
    "event",
    "unique_by",
    "batch",
];
/// The fields of its `timestamp`.
pub(super) const TIMESTAMP_FIELDS: [&str; 5] = ["header", "entry", "json", "unit", "tolerance_seconds"];
const TOLERANCE_SECONDS_DEFAULT: u64 = 300;

/// Reads a description. `at` is where it stands in the options, as a JSON pointer.
pub(super) fn read(value: Option<&Value>, at: &str) -> Result<Described, Vec<FieldError>> {
    let Some(Value::Object(map)) = value else {
        return Err(vec![FieldError {
            pointer: at.into(),
            detail: "This describes how the sender signs, such as {\"algorithm\":\"hmac-sha256\",\"header\":\"X-Signature\"}.".into(),
        }]);
    };
    let mut fields = Fields::new(map, at, &FIELDS);
    let described = describe(&mut fields, map, at);
    match described {
        Some(described) if fields.errors.is_empty() => Ok(described),
        _ => Err(fields.errors),
    }
}

fn describe(fields: &mut Fields<'_>, map: &Map<String, Value>, at: &str) -> Option<Described> {
    let methods = methods(fields);
    let algorithm = fields.word("algorithm", &Algorithm::ALL);
    if algorithm.is_none() && !fields.has("algorithm") {
        let known: Vec<&str> = Algorithm::ALL.iter().map(|(word, _)| *word).collect();
        fields.fault("algorithm", format!("Say how the sender signs: {}.", known.join(", ")));
    }
    let header = match fields.text("header", 128) {
        Some(name) => fields.check("header", header_name(name)),
        None if algorithm == Some(Algorithm::Basic) => Some("authorization".into()),
        None => {
            if !fields.has("header") {
                fields.fault("header", "Name the header that carries the signature or token.".into());
            }
            None
        }
    };
    let separator = fields.text("separator", 8).map(str::to_owned);
    if separator.as_deref() == Some("") {
        fields.fault(
            "separator",
            "An empty text splits nothing. Leave it out for a header with one value.".into(),
        );
    }
    let prefix = fields.text("prefix", 64).unwrap_or_default().to_owned();
    check_prefix(fields, separator.as_deref(), &prefix);
    let encoding = fields.word("encoding", &[("hex", Encoding::Hex), ("base64", Encoding::Base64)]);
    let signed = match fields.text("signed", 1_024) {
        Some(text) => fields.check("signed", Template::parse(text, false)),
        None => Some(Template::body()),
    };
    let compressed_body = fields.word(
        "compressed_body",
        &[("received", CompressedBody::Received), ("decoded", CompressedBody::Decoded)],
    );
    let timestamp = match fields.get("timestamp") {
        Some(value) => timestamp(fields, value, separator.as_deref()),
        None => None,
    };
    let form = secret_form(fields, algorithm);
    let event = custom_event::event(fields, map, at)?;
    let (algorithm, header, signed, form) = (algorithm?, header?, signed?, form?);
    check_signed(fields, algorithm, &signed, timestamp.as_ref());
    let mut verify = VerifyRule {
        family: None,
        when: Vec::new(),
        header,
        separator,
        signed,
        compressed_body: compressed_body.unwrap_or_default(),
        timestamp: OrNone(timestamp),
        signatures: vec![SignatureRule {
            algorithm,
            prefix,
            encoding: encoding.unwrap_or_default(),
            named: None,
        }],
        url_with_port: false,
        body_hash: None,
        algorithm_named_by: None,
        weak: Vec::new(),
    };
    verify.weak = strength::weak(&verify, event.items.iter());
    let secret = SecretRule { title: "secret".into(), example: example(&form), forms: vec![form] };
    Some(Described { methods, secret, verify, event })
}

fn methods(fields: &mut Fields<'_>) -> Vec<String> {
    let default = vec!["POST".to_owned()];
    let Some(value) = fields.get("methods") else { return default };
    let known = ["POST", "PUT", "PATCH", "GET", "DELETE"];
    let listed: Option<Vec<String>> = value.as_array().and_then(|values| {
        let texts =
            values.iter().map(|value| value.as_str().filter(|text| known.contains(text)).map(str::to_owned));
        texts.collect::<Option<Vec<String>>>().filter(|methods| !methods.is_empty())
    });
    listed.unwrap_or_else(|| {
        fields.fault("methods", format!("This is a list of methods in capitals: {}.", known.join(", ")));
        default
    })
}

fn timestamp(fields: &mut Fields<'_>, value: &Value, separator: Option<&str>) -> Option<TimestampRule> {
    let at = fields.pointer("timestamp");
    let Some(map) = value.as_object() else {
        fields.fault("timestamp", "Say where the time stands, such as {\"header\":\"X-Time\"}.".into());
        return None;
    };
    let mut inner = Fields::new(map, &at, &TIMESTAMP_FIELDS);
    let mut places = Vec::new();
    if let Some(name) = inner.text("header", 128) {
        places.extend(inner.check("header", header_name(name)).map(TimestampPlace::Header));
    }
    if let Some(entry) = inner.text("entry", 64) {
        if separator.is_some_and(|separator| !separator.is_empty() && entry.contains(separator)) {
            inner.fault(
                "entry",
                "The header is split at the separator, so no entry can begin with text that holds it.".into(),
            );
        }
        if entry.is_empty() {
            inner.fault("entry", "Say what the entry begins with, such as t=.".into());
        } else if separator.is_none() {
            inner.fault("entry", "An entry needs a header that is a list: set separator.".into());
        }
        places.push(TimestampPlace::Entry(entry.to_owned()));
    }
    if let Some(text) = inner.text("json", 1_024) {
        places.extend(inner.check("json", Pointer::parse(text)).map(TimestampPlace::Json));
    }
    let unit = unit(&mut inner);
    let seconds = match inner.get("tolerance_seconds") {
        Some(value) => {
            inner.check("tolerance_seconds", tolerance(value)).unwrap_or(TOLERANCE_SECONDS_DEFAULT)
        }
        None => TOLERANCE_SECONDS_DEFAULT,
    };
    if places.len() != 1 && inner.errors.is_empty() {
        inner.fault_here("Say where the time stands by exactly one of header, entry and json.".into());
    }
    fields.errors.append(&mut inner.errors);
    let place = places.pop().filter(|_| places.is_empty())?;
    Some(TimestampRule { place, unit, tolerance_seconds: Stated::Is(seconds) })
}

fn unit(fields: &mut Fields<'_>) -> TimeUnit {
    let units = [("s", TimeUnit::S), ("ms", TimeUnit::Ms), ("rfc3339", TimeUnit::Rfc3339)];
    fields.word("unit", &units).unwrap_or_default()
}

fn secret_form(fields: &mut Fields<'_>, algorithm: Option<Algorithm>) -> Option<SecretForm> {
    let prefix = fields.text("secret_prefix", 64).unwrap_or_default().to_owned();
    let encodings = [
        ("utf8", SecretEncoding::Utf8),
        ("hex", SecretEncoding::Hex),
        ("base64", SecretEncoding::Base64),
        ("pem", SecretEncoding::Pem),
    ];
    let encoding = fields.word("secret_encoding", &encodings);
    let algorithm = algorithm?;
    let key = algorithm.key_kind();
    let public = matches!(key, KeyKind::Ed25519 | KeyKind::EcdsaP256);
    let fault = match encoding {
        Some(SecretEncoding::Utf8) if public => Some("A public key is written as pem, hex or base64."),
        Some(SecretEncoding::Pem) if !public => Some("pem is for the public keys of ed25519 and ecdsa-p256."),
        Some(SecretEncoding::Hex | SecretEncoding::Base64) if algorithm.is_credential() => {
            Some("The header holds the secret as it is, so it has no encoding.")
        }
        _ => None,
    };
    if let Some(fault) = fault {
        fields.fault("secret_encoding", fault.into());
    }
    Some(SecretForm {
        key,
        prefixes: if prefix.is_empty() { Vec::new() } else { vec![prefix] },
        prefix_required: false,
        encoding: encoding.unwrap_or(if public { SecretEncoding::Pem } else { SecretEncoding::Utf8 }),
        usual_bytes: None,
        usual_prefix: None,
        refuse: None,
    })
}

/// A prefix that no entry can have would refuse every delivery.
fn check_prefix(fields: &mut Fields<'_>, separator: Option<&str>, prefix: &str) {
    if separator.is_some_and(|separator| !separator.is_empty() && prefix.contains(separator)) {
        let text = "The header is split at the separator, so no entry can begin with a prefix that holds it.";
        fields.fault("prefix", text.into());
    } else if prefix.starts_with(char::is_whitespace) {
        fields.fault("prefix", "Spaces in front of a value are dropped, so none begins with one.".into());
    }
}

/// An unsigned time proves nothing, and where nothing is signed there is nothing to describe.
fn check_signed(
    fields: &mut Fields<'_>,
    algorithm: Algorithm,
    signed: &Template,
    time: Option<&TimestampRule>,
) {
    if algorithm.is_credential() {
        if *signed != Template::body() {
            fields.fault("signed", "Nothing is signed: the header holds the secret itself.".into());
        }
        if time.is_some() {
            fields.fault("timestamp", "Nothing is signed, so a time would prove nothing.".into());
        }
        return;
    }
    let covered = match time.map(|time| &time.place) {
        None => true,
        Some(TimestampPlace::Header(name)) => signed.has(&Part::Timestamp) || signed.has_header(name),
        Some(TimestampPlace::Entry(_)) => signed.has(&Part::Timestamp),
        Some(TimestampPlace::Json(_)) => signed.has(&Part::Body) || signed.has(&Part::Timestamp),
    };
    if !covered {
        fields.fault(
            "timestamp",
            "The time is not among the signed bytes, so it would prove nothing. Put {timestamp} into signed."
                .into(),
        );
    }
    if time.is_none() && signed.has(&Part::Timestamp) {
        fields.fault("signed", "{timestamp} needs a timestamp that says where the time stands.".into());
    }
}

fn example(form: &SecretForm) -> String {
    let rest = match (form.key, form.encoding) {
        (KeyKind::Basic, _) => "user:password",
        (KeyKind::Ed25519 | KeyKind::EcdsaP256, SecretEncoding::Hex) => "302a300506032b6570032100…",
        (KeyKind::Ed25519 | KeyKind::EcdsaP256, SecretEncoding::Base64) => "MFkwEwYHKoZIzj0CAQYI…",
        (KeyKind::Ed25519 | KeyKind::EcdsaP256, _) => "-----BEGIN PUBLIC KEY----- … -----END PUBLIC KEY-----",
        (_, SecretEncoding::Hex) => "9f86d081884c7d659a2feaa0c55ad015",
        (_, SecretEncoding::Base64) => "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        _ => "a-long-random-text",
    };
    format!("{}{rest}", form.prefixes.first().map_or("", String::as_str))
}
