//! `restante sign`: signs a body as a provider would, and prints the curl command that sends it.

use std::fs;
use std::path::Path;

use restante_app::clock::SystemClock;
use restante_core::catalogue::{Catalogue, Scheme};
use restante_core::limits::BODY_BYTES_CEILING_DEFAULT;
use restante_core::time::{Clock as _, Timestamp};
use restante_core::verify::{Endpoint, SignRequest, SignedRequest, sign};
use serde_json::{Map, Value, json};

use crate::arguments::SignArguments;
use crate::failure::Failure;
use crate::say;

pub(crate) fn run(asked: &SignArguments) -> Result<(), Failure> {
    let body = match (&asked.data, &asked.data_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(path)) => Some(read(path)?),
        (None, None) => None,
    };
    let signed = signed(asked, body.as_deref())?;
    let text = if asked.json {
        serde_json::to_string_pretty(&as_json(asked, &signed)).unwrap_or_default()
    } else {
        as_curl(asked, &signed)?
    };
    say::result(&text);
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::new(format!("{} can't be read: {error}.", path.display())))
}

fn signed(asked: &SignArguments, body: Option<&[u8]>) -> Result<SignedRequest, Failure> {
    let provider = Catalogue::builtin().get(&asked.provider).ok_or_else(|| {
        let known: Vec<&str> = Catalogue::builtin().all().map(|provider| provider.slug.as_str()).collect();
        Failure::usage(format!("There is no provider `{}`. There are: {}.", asked.provider, known.join(", ")))
    })?;
    let options: Map<String, Value> = match &asked.options {
        None => Map::new(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::usage(format!("--options is no JSON object: {error}.")))?,
    };
    let scheme = Scheme::compile(provider, &options).map_err(|faults| {
        let told: Vec<String> =
            faults.iter().map(|fault| format!("--options {}: {}", fault.pointer, fault.detail)).collect();
        Failure::usage(told.join("\n"))
    })?;
    let secret = match (&asked.secret, &asked.secret_file) {
        (Some(secret), _) => secret.clone(),
        (None, Some(path)) => String::from_utf8(read(path)?)
            .map(|text| text.trim().to_owned())
            .map_err(|_| Failure::new(format!("{} holds no text.", path.display())))?,
        (None, None) => String::new(),
    };
    let key = scheme.key(&secret).map_err(Failure::usage)?;
    let at = match &asked.at {
        None => SystemClock.now(),
        Some(text) => Timestamp::parse_rfc3339(text).ok_or_else(|| {
            Failure::usage("--at is no time in RFC 3339; it looks like 2026-11-30T12:00:00Z.")
        })?,
    };
    let url = asked.url.split('?').next().unwrap_or_default();
    let endpoint = Endpoint {
        scheme: &scheme,
        keys: &[key],
        url,
        endpoint_id: "",
        dedup_scope: None,
        body_bytes_max: BODY_BYTES_CEILING_DEFAULT,
    };
    let request = SignRequest {
        body,
        sample: asked.sample.as_deref(),
        id: asked.id.as_deref(),
        event_type: asked.event_type.as_deref(),
        at,
    };
    sign(&endpoint, &request).map_err(Failure::new)
}

fn full_url(asked: &SignArguments, signed: &SignedRequest) -> String {
    match &signed.query {
        Some(query) => format!("{}?{query}", asked.url),
        None => asked.url.clone(),
    }
}

fn as_json(asked: &SignArguments, signed: &SignedRequest) -> Value {
    let headers: Vec<Value> = signed.headers.iter().map(|(name, value)| json!([name, value])).collect();
    let mut shown = json!({ "method": signed.method, "url": full_url(asked, signed), "headers": headers });
    let (name, body) = match std::str::from_utf8(&signed.body) {
        Ok(text) => ("body", text.to_owned()),
        Err(_) => {
            use base64::Engine as _;
            ("body_base64", base64::engine::general_purpose::STANDARD.encode(&signed.body))
        }
    };
    if let Some(members) = shown.as_object_mut() {
        members.insert(name.to_owned(), body.into());
    }
    shown
}

/// The command for a POSIX shell. A body that came from a file, or that no command line can hold, is
/// sent from the file, byte for byte.
fn as_curl(asked: &SignArguments, signed: &SignedRequest) -> Result<String, Failure> {
    let mut command = format!("curl -sS -X {} {}", signed.method, quoted(&full_url(asked, signed)));
    for (name, value) in &signed.headers {
        command.push_str(" \\\n  -H ");
        command.push_str(&quoted(&format!("{name}: {value}")));
    }
    let body = match (&asked.data_file, std::str::from_utf8(&signed.body)) {
        (Some(path), _) => format!("--data-binary {}", quoted(&format!("@{}", path.display()))),
        (None, Ok(text)) if !text.contains('\0') => format!("--data-raw {}", quoted(text)),
        _ => return Err(Failure::new("The sample holds bytes that no command line can; use --json.")),
    };
    Ok(format!("{command} \\\n  {body}"))
}

/// A word for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(provider: &str) -> SignArguments {
        SignArguments {
            provider: provider.to_owned(),
            secret: Some("whsec_b2YgYSB0ZXN0".to_owned()),
            secret_file: None,
            url: "http://127.0.0.1:8080/in/abc".to_owned(),
            data: Some("{\"id\":\"evt_it's\",\"type\":\"t\"}".to_owned()),
            data_file: None,
            sample: None,
            id: None,
            event_type: None,
            options: None,
            at: Some("2026-11-30T12:00:00Z".to_owned()),
            json: false,
        }
    }

    #[test]
    fn the_command_carries_the_body_and_the_signature_quoted_for_a_shell() {
        let asked = asked("stripe");
        let signed = signed(&asked, asked.data.as_deref().map(str::as_bytes)).unwrap();
        let command = as_curl(&asked, &signed).unwrap();
        assert!(command.starts_with("curl -sS -X POST 'http://127.0.0.1:8080/in/abc'"), "{command}");
        assert!(command.to_lowercase().contains("stripe-signature: t=1796040000,v1="), "{command}");
        assert!(command.ends_with(r#"--data-raw '{"id":"evt_it'\''s","type":"t"}'"#), "{command}");
        assert!(!command.contains("whsec_"), "{command}");
    }

    #[test]
    fn what_can_not_be_signed_is_said() {
        let said = signed(&asked("nobody"), None).unwrap_err().to_string();
        assert!(said.contains("stripe"), "{said}");
        let mut bad = asked("custom");
        bad.options = Some("{\"verify\":{\"algorithm\":\"rot13\"}}".to_owned());
        assert!(signed(&bad, Some(b"{}")).unwrap_err().to_string().contains("--options /verify"));
        bad.options = Some("[]".to_owned());
        assert!(signed(&bad, Some(b"{}")).unwrap_err().to_string().contains("--options"));
        let mut bad = asked("stripe");
        bad.at = Some("yesterday".to_owned());
        assert!(signed(&bad, None).unwrap_err().to_string().contains("--at"));
    }
}
