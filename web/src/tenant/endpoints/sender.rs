//! How a sender signs, as a form: the words of `options.verify` as fields. What the form has no field
//! for can be written as JSON, which then counts in place of the fields.

use serde_json::{Map, Value, json};

use crate::tenant::choices::Choice;

/// What a description may have of characters.
const JSON_CHARS_MAX: usize = 32 * 1024;
/// The id at a JSON pointer, or where nothing stands there the digest of the body.
const JSON_OR_DIGEST: &str = "json-or-digest";

/// The fields as they were typed. Each is called `v_…` in the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) methods: String,
    pub(crate) algorithm: String,
    pub(crate) header: String,
    pub(crate) separator: String,
    pub(crate) prefix: String,
    pub(crate) encoding: String,
    pub(crate) signed: String,
    pub(crate) compressed_body: String,
    pub(crate) secret_prefix: String,
    pub(crate) secret_encoding: String,
    /// Where the time of signing stands: nothing, `header`, `entry` or `json`, and there.
    pub(crate) time_in: String,
    pub(crate) time_at: String,
    pub(crate) time_unit: String,
    pub(crate) time_tolerance: String,
    /// Where the id, type, account and time of the event stand: nothing, `json` or `header`, and there. The id
    /// also `digest`, or `json-or-digest`.
    pub(crate) id_in: String,
    pub(crate) id_at: String,
    pub(crate) type_in: String,
    pub(crate) type_at: String,
    pub(crate) account_in: String,
    pub(crate) account_at: String,
    pub(crate) occurred_in: String,
    pub(crate) occurred_at: String,
    pub(crate) occurred_unit: String,
    /// What makes two deliveries the same event: `id,type` or `id`.
    pub(crate) unique_by: String,
    pub(crate) batch: String,
    /// The whole description as JSON, in place of all of the above.
    pub(crate) json: String,
}

impl Default for Sender {
    fn default() -> Self {
        let text = str::to_owned;
        Self {
            methods: text("POST"),
            algorithm: text("hmac-sha256"),
            header: String::new(),
            separator: String::new(),
            prefix: String::new(),
            encoding: text("hex"),
            signed: text("{body}"),
            compressed_body: text("received"),
            secret_prefix: String::new(),
            secret_encoding: text("utf8"),
            time_in: String::new(),
            time_at: String::new(),
            time_unit: text("s"),
            time_tolerance: text("300"),
            id_in: text("json"),
            id_at: text("/id"),
            type_in: text("json"),
            type_at: text("/type"),
            account_in: String::new(),
            account_at: String::new(),
            occurred_in: String::new(),
            occurred_at: String::new(),
            occurred_unit: text("s"),
            unique_by: text("id,type"),
            batch: String::new(),
            json: String::new(),
        }
    }
}

impl Sender {
    /// Takes a field of the form; a name that isn't one is passed over.
    pub(super) fn set(&mut self, name: &str, value: String) {
        let place = match name {
            "v_methods" => &mut self.methods,
            "v_algorithm" => &mut self.algorithm,
            "v_header" => &mut self.header,
            "v_separator" => &mut self.separator,
            "v_prefix" => &mut self.prefix,
            "v_encoding" => &mut self.encoding,
            "v_signed" => &mut self.signed,
            "v_compressed_body" => &mut self.compressed_body,
            "v_secret_prefix" => &mut self.secret_prefix,
            "v_secret_encoding" => &mut self.secret_encoding,
            "v_time_in" => &mut self.time_in,
            "v_time" => &mut self.time_at,
            "v_time_unit" => &mut self.time_unit,
            "v_time_tolerance" => &mut self.time_tolerance,
            "v_id_in" => &mut self.id_in,
            "v_id" => &mut self.id_at,
            "v_type_in" => &mut self.type_in,
            "v_type" => &mut self.type_at,
            "v_account_in" => &mut self.account_in,
            "v_account" => &mut self.account_at,
            "v_occurred_in" => &mut self.occurred_in,
            "v_occurred" => &mut self.occurred_at,
            "v_occurred_unit" => &mut self.occurred_unit,
            "v_unique_by" => &mut self.unique_by,
            "v_batch" => &mut self.batch,
            "v_json" => &mut self.json,
            _ => return,
        };
        *place = value;
    }

