//! How a sender signs, as a form: the words of `options.verify` as fields. What the form has no field
//! for can be written as JSON, which then counts in place of the fields.

mod choices;
mod description;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub(super) use description::merge_patch;

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
