//! The figures of a tenant over a window, and what waits in the whole instance. Sums of counters,
//! never a count of rows.

use std::collections::BTreeMap;

use restante_core::id::EndpointId;
use restante_store::StoreError;
use restante_store::stats::{self, Counters};

use crate::{App, By};

/// How far figures look back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week.
    Week,
}

impl Window {
    /// Every window.
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    /// The word in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    /// The window of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.as_str() == word)
    }

    const fn seconds(self) -> i64 {
        match self {
            Self::Hour => 60 * 60,
            Self::Day => 24 * 60 * 60,
            Self::Week => 7 * 24 * 60 * 60,
        }
    }
}

/// The figures of a tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// Of each endpoint, newest first.
    pub endpoints: Vec<EndpointStats>,
    /// Of each consumer, newest first.
    pub consumers: Vec<ConsumerStats>,
}

/// What came in by an endpoint within the window.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointStats {
    /// The endpoint.
    pub id: EndpointId,
    /// Its provider.
    pub provider: String,
    /// Requests that were authentic.
    pub deliveries: u64,
    /// Events that were new.
    pub accepted: u64,
    /// Events that had come before.
    pub duplicates: u64,
    /// The share of the second among both; 0 when there were none.
    pub duplicate_rate: f64,
    /// Requests that could not be kept.
    pub failed: u64,
    /// Requests that were refused, by reason.
    pub rejected: BTreeMap<String, u64>,
}

/// What a consumer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerStats {
    /// Its name.
    pub name: String,
    /// Handoffs that wait, now.
    pub pending: u64,
    /// Handoffs that are held, now.
    pub leased: u64,
    /// Handoffs that are done, now.
    pub processed: u64,
    /// Handoffs that failed, now.
    pub failed: u64,
    /// Handoffs that are uncertain, now.
    pub uncertain: u64,
    /// The age of the oldest pending event since it was received; `None` when nothing is pending.
    pub oldest_pending_seconds: Option<u64>,
    /// Claims of events within the window.
    pub attempts: u64,
}

impl App {
    /// The figures of the caller's tenant.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn stats(&self, by: &By, window: Window) -> Result<Stats, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let since = now.plus_seconds(-window.seconds());
        let (endpoints, consumers, counted, gauges) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    Ok((
                        stats::endpoints(conn, tenant).await?,
                        stats::consumers(conn, tenant).await?,
                        stats::counters_since(conn, tenant, since).await?,
                        stats::gauges(conn, tenant).await?,
                    ))
                })
            })
            .await?;
        let age =
            |at: restante_core::time::Timestamp| u64::try_from(now.micros_since(at) / 1_000_000).unwrap_or(0);
        Ok(Stats {
            endpoints: endpoints.into_iter().map(|(id, provider)| endpoint(id, provider, &counted)).collect(),
            consumers: consumers
                .into_iter()
                .map(|consumer| {
                    let now_in = |state| gauges.get(consumer.id.0, state);
                    ConsumerStats {
                        pending: now_in("pending"),
                        leased: now_in("leased"),
                        processed: now_in("processed"),
                        failed: now_in("failed"),
                        uncertain: now_in("uncertain"),
                        oldest_pending_seconds: consumer.oldest.map(age),
                        attempts: counted.get(consumer.id.0, "attempts"),
                        name: consumer.name,
                    }
                })
                .collect(),
        })
    }
}

fn endpoint(id: EndpointId, provider: String, counted: &Counters) -> EndpointStats {
    let (accepted, duplicates) = (counted.get(id.0, "accepted"), counted.get(id.0, "duplicates"));
    let all = accepted + duplicates;
    EndpointStats {
        id,
        provider,
        deliveries: counted.get(id.0, "deliveries"),
        accepted,
        duplicates,
        duplicate_rate: if all == 0 { 0.0 } else { duplicates as f64 / all as f64 },
        failed: counted.get(id.0, "failed"),
        rejected: counted
            .with_prefix(id.0, "rejected:")
            .map(|(reason, count)| (reason.to_owned(), count))
            .collect(),
    }
}