    /// Whether what was written as JSON is JSON.
    pub(super) fn readable(&self) -> Result<(), String> {
        if self.json.trim().is_empty() {
            return Ok(());
        }
        if self.json.len() > JSON_CHARS_MAX {
            return Err(format!("A description has at most {JSON_CHARS_MAX} bytes."));
        }
        match serde_json::from_str::<Map<String, Value>>(&self.json) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("This is no JSON object: {error}.")),
        }
    }

    /// The description.
    pub(super) fn verify(&self) -> Value {
        if !self.json.trim().is_empty() {
            return serde_json::from_str(&self.json).unwrap_or(Value::Null);
        }
        let mut verify = Map::new();
        let mut put = |name: &str, text: &str, usual: &str| {
            if !text.is_empty() && text != usual {
                verify.insert(name.to_owned(), Value::from(text));
            }
        };
        put("algorithm", self.algorithm.trim(), "");
        put("header", self.header.trim(), "");
        // White space may be what separates or precedes.
        put("separator", &self.separator, "");
        put("prefix", &self.prefix, "");
        let is_text = matches!(self.algorithm.as_str(), "token" | "basic");
        if !is_text {
            put("encoding", &self.encoding, "hex");
            put("signed", self.signed.trim(), "{body}");
            put("compressed_body", &self.compressed_body, "received");
        }
        put("secret_prefix", self.secret_prefix.trim(), "");
        let usual = if self.algorithm.starts_with("hmac") || is_text { "utf8" } else { "pem" };
        put("secret_encoding", &self.secret_encoding, usual);
        if !self.time_in.is_empty() {
            let mut time = Map::from_iter([(self.time_in.clone(), Value::from(self.time_at.trim()))]);
            time.insert("unit".to_owned(), Value::from(&*self.time_unit));
            let tolerance = self.time_tolerance.trim();
            if !tolerance.is_empty() {
                let seconds = tolerance.parse::<u64>().map_or_else(|_| Value::from(tolerance), Value::from);
                time.insert("tolerance_seconds".to_owned(), seconds);
            }
            verify.insert("timestamp".to_owned(), Value::Object(time));
        }
        let methods: Vec<String> = words(&self.methods).map(|word| word.to_ascii_uppercase()).collect();
        if !methods.is_empty() && methods != ["POST"] {
            verify.insert("methods".to_owned(), Value::from(methods));
        }
        let mut event = json!({
            "id": source(&self.id_in, &self.id_at),
            "type": source(&self.type_in, &self.type_at),
            "account": source(&self.account_in, &self.account_at),
        });
        if !self.occurred_in.is_empty() {
            let mut occurred = source(&self.occurred_in, &self.occurred_at);
            if self.occurred_unit != "s" {
                occurred["unit"] = Value::from(&*self.occurred_unit);
            }
            event["occurred_at"] = occurred;
        }
        verify.insert("event".to_owned(), event);
        if !self.unique_by.is_empty() && self.unique_by != "id,type" {
            verify.insert("unique_by".to_owned(), words(&self.unique_by).collect());
        }
        if !self.batch.is_empty() {
            verify.insert("batch".to_owned(), Value::from(&*self.batch));
        }
        Value::Object(verify)
    }

    /// The fields of a description that is there. What has no field is kept as JSON.
    pub(super) fn of(verify: &Value) -> Self {
        let text = |value: &Value, usual: &str| value.as_str().unwrap_or(usual).to_owned();
        let mut sender = Self { id_in: String::new(), type_in: String::new(), ..Self::default() };
        let listed = |value: &Value| {
            let words: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
            Some(words?.join(", "))
        };
        sender.methods = listed(&verify["methods"]).unwrap_or(sender.methods);
        sender.compressed_body = text(&verify["compressed_body"], "received");
        if let Some(words) = verify["unique_by"].as_array() {
            let mut words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.sort_unstable();
            sender.unique_by = words.join(",");
        }
        sender.algorithm = text(&verify["algorithm"], "");
        sender.header = text(&verify["header"], "");
        sender.separator = text(&verify["separator"], "");
        sender.prefix = text(&verify["prefix"], "");
        sender.encoding = text(&verify["encoding"], "hex");
        sender.signed = text(&verify["signed"], "{body}");
        sender.secret_prefix = text(&verify["secret_prefix"], "");
        let usual =
            if verify["algorithm"].as_str().is_some_and(|one| one.starts_with("e")) { "pem" } else { "utf8" };
        sender.secret_encoding = text(&verify["secret_encoding"], usual);
        sender.batch = text(&verify["batch"], "");
        let time = &verify["timestamp"];
        for place in ["header", "entry", "json"] {
            if let Some(at) = time[place].as_str() {
                (sender.time_in, sender.time_at) = (place.to_owned(), at.to_owned());
            }
        }
        sender.time_unit = text(&time["unit"], "s");
        sender.time_tolerance = time["tolerance_seconds"].as_u64().unwrap_or(300).to_string();
        for (name, place, at) in [
            ("id", &mut sender.id_in, &mut sender.id_at),
            ("type", &mut sender.type_in, &mut sender.type_at),
            ("account", &mut sender.account_in, &mut sender.account_at),
        ] {
            at.clear();
            for kind in ["json", "header", "digest"] {
                if let Some(text) = verify["event"][name][kind].as_str() {
                    (*place, *at) = (kind.to_owned(), text.to_owned());
                }
            }
        }
        let first = &verify["event"]["id"]["first"];
        if let (Some(at), "body") =
            (first[0]["json"].as_str(), first[1]["digest"].as_str().unwrap_or_default())
        {
            (sender.id_in, sender.id_at) = (JSON_OR_DIGEST.to_owned(), at.to_owned());
        }
        let occurred = &verify["event"]["occurred_at"];
        for kind in ["json", "header"] {
            if let Some(at) = occurred[kind].as_str() {
                (sender.occurred_in, sender.occurred_at) = (kind.to_owned(), at.to_owned());
            }
        }
        sender.occurred_unit = text(&occurred["unit"], "s");
        if plain(&sender.verify()) != plain(verify) {
            sender.json = serde_json::to_string_pretty(verify).unwrap_or_default();
        }
        sender
    }

    pub(crate) fn algorithms(&self) -> Vec<Choice> {
        let all = [
            ("hmac-sha256", "HMAC-SHA256"),
            ("hmac-sha1", "HMAC-SHA1"),
            ("hmac-sha512", "HMAC-SHA512"),
            ("ed25519", "Ed25519, a public key"),
            ("ecdsa-p256", "ECDSA P-256, a public key"),
            ("token", "a token that is the secret itself"),
            ("basic", "HTTP basic, the secret is user:password"),
        ];
        all.map(|(word, label)| Choice::labelled(word, label, &self.algorithm)).into()
    }

    pub(crate) fn encodings(&self) -> Vec<Choice> {
        ["hex", "base64"].map(|word| Choice::plain(word, &self.encoding)).into()
    }

    pub(crate) fn secret_encodings(&self) -> Vec<Choice> {
        let all = [
            ("utf8", "the text as it is"),
            ("hex", "hex"),
            ("base64", "base64"),
            ("pem", "PEM, a public key"),
        ];
        all.map(|(word, label)| Choice::labelled(word, label, &self.secret_encoding)).into()
    }

    pub(crate) fn time_places(&self) -> Vec<Choice> {
        let all = [
            ("", "the sender signs no time"),
            ("header", "in a header"),
            ("entry", "in an entry of the signature’s header"),
            ("json", "in the body, at a JSON pointer"),
        ];
        all.map(|(word, label)| Choice::labelled(word, label, &self.time_in)).into()
    }

    /// How a time is written.
    pub(crate) fn units(&self, present: &str) -> Vec<Choice> {
        let all = [("s", "seconds since 1970"), ("ms", "milliseconds since 1970"), ("rfc3339", "RFC 3339")];
        all.map(|(word, label)| Choice::labelled(word, label, present)).into()
    }

    /// Where an id, a type or an account can stand.
    pub(crate) fn places(&self, present: &str, none: &'static str) -> Vec<Choice> {
        let all = [("json", "in the body, at a JSON pointer"), ("header", "in a header"), ("", none)];
        all.map(|(word, label)| Choice::labelled(word, label, present)).into()
    }

    /// The same for the id, which can also be the digest of the body.
    pub(crate) fn id_places(&self) -> Vec<Choice> {
        let mut places = self.places(&self.id_in, "there is none: each delivery is an event");
        places.insert(1, Choice::labelled(JSON_OR_DIGEST, "in the body, else its digest", &self.id_in));
        places.insert(3, Choice::labelled("digest", "the digest of the body", &self.id_in));
        places
    }

    /// What makes two deliveries the same event; one that only JSON can say stays among the choices.
    pub(crate) fn unique_by_choices(&self) -> Vec<Choice> {
        let mut all = vec![("id,type", "the same id and type"), ("id", "the same id")];
        if !all.iter().any(|(word, _)| *word == self.unique_by) {
            all.push((&self.unique_by, &self.unique_by));
        }
        all.into_iter().map(|(word, label)| Choice::labelled(word, label, &self.unique_by)).collect()
    }

    pub(crate) fn compressed_bodies(&self) -> Vec<Choice> {
        let all = [("received", "the bytes as they came"), ("decoded", "the bytes after decoding")];
        all.map(|(word, label)| Choice::labelled(word, label, &self.compressed_body)).into()
    }
}

