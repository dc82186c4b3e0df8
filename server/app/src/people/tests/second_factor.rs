//! The second factor.

use restante_core::id::UserId;
use restante_core::token::RecoveryCode;
use restante_core::totp::TotpSecret;
use restante_store::both_engines;

use super::super::{Actor, CodeAccepted, RECOVERY_CODES, SecondFactor};
use super::*;

async fn enrolled(a: &TestApp) -> (UserId, TotpSecret, Vec<RecoveryCode>) {
    a.tenant("acme").await;
    let user = a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let secret = a.app.begin_second_factor(user).await.unwrap();
    let code = secret.code_at(a.app.clock.now());
    let codes = a.app.enable_second_factor(&Actor::person(user, None), &code).await.unwrap();
    (user, secret, codes)
}

async fn check(a: &TestApp, user: UserId, typed: &str) -> Result<CodeAccepted, Code> {
    a.app.check_code(user, typed).await.map_err(|error| problem::<()>(Err(error)).code)
}

both_engines!(a_secret_is_asked_for_only_after_its_first_right_code, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let user = a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let actor = Actor::person(user, None);
    assert!(matches!(a.app.second_factor(user).await.unwrap(), SecondFactor::Off));
    let nothing = problem(a.app.enable_second_factor(&actor, "123456").await);
    assert_eq!(nothing.code, Code::Conflict);
    let first = a.app.begin_second_factor(user).await.unwrap();
    let second = a.app.begin_second_factor(user).await.unwrap();
    assert!(
        matches!(a.app.second_factor(user).await.unwrap(), SecondFactor::Pending(kept) if kept.text() == second.text())
    );
    assert!(!sign_in(&a, "owner@acme.test", PASSWORD).await.unwrap().awaits_code);
    let now = a.app.clock.now();
    let refused = problem(a.app.enable_second_factor(&actor, &first.code_at(now)).await);
    assert_eq!(refused.errors[0].pointer, "/code");
    let codes = a.app.enable_second_factor(&actor, &second.code_at(now)).await.unwrap();
    assert_eq!(codes.len(), RECOVERY_CODES);
    assert!(sign_in(&a, "owner@acme.test", PASSWORD).await.unwrap().awaits_code);
    assert_eq!(problem(a.app.begin_second_factor(user).await).code, Code::Conflict);
    assert!(matches!(a.app.second_factor(user).await.unwrap(), SecondFactor::On { codes_left: 10 }));
});

both_engines!(a_code_counts_once_and_the_one_that_enabled_it_does_not_count_again, |t| async {
    let a = TestApp::new(t);
    let (user, secret, _) = enrolled(&a).await;
    let now = a.app.clock.now();
    assert_eq!(check(&a, user, &secret.code_at(now)).await, Err(Code::Invalid));
    a.t.clock.advance_seconds(30);
    let code = secret.code_at(a.app.clock.now());
    assert_eq!(check(&a, user, &code).await, Ok(CodeAccepted::App));
    assert_eq!(check(&a, user, &code).await, Err(Code::Invalid));
    // One of the step before is older than the last that was taken.
    assert_eq!(check(&a, user, &secret.code_at(now)).await, Err(Code::Invalid));
    a.t.clock.advance_seconds(60);
    assert_eq!(check(&a, user, &code).await, Err(Code::Invalid));
});

both_engines!(of_two_who_show_one_code_at_once_one_is_let_in, |t| async {
    let a = TestApp::new(t);
    let (user, secret, codes) = enrolled(&a).await;
    let other = a.second_node().await;
    a.t.clock.advance_seconds(30);
    for typed in [secret.code_at(a.app.clock.now()), codes[0].expose()] {
        let tasks: Vec<_> = (0..4)
            .map(|number| {
                let app = if number % 2 == 0 { a.app.clone() } else { other.clone() };
                let typed = typed.clone();
                tokio::spawn(async move { app.check_code(user, &typed).await.is_ok() })
            })
            .collect();
        let mut accepted = 0;
        for task in tasks {
            accepted += i64::from(task.await.unwrap());
        }
        assert_eq!(accepted, 1, "{typed}");
    }
});

both_engines!(a_recovery_code_counts_once_and_new_ones_end_the_old, |t| async {
    let a = TestApp::new(t);
    let (user, _, codes) = enrolled(&a).await;
    assert!(!a.t.holds(&codes[0].expose().replace('-', "")).await);
    assert_eq!(check(&a, user, &codes[0].expose()).await, Ok(CodeAccepted::Recovery { left: 9 }));
    assert_eq!(check(&a, user, &codes[0].expose()).await, Err(Code::Invalid));
    let new = a.app.new_recovery_codes(&Actor::person(user, None)).await.unwrap();
    assert_eq!(check(&a, user, &codes[1].expose()).await, Err(Code::Invalid));
    assert_eq!(
        check(&a, user, &new[1].expose().to_uppercase()).await,
        Ok(CodeAccepted::Recovery { left: 9 })
    );
});

