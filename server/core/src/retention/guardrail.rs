//! The guardrail: a key is kept for longer than the longest window in which its event may come again.
//!
//! It is asked when a policy is saved and again when keys are removed, with the facts of that moment, so
//! that no order of edits gets around it.

use std::fmt;

use serde::Serialize;

use super::DAY_SECONDS;
use crate::backoff;
use crate::catalogue::Provider;
use crate::time::Timestamp;

/// What a window that nobody knows counts as: the longest period of automatic retries that is known of any
/// provider (Adyen's thirty days, docs.adyen.com, "Handle webhook events").
pub const UNKNOWN_WINDOW_DAYS: u64 = 30;

/// In what way an event may come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// The provider tries again by itself.
    ProviderRetry,
    /// A person has the provider send it again.
    ProviderRedelivery,
    /// A consumer is still trying.
    ConsumerRetry,
    /// The payload is here, so that people may replay it.
    Replay,
    /// People have events sent or imported again by their own means.
    OperatorReplay,
    /// The tenant has to be able to show that it came.
    Audit,
    /// Somebody catches up after an outage.
    Outage,
}

/// A window in which an event may come again, or its key is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Which.
    pub kind: WindowKind,
    /// How long, in seconds from the event's first delivery.
    pub seconds: u64,
    /// What it is, as a sentence that ends without a full stop.
    pub what: String,
    /// Where the figure comes from, as a sentence.
    pub source: String,
}

/// The last attempts of a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryHorizon {
    /// Its name.
    pub name: String,
    /// How often it tries.
    pub max_attempts: u32,
}

impl RetryHorizon {
    /// How long its own backoff goes on at most, in seconds. What a worker asks for beyond it keeps the event
    /// pending, and what is pending is never removed.
    fn seconds(&self) -> u64 {
        let doubling = 11_u32.min(self.max_attempts);
        let first: u64 = (1..=doubling).map(backoff::ceiling_micros).sum();
        let rest = u64::from(self.max_attempts - doubling) * backoff::ceiling_micros(u32::MAX);
        (first + rest).div_ceil(1_000_000)
    }
}

/// What the windows of an endpoint are made from.
pub struct Facts<'a> {
    /// Its provider's entry; `None` when this version has none, and then nothing is known of it.
    pub provider: Option<&'a Provider>,
    /// The consumers that its events may be handed to.
    pub consumers: Vec<RetryHorizon>,
    /// Days for which payloads stay, so that people may replay.
    pub payload_days: u32,
    /// Days for which people may have events sent or imported again.
    pub replay_days: u32,
    /// Days for which it must be possible to show that an event came.
    pub audit_days: u32,
    /// Days of the longest outage.
    pub outage_days: u32,
}

/// The windows of an endpoint, those of no length left out.
pub fn windows(facts: &Facts<'_>) -> Vec<Window> {
    let mut windows = Vec::new();
    let mut add = |kind, seconds, what: String, source: String| {
        if seconds > 0 {
            windows.push(Window { kind, seconds, what, source });
        }
    };
    let days = |days: u32| u64::from(days) * DAY_SECONDS;
    match facts.provider {
        Some(provider) => {
            let title = &provider.title;
            let source = || provider.windows_source.clone();
            let (retry, redelivery) = provider.windows_known();
            let span = |known: Option<u64>| known.unwrap_or(UNKNOWN_WINDOW_DAYS * DAY_SECONDS);
            let unknown = |known: Option<u64>| match known {
                Some(_) => String::new(),
                None => format!(
                    " (nobody says for how long, so {UNKNOWN_WINDOW_DAYS} days count, the longest known of any provider)"
                ),
            };
            add(
                WindowKind::ProviderRetry,
                span(retry),
                format!("{title} tries by itself to deliver an event again{}", unknown(retry)),
                source(),
            );
            add(
                WindowKind::ProviderRedelivery,
                span(redelivery),
                format!("a person can have {title} send an event again{}", unknown(redelivery)),
                source(),
            );
        }
        None => add(
            WindowKind::ProviderRetry,
            UNKNOWN_WINDOW_DAYS * DAY_SECONDS,
            format!("nothing is known of this provider, so {UNKNOWN_WINDOW_DAYS} days count"),
            "This version's catalogue has no entry for it.".to_owned(),
        ),
    }
    if let Some(longest) = facts.consumers.iter().max_by_key(|consumer| consumer.seconds()) {
        add(
            WindowKind::ConsumerRetry,
            longest.seconds(),
            format!("the consumer {} may still be trying", longest.name),
            format!("It has {} attempts, and waits up to an hour between two.", longest.max_attempts),
        );
    }
    add(
        WindowKind::Replay,
        days(facts.payload_days),
        "the payload is kept, so that people may replay the event".to_owned(),
        "The policy says so, as payload_days.".to_owned(),
    );
    add(
        WindowKind::OperatorReplay,
        days(facts.replay_days),
        "people may have events sent or imported again".to_owned(),
        "The policy says so, as replay_days.".to_owned(),
    );
    add(
        WindowKind::Audit,
        days(facts.audit_days),
        "it must be possible to show that the event came".to_owned(),
        "The policy says so, as audit_days.".to_owned(),
    );
    add(
        WindowKind::Outage,
        days(facts.outage_days),
        "somebody may catch up after an outage".to_owned(),
        "The policy says so, as outage_days.".to_owned(),
    );
    windows
}