/// The words of a list that was typed.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty())
}

/// A description without what says the same as nothing, so that two that mean the same are equal.
fn plain(verify: &Value) -> Value {
    let mut verify = verify.clone();
    let algorithm = verify["algorithm"].as_str().unwrap_or_default();
    let secret_encoding = if algorithm.starts_with('e') { "pem" } else { "utf8" };
    let usual = json!({
        "methods": ["POST"], "separator": null, "prefix": "", "encoding": "hex", "signed": "{body}",
        "compressed_body": "received", "secret_prefix": "", "secret_encoding": secret_encoding, "timestamp": null,
        "event": {}, "unique_by": ["id", "type"], "batch": null,
    });
    if let Some(words) = verify.pointer_mut("/unique_by").and_then(Value::as_array_mut) {
        words.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    let time = json!({ "unit": "s", "tolerance_seconds": 300 });
    drop_usual(verify.pointer_mut("/timestamp"), &time);
    drop_usual(verify.pointer_mut("/event/occurred_at"), &time);
    let nothing = json!({ "id": null, "type": null, "account": null, "occurred_at": null });
    drop_usual(verify.pointer_mut("/event"), &nothing);
    drop_usual(Some(&mut verify), &usual);
    verify
}

fn drop_usual(value: Option<&mut Value>, usual: &Value) {
    if let (Some(map), Some(usual)) = (value.and_then(Value::as_object_mut), usual.as_object()) {
        map.retain(|name, value| !value.is_null() && usual.get(name) != Some(value));
    }
}

/// What a JSON merge takes to make `to` of what is there: what `to` hasn't any more is taken away.
pub(super) fn merge_patch(from: &Value, to: &Value) -> Value {
    let (Some(from), Some(to_map)) = (from.as_object(), to.as_object()) else { return to.clone() };
    let gone = from.keys().filter(|name| !to_map.contains_key(*name)).map(|name| (name.clone(), Value::Null));
    let changed = to_map.iter().map(|(name, value)| {
        let patch = from.get(name).map_or_else(|| value.clone(), |before| merge_patch(before, value));
        (name.clone(), patch)
    });
    Value::Object(gone.chain(changed).collect())
}

fn source(place: &str, at: &str) -> Value {
    match place {
        "" => Value::Null,
        "digest" => json!({ "digest": "body" }),
        JSON_OR_DIGEST => json!({ "first": [{ "json": at.trim() }, { "digest": "body" }] }),
        place => Value::Object(Map::from_iter([(place.to_owned(), Value::from(at.trim()))])),
    }
}

/// The form's field for a step below `/options/verify`.
pub(super) fn field(steps: &[&str]) -> String {
    let name = match steps {
        ["timestamp", "unit", ..] => "v_time_unit",
        ["timestamp", "tolerance_seconds", ..] => "v_time_tolerance",
        ["timestamp", ..] => "v_time",
        ["event", "id", ..] => "v_id",
        ["event", "type", ..] => "v_type",
        ["event", "account", ..] => "v_account",
        ["event", "occurred_at", "unit"] => "v_occurred_unit",
        ["event", "occurred_at", ..] => "v_occurred",
        ["methods"] => "v_methods",
        ["compressed_body"] => "v_compressed_body",
        ["unique_by"] => "v_unique_by",
        ["algorithm"] => "v_algorithm",
        ["header"] => "v_header",
        ["separator"] => "v_separator",
        ["prefix"] => "v_prefix",
        ["encoding"] => "v_encoding",
        ["signed"] => "v_signed",
        ["secret_prefix"] => "v_secret_prefix",
        ["secret_encoding"] => "v_secret_encoding",
        ["batch"] => "v_batch",
        _ => "v_json",
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use restante_core::catalogue::{Catalogue, Scheme};

    use super::*;

    fn compiles(verify: &Value) -> bool {
        let options = json!({ "verify": verify });
        Scheme::compile(Catalogue::builtin().get("custom").unwrap(), options.as_object().unwrap()).is_ok()
    }

    #[test]
    fn the_form_makes_a_description_that_holds() {
        let mut sender = Sender::default();
        assert!(!compiles(&sender.verify()), "the header is missing");
        sender.set("v_header", " X-Signature-256 ".to_owned());
        sender.set("v_prefix", "sha256=".to_owned());
        assert!(compiles(&sender.verify()));
        for (name, value) in [
            ("v_header", "Acme-Signature"),
            ("v_separator", ","),
            ("v_prefix", "v1="),
            ("v_signed", "{timestamp}.{body}"),
            ("v_time_in", "entry"),
            ("v_time", "t="),
            ("v_id_in", "digest"),
            ("v_account_in", "header"),
            ("v_account", "X-Account"),
        ] {
            sender.set(name, value.to_owned());
        }
        let verify = sender.verify();
        assert!(compiles(&verify), "{verify}");
        assert_eq!(verify["timestamp"], json!({ "entry": "t=", "unit": "s", "tolerance_seconds": 300 }));
        // Read back, the form is as it was.
        assert_eq!(
            Sender::of(&verify),
            Sender { id_at: "body".to_owned(), header: "Acme-Signature".to_owned(), ..sender }
        );
    }

    #[test]
    fn what_the_form_has_no_field_for_stays_as_json() {
        let verify = json!({
            "algorithm": "hmac-sha256", "header": "X-Sig",
            "event": { "id": { "join": [{ "json": "/id" }, { "json": "/version" }] } }
        });
        let sender = Sender::of(&verify);
        assert!(sender.json.contains("join"));
        assert_eq!(sender.verify(), verify);
        let broken = Sender { json: "{".to_owned(), ..Sender::default() };
        assert!(broken.readable().is_err() && broken.verify().is_null());
    }

    #[test]
    fn what_the_form_has_fields_for_is_shown_in_them_however_it_is_written() {
        for verify in [
            json!({ "algorithm": "token", "header": "X-Token", "event": { "id": { "json": "/id" } } }),
            json!({ "algorithm": "basic", "event": { "type": null } }),
            json!({ "algorithm": "hmac-sha256", "header": "X-Sig", "encoding": "hex", "signed": "{body}", "batch": null,
                "methods": ["POST"], "secret_encoding": "utf8", "unique_by": ["type", "id"], "timestamp": null }),
            json!({ "algorithm": "hmac-sha512", "header": "X-Sig", "methods": ["PUT", "POST"], "unique_by": ["id"],
                "compressed_body": "decoded", "timestamp": { "json": "/at" },
                "event": {
                    "id": { "first": [{ "json": "/id" }, { "digest": "body" }] },
                    "occurred_at": { "json": "/at", "unit": "ms" },
                } }),
        ] {
            assert!(compiles(&verify), "{verify}");
            let sender = Sender::of(&verify);
            assert_eq!(sender.json, "", "{verify}");
            assert_eq!(plain(&sender.verify()), plain(&verify));
        }
    }

    #[test]
    fn a_merge_of_the_patch_makes_what_the_form_says() {
        let from = json!({
            "algorithm": "hmac-sha256", "header": "X-Sig", "timestamp": { "header": "X-Time" },
            "event": { "id": { "json": "/id" }, "type": { "json": "/type" } }
        });
        let to = json!({ "algorithm": "hmac-sha256", "header": "X-New", "event": { "id": { "header": "X-Id" }, "type": null } });
        let patch = merge_patch(&from, &to);
        assert_eq!(
            patch,
            json!({
                "algorithm": "hmac-sha256", "header": "X-New", "timestamp": null,
                "event": { "id": { "json": null, "header": "X-Id" }, "type": null }
            })
        );
        assert_eq!(merge_patch(&Value::Null, &to), to);
    }

    #[test]
    fn every_algorithm_of_the_form_is_one() {
        for choice in Sender::default().algorithms() {
            let sender = Sender {
                header: "X-Sig".to_owned(),
                secret_encoding: if choice.value.starts_with('e') { "pem" } else { "utf8" }.to_owned(),
                algorithm: choice.value.clone(),
                ..Sender::default()
            };
            assert!(compiles(&sender.verify()), "{}", choice.value);
        }
    }
}
