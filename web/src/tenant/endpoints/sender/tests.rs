//! The form and its descriptions.

use restante_core::catalogue::{Catalogue, Scheme};

use serde_json::{Value, json};

use super::description::plain;
use super::{Sender, merge_patch};

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