/// The longest; of equals the first.
pub fn largest(windows: &[Window]) -> Option<&Window> {
    windows.iter().rev().max_by_key(|window| window.seconds)
}

/// A key would go while its event may still come again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// What was wanted, in days.
    pub receipt_days: u32,
    /// The longest window.
    pub window: Window,
}

impl Breach {
    /// The fewest days that would be right.
    pub const fn days_min(&self) -> u64 {
        self.window.seconds / DAY_SECONDS + 1
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Window { what, source, .. } = &self.window;
        let wanted = self.receipt_days;
        write!(
            f,
            "With receipt_days {wanted} an event could come in a second time as a new one: for {} {what}. {source} ",
            Span(self.window.seconds)
        )?;
        write!(f, "Set receipt_days to {} or more.", self.days_min())
    }
}

/// A length of time for people: days where they are whole, hours, minutes, or both.
struct Span(u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, hours, minutes) =
            (self.0 / DAY_SECONDS, self.0 % DAY_SECONDS / 3_600, self.0 % 3_600 / 60);
        let s = |n: u64| if n == 1 { "" } else { "s" };
        match (days, hours) {
            (0, 0) => write!(f, "{minutes} minute{}", s(minutes)),
            (0, _) => write!(f, "{hours} hour{}", s(hours)),
            (_, 0) => write!(f, "{days} day{}", s(days)),
            _ => write!(f, "{days} day{} and {hours} hour{}", s(days), s(hours)),
        }
    }
}

impl Window {
    /// How long it is, for people.
    pub fn span(&self) -> String {
        Span(self.seconds).to_string()
    }
}

/// Whether a key that stays so many days outlives every window.
///
/// # Errors
/// The longest window, when it does not.
pub fn check(receipt_days: u32, windows: &[Window]) -> Result<(), Breach> {
    match largest(windows) {
        Some(window) if u64::from(receipt_days) * DAY_SECONDS <= window.seconds => {
            Err(Breach { receipt_days, window: window.clone() })
        }
        _ => Ok(()),
    }
}

/// How long keys are kept, by the policy and the facts of a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyLife {
    /// Seconds after the event was stored.
    pub seconds: u64,
    /// The window that keeps them longer than the policy says.
    pub raised_by: Option<Window>,
    /// The window that an administrator has overridden.
    pub overridden: Option<Window>,
}

/// How long keys are kept. `override_days` is an administrator's word for this endpoint, which counts whatever the
/// windows are.
pub fn key_life(receipt_days: u32, windows: &[Window], override_days: Option<u32>) -> KeyLife {
    let days = override_days.unwrap_or(receipt_days);
    let breach = check(days, windows).err();
    match (breach, override_days) {
        (Some(breach), Some(_)) => KeyLife {
            seconds: u64::from(days) * DAY_SECONDS,
            raised_by: None,
            overridden: Some(breach.window),
        },
        (Some(breach), None) => {
            // It has to exceed the window, and days are what people reckon in.
            KeyLife {
                seconds: breach.days_min() * DAY_SECONDS,
                raised_by: Some(breach.window),
                overridden: None,
            }
        }
        (None, _) => KeyLife { seconds: u64::from(days) * DAY_SECONDS, raised_by: None, overridden: None },
    }
}

/// The secrets that verify at a moment, as far as the keys of an endpoint's events depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LiveSecrets {
    /// When the oldest of the endpoint's own was added; `None` when none verifies.
    pub oldest: Option<Timestamp>,
    /// When the oldest of all of the tenant's endpoints of the same provider was added. Two endpoints often share a
    /// secret, and an event whose key both share comes in again by either, also after one of them was deleted.
    pub oldest_of_provider: Option<Timestamp>,
}

impl LiveSecrets {
    /// Whether a key has to stay although its time is over: the scheme signed no id or no time, so that the captured
    /// request verifies for as long as its secret does. `weak` is what the scheme did not protect, in words;
    /// `own_scope`: the key is of this endpoint alone, and a request that another one takes would be another event.
    ///
    /// Which of several secrets verified is not asked: one that was there when the event came is enough.
    pub fn keep(&self, stored_at: Timestamp, weak: &str, own_scope: bool) -> bool {
        let replayable = weak.split(' ').any(|word| word == "id" || word == "time");
        let oldest = if own_scope { self.oldest } else { self.oldest_of_provider };
        replayable && oldest.is_some_and(|oldest| oldest <= stored_at)
    }
}

#[cfg(test)]
mod tests;
