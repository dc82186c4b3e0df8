//! What waits for a person, in groups of the same error at the same consumer. A bounded number of the
//! newest is looked at; what a consumer has beyond that is told by its counters.

use std::collections::BTreeMap;

use restante_core::handoff::{Outcome, State};
use restante_core::id::ReceiptId;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::handoffs::{self, WaitingHandoff};
use restante_store::stats;

use crate::{App, By};

/// Characters of an error that tell groups apart.
const KEY_CHARS_MAX: usize = 120;
/// Consumers that are looked at, those with the most that waits.
const CONSUMERS_MAX: usize = 20;
/// Handoffs that are looked at in all. Each takes three rows from anywhere in the database, so that more of them would
/// make the page slow; whoever works them off sees the next ones.
const LOOKED_AT_MAX: u32 = 1_000;
/// The least that are looked at of one state at one consumer.
const LOOKED_AT_MIN: u32 = 50;
/// Receipts that a group names.
const RECEIPTS_MAX: usize = 100;

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// The groups, the one with the newest failure first.
    pub groups: Vec<FailureGroup>,
    /// How many wait in all, by the counters.
    pub waiting: u64,
}

/// Handoffs that failed at one consumer in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureGroup {
    /// The consumer's name.
    pub consumer: String,
    /// `failed` or `uncertain`.
    pub state: State,
    /// How the last attempts ended; `None` where there was none.
    pub outcome: Option<Outcome>,
    /// The newest error in its own words.
    pub error: Option<String>,
    /// Whether the receipts wait for a repair.
    pub unreadable: bool,
    /// How many of those that were looked at.
    pub count: usize,
    /// Whether these are all: otherwise some of that consumer and state were not looked at and may be of this group.
    pub exact: bool,
    /// The newest of them, at most 100.
    pub receipts: Vec<ReceiptId>,
    /// The types of their events, the most frequent first, at most three.
    pub types: Vec<String>,
    /// When the newest failed; `None` where there was no attempt.
    pub last_at: Option<Timestamp>,
}

impl App {
    /// What waits for a person in the caller's tenant, at one consumer or at all.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn failures(&self, by: &By, consumer: Option<String>) -> Result<Failures, StoreError> {
        let tenant = by.tenant();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let gauges = stats::gauges(conn, tenant).await?;
                    let mut at: Vec<(u64, u64, stats::ConsumerPending)> = stats::consumers(conn, tenant)
                        .await?
                        .into_iter()
                        .filter(|one| consumer.as_ref().is_none_or(|name| *name == one.name))
                        .map(|one| {
                            let now_in = |metric| gauges.get(one.id.0, metric);
                            (now_in("failed").saturating_sub(now_in("settled")), now_in("uncertain"), one)
                        })
                        .filter(|(failed, uncertain, _)| failed + uncertain > 0)
                        .collect();
                    let waiting = at.iter().map(|(failed, uncertain, _)| failed + uncertain).sum();
                    at.sort_by_key(|(failed, uncertain, _)| std::cmp::Reverse(failed + uncertain));
                    at.truncate(CONSUMERS_MAX);
                    let lists = at
                        .iter()
                        .map(|(failed, uncertain, _)| usize::from(*failed > 0) + usize::from(*uncertain > 0));
                    let share = share(lists.sum());
                    let mut groups = Vec::new();
                    for (failed, uncertain, one) in at {
                        for (count, state) in [(failed, State::Failed), (uncertain, State::Uncertain)] {
                            if count > 0 {
                                let found =
                                    handoffs::waiting_for_a_person(conn, tenant, one.id, state, share)
                                        .await?;
                                let exact = found.len() as u64 >= count;
                                groups.extend(grouped(&one.name, found, exact));
                            }
                        }
                    }
                    groups.sort_by_key(|group: &FailureGroup| std::cmp::Reverse(group.last_at));
                    Ok(Failures { groups, waiting })
                })
            })
            .await
    }

    /// How many handoffs of the caller's tenant wait for a person, by the counters.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn failures_waiting(&self, by: &By) -> Result<u64, StoreError> {
        let tenant = by.tenant();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let gauges = stats::gauges(conn, tenant).await?;
                    let consumers = stats::consumers_named(conn, tenant).await?;
                    Ok(consumers
                        .iter()
                        .map(|id| {
                            let now_in = |metric| gauges.get(id.0, metric);
                            now_in("failed").saturating_sub(now_in("settled")) + now_in("uncertain")
                        })
                        .sum())
                })
            })
            .await
    }
}

/// How many handoffs are looked at of each of so many lists, a list being a state at a consumer.
fn share(lists: usize) -> u32 {
    (LOOKED_AT_MAX / u32::try_from(lists).unwrap_or(u32::MAX).max(1)).max(LOOKED_AT_MIN)
}

