//! What is due, and what of it may go. The look costs no lock, so that a backlog of events that nobody has
//! processed holds up no writer; `payloads.rs` looks again under the lock.

use std::collections::{BTreeMap, HashMap, HashSet};

use restante_core::handoff::State;
use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::held::{HoldFacts, held_among};
use super::sql;
use crate::engine::{Conn, Row, StoreError, values};

/// Before which moments things are due. Each is by the database's time of the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// Payloads that came before it may go.
    pub payload: Timestamp,
    /// Payloads may also go whose last consumer was done before it.
    pub processed: Option<Timestamp>,
    /// What nobody has processed is given up when it came before it.
    pub unprocessed: Option<Timestamp>,
    /// Keys that came before it may go.
    pub key: Timestamp,
}

impl Cutoffs {
    /// The later of two plans removes nothing that the earlier one would have kept.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let both = |a: Option<Timestamp>, b: Option<Timestamp>| a.zip(b).map(|(a, b)| a.min(b));
        Self {
            payload: self.payload.min(other.payload),
            processed: both(self.processed, other.processed),
            unprocessed: both(self.unprocessed, other.unprocessed),
            key: self.key.min(other.key),
        }
    }

    /// Up to when stored events have to be looked at.
    pub fn look_before(&self) -> Timestamp {
        let latest = self.payload.max(self.processed.unwrap_or(self.payload));
        latest.max(self.unprocessed.unwrap_or(latest))
    }
}

/// An event whose payload is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Its receipt.
    pub id: Uuid,
    /// The request that holds its bytes.
    pub payload: Uuid,
    /// When it was committed.
    pub stored_at: Timestamp,
    /// How many bytes it has.
    pub bytes: u64,
    /// Whether other bytes came under its key.
    pub has_variants: bool,
    /// Whether it waits for a repair.
    pub awaits_repair: bool,
}

impl Due {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.uuid("id")?,
            payload: row.uuid("payload_id")?,
            stored_at: row.time("stored_at")?,
            bytes: row.count("slice_length")?,
            has_variants: row.int("variants")? > 0,
            awaits_repair: row.text_or_null("reason")?.is_some(),
        })
    }
}

/// Why something stays although its time is over. The words are stored in the record of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kept {
    /// A consumer has still to claim it.
    Pending,
    /// A worker has it.
    Leased,
    /// It failed, and nobody has settled it.
    Failed,
    /// A remote effect may have happened, and nobody has settled it.
    Uncertain,
    /// Its envelope could not be read, and nobody has repaired it.
    Repair,
    /// It is held.
    Hold,
    /// Another event of the same request stays, or its request holds other bytes of one that stays.
    Shared,
    /// A consumer is being handed what was here before it.
    Backfill,
    /// The scheme signs no id or no time, and a secret of that day still verifies.
    Secret,
    /// The provider sent it again a moment ago, and may still be trying.
    SentAgain,
}

impl Kept {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Leased,
        Self::Failed,
        Self::Uncertain,
        Self::Repair,
        Self::Hold,
        Self::Shared,
        Self::Backfill,
        Self::Secret,
        Self::SentAgain,
    ];

    /// The word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Failed => "failed",
            Self::Uncertain => "uncertain",
            Self::Repair => "repair",
            Self::Hold => "hold",
            Self::Shared => "shared",
            Self::Backfill => "backfill",
            Self::Secret => "secret",
            Self::SentAgain => "sent_again",
        }
    }

    const fn of(state: State) -> Self {
        match state {
            State::Leased => Self::Leased,
            State::Failed => Self::Failed,
            State::Uncertain => Self::Uncertain,
            State::Pending | State::Processed | State::Cancelled => Self::Pending,
        }
    }
}

/// A request that may go, with its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request.
    pub payload: Uuid,
    /// Its events that are stored.
    pub receipts: Vec<Uuid>,
}

/// What of some events may go.
#[derive(Debug, Default)]
pub struct Judged {
    /// Whole requests.
    pub go: Vec<Request>,
    /// What stays although its time is over.
    pub kept: Vec<(Uuid, Kept)>,
    /// What nobody has processed and is given up.
    pub give_up: Vec<Uuid>,
}

/// The next stored events of an endpoint that came before a moment, the oldest first, after a place.
///
/// # Errors
/// What the database ran into.
pub async fn due_payloads(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    after: (Timestamp, Uuid),
    before: Timestamp,
    limit: u32,
) -> Result<Vec<Due>, StoreError> {
    let values = values![tenant, endpoint, after.0, after.1, before, limit];
    conn.fetch_all(&sql::PAYLOADS_DUE, values).await?.iter().map(Due::read).collect()
}

