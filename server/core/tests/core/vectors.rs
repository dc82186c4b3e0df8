//! Signed requests with their right verdicts, mostly made by the providers' own libraries.

use std::path::Path;

use restante_core::verify::verdict_line;
use serde_json::Value;

/// Every line of a file, as text and as the verdict that it expects.
fn lines(name: &str) -> Vec<(String, Value)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().map(|line| (line.to_owned(), serde_json::from_str(line).unwrap())).collect()
}

/// What differs between the verdict of a line and what it expects.
fn differences(line: &str, vector: &Value) -> Vec<String> {
    let verdict: Value = serde_json::from_str(&verdict_line(line)).unwrap();
    let expect = &vector["expect"];
    let mut found = Vec::new();
    let mut compare = |what: &str, wanted: &Value, came: &Value| {
        if wanted != came {
            found.push(format!(
                "{} {what}: expected {wanted}, came {came} ({})",
                vector["id"], verdict["explanation"]
            ));
        }
    };
    compare("id", &vector["id"], &verdict["id"]);
    compare("verdict", &expect["verdict"], &verdict["verdict"]);
    compare("reason", &expect["reason"], &verdict["reason"]);
    if expect["verdict"] == "accept" {
        let wanted = expect["receipts"].as_array().unwrap();
        let came = verdict["receipts"].as_array().unwrap();
        compare("number of receipts", &wanted.len().into(), &came.len().into());
        for (wanted, came) in wanted.iter().zip(came) {
            for field in ["event_id", "type", "account"] {
                if let Some(value) = wanted.get(field) {
                    compare(field, value, &came[field]);
                }
            }
        }
    }
    if let Some(reply) = expect["reply"].as_object() {
        for (field, wanted) in reply {
            match field.as_str() {
                "headers" => {
                    for (name, wanted) in wanted.as_object().unwrap() {
                        compare(name, wanted, &verdict["reply"]["headers"][name]);
                    }
                }
                _ if wanted.is_null() => {}
                field => compare(field, wanted, &verdict["reply"][field]),
            }
        }
    }
    found
}

#[test]
fn every_vector_gets_its_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut failed = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for (line, vector) in lines(&name) {
            count += 1;
            failed.extend(differences(&line, &vector));
        }
    }
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
    assert!(count >= 60, "{count}");
}
