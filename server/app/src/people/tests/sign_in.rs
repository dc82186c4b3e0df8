//! Signing in with address and password.

use restante_store::both_engines;

use super::*;

both_engines!(the_address_in_any_case_and_its_password_sign_in, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let accepted = sign_in(&a, " Owner@Acme.test ", PASSWORD).await.unwrap();
    assert!(!accepted.awaits_code);
    a.app.signed_in(accepted.user, None).await.unwrap();
    assert_eq!(a.t.count("users WHERE signed_in_at IS NOT NULL").await, 1);
});

both_engines!(a_password_counts_as_it_was_typed, |t| async {
    let a = TestApp::new(t);
    let some: Vec<char> = "🐎🔋📎🐙🎈🚲🧊🍋🌵".chars().collect();
    // 128 of them, in no order that repeats: the upper digits of a linear congruence.
    let mut state = 1_u64;
    let emoji: String = (0..128)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            some[(state >> 33) as usize % some.len()]
        })
        .collect();
    for (slug, password) in
        [("spaces", "  horse battery staple  "), ("nul", "horse\0battery staple"), ("emoji", &emoji)]
    {
        let email = format!("owner@{slug}.test");
        a.app.bootstrap(slug, &email, Secret::new(password.to_owned())).await.unwrap();
        let shorter: String = password.chars().skip(1).collect();
        for other in [password.trim(), &password.replace('\0', ""), &shorter, &format!("{password} ")] {
            if other != password {
                assert_eq!(sign_in(&a, &email, other).await, Err(Code::Unauthorized), "{slug}: {other:?}");
            }
        }
        assert!(sign_in(&a, &email, password).await.is_ok(), "{slug}");
    }
    // What is longer than any password is not even hashed.
    let long = format!("  horse battery staple  {}", "x".repeat(1 << 20));
    assert_eq!(sign_in(&a, "owner@spaces.test", &long).await, Err(Code::Unauthorized));
});

both_engines!(an_unknown_address_a_wrong_password_and_a_disabled_account_are_answered_alike, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let wrong = problem(a.app.check_password(asked("owner@acme.test", "wrong horse battery staple")).await);
    let unknown = problem(a.app.check_password(asked("nobody@acme.test", PASSWORD)).await);
    a.t.execute("UPDATE users SET disabled_at = 1").await;
    let disabled = problem(a.app.check_password(asked("owner@acme.test", PASSWORD)).await);
    assert_eq!(wrong.code, Code::Unauthorized);
    assert_eq!((&unknown, &disabled), (&wrong, &wrong));
    a.t.execute("UPDATE users SET disabled_at = NULL, password_hash = NULL").await;
    assert_eq!(problem(a.app.check_password(asked("owner@acme.test", PASSWORD)).await), wrong);
});

both_engines!(a_guesser_waits_and_so_does_a_stranger_with_the_right_password, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    for _ in 0..10 {
        assert_eq!(
            sign_in(&a, "owner@acme.test", "wrong horse battery staple").await,
            Err(Code::Unauthorized)
        );
    }
    assert_eq!(sign_in(&a, "owner@acme.test", PASSWORD).await, Err(Code::RateLimited));
    // An account that does not exist is treated the same.
    for _ in 0..10 {
        assert_eq!(sign_in(&a, "nobody@acme.test", PASSWORD).await, Err(Code::Unauthorized));
    }
    assert_eq!(sign_in(&a, "nobody@acme.test", PASSWORD).await, Err(Code::RateLimited));
    a.t.clock.advance_seconds(15 * 60);
    assert!(sign_in(&a, "owner@acme.test", PASSWORD).await.is_ok());
});

both_engines!(strangers_who_guess_do_not_lock_out_the_owners_own_browser, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let accepted = sign_in(&a, "owner@acme.test", PASSWORD).await.unwrap();
    let mark = a.app.signed_in(accepted.user, None).await.unwrap();
    for _ in 0..40 {
        let _ = sign_in(&a, "owner@acme.test", "wrong horse battery staple").await;
    }
    assert_eq!(sign_in(&a, "owner@acme.test", PASSWORD).await, Err(Code::RateLimited));
    assert_eq!(sign_in_from(&a, &mark, "owner@acme.test", PASSWORD).await, Ok(()));
    // The mark is that of one person: it helps nobody to guess at another.
    a.tenant("other").await;
    for _ in 0..30 {
        let _ = sign_in_from(&a, &mark, "owner@other.test", "wrong horse battery staple").await;
    }
    assert_eq!(sign_in_from(&a, &mark, "owner@other.test", PASSWORD).await, Err(Code::RateLimited));
    // A browser of the owner that guesses is stopped as well, and an invented mark is none.
    for _ in 0..10 {
        let _ = sign_in_from(&a, &mark, "owner@acme.test", "wrong horse battery staple").await;
    }
    assert_eq!(sign_in_from(&a, &mark, "owner@acme.test", PASSWORD).await, Err(Code::RateLimited));
    let invented = DeviceToken::new([9; 20]);
    assert_eq!(sign_in_from(&a, &invented, "owner@acme.test", PASSWORD).await, Err(Code::RateLimited));
});

both_engines!(a_browser_keeps_its_mark_and_loses_it_after_three_months_unused, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let user = sign_in(&a, "owner@acme.test", PASSWORD).await.unwrap().user;
    let first = a.app.signed_in(user, None).await.unwrap();
    let second = a.app.signed_in(user, Some(first.clone())).await.unwrap();
    assert_eq!(first.hash(), second.hash());
    assert_eq!(a.t.count("devices").await, 1);
    a.t.clock.advance_seconds(90 * 86_400);
    let third = a.app.signed_in(user, Some(first.clone())).await.unwrap();
    assert!(third.hash() != first.hash());
    assert!(!a.t.holds(third.expose()).await);
});

both_engines!(a_password_with_an_older_hash_gets_a_new_one, |t| async {
    let a = TestApp::new(t);
    a.tenant("acme").await;
    let cheap = argon2::Params::new(8 * 1024, 1, 1, None).unwrap();
    let old = argon2::password_hash::PasswordHasher::hash_password(
        &argon2::Argon2::from(cheap),
        PASSWORD.as_bytes(),
    );
    a.t.execute(&format!("UPDATE users SET password_hash = '{}'", old.unwrap())).await;
    assert!(sign_in(&a, "owner@acme.test", PASSWORD).await.is_ok());
    assert_eq!(a.t.count("users WHERE password_hash LIKE '$argon2id$v=19$m=19456,t=2,p=1$%'").await, 1);
    assert!(sign_in(&a, "owner@acme.test", PASSWORD).await.is_ok());
});