both_engines!(who_guesses_codes_waits, |t| async {
    let a = TestApp::new(t);
    let (user, secret, codes) = enrolled(&a).await;
    a.t.clock.advance_seconds(30);
    for wrong in ["000000", "", "abc", "111111", "2222222"] {
        assert_eq!(check(&a, user, wrong).await, Err(Code::Invalid), "{wrong}");
    }
    let code = secret.code_at(a.app.clock.now());
    assert_eq!(check(&a, user, &code).await, Err(Code::RateLimited));
    assert_eq!(check(&a, user, &codes[0].expose()).await, Err(Code::RateLimited));
    a.t.clock.advance_seconds(15 * 60);
    assert_eq!(check(&a, user, &codes[0].expose()).await, Ok(CodeAccepted::Recovery { left: 9 }));
});

both_engines!(
    a_new_password_leaves_the_second_factor_and_a_link_of_the_operator_may_take_it_away,
    |t| async {
        let a = TestApp::new(t);
        let (user, ..) = enrolled(&a).await;
        let new = || Secret::new("another horse battery staple".to_owned());
        let link = a.app.new_reset_link(&Actor::operator(), user, false).await.unwrap();
        a.app.reset_password(&link, new(), None).await.unwrap();
        assert!(sign_in(&a, "owner@acme.test", new().expose()).await.unwrap().awaits_code);
        let link = a.app.new_reset_link(&Actor::operator(), user, true).await.unwrap();
        a.app.reset_password(&link, new(), None).await.unwrap();
        assert!(!sign_in(&a, "owner@acme.test", new().expose()).await.unwrap().awaits_code);
        assert_eq!((a.t.count("second_factors").await, a.t.count("recovery_codes").await), (0, 0));
    }
);

both_engines!(taking_it_away_ends_other_sessions, |t| async {
    let a = TestApp::new(t);
    let (user, ..) = enrolled(&a).await;
    let actor = Actor::person(user, None);
    let (own, other) = (a.app.new_session(user, false, ""), a.app.new_session(user, false, ""));
    let id = |byte: u8| restante_core::token::TokenHash([byte; 32]);
    a.app.insert_session(id(1), own.clone()).await.unwrap();
    a.app.insert_session(id(2), other).await.unwrap();
    a.app.disable_second_factor(&actor, own.id).await.unwrap();
    assert!(a.app.load_session(id(1)).await.unwrap().is_some());
    assert!(a.app.load_session(id(2)).await.unwrap().is_none());
    assert_eq!(problem(a.app.disable_second_factor(&actor, own.id).await).code, Code::Conflict);
    assert_eq!(problem(a.app.new_recovery_codes(&actor).await).code, Code::Conflict);
});

both_engines!(a_stolen_database_shows_no_secret_and_one_persons_opens_for_no_other, |t| async {
    let a = TestApp::new(t);
    let (_, secret, _) = enrolled(&a).await;
    a.tenant("other").await;
    let other = a.app.person_of("owner@other.test").await.unwrap().unwrap();
    a.app.begin_second_factor(other).await.unwrap();
    assert!(!a.t.holds(&secret.text().replace(' ', "")).await);
    let raw = String::from_utf8_lossy(secret.expose()).into_owned();
    assert!(raw.is_ascii() || raw.contains('\u{fffd}') || !a.t.holds(&raw).await);
    // The row of the first, put into the place of the second, does not open.
    a.t
        .execute(
            "UPDATE second_factors SET \
             key_wrapped = (SELECT f.key_wrapped FROM second_factors AS f WHERE f.enabled_at IS NOT NULL), \
             secret_sealed = (SELECT f.secret_sealed FROM second_factors AS f WHERE f.enabled_at IS NOT NULL) \
             WHERE enabled_at IS NULL",
        )
        .await;
    let opened = a.app.second_factor(other).await;
    assert!(matches!(opened, Err(StoreError::Corrupt { .. })), "{opened:?}");
});

both_engines!(a_server_without_the_master_key_of_a_second_factor_does_not_start, |t| async {
    let a = TestApp::new(t);
    enrolled(&a).await;
    let ring = |byte: u8| restante_core::seal::KeyRing::new(&[Secret::new([byte; 32])]).unwrap();
    assert!(crate::keys::check_master_keys(&ring(7), &a.app.store).await.is_ok());
    a.t.execute("DELETE FROM tenant_keys").await;
    let refused = crate::keys::check_master_keys(&ring(8), &a.app.store).await;
    assert!(matches!(refused, Err(crate::keys::CheckError::NotLoaded(_))), "{refused:?}");
});