/// The same failure in other words: numbers and ids differ from time to time and make no other error.
fn key(error: &str) -> String {
    let mut key = String::new();
    for word in error.split_whitespace() {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let changes = digits > 0 && (digits * 3 >= word.len() || word.len() >= 16);
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(if changes { "#" } else { word });
        if key.len() >= KEY_CHARS_MAX {
            break;
        }
    }
    key.chars().take(KEY_CHARS_MAX).collect()
}

/// Groups in the order in which their newest member came; the list is newest first, and `exact` if it has all.
fn grouped(consumer: &str, waiting: Vec<WaitingHandoff>, exact: bool) -> Vec<FailureGroup> {
    let mut groups: Vec<FailureGroup> = Vec::new();
    let mut places: BTreeMap<(Option<&'static str>, bool, String), usize> = BTreeMap::new();
    let mut types: Vec<BTreeMap<String, usize>> = Vec::new();
    for one in waiting {
        let unreadable = one.reason.is_some();
        let of = (one.outcome.map(Outcome::as_str), unreadable, key(one.note.as_deref().unwrap_or_default()));
        let place = *places.entry(of).or_insert_with(|| {
            groups.push(FailureGroup {
                consumer: consumer.to_owned(),
                state: one.state,
                outcome: one.outcome,
                error: one.note.clone().filter(|note| !note.is_empty()),
                unreadable,
                count: 0,
                exact,
                receipts: Vec::new(),
                types: Vec::new(),
                last_at: None,
            });
            types.push(BTreeMap::new());
            groups.len() - 1
        });
        let (Some(group), Some(types)) = (groups.get_mut(place), types.get_mut(place)) else { continue };
        group.count += 1;
        group.last_at = group.last_at.max(one.ended_at);
        if group.receipts.len() < RECEIPTS_MAX {
            group.receipts.push(one.receipt);
        }
        *types.entry(one.event_type.unwrap_or_else(|| "no type".to_owned())).or_default() += 1;
    }
    for (group, types) in groups.iter_mut().zip(types) {
        let mut types: Vec<(String, usize)> = types.into_iter().collect();
        types.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        group.types = types.into_iter().take(3).map(|(name, _)| name).collect();
    }
    groups
}

#[cfg(test)]
mod tests {
    use restante_store::both_engines;

    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn the_more_lists_there_are_the_less_is_looked_at_of_each() {
        assert_eq!((share(0), share(1), share(4), share(40)), (1_000, 1_000, 250, LOOKED_AT_MIN));
    }

    #[test]
    fn numbers_and_ids_make_no_other_error() {
        assert_eq!(key("timeout after 3012 ms"), key("timeout after 17 ms"));
        assert_eq!(key("no order in_1MtHbELkdIwHu7ixl4OzzPMv"), key("no order in_1QxKdbELkd82hsTz7AmZ4MvX"));
        assert_ne!(key("no order"), key("no invoice"));
        assert_ne!(key("http2 refused"), key("http1 refused"));
        assert_eq!(key(&"long ".repeat(1_000)).chars().count(), KEY_CHARS_MAX);
        assert_eq!(key(""), "");
    }

    both_engines!(failures_of_one_kind_are_one_group, |t| async {
        let a = TestApp::new(t);
        let tenant = a.tenant("acme").await;
        let other = a.tenant("beta").await;
        let endpoint = a.endpoint(&tenant.by, "Payments").await;
        for error in ["timeout after 17 ms", "timeout after 3012 ms", "no such order"] {
            a.hold_event(&tenant.by, endpoint).await;
            a.fail_all(&tenant.by, "default", error).await;
            a.t.clock.advance_seconds(60);
        }
        let failures = a.app.failures(&tenant.by, None).await.unwrap();
        assert_eq!(failures.waiting, 3);
        let told: Vec<_> =
            failures.groups.iter().map(|group| (group.error.as_deref().unwrap(), group.count)).collect();
        assert_eq!(told, [("no such order", 1), ("timeout after 3012 ms", 2)]);
        assert_eq!(failures.groups[1].receipts.len(), 2);
        assert_eq!(failures.groups[0].types, ["no type"]);
        assert_eq!(a.app.failures_waiting(&tenant.by).await.unwrap(), 3);
        assert_eq!(a.app.failures_waiting(&other.by).await.unwrap(), 0);
        assert!(a.app.failures(&other.by, None).await.unwrap().groups.is_empty());
        let elsewhere = a.app.failures(&tenant.by, Some("elsewhere".to_owned())).await.unwrap();
        assert_eq!((elsewhere.waiting, elsewhere.groups.len()), (0, 0));
    });
}
