//! What a tenant's overview shows: what came in over time, what waits and how old it is, how often
//! senders repeat themselves, what was refused, what waits for a person, who fell silent. All of it is
//! made of counters and of a few bounded looks at indexes; no event is counted for it.

mod course;
mod endpoint;
mod silence;
#[cfg(test)]
mod tests;
mod usual;

use std::collections::{BTreeMap, HashMap, HashSet};

use restante_core::id::{ConsumerId, EndpointId};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::stats::{self, AgeCount, Counted, Counters, EndpointSeen, Grain};
use uuid::Uuid;

pub use course::{Slot, Slots};
pub use endpoint::EndpointCourse;
pub use silence::Silence;

use crate::stats::Window;
use crate::{App, By};

/// How far back the usual is looked for: a week.
const USUAL_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Consumers whose ages are looked at: those with the most that waits.
const CONSUMERS_WITH_AGES_MAX: usize = 8;

/// The ranges into which ages fall: up to this many seconds, and the word for it. What is older than
/// the last one has the word [`OLDEST_RANGE`].
pub const AGE_RANGES: [(i64, &str); 5] = [
    (60, "under 1 min"),
    (300, "from 1 to 5 min"),
    (3_600, "from 5 min to 1 h"),
    (21_600, "from 1 to 6 h"),
    (86_400, "from 6 to 24 h"),
];
/// What is older than every range.
pub const OLDEST_RANGE: &str = "over a day";

/// A tenant at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// What it looks back on.
    pub window: Window,
    /// When it was made.
    pub now: Timestamp,
    /// What came in, slot by slot.
    pub slots: Slots,
    /// The endpoints, the busiest first.
    pub endpoints: Vec<EndpointOverview>,
    /// What was refused, the most frequent reason first.
    pub refusals: Vec<Refused>,
    /// The consumers, with what waits longest first.
    pub consumers: Vec<ConsumerOverview>,
}

/// An endpoint at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointOverview {
    /// Its id.
    pub id: EndpointId,
    /// Its name.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// Whether it takes deliveries.
    pub enabled: bool,
    /// New events within the window.
    pub accepted: u64,
    /// Events within the window that had come before.
    pub duplicates: u64,
    /// Refused requests within the window.
    pub refused: u64,
    /// Its newest event, ever; repeats don't count.
    pub newest: Option<Timestamp>,
    /// The share of repeats, slot by slot; `None` where nothing came.
    pub repeats: Vec<Option<f64>>,
    /// Between what and what the share of repeats usually is; `None` before enough is known.
    pub usual_repeats: Option<(f64, f64)>,
    /// That it fell silent.
    pub silence: Option<Silence>,
}

/// A reason for which requests were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The stable word.
    pub reason: String,
    /// How many requests.
    pub count: u64,
    /// The endpoint that had the most of them.
    pub mostly_at: Option<EndpointId>,
}

/// A consumer at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerOverview {
    /// Its id.
    pub id: ConsumerId,
    /// Its name.
    pub name: String,
    /// Handoffs that wait, now.
    pub pending: u64,
    /// Handoffs that are held, now.
    pub leased: u64,
    /// Handoffs that failed and that nobody settled, now.
    pub failed: u64,
    /// Handoffs that are uncertain, now.
    pub uncertain: u64,
    /// Claims of events within the window.
    pub attempts: u64,
    /// When the oldest that waits was received.
    pub oldest: Option<Timestamp>,
    /// Its age.
    pub age_seconds: Option<u64>,
    /// How many wait in each range of ages and beyond; `None` where it was not looked at.
    pub ages: Option<Vec<AgeCount>>,
}

impl EndpointOverview {
    /// Whether there are clearly more repeats than usual: half as many again, and two in a hundred. One or two
    /// say nothing.
    pub fn repeats_are_unusual(&self) -> bool {
        const REPEATS_MIN: u64 = 3;
        let share = self.repeat_share();
        self.duplicates >= REPEATS_MIN
            && self.usual_repeats.is_some_and(|(_, high)| share > high * 1.5 && share > high + 0.02)
    }

    /// The share of repeats among what was authentic; 0 when nothing came.
    pub fn repeat_share(&self) -> f64 {
        share(self.duplicates, self.accepted).unwrap_or(0.0)
    }
}

/// The share of repeats among all that was authentic; `None` when nothing was.
fn share(duplicates: u64, accepted: u64) -> Option<f64> {
    let all = accepted.saturating_add(duplicates);
    (all > 0).then(|| duplicates as f64 / all as f64)
}

impl App {
    /// The caller's tenant at a glance.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn overview(&self, by: &By, window: Window) -> Result<Overview, StoreError> {
        self.overview_of(by.tenant(), window).await
    }

    /// The overview of a tenant, for the program itself.
    pub(crate) async fn overview_of(
        &self,
        tenant: restante_core::id::TenantId,
        window: Window,
    ) -> Result<Overview, StoreError> {
        let now = self.clock.now();
        let shape = Slots::shape(window, now);
        let found = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let hours_since = now.plus_seconds(-USUAL_SECONDS);
                    let hours = stats::course(conn, tenant, Grain::Hour, hours_since, None).await?;
                    let fine = match shape.grain {
                        Grain::Minute => {
                            stats::course(conn, tenant, Grain::Minute, shape.since, None).await?
                        }
                        Grain::Hour => hours.iter().filter(|one| one.at >= shape.since).cloned().collect(),
                    };
                    let endpoints = stats::endpoints_seen(conn, tenant).await?;
                    let consumers = stats::consumers(conn, tenant).await?;
                    let gauges = stats::gauges(conn, tenant).await?;
                    let bounds = AGE_RANGES.map(|(seconds, _)| now.plus_seconds(-seconds));
                    let mut ages = HashMap::new();
                    for id in with_most_waiting(&consumers, &gauges) {
                        ages.insert(id, stats::pending_ages(conn, tenant, id, &bounds).await?);
                    }
                    Ok(Found { hours, fine, endpoints, consumers, gauges, ages })
                })
            })
            .await?;
        Ok(found.overview(window, now, shape))
    }
}

