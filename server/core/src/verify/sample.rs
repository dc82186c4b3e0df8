//! Sample requests: an entry's own files with the values put in, or, for a sender that a person
//! described, a document made so that its sources find something.

use serde_json::{Map, Value};

use super::SignRequest;
use crate::catalogue::{
    Check, ItemRule, KeyPart, Part, Pointer, Scheme, Source, Step, TimeUnit, TimestampPlace,
};
use crate::identity::{Plan, Text, scan};

/// A sample, ready to be signed.
pub(super) struct Made {
    pub(super) body: Vec<u8>,
    pub(super) headers: Vec<(String, String)>,
    /// The time of signing where it stands in the body.
    pub(super) timestamp: Option<String>,
}

/// What is put into a sample.
pub(super) struct Values {
    id: String,
    event_type: String,
    now: String,
    now_ms: String,
    now_rfc3339: String,
}

impl Values {
    pub(super) fn new(scheme: &Scheme, request: &SignRequest<'_>) -> Self {
        let sample = find(scheme, request.sample);
        let or =
            |given: Option<&str>, own: Option<&str>, last: &str| given.or(own).unwrap_or(last).to_owned();
        Self {
            id: or(request.id, sample.map(|sample| sample.id.as_str()), "evt_sample_1"),
            event_type: or(
                request.event_type,
                sample.map(|sample| sample.event_type.as_str()),
                "sample.event",
            ),
            now: request.at.seconds().to_string(),
            now_ms: request.at.millis().to_string(),
            now_rfc3339: request.at.to_string(),
        }
    }

    /// Puts the values into a text, each escaped for the place where it goes.
    fn fill(&self, text: &str, escape: impl Fn(&str) -> String) -> String {
        text.replace("{{id}}", &escape(&self.id))
            .replace("{{type}}", &escape(&self.event_type))
            .replace("{{now}}", &self.now)
            .replace("{{now_ms}}", &self.now_ms)
            .replace("{{now_rfc3339}}", &escape(&self.now_rfc3339))
    }

    fn time(&self, unit: TimeUnit) -> &str {
        match unit {
            TimeUnit::S => &self.now,
            TimeUnit::Ms => &self.now_ms,
            TimeUnit::Rfc3339 => &self.now_rfc3339,
        }
    }
}

fn find<'a>(scheme: &'a Scheme, name: Option<&str>) -> Option<&'a crate::catalogue::Sample> {
    let mut samples = scheme.provider.entry.samples.iter();
    match name {
        None => samples.next(),
        Some(name) => samples.find(|sample| sample.name == name),
    }
}

/// Makes a sample for a scheme, or takes the given body with the sample's headers.
pub(super) fn make(
    scheme: &Scheme,
    check: &Check,
    request: &SignRequest<'_>,
    values: &Values,
) -> Result<Made, String> {
    let sample = find(scheme, request.sample);
    if let (Some(name), None) = (request.sample, sample) {
        return Err(format!("There is no sample “{name}” for {}.", scheme.provider.title));
    }
    let mut made = match sample {
        Some(sample) => {
            let files = scheme.provider.samples;
            let file = files.iter().find(|(name, _)| *name == sample.body).map_or(&b""[..], |(_, file)| file);
            let body = match request.body {
                Some(body) => body.to_vec(),
                None => {
                    let escape = if sample.content_type.contains("form") { form } else { json };
                    values.fill(&String::from_utf8_lossy(file), escape).into_bytes()
                }
            };
            let mut headers = vec![("content-type".to_owned(), sample.content_type.clone())];
            let own =
                sample.headers.iter().map(|(name, value)| (name.clone(), values.fill(value, str::to_owned)));
            headers.extend(own);
            Made { body, headers, timestamp: None }
        }
        None => described(scheme, check, request, values),
    };
    for part in &check.rule.signed.0 {
        if let Part::Header(name) = part
            && !made.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
            && !is_time(check, name)
        {
            made.headers.push((name.clone(), values.id.clone()));
        }
    }
    if let Some(TimestampPlace::Json(pointer)) = check.rule.timestamp.0.as_ref().map(|time| &time.place) {
        made.timestamp = read(&made.body, pointer);
    }
    Ok(made)
}

fn is_time(check: &Check, name: &str) -> bool {
    matches!(check.rule.timestamp.0.as_ref().map(|time| &time.place), Some(TimestampPlace::Header(known)) if known == name)
}

fn read(body: &[u8], pointer: &Pointer) -> Option<String> {
    let mut plan = Plan::new();
    let slot = plan.whole(pointer, false);
    let plan = plan.finish();
    let token = scan(body, &plan).ok()?.unstarred(&plan, slot)?;
    Text::from_token(body, token).map(|text| text.text.into_owned())
}

/// A document in which each source of a description finds something.
fn described(scheme: &Scheme, check: &Check, request: &SignRequest<'_>, values: &Values) -> Made {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let mut element = Value::Object(Map::new());
    let item = scheme.event_rules.first().and_then(|rule| rule.items.first());
    if let Some(item) = item {
        let mut put = |source: Option<&Source>, value: &str| {
            for place in source.into_iter().flat_map(places) {
                match place {
                    Source::Header(name) if !headers.iter().any(|(known, _)| known == name) => {
                        headers.push((name.clone(), value.to_owned()));
                    }
                    Source::Json(pointer) => set(&mut element, pointer, value),
                    _ => {}
                }
            }
        };
        put(item.account.0.as_ref(), "acct_sample");
        put(item.event_type.0.as_ref(), &values.event_type);
        for time in item.occurred_at.0.iter().flatten() {
            put(Some(&time.at), values.time(time.unit));
        }
        for part in item.unique_by.0.iter().flatten() {
            if let KeyPart::Source(source) = part {
                put(Some(source), &values.id);
            }
        }
        put(item.id.0.as_ref(), &values.id);
    }
    let mut document = around(element, item);
    if let Some(time) = &check.rule.timestamp.0
        && let TimestampPlace::Json(pointer) = &time.place
    {
        set(&mut document, pointer, values.time(time.unit));
    }
    let body = request.body.map_or_else(|| document.to_string().into_bytes(), <[u8]>::to_vec);
    Made { body, headers, timestamp: None }
}

/// The plain sources of a source that have to be there for it to be there.
fn places(source: &Source) -> Vec<&Source> {
    match source {
        Source::Join { parts, .. } => parts.iter().flat_map(places).collect(),
        Source::First(parts) => parts.first().map(places).unwrap_or_default(),
        plain => vec![plain],
    }
}

/// Puts an element into its array, at the place that the batch names.
fn around(element: Value, item: Option<&ItemRule>) -> Value {
    let Some(each) = item.and_then(|item| item.each.as_ref()) else { return element };
    each.0.iter().rev().fold(element, |inner, step| match step {
        Step::Any => Value::Array(vec![inner]),
        Step::Key(name) => Value::Object(Map::from_iter([(name.clone(), inner)])),
    })
}

/// Writes a text at a pointer, with objects on the way. What is there already and no object gives way.
fn set(document: &mut Value, pointer: &Pointer, text: &str) {
    let mut at = document;
    for step in &pointer.0 {
        let Step::Key(name) = step else { return };
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(members) = at else { return };
        at = members.entry(name.clone()).or_insert(Value::Null);
    }
    *at = Value::String(text.to_owned());
}

fn json(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn form(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
