//! The pure core of `restante verify --json-lines`: a request with its secrets in one line of JSON, a
//! verdict in one line of JSON. It needs no server and no database, and the line's own clock.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{Endpoint, EventKey, Reply, Verdict, verify};
use crate::catalogue::{Catalogue, Scheme, SuccessBody};
use crate::limits::BODY_BYTES_CEILING_DEFAULT;
use crate::request::{HeaderList, Request};
use crate::time::Timestamp;

/// Reads one line and gives the line of its verdict. What can't be read is a verdict too, so that a
/// file of lines has as many answers.
pub fn verdict_line(input: &str) -> String {
    let line: Value = match serde_json::from_str(input) {
        Ok(line) => line,
        Err(error) => {
            return refused(&Value::Null, "unreadable_line", &format!("The line is not JSON: {error}."));
        }
    };
    let id = line.get("id").cloned().unwrap_or_default();
    match judge(&line) {
        Ok(told) => {
            let mut told = told;
            if let Some(members) = told.as_object_mut() {
                members.insert("id".into(), id);
            }
            told.to_string()
        }
        Err((reason, why)) => refused(&id, reason, &why),
    }
}

fn refused(id: &Value, reason: &str, why: &str) -> String {
    json!({ "id": id, "verdict": "reject", "reason": reason, "explanation": why, "receipts": [], "reply": null })
        .to_string()
}

type Fault = (&'static str, String);

fn judge(line: &Value) -> Result<Value, Fault> {
    let unreadable = |why: &str| ("unreadable_line", why.to_owned());
    let name = line
        .get("provider")
        .and_then(Value::as_str)
        .ok_or_else(|| unreadable("The line names no provider."))?;
    let provider = Catalogue::builtin()
        .get(name)
        .ok_or_else(|| ("unknown_provider", format!("The catalogue has no provider “{name}”.")))?;
    let none = Map::new();
    let options = match line.get("extra") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(options)) => options,
        Some(_) => return Err(unreadable("extra holds the endpoint's options, as an object.")),
    };
    let scheme = Scheme::compile(provider, options).map_err(|faults| {
        let told: Vec<String> =
            faults.iter().map(|fault| format!("{}: {}", fault.pointer, fault.detail)).collect();
        ("unusable_options", told.join(" "))
    })?;
    let mut keys = Vec::new();
    for secret in line.get("secrets").and_then(Value::as_array).into_iter().flatten() {
        let text = secret.as_str().ok_or_else(|| unreadable("secrets is a list of texts."))?;
        keys.push(scheme.key(text).map_err(|why| ("unusable_secret", why))?);
    }
    let now = at(line.get("at")).ok_or_else(|| unreadable("at is the clock, in unix seconds."))?;
    let url = line.get("url").and_then(Value::as_str).unwrap_or_default();
    let (base, query) =
        url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query.to_owned())));
    let request = Request {
        method: line.get("method").and_then(Value::as_str).unwrap_or("POST").to_ascii_uppercase(),
        query,
        headers: headers(line.get("headers"))
            .ok_or_else(|| unreadable("headers is an object of texts or lists of texts."))?,
        body: body(line).ok_or_else(|| unreadable("body is a text, or body_base64 its base64."))?.into(),
    };
    let endpoint = Endpoint {
        scheme: &scheme,
        keys: &keys,
        url: base,
        endpoint_id: "endpoint",
        dedup_scope: None,
        body_bytes_max: BODY_BYTES_CEILING_DEFAULT,
    };
    Ok(told(&scheme, verify(&endpoint, &request, now)))
}

fn at(value: Option<&Value>) -> Option<Timestamp> {
    let value = value?;
    match (value.as_i64(), value.as_f64()) {
        (Some(seconds), _) => Some(Timestamp::from_seconds(seconds)),
        // A clock with a fraction; what lies beyond 64 bits stays at the edge.
        #[expect(clippy::cast_possible_truncation, reason = "a float beyond 64 bits saturates")]
        (None, Some(seconds)) => Some(Timestamp::from_micros((seconds * 1e6) as i64)),
        (None, None) => None,
    }
}

fn headers(value: Option<&Value>) -> Option<HeaderList> {
    let mut list = Vec::new();
    let mut add = |name: &str, value: &Value| {
        let text = value.as_str()?.trim_matches([' ', '\t']);
        list.push((name.to_ascii_lowercase(), text.to_owned().into_bytes().into()));
        Some(())
    };
    match value {
        None | Some(Value::Null) => {}
        Some(Value::Object(members)) => {
            for (name, value) in members {
                match value {
                    Value::Array(values) => values.iter().try_for_each(|value| add(name, value))?,
                    Value::Null => {}
                    one => add(name, one)?,
                }
            }
        }
        Some(Value::Array(pairs)) => {
            for pair in pairs {
                add(pair.get(0)?.as_str()?, pair.get(1)?)?;
            }
        }
        Some(_) => return None,
    }
    Some(HeaderList(list))
}

fn body(line: &Value) -> Option<Vec<u8>> {
    match (line.get("body_base64"), line.get("body")) {
        (Some(Value::String(text)), _) => STANDARD.decode(text).ok(),
        (_, Some(Value::String(text))) => Some(text.clone().into_bytes()),
        (None | Some(Value::Null), None | Some(Value::Null)) => Some(Vec::new()),
        _ => None,
    }
}

fn told(scheme: &Scheme, verdict: Verdict) -> Value {
    match verdict {
        Verdict::Accept(accepted) => {
            let receipts: Vec<Value> = accepted
                .items
                .iter()
                .map(|item| {
                    json!({
                        "event_id": item.event_id,
                        "type": item.event_type,
                        "account": item.account,
                        "event_key": match &item.event_key { EventKey::Known(key) => Some(key), _ => None },
                        "reason": if item.event_key == EventKey::Envelope { Some("envelope") } else { None },
                        "livemode": item.livemode,
                        "occurred_at": item.occurred_at,
                        "ambiguous": item.ambiguous,
                    })
                })
                .collect();
            let (headers, body) = match &scheme.reply().success_body {
                SuccessBody::Receipt => (json!({ "content-type": "application/json" }), None),
                SuccessBody::Fixed { content_type: Some(content_type), body } => {
                    (json!({ "content-type": content_type }), Some(body))
                }
                SuccessBody::Fixed { content_type: None, body } => (json!({}), Some(body)),
            };
            json!({
                "verdict": "accept",
                "reason": null,
                "explanation": null,
                "receipts": receipts,
                "weak": accepted.weak,
                "reply": { "status": scheme.reply().success_status, "headers": headers, "body": body },
            })
        }
        Verdict::Reject(rejection) => json!({
            "verdict": "reject",
            "reason": rejection.reason,
            "explanation": rejection.explanation,
            "receipts": [],
            "reply": {
                "status": rejection.status,
                "headers": { "content-type": "application/problem+json" },
                "body": null,
            },
        }),
        Verdict::Challenge(handshake) => json!({
            "verdict": "challenge",
            "reason": null,
            "explanation": null,
            "receipts": [],
            "reply": reply(&handshake.reply),
        }),
    }
}

fn reply(reply: &Reply) -> Value {
    let headers: Map<String, Value> =
        reply.headers.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
    json!({ "status": reply.status, "headers": headers, "body": String::from_utf8_lossy(&reply.body) })
}