/// What the database holds.
struct Found {
    hours: Vec<Counted>,
    fine: Vec<Counted>,
    endpoints: Vec<EndpointSeen>,
    consumers: Vec<stats::ConsumerPending>,
    gauges: Counters,
    ages: HashMap<ConsumerId, Vec<AgeCount>>,
}

/// The consumers at which the most waits.
fn with_most_waiting(consumers: &[stats::ConsumerPending], gauges: &Counters) -> Vec<ConsumerId> {
    let waiting = consumers.iter().filter(|consumer| consumer.oldest.is_some());
    let mut waiting: Vec<ConsumerId> = waiting.map(|consumer| consumer.id).collect();
    waiting.sort_by_key(|id| std::cmp::Reverse(gauges.get(id.0, "pending")));
    waiting.truncate(CONSUMERS_WITH_AGES_MAX);
    waiting
}

impl Found {
    fn overview(mut self, window: Window, now: Timestamp, shape: course::Shape) -> Overview {
        let mut slots = Slots::new(shape);
        let mut totals: HashMap<Uuid, BTreeMap<&str, u64>> = HashMap::new();
        // Consumers have counters of the same name; what came in is told by endpoints alone.
        let known: HashSet<Uuid> = self.endpoints.iter().map(|endpoint| endpoint.id.0).collect();
        for counted in &self.fine {
            if known.contains(&counted.subject) {
                slots.add(counted);
            }
            *totals.entry(counted.subject).or_default().entry(&counted.metric).or_default() += counted.count;
        }
        let total = |subject: Uuid, metric: &str| {
            totals.get(&subject).and_then(|metrics| metrics.get(metric)).copied().unwrap_or(0)
        };
        let mut by_hour: HashMap<Uuid, Vec<&Counted>> = HashMap::new();
        for counted in &self.hours {
            by_hour.entry(counted.subject).or_default().push(counted);
        }
        let mut endpoints: Vec<EndpointOverview> = self
            .endpoints
            .into_iter()
            .map(|seen| {
                let hours = by_hour.get(&seen.id.0).map_or(&[][..], Vec::as_slice);
                let refused = totals.get(&seen.id.0).into_iter().flatten();
                EndpointOverview {
                    accepted: total(seen.id.0, "accepted"),
                    duplicates: total(seen.id.0, "duplicates"),
                    refused: refused
                        .filter(|(metric, _)| metric.starts_with("rejected:"))
                        .map(|(_, count)| count)
                        .sum(),
                    repeats: slots.repeats_of(self.fine.iter().filter(|one| one.subject == seen.id.0)),
                    usual_repeats: usual::repeats(hours, now),
                    silence: silence::of(hours, seen.newest, now).filter(|_| seen.enabled),
                    id: seen.id,
                    name: seen.name,
                    provider: seen.provider,
                    enabled: seen.enabled,
                    newest: seen.newest,
                }
            })
            .collect();
        endpoints.sort_by_key(|one| std::cmp::Reverse(one.accepted + one.duplicates + one.refused));
        let refusals = refusals(&totals);
        let mut consumers: Vec<ConsumerOverview> = self
            .consumers
            .into_iter()
            .map(|consumer| {
                let now_in = |state| self.gauges.get(consumer.id.0, state);
                ConsumerOverview {
                    pending: now_in("pending"),
                    leased: now_in("leased"),
                    failed: now_in("failed").saturating_sub(now_in("settled")),
                    uncertain: now_in("uncertain"),
                    attempts: total(consumer.id.0, "attempts"),
                    oldest: consumer.oldest,
                    age_seconds: consumer
                        .oldest
                        .map(|oldest| u64::try_from(now.micros_since(oldest) / 1_000_000).unwrap_or(0)),
                    ages: self.ages.remove(&consumer.id),
                    id: consumer.id,
                    name: consumer.name,
                }
            })
            .collect();
        consumers.sort_by_key(|one| (one.oldest.is_none(), one.oldest));
        Overview { window, now, slots, endpoints, refusals, consumers }
    }
}

fn refusals(totals: &HashMap<Uuid, BTreeMap<&str, u64>>) -> Vec<Refused> {
    let mut reasons: BTreeMap<&str, (u64, u64, Option<EndpointId>)> = BTreeMap::new();
    for (subject, metrics) in totals {
        for (metric, count) in metrics {
            let Some(reason) = metric.strip_prefix("rejected:") else { continue };
            let (sum, most, mostly_at) = reasons.entry(reason).or_default();
            *sum += count;
            if *count > *most {
                *most = *count;
                *mostly_at = Some(EndpointId(*subject));
            }
        }
    }
    let mut refusals: Vec<Refused> = reasons
        .into_iter()
        .map(|(reason, (count, _, mostly_at))| Refused { reason: reason.to_owned(), count, mostly_at })
        .collect();
    refusals.sort_by_key(|refused| std::cmp::Reverse(refused.count));
    refusals
}
