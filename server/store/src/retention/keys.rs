//! Removing keys: tombstones whose time is over go with all that is known of them. From then on their events
//! would come in as new ones.

use std::collections::{BTreeMap, HashMap};

use restante_core::handoff::State;
use restante_core::id::{EndpointId, TenantId};
use restante_core::retention::LiveSecrets;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::due::Kept;
use super::held::{HoldFacts, held_among};
use super::removed::{self, RemovedKey};
use super::sql;
use crate::engine::{Conn, Row, StoreError, values};
use crate::events::PayloadState;
use crate::failpoint;
use crate::rollups::{Lane, Tally};

/// A tombstone.
#[derive(Debug, Clone)]
struct Tombstone {
    id: Uuid,
    stored_at: Timestamp,
    weak: String,
    /// Whether its key is of its endpoint alone.
    own_scope: bool,
    deliveries: u64,
}

impl Tombstone {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.uuid("id")?,
            stored_at: row.time("stored_at")?,
            weak: row.text("weak")?,
            own_scope: row.text("scope")? == EndpointId(row.uuid("endpoint_id")?).to_string(),
            deliveries: row.count("deliveries")?,
        })
    }
}

/// What some keys came to.
#[derive(Debug, Default)]
pub struct KeysRemoved {
    /// Keys that are gone, or may go.
    pub keys: Vec<Uuid>,
    /// What stays although its time is over.
    pub kept: BTreeMap<Kept, u64>,
    /// The last one that was looked at; `None` when there were none left.
    pub last: Option<(Timestamp, Uuid)>,
}

/// The next keys of an endpoint that may go, with a look at at most `limit`. `sent_before`: one that a sender sent
/// again after it stays, since the provider may still be trying.
///
/// # Errors
/// What the database ran into.
#[expect(clippy::too_many_arguments, reason = "each is a fact of its own")]
pub async fn due_keys(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    state: PayloadState,
    after: (Timestamp, Uuid),
    before: Timestamp,
    limit: u32,
    rule: &KeyRule<'_>,
) -> Result<KeysRemoved, StoreError> {
    let values = values![tenant, endpoint, after.0, after.1, before, limit, state.as_str()];
    let rows = conn.fetch_all(&sql::KEYS_DUE, values).await?;
    let found = rows.iter().map(Tombstone::read).collect::<Result<Vec<_>, _>>()?;
    let last = found.last().map(|tombstone| (tombstone.stored_at, tombstone.id));
    let mut judged = judge(conn, tenant, found, before, rule).await?;
    judged.last = last;
    Ok(judged)
}

/// What keeps a key beyond its time.
#[derive(Debug, Clone, Copy)]
pub struct KeyRule<'a> {
    /// The secrets that verify.
    pub secrets: LiveSecrets,
    /// One that was sent again after it stays.
    pub sent_before: Timestamp,
    /// What is held.
    pub holds: &'a HoldFacts,
}

async fn judge(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    found: Vec<Tombstone>,
    before: Timestamp,
    rule: &KeyRule<'_>,
) -> Result<KeysRemoved, StoreError> {
    let mut judged = KeysRemoved::default();
    let repeated: Vec<Uuid> = found.iter().filter(|one| one.deliveries > 1).map(|one| one.id).collect();
    let mut sent = HashMap::new();
    if !repeated.is_empty() {
        for row in conn.fetch_all(&sql::RETENTION_LAST_SENT, values![tenant, repeated]).await? {
            sent.insert(row.uuid("id")?, row.time("at")?);
        }
    }
    let everyone: Vec<Uuid> = found.iter().map(|one| one.id).collect();
    let held = held_among(conn, tenant, rule.holds, &everyone).await?;
    for tombstone in found {
        let why = if tombstone.stored_at >= before {
            continue;
        } else if held.contains(&tombstone.id) {
            Kept::Hold
        } else if rule.secrets.keep(tombstone.stored_at, &tombstone.weak, tombstone.own_scope) {
            Kept::Secret
        } else if sent.get(&tombstone.id).is_some_and(|sent| *sent >= rule.sent_before) {
            Kept::SentAgain
        } else {
            judged.keys.push(tombstone.id);
            continue;
        };
        *judged.kept.entry(why).or_default() += 1;
    }
    Ok(judged)
}

/// Removes some keys, after one more look under the lock. The caller holds the tenant's configuration still, and has
/// asked its policies, windows and holds again.
///
/// # Errors
/// What the database ran into.
pub async fn remove_keys(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
    before: Timestamp,
    rule: &KeyRule<'_>,
) -> Result<u64, StoreError> {
    let rows = conn.fetch_all(&sql::KEYS_DUE_LOCKED, values![tenant, receipts]).await?;
    let locked = rows.iter().map(Tombstone::read).collect::<Result<Vec<_>, _>>()?;
    let mut gone = HashMap::new();
    for row in &rows {
        let at = row.time("stored_at")?.max(row.time("received_at")?);
        let key = RemovedKey { provider: row.text("provider")?, scope: row.text("scope")?, at };
        gone.insert(row.uuid("id")?, key);
    }
    let keys = judge(conn, tenant, locked, before, rule).await?.keys;
    if keys.is_empty() {
        return Ok(0);
    }
    let gone: Vec<RemovedKey> = keys.iter().filter_map(|id| gone.remove(id)).collect();
    let mut tally = Tally::default();
    for row in conn.fetch_all(&sql::HANDOFFS_DELETE, values![tenant, keys.clone()]).await? {
        let state = State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?;
        let consumer = row.uuid("consumer_id")?;
        tally.shift(tenant, consumer, state.as_str(), -1);
        if state == State::Failed && row.time_or_null("settled_at")?.is_some() {
            tally.shift(tenant, consumer, "settled", -1);
        }
    }
    for statement in [
        &sql::ATTEMPTS_DELETE,
        &sql::DELIVERIES_DELETE,
        &sql::VARIANTS_DELETE,
        &sql::REPLAYS_DELETE,
        &sql::SETTLEMENTS_DELETE,
    ] {
        conn.execute(statement, values![tenant, keys.clone()]).await?;
    }
    let removed = conn.execute(&sql::RECEIPTS_DELETE, values![tenant, keys]).await?;
    removed::note(conn, tenant, gone).await?;
    failpoint::pass(failpoint::RETENTION_BATCH).await?;
    // Counters come last, as everywhere.
    tally.write(conn, Lane::Other).await?;
    Ok(removed)
}