/// Judges events with all that came in the same requests.
/// `as_if_given_up`: what would be given up counts as done.
///
/// # Errors
/// What the database ran into.
pub async fn judge(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    due: &[Due],
    cutoffs: &Cutoffs,
    holds: &HoldFacts,
    as_if_given_up: bool,
) -> Result<Judged, StoreError> {
    let mut judged = Judged::default();
    if due.is_empty() {
        return Ok(judged);
    }
    let asked: HashSet<Uuid> = due.iter().map(|due| due.id).collect();
    let mut requests: BTreeMap<Uuid, Vec<Due>> = BTreeMap::new();
    for due in due {
        requests.entry(due.payload).or_default().push(due.clone());
    }
    let payloads: Vec<Uuid> = requests.keys().copied().collect();
    for row in conn.fetch_all(&sql::RETENTION_SIBLINGS, values![tenant, payloads.clone()]).await? {
        let sibling = Due::read(&row)?;
        let members = requests.entry(sibling.payload).or_default();
        if members.iter().all(|member| member.id != sibling.id) {
            members.push(sibling);
        }
    }
    let everyone: Vec<Uuid> = requests.values().flatten().map(|due| due.id).collect();
    let held = held_among(conn, tenant, holds, &everyone).await?;
    let open = open(conn, tenant, &everyone).await?;
    let done = match cutoffs.processed {
        Some(_) => done_at(conn, tenant, &everyone).await?,
        None => HashMap::new(),
    };
    let mut needed: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for row in conn.fetch_all(&sql::RETENTION_VARIANTS_IN, values![tenant, payloads]).await? {
        needed.entry(row.uuid("payload_id")?).or_default().push(row.uuid("receipt_id")?);
    }
    for (payload, members) in requests {
        let mut stays = None;
        let mut is_due = true;
        for member in &members {
            let over = member.stored_at < cutoffs.payload;
            let early = cutoffs
                .processed
                .is_some_and(|before| done.get(&member.id).is_some_and(|done| *done < before));
            is_due &= over || early;
            let why = if held.contains(&member.id) {
                Some(Kept::Hold)
            } else if let Some(state) = open.get(&member.id) {
                let old = cutoffs.unprocessed.is_some_and(|before| member.stored_at < before);
                let given_up = old && *state != State::Leased && asked.contains(&member.id);
                if given_up {
                    judged.give_up.push(member.id);
                }
                (!given_up || !as_if_given_up).then_some(Kept::of(*state))
            } else if member.awaits_repair
                && cutoffs.unprocessed.is_none_or(|before| member.stored_at >= before)
            {
                Some(Kept::Repair)
            } else {
                None
            };
            stays = stays.or(why);
        }
        let others = |owner: &Uuid| members.iter().all(|member| member.id != *owner);
        if stays.is_none() && needed.get(&payload).is_some_and(|owners| owners.iter().any(others)) {
            stays = Some(Kept::Shared);
        }
        let mine = members.iter().filter(|member| asked.contains(&member.id));
        match stays {
            _ if !is_due => {}
            Some(why) => {
                for member in mine {
                    let own = open.get(&member.id).map(|state| Kept::of(*state));
                    let own = own.or_else(|| held.contains(&member.id).then_some(Kept::Hold));
                    let why = match (members.len(), own) {
                        (1, _) => why,
                        (_, Some(own)) => own,
                        (_, None) => Kept::Shared,
                    };
                    judged.kept.push((member.id, why));
                }
            }
            None => judged.go.push(Request { payload, receipts: members.iter().map(|due| due.id).collect() }),
        }
    }
    Ok(judged)
}

/// How events stand that somebody still has to do something about. Of several handoffs one is told, a lease first.
async fn open(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: &[Uuid],
) -> Result<HashMap<Uuid, State>, StoreError> {
    let mut open = HashMap::new();
    for row in conn.fetch_all(&sql::RETENTION_OPEN, values![tenant, receipts.to_vec()]).await? {
        let state = State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?;
        let told = open.entry(row.uuid("id")?).or_insert(state);
        if state == State::Leased {
            *told = state;
        }
    }
    Ok(open)
}

/// When everybody was done with events. One that nobody ever had, or only a consumer that was deleted, is not there.
async fn done_at(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: &[Uuid],
) -> Result<HashMap<Uuid, Timestamp>, StoreError> {
    let rows = conn.fetch_all(&sql::RETENTION_DONE_AT, values![tenant, receipts.to_vec()]).await?;
    rows.iter().map(|row| Ok((row.uuid("id")?, row.time("ended_at")?.max(row.time("settled_at")?)))).collect()
}

/// How many requests are there of some, and how many bytes they take.
///
/// # Errors
/// What the database ran into.
pub async fn sizes(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    payloads: Vec<Uuid>,
) -> Result<(u64, u64), StoreError> {
    if payloads.is_empty() {
        return Ok((0, 0));
    }
    let row = conn.fetch_one(&sql::RETENTION_SIZES, values![tenant, payloads]).await?;
    Ok((row.count("payloads")?, row.count("bytes")?))
}
