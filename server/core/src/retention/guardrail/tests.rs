use super::*;
use crate::catalogue::Catalogue;

fn facts(provider: &str) -> Facts<'static> {
    Facts {
        provider: Catalogue::builtin().get(provider),
        consumers: Vec::new(),
        payload_days: 0,
        replay_days: 0,
        audit_days: 0,
        outage_days: 0,
    }
}

fn window(days: u64) -> Window {
    Window { kind: WindowKind::Audit, seconds: days * DAY_SECONDS, what: "a".into(), source: "b".into() }
}

/// Every number of days against every window up to a year: the key outlives the window, or it is refused, and never both.
#[test]
fn a_key_that_passes_outlives_the_window_and_one_that_does_not_is_refused() {
    for days in 0..=366 {
        for longest in 0..=366 {
            let windows = [window(longest / 2), window(longest), window(longest / 3)];
            let passes = check(days, &windows).is_ok();
            assert_eq!(passes, u64::from(days) > longest, "{days} {longest}");
            let life = key_life(days, &windows, None);
            assert!(life.seconds > longest * DAY_SECONDS, "never shorter than the window");
            assert!(life.seconds >= u64::from(days) * DAY_SECONDS, "never shorter than the policy");
            assert_eq!(life.raised_by.is_some(), !passes);
            let over = key_life(400, &windows, Some(days));
            assert_eq!(over.seconds, u64::from(days) * DAY_SECONDS, "an override counts to the letter");
            assert_eq!(over.overridden.is_some(), !passes, "and says what it overrides");
        }
    }
}

#[test]
fn a_second_more_than_whole_days_needs_a_day_more() {
    let mut odd = window(3);
    odd.seconds += 1;
    let breach = check(3, &[odd.clone()]).unwrap_err();
    assert_eq!(breach.days_min(), 4);
    assert!(check(4, &[odd]).is_ok());
}

#[test]
fn the_fewest_days_of_a_refusal_pass() {
    for seconds in
        [0, 1, DAY_SECONDS - 1, DAY_SECONDS, DAY_SECONDS + 1, 30 * DAY_SECONDS, 400 * DAY_SECONDS + 5]
    {
        let windows = [Window { seconds, ..window(0) }];
        if let Err(breach) = check(0, &windows) {
            let days = u32::try_from(breach.days_min()).unwrap();
            assert!(check(days, &windows).is_ok(), "{seconds}");
            assert!(check(days - 1, &windows).is_err(), "{seconds}: a day fewer is too few");
        }
    }
}

/// Each fact alone, for each provider of the catalogue: whatever is longest decides.
#[test]
fn each_kind_of_window_decides_when_it_is_the_longest() {
    let long = 500;
    for provider in Catalogue::builtin().all().map(|provider| provider.slug.as_str()) {
        let own = windows(&facts(provider)).iter().map(|window| window.seconds).max().unwrap_or(0);
        assert!(own < long * DAY_SECONDS);
        let cases = [
            (Facts { payload_days: 500, ..facts(provider) }, WindowKind::Replay),
            (Facts { replay_days: 500, ..facts(provider) }, WindowKind::OperatorReplay),
            (Facts { audit_days: 500, ..facts(provider) }, WindowKind::Audit),
            (Facts { outage_days: 500, ..facts(provider) }, WindowKind::Outage),
            (
                Facts {
                    consumers: vec![
                        RetryHorizon { name: "quick".into(), max_attempts: 1 },
                        RetryHorizon { name: "stubborn".into(), max_attempts: 20_000 },
                    ],
                    ..facts(provider)
                },
                WindowKind::ConsumerRetry,
            ),
        ];
        for (facts, kind) in cases {
            let windows = windows(&facts);
            let breach = check(500, &windows).unwrap_err();
            assert_eq!(breach.window.kind, kind, "{provider}");
            assert!(check(1_000, &windows).is_ok());
        }
    }
}

#[test]
fn stripes_thirty_days_of_redelivery_are_named_with_their_source() {
    let windows = windows(&facts("stripe"));
    assert!(check(31, &windows).is_ok());
    let breach = check(30, &windows).unwrap_err();
    assert_eq!(breach.window.kind, WindowKind::ProviderRedelivery);
    let text = breach.to_string();
    for part in ["receipt_days 30", "30 days", "Stripe send an event again", "docs.stripe.com", "31 or more"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_nobody_knows_counts_as_thirty_days_and_none_as_nothing() {
    let custom = windows(&facts("custom"));
    assert_eq!(check(30, &custom).unwrap_err().days_min(), 31);
    assert!(custom[0].what.contains("nobody says"));
    // Slack states six minutes of retries and no redelivery.
    let slack = windows(&facts("slack"));
    assert!(check(1, &slack).is_ok());
    assert_eq!(slack.len(), 1);
    let gone = Facts { provider: None, ..facts("stripe") };
    assert!(check(30, &windows(&gone)).is_err());
}

#[test]
fn a_consumers_horizon_is_the_sum_of_its_longest_waits() {
    let horizon = |max_attempts| RetryHorizon { name: String::new(), max_attempts }.seconds();
    assert_eq!(horizon(1), 5);
    assert_eq!(horizon(3), 5 + 10 + 20);
    assert_eq!(horizon(0), 0);
    let twelve: u64 = (1..=12).map(|attempt| backoff::ceiling_micros(attempt) / 1_000_000).sum();
    assert_eq!(horizon(12), twelve);
    assert!(horizon(u32::MAX) > 0, "the edge does not overflow");
}

#[test]
fn an_unsigned_id_or_time_keeps_the_key_while_a_secret_of_its_day_verifies() {
    let at = Timestamp::from_seconds;
    let live = LiveSecrets { oldest: Some(at(100)), oldest_of_provider: Some(at(100)) };
    for weak in ["id", "time", "id time", "body id"] {
        assert!(live.keep(at(100), weak, true), "{weak}");
        assert!(live.keep(at(500), weak, true));
        assert!(!live.keep(at(99), weak, true), "it came before any secret that still verifies");
        assert!(!LiveSecrets::default().keep(at(500), weak, true));
        // Another endpoint of the provider has an older secret: it takes the request where the key is shared.
        let other = LiveSecrets { oldest: None, oldest_of_provider: Some(at(100)) };
        assert!(other.keep(at(100), weak, false) && !other.keep(at(100), weak, true));
    }
    for signed in ["", "body", "identity"] {
        assert!(!live.keep(at(500), signed, false), "{signed}");
    }
}

#[test]
fn it_is_known_which_providers_sign_id_and_time() {
    let signs = |name| Catalogue::builtin().get(name).is_some_and(Provider::signs_id_and_time);
    for provider in ["stripe", "standard-webhooks", "svix"] {
        assert!(signs(provider), "{provider}");
    }
    for provider in ["github", "shopify", "custom"] {
        assert!(!signs(provider), "{provider}");
    }
}

#[test]
fn spans_are_told_in_the_words_of_people() {
    for (seconds, words) in [
        (360, "6 minutes"),
        (3_600, "1 hour"),
        (DAY_SECONDS, "1 day"),
        (2 * DAY_SECONDS + 7_200, "2 days and 2 hours"),
    ] {
        assert_eq!(Window { seconds, ..window(0) }.span(), words);
    }
}
