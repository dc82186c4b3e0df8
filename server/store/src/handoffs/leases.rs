//! Ack, nack and extend: many leases in one transaction and a few statements, each answered for
//! itself. A lease is found by the receipt and attempt that its token names, and its hash decides.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use restante_core::handoff::{self, Change, LeaseResult, Nack, Outcome, Presented, Ruling};
use restante_core::id::ReceiptId;
use restante_core::limits;
use restante_core::time::Timestamp;
use restante_core::token::{LeaseToken, TokenHash};

use super::end::{End, Held, end};
use super::sql;
use crate::consumers::ConsumerRecord;
use crate::engine::{Batch, Conn, StoreError};

/// One lease of an ack.
#[derive(Debug, Clone)]
pub struct LeaseAck {
    /// The token; `None` for a text that can't be one.
    pub token: Option<LeaseToken>,
    /// The id of what the application did elsewhere.
    pub remote_operation_id: Option<String>,
    /// A note for people.
    pub note: Option<String>,
}

/// One lease of a nack.
#[derive(Debug, Clone)]
pub struct LeaseNack {
    /// The token; `None` for a text that can't be one.
    pub token: Option<LeaseToken>,
    /// What is asked for.
    pub asked: Nack,
    /// When to retry; `None` leaves it to the backoff.
    pub retry_in_seconds: Option<u32>,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// The id of what the application did elsewhere.
    pub remote_operation_id: Option<String>,
    /// A fresh number for the backoff.
    pub random: u64,
}

/// The answer to one lease of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// Extended, expired or unknown.
    pub result: LeaseResult,
    /// The new end, when it was extended.
    pub expires_at: Option<Timestamp>,
}

/// Acks leases of a consumer; one answer each, in order.
///
/// # Errors
/// What the database ran into; then none of them counts.
pub async fn ack(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    leases: Vec<LeaseAck>,
) -> Result<Vec<LeaseResult>, StoreError> {
    let mut found = Found::of(conn, consumer, leases.iter().map(|lease| lease.token.as_ref())).await?;
    let now = conn.now().await?;
    let mut ends = Vec::new();
    let mut results = Vec::with_capacity(leases.len());
    for LeaseAck { token, remote_operation_id, note } in leases {
        let (result, change) = handoff::ack(found.presented(token.as_ref()), now);
        if let (Some(change), Some(token)) = (change, token) {
            ends.extend(found.end(&token, change, remote_operation_id, note));
        }
        results.push(result);
    }
    end(conn, consumer.tenant, consumer.id, ends).await?;
    Ok(results)
}

/// Nacks leases of a consumer; one answer each, in order.
///
/// # Errors
/// What the database ran into; then none of them counts.
pub async fn nack(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    leases: Vec<LeaseNack>,
) -> Result<Vec<LeaseResult>, StoreError> {
    let mut found = Found::of(conn, consumer, leases.iter().map(|lease| lease.token.as_ref())).await?;
    let now = conn.now().await?;
    let mut ends = Vec::new();
    let mut results = Vec::with_capacity(leases.len());
    for lease in leases {
        let (result, change): Ruling = handoff::nack(
            found.presented(lease.token.as_ref()),
            lease.asked,
            lease.retry_in_seconds,
            consumer.max_attempts,
            now,
            lease.random,
        );
        if let (Some(change), Some(token)) = (change, lease.token) {
            ends.extend(found.end(&token, change, lease.remote_operation_id, lease.error));
        }
        results.push(result);
    }
    end(conn, consumer.tenant, consumer.id, ends).await?;
    Ok(results)
}

/// Extends leases of a consumer; one answer each, in order.
///
/// # Errors
/// What the database ran into; then none of them is extended.
pub async fn extend(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    tokens: &[Option<LeaseToken>],
    lease_seconds: u32,
) -> Result<Vec<Extension>, StoreError> {
    let found = Found::of(conn, consumer, tokens.iter().map(Option::as_ref)).await?;
    let now = conn.now().await?;
    let mut extended: BTreeMap<ReceiptId, (u32, Timestamp)> = BTreeMap::new();
    let mut results = Vec::with_capacity(tokens.len());
    for token in tokens {
        let (result, change) = handoff::extend(found.presented(token.as_ref()), lease_seconds, now);
        let mut end_of_lease = None;
        if let (Some(Change::Extend { expires_at }), Some(token)) = (change, token) {
            let expires_at = expires_at.min(found.last_moment(token.receipt()).unwrap_or(expires_at));
            extended.insert(token.receipt(), (token.attempt(), expires_at));
            end_of_lease = Some(expires_at);
        }
        results.push(Extension { result, expires_at: end_of_lease });
    }
    if !extended.is_empty() {
        let batch = Batch::new()
            .uuids(extended.iter().map(|_| consumer.tenant.0))
            .uuids(extended.iter().map(|_| consumer.id.0))
            .uuids(extended.keys().map(|receipt| receipt.0))
            .ints(extended.values().map(|(attempt, _)| i64::from(*attempt)))
            .ints(extended.values().map(|(_, expires_at)| expires_at.micros()));
        conn.execute_batch(&sql::LEASES_EXTEND, batch).await?;
    }
    Ok(results)
}

