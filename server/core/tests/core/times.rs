//! Signed times: where they stand, how they are read, and how far they may be off.

use restante_core::verify::{PublicReason, Reason, Verdict};
use serde_json::{Value, json};

use crate::kit::{Bench, NOW, SECRET, hmac_sha256, post};

/// A sender whose time stands in a header, with this `timestamp` beside it.
fn bench(more: Value) -> Bench {
    let mut timestamp = json!({"header": "X-Time"});
    timestamp.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{timestamp}.{body}", "timestamp": timestamp});
    Bench::custom(verify)
}

fn request(time: &str) -> restante_core::request::Request {
    let signature = hex::encode(hmac_sha256(SECRET, format!("{time}.b")));
    post(&[("x-sig", &signature), ("x-time", time)], "b")
}

#[test]
fn the_bound_is_inclusive_and_symmetric() {
    let bench = bench(json!({}));
    for (time, passes) in [(NOW - 300, true), (NOW - 301, false), (NOW + 300, true), (NOW + 301, false)] {
        let verdict = bench.verdict(&request(&time.to_string()));
        assert_eq!(matches!(verdict, Verdict::Accept(_)), passes, "{}", time - NOW);
    }
    let refused = bench.refused(&request(&(NOW + 3_600).to_string()));
    assert_eq!((refused.reason, refused.age_seconds), (Reason::TimestampOutOfTolerance, Some(-3_600)));
    assert_eq!((refused.public, refused.status), (PublicReason::Timestamp, 401));
}

#[test]
fn the_endpoint_can_set_its_own_tolerance() {
    for (provider_side, endpoint_side, age, passes) in
        [(60, None, 61, false), (60, Some(600), 600, true), (600, Some(60), 61, false)]
    {
        let mut options = json!({"verify": {"algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{timestamp}.{body}",
            "timestamp": {"header": "X-Time", "tolerance_seconds": provider_side}}});
        options["tolerance_seconds"] = json!(endpoint_side);
        let bench = Bench::new("custom", options, &[SECRET]);
        let verdict = bench.verdict(&request(&(NOW - age).to_string()));
        assert_eq!(matches!(verdict, Verdict::Accept(_)), passes);
    }
}

#[test]
fn what_is_no_time_is_malformed_however_well_it_is_signed() {
    let bench = bench(json!({}));
    for time in [
        "-1",
        "+1780000000",
        "1780000000.0",
        "1e9",
        "0x6a1c",
        "yesterday",
        "1780000000000",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551616",
        "１７８",
        "1 780 000 000",
    ] {
        let refused = bench.refused(&request(time));
        assert_eq!(
            (refused.reason, refused.public),
            (Reason::MalformedTimestamp, PublicReason::Timestamp),
            "{time}"
        );
    }
    for (time, reason) in [
        ("0", Reason::TimestampOutOfTolerance),
        ("999999999999", Reason::TimestampOutOfTolerance),
        ("", Reason::TimestampMissing),
    ] {
        assert_eq!(bench.reason(&request(time)), reason, "{time}");
    }
}

#[test]
fn the_unit_is_fixed_and_never_guessed() {
    let millis = bench(json!({"unit": "ms"}));
    assert!(matches!(millis.verdict(&request(&format!("{NOW}999"))), Verdict::Accept(_)));
    assert_eq!(millis.reason(&request(&NOW.to_string())), Reason::TimestampOutOfTolerance);
    let text = bench(json!({"unit": "rfc3339"}));
    for time in ["2026-05-28T20:26:40Z", "2026-05-28T22:26:40+02:00", "2026-05-28T20:26:40.123456789Z"] {
        assert!(matches!(text.verdict(&request(time)), Verdict::Accept(_)), "{time}");
    }
    assert_eq!(text.reason(&request(&NOW.to_string())), Reason::MalformedTimestamp);
}

#[test]
fn a_forged_request_is_told_from_a_wrong_clock() {
    let mut stale = request(&(NOW - 4_000).to_string());
    let bench = bench(json!({}));
    assert_eq!(bench.reason(&stale), Reason::TimestampOutOfTolerance);
    stale.body = "other".into();
    assert_eq!(bench.reason(&stale), Reason::SignatureMismatch);
}

#[test]
fn a_time_in_an_entry_stands_there_once() {
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "separator": ",", "prefix": "v1=",
        "signed": "{timestamp}.{body}", "timestamp": {"entry": "t="}});
    let bench = Bench::custom(verify);
    let right = hex::encode(hmac_sha256(SECRET, format!("{NOW}.b")));
    let reason = |value: String| bench.reason(&post(&[("x-sig", &value)], "b"));
    assert!(matches!(
        bench.verdict(&post(&[("x-sig", &format!("t={NOW},t={NOW},v1={right}"))], "b")),
        Verdict::Accept(_)
    ));
    assert_eq!(reason(format!("t={NOW},t={},v1={right}", NOW - 1)), Reason::AmbiguousHeader);
    assert_eq!(reason(format!("v1={right}")), Reason::TimestampMissing);
    assert_eq!(reason(format!("t=,v1={right}")), Reason::MalformedTimestamp);
}

#[test]
fn a_time_in_the_body_is_signed_with_it() {
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "timestamp": {"json": "/sent/at", "unit": "ms"}});
    let bench = Bench::custom(verify);
    let of = |body: &str| {
        let signature = hex::encode(hmac_sha256(SECRET, body));
        bench.verdict(&post(&[("x-sig", &signature)], body.to_owned()))
    };
    let Verdict::Accept(accepted) = of(&format!(r#"{{"sent":{{"at":{NOW}000}}}}"#)) else { panic!("fresh") };
    assert_eq!(accepted.signed_at.map(|at| at.seconds()), Some(NOW));
    for (body, reason) in [
        (format!(r#"{{"sent":{{"at":{}000}}}}"#, NOW - 301), Reason::TimestampOutOfTolerance),
        (format!(r#"{{"sent":{{"at":{NOW}000,"at":1}}}}"#), Reason::TimestampMissing),
        ("{}".into(), Reason::TimestampMissing),
        ("broken".into(), Reason::TimestampMissing),
        (r#"{"sent":{"at":"now"}}"#.into(), Reason::MalformedTimestamp),
    ] {
        let Verdict::Reject(refused) = of(&body) else { panic!("{body}") };
        assert_eq!(refused.reason, reason, "{body}");
    }
}

#[test]
fn no_clock_makes_it_panic() {
    let bench = bench(json!({}));
    for now in [i64::MIN, -1, 0, 253_402_300_800, i64::MAX] {
        bench.verdict_at(&request("999999999999"), now);
        bench.verdict_at(&request("0"), now);
    }
}
