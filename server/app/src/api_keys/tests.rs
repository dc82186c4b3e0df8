//! API keys on both engines: what they grant, when they stop, and what the database knows of them.

use restante_core::access::{Scope, Scopes};
use restante_core::problem::{Code, Problem};
use restante_store::both_engines;
use restante_store::control::api_keys;

use super::*;
use crate::testing::TestApp;
use crate::{App, By, Repeat};

fn new(scopes: Scopes) -> NewApiKey {
    NewApiKey { name: "Deploy".to_owned(), scopes, expires_at: None }
}

fn problem<T: std::fmt::Debug>(result: Result<T, restante_store::StoreError>) -> Problem {
    match result.unwrap_err() {
        restante_store::StoreError::Problem(problem) => problem,
        other => panic!("a failure and no refusal: {other}"),
    }
}

async fn code(app: &App, key: &Secret<String>) -> Option<Code> {
    app.authenticate(key.expose()).await.err().map(|problem| problem.code)
}

both_engines!(a_key_opens_its_tenant_with_its_scopes, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let scopes = Scopes::NONE.with(Scope::EventsConsume);
    let made = a.app.create_api_key(&tenant.by, new(scopes), None).await.unwrap().value;
    let principal = a.app.authenticate(made.key.expose()).await.unwrap();
    assert_eq!(principal.tenant, tenant.by.tenant());
    assert_eq!((principal.key, principal.scopes), (Some(made.row.id), scopes));
    let listed = a.app.api_keys(&tenant.by, None, 50).await.unwrap();
    assert_eq!(listed.len(), 2);
    let found = listed.iter().find(|row| row.id == made.row.id).unwrap();
    assert_eq!(found.created_by, tenant.by.principal.key.unwrap().to_string());
    assert!(made.key.expose().starts_with(found.hint.trim_end_matches('…')));
    assert!(!a.t.holds(made.key.expose()).await);
    assert!(!a.t.holds(&made.key.expose()[13..50]).await, "not its secret part either");
});

both_engines!(a_key_grants_only_what_its_maker_has, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let some = Scopes::NONE.with(Scope::ConfigWrite).with(Scope::EventsRead);
    let made = a.app.create_api_key(&tenant.by, new(some), None).await.unwrap().value;
    let by = By { principal: a.app.authenticate(made.key.expose()).await.unwrap(), request_id: None };
    assert!(a.app.create_api_key(&by, new(some), None).await.is_ok());
    let more = new(some.with(Scope::PayloadsRead));
    assert_eq!(problem(a.app.create_api_key(&by, more, None).await).code, Code::MissingScope);
    assert_eq!(a.t.count("api_keys").await, 3);
});

both_engines!(a_key_without_a_name_or_already_expired_is_refused, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let asked = NewApiKey { name: " ".to_owned(), scopes: Scopes::ALL, expires_at: Some(a.app.clock.now()) };
    let refused = problem(a.app.create_api_key(&tenant.by, asked, None).await);
    let pointers: Vec<&str> = refused.errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/name", "/expires_at"]);
    assert_eq!(a.t.count("api_keys").await, 1);
});

both_engines!(a_key_stops_at_its_time, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let expires_at = Some(a.app.clock.now().plus_seconds(60));
    let asked = NewApiKey { expires_at, ..new(Scopes::ALL) };
    let made = a.app.create_api_key(&tenant.by, asked, None).await.unwrap().value;
    a.t.clock.advance_seconds(59);
    assert_eq!(code(&a.app, &made.key).await, None);
    a.t.clock.advance_seconds(1);
    assert_eq!(code(&a.app, &made.key).await, Some(Code::Unauthorized));
});

both_engines!(a_revoked_key_stops_here_at_once_and_elsewhere_within_five_seconds, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let other_node = a.second_node().await;
    let made = a.app.create_api_key(&tenant.by, new(Scopes::ALL), None).await.unwrap().value;
    for app in [&a.app, &other_node] {
        assert_eq!(code(app, &made.key).await, None);
    }
    a.app.delete_api_key(&tenant.by, made.row.id).await.unwrap();
    assert_eq!(code(&a.app, &made.key).await, Some(Code::Unauthorized));
    a.t.clock.advance_seconds(5);
    assert_eq!(code(&other_node, &made.key).await, Some(Code::Unauthorized));
    assert_eq!(a.app.api_keys(&tenant.by, None, 50).await.unwrap().len(), 1);
    assert_eq!(problem(a.app.delete_api_key(&tenant.by, made.row.id).await), Problem::not_found("key"));
});