/// What the database holds of the leases of one call, locked.
struct Found {
    handoffs: HashMap<ReceiptId, Held>,
    /// How the attempts of those tokens ended that are over, also those that this call ends.
    ended: HashMap<TokenHash, Outcome>,
}

impl Found {
    async fn of<'t>(
        conn: &mut Conn<'_>,
        consumer: &ConsumerRecord,
        tokens: impl Iterator<Item = Option<&'t LeaseToken>>,
    ) -> Result<Self, StoreError> {
        let tokens: Vec<&LeaseToken> = tokens.flatten().collect();
        let mut found = Self { handoffs: HashMap::new(), ended: HashMap::new() };
        if tokens.is_empty() {
            return Ok(found);
        }
        // In the order of receipts, so that two calls which share some can't lock each other out.
        let receipts: BTreeSet<ReceiptId> = tokens.iter().map(|token| token.receipt()).collect();
        let batch = Batch::new()
            .uuids(receipts.iter().map(|_| consumer.tenant.0))
            .uuids(receipts.iter().map(|_| consumer.id.0))
            .uuids(receipts.iter().map(|receipt| receipt.0));
        for row in conn.fetch_batch(&sql::HANDOFFS_PRESENTED, batch).await? {
            let held = Held::read(&row)?;
            found.handoffs.insert(held.receipt, held);
        }
        found.read_ended(conn, consumer, &tokens).await?;
        Ok(found)
    }

    /// Looks in the history for the tokens whose attempt isn't the one under way.
    async fn read_ended(
        &mut self,
        conn: &mut Conn<'_>,
        consumer: &ConsumerRecord,
        tokens: &[&LeaseToken],
    ) -> Result<(), StoreError> {
        let past: BTreeSet<(ReceiptId, u32)> = tokens
            .iter()
            .filter(|token| self.live(token).is_none() && self.handoffs.contains_key(&token.receipt()))
            .map(|token| (token.receipt(), token.attempt()))
            .collect();
        if past.is_empty() {
            return Ok(());
        }
        let batch = Batch::new()
            .uuids(past.iter().map(|_| consumer.tenant.0))
            .uuids(past.iter().map(|_| consumer.id.0))
            .uuids(past.iter().map(|(receipt, _)| receipt.0))
            .ints(past.iter().map(|(_, attempt)| i64::from(*attempt)));
        for row in conn.fetch_batch(&sql::ATTEMPTS_PRESENTED, batch).await? {
            let hash = row.blob("lease_hash")?.try_into().map_err(|_| row.broken("lease_hash"))?;
            let outcome = Outcome::from_word(&row.text("outcome")?).ok_or_else(|| row.broken("outcome"))?;
            self.ended.insert(TokenHash(hash), outcome);
        }
        Ok(())
    }

    /// The handoff that the token holds the lease of, be it still good or run out.
    fn live(&self, token: &LeaseToken) -> Option<&Held> {
        let held = self.handoffs.get(&token.receipt())?;
        let stored = TokenHash(held.lease.as_ref()?.hash.as_slice().try_into().ok()?);
        (held.attempt == token.attempt() && token.hash().matches(&stored)).then_some(held)
    }

    fn presented(&self, token: Option<&LeaseToken>) -> Presented {
        let Some(token) = token else { return Presented::Unknown };
        if let Some(outcome) = self.ended.get(&token.hash()) {
            return Presented::Ended(*outcome);
        }
        match self.live(token) {
            Some(Held { lease: Some(lease), tries, .. }) => {
                Presented::Open { expires_at: lease.expires_at, tries: *tries }
            }
            _ => Presented::Unknown,
        }
    }

    /// What to write for a change, and remembers it for the same lease further down the list.
    fn end(
        &mut self,
        token: &LeaseToken,
        change: Change,
        remote_operation_id: Option<String>,
        note: Option<String>,
    ) -> Option<End> {
        let Change::End { outcome, state, due_at } = change else { return None };
        let handoff = self.live(token)?.clone();
        self.ended.insert(token.hash(), outcome);
        Some(End { handoff, outcome: Some(outcome), state, due_at, remote_operation_id, note })
    }

    /// Until when a lease can be extended at most.
    fn last_moment(&self, receipt: ReceiptId) -> Option<Timestamp> {
        let lease = self.handoffs.get(&receipt)?.lease.as_ref()?;
        Some(lease.claimed_at.plus_seconds(limits::LEASE_TOTAL_SECONDS_MAX.into()))
    }
}
