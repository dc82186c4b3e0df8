//! The fields as a description, and a description as fields.

use serde_json::{Map, Value, json};

use super::{JSON_OR_DIGEST, Sender};

impl Sender {
    /// The description.
    pub(in crate::tenant::endpoints) fn verify(&self) -> Value {
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
    pub(in crate::tenant::endpoints) fn of(verify: &Value) -> Self {
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
}

/// The words of a list that was typed.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty())
}

/// A description without what says the same as nothing, so that two that mean the same are equal.
pub(super) fn plain(verify: &Value) -> Value {
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
pub(in crate::tenant::endpoints) fn merge_patch(from: &Value, to: &Value) -> Value {
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