both_engines!(the_right_name_with_another_secret_opens_nothing, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    // A key with the look-up part of a known one and a secret of its own.
    let known = ApiKey::parse(tenant.api_key.expose()).unwrap();
    let forged = loop {
        let lookup: [u8; 8] = a.app.random.bytes();
        let drawn = ApiKey::new(lookup, &Secret::new([1; 32]));
        let mut text = drawn.expose().expose().clone();
        text.replace_range(4..12, known.lookup());
        if let Some(forged) = with_checksum(&text) {
            break forged;
        }
    };
    assert_eq!(ApiKey::parse(forged.expose()).unwrap().lookup_hash(), known.lookup_hash());
    for _ in 0..2 {
        assert_eq!(code(&a.app, &forged).await, Some(Code::Unauthorized));
    }
    for text in ["", "rst_", &tenant.api_key.expose()[1..], "rst_abcdefgh_"] {
        assert_eq!(code(&a.app, &Secret::new(text.to_owned())).await, Some(Code::Unauthorized));
    }
});

/// The text with the checksum that belongs to it: CRC-32 in six digits of base 62.
fn with_checksum(text: &str) -> Option<Secret<String>> {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let covered = &text[..text.len() - 6];
    let mut crc = !0_u32;
    for byte in covered.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    let mut rest = u64::from(!crc);
    let mut digits = [b'0'; 6];
    for place in digits.iter_mut().rev() {
        *place = DIGITS[usize::try_from(rest % 62).unwrap()];
        rest /= 62;
    }
    let whole = format!("{covered}{}", std::str::from_utf8(&digits).unwrap());
    ApiKey::parse(&whole).map(|key| key.expose())
}

both_engines!(another_tenants_keys_look_absent, |t| async {
    let a = TestApp::new(t);
    let (owner, other) = (a.tenant("owner").await, a.tenant("other").await);
    let key = owner.by.principal.key.unwrap();
    assert_eq!(problem(a.app.delete_api_key(&other.by, key).await), Problem::not_found("key"));
    assert_eq!(a.app.api_keys(&other.by, None, 50).await.unwrap().len(), 1);
    assert_eq!(code(&a.app, &owner.api_key).await, None);
});

both_engines!(a_repeated_post_shows_the_same_key_and_makes_no_second, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let repeat = || Some(Repeat::new("k".to_owned(), "POST", "/v1/keys", b"{}"));
    let first = a.app.create_api_key(&tenant.by, new(Scopes::ALL), repeat()).await.unwrap();
    let second = a.app.create_api_key(&tenant.by, new(Scopes::ALL), repeat()).await.unwrap();
    assert_eq!((first.repeated, second.repeated), (false, true));
    assert_eq!(first.value, second.value);
    assert!(!a.t.holds(first.value.key.expose()).await);
    assert_eq!(a.t.count("api_keys").await, 2);
});

both_engines!(the_use_of_a_key_is_kept_to_the_minute, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let text = tenant.api_key.expose();
    let used = async || {
        let (_, note) = a.app.authenticate_and_note(text).await.unwrap();
        let wrote = note.is_some();
        if let Some(note) = note {
            note.await.unwrap();
        }
        let row = a.app.api_keys(&tenant.by, None, 1).await.unwrap().remove(0);
        (wrote, row.last_used_at.map(|at| at.seconds()))
    };
    a.t.clock.advance_seconds(61);
    let minute = a.app.clock.now().seconds() / 60 * 60;
    assert_eq!(used().await, (true, Some(minute)));
    a.t.clock.advance_seconds(30);
    assert_eq!(used().await, (false, Some(minute)));
    a.t.clock.advance_seconds(30);
    assert_eq!(used().await, (true, Some(minute + 60)));
    // A node whose clock lags does not turn the time back.
    let (tenant, key, early) =
        (tenant.by.tenant(), tenant.by.principal.key.unwrap(), Timestamp::from_seconds(60));
    let changed = a
        .app
        .store
        .write(move |conn| Box::pin(async move { api_keys::used(conn, tenant, key, early).await }))
        .await;
    assert_eq!(changed.unwrap(), 0);
});
