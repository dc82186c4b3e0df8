//! Pasted secrets: what is trimmed, what is refused with which sentence, and what is only worth a notice.

use serde_json::json;

use crate::kit::Bench;

fn bench(provider: &str) -> Bench {
    Bench::new(provider, json!({}), &[])
}

#[test]
fn white_space_around_a_secret_is_taken_off_with_a_notice() {
    for provider in ["github", "stripe", "standard-webhooks"] {
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let checked = bench(provider).scheme.check_secret(&format!(" \t{text}\r\n")).unwrap();
        assert_eq!(checked.secret.expose(), text);
        assert!(checked.notices.iter().any(|notice| notice.contains("White space")), "{:?}", checked.notices);
        let plain = bench(provider).scheme.check_secret(text).unwrap();
        assert!(plain.notices.is_empty(), "{:?}", plain.notices);
    }
}

#[test]
fn an_empty_secret_is_no_secret() {
    for provider in [
        "github",
        "stripe",
        "standard-webhooks",
        "sendgrid",
        "twilio",
        "whatsapp",
        "slack",
        "shopify",
        "svix",
    ] {
        for text in ["", " ", "\n\t ", "\u{a0}"] {
            let refused = bench(provider).scheme.check_secret(text).unwrap_err();
            assert!(refused.contains("looks like this"), "{refused}");
            assert!(bench(provider).scheme.key(text).is_err());
        }
    }
    for text in ["whsec_", "v1,whsec_", "whpk_", "whsec_===="] {
        assert!(bench("standard-webhooks").scheme.check_secret(text).is_err(), "{text}");
    }
    assert!(bench("github").scheme.check_secret(&"x".repeat(9_000)).is_err());
}

#[test]
fn what_can_not_become_a_key_is_refused_with_what_it_should_look_like() {
    for (provider, text, told) in [
        ("standard-webhooks", "whsec_not base64!", "base64"),
        ("standard-webhooks", "plain-text-with-umläut", "base64"),
        ("svix", "sk_live_51%", "base64"),
        (
            "standard-webhooks",
            "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
            "private key",
        ),
        ("standard-webhooks", "whpk_AAAA", "Ed25519"),
        ("sendgrid", "SG.abcdef", "P-256"),
        ("sendgrid", "MCowBQYDK2VwAyEAFjDUaxkcXu3mX8fWwAaFLWfxIHWQIbW+bdOVYNaHhEs=", "P-256"),
        ("sendgrid", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "P-256"),
    ] {
        let refused = bench(provider).scheme.check_secret(text).unwrap_err();
        assert!(refused.contains(told) && refused.contains("looks like this"), "{text}: {refused}");
        assert!(!refused.contains(text), "the pasted text is not repeated: {refused}");
    }
}

#[test]
fn what_is_only_unusual_is_a_notice() {
    for (provider, text, told) in [
        ("stripe", "made-up", "whsec_"),
        ("standard-webhooks", "whsec_AAAA", "3 bytes"),
        ("github", "two words", "white space inside"),
    ] {
        let checked = bench(provider).scheme.check_secret(text).unwrap();
        assert!(checked.notices.iter().any(|notice| notice.contains(told)), "{text}: {:?}", checked.notices);
    }
}

#[test]
fn known_prefixes_of_standard_webhooks_are_dropped() {
    let whsec = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    for text in [whsec.to_owned(), format!("whsec_{whsec}"), format!("v1,whsec_{whsec}")] {
        assert!(bench("standard-webhooks").scheme.check_secret(&text).unwrap().notices.is_empty(), "{text}");
    }
    let whpk = "whpk_FjDUaxkcXu3mX8fWwAaFLWfxIHWQIbW+bdOVYNaHhEs=";
    assert!(bench("svix").scheme.check_secret(whpk).is_ok());
}

#[test]
fn a_public_key_may_be_pasted_in_any_spelling() {
    let base64 = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqaediUlp2MEgQVOEnlcL43/C18Ad9xUh+KLojMtoLfBoTBb/TVGCtkvRXXB54h58ErdJMD66U0o+5F2mSWm+vA==";
    use base64::Engine as _;
    let hex = hex::encode(base64::engine::general_purpose::STANDARD.decode(base64).unwrap());
    let (head, tail) = base64.split_at(64);
    for text in [
        base64.to_owned(),
        hex,
        format!("{head}\n{tail}"),
        format!("-----BEGIN PUBLIC KEY-----\n{head}\n{tail}\n-----END PUBLIC KEY-----\n"),
        format!("-----BEGIN PUBLIC KEY-----\\n{head}\\n{tail}\\n-----END PUBLIC KEY-----"),
    ] {
        assert!(bench("sendgrid").scheme.check_secret(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_key_shows_nothing_of_itself() {
    let key = bench("github").scheme.key("very-secret").unwrap();
    assert!(!format!("{key:?}").contains("very"));
    let checked = bench("github").scheme.check_secret("very-secret").unwrap();
    assert!(!format!("{checked:?}").contains("very"));
}
