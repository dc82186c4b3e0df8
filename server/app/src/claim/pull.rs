//! A claim, and its wait. What is due is leased in one transaction; the bytes are loaded and opened
//! after it. A claim that found nothing waits until something comes, is due, or its time is up, and
//! holds nothing meanwhile.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use restante_core::access::Scope;
use restante_core::handoff::Nack;
use restante_core::id::ReceiptId;
use restante_core::seal::TenantKeyset;
use restante_store::consumers::ConsumerRecord;
use restante_store::handoffs::{self, Lease, LeaseNack};
use restante_store::{StoreError, consumers};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Claim, Claimed, ClaimedEvent, Idle, check};
use crate::authenticate::look_again;
use crate::consumers::not_found;
use crate::{App, By, figures};

/// A waiting claim looks again at least this often: a wake-up may get lost, and an operator's command
/// on SQLite is another process.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// A caller that closes its side of the connection so soon has probably said all that it will, and
/// reads on. One that has gone away in this time has lost its answer, as in any network.
const READS_ON: Duration = Duration::from_secs(1);
/// A pause after others were faster, or hold for a moment what is due.
const AFTER_A_RACE: Duration = Duration::from_millis(20);

/// The connection to the caller, as far as a claim has to know of it.
#[derive(Clone)]
struct Line {
    hung_up: watch::Receiver<bool>,
    /// Until when the caller may close its side and still be handed something.
    reads_on_until: Instant,
}

impl Line {
    fn is_closed(&self) -> bool {
        *self.hung_up.borrow()
    }

    /// Whether what is leased now would be for nobody.
    fn leads_nowhere(&self) -> bool {
        self.is_closed() && Instant::now() >= self.reads_on_until
    }

    async fn closed(&mut self) {
        if self.hung_up.wait_for(|hung_up| *hung_up).await.is_err() {
            // Nobody tells of it any more; when the connection ends, so does the claim.
            std::future::pending().await
        }
    }
}

impl App {
    /// Claims what is due to a consumer, and waits for it as long as was asked for.
    ///
    /// A caller that goes away while it waits has leased nothing: when this is dropped, and when
    /// `hung_up` becomes true, since most callers that close their side have gone. One that closes it
    /// right behind its request may still read, and gets what is due now, without a wait. One whose key
    /// is revoked or expires while it waits gets nothing any more.
    ///
    /// # Errors
    /// Not found, fields at fault, a key that is none any more, or what the database ran into.
    pub async fn claim(
        &self,
        by: &By,
        consumer: &str,
        asked: Claim,
        hung_up: watch::Receiver<bool>,
    ) -> Result<Claimed, StoreError> {
        check::claim(&asked)?;
        let mut line = Line { hung_up, reads_on_until: Instant::now() + READS_ON };
        let tenant = by.tenant();
        // Before anything is leased: without keys nothing could be handed out.
        let keys = self.tenant_keys(tenant).await?;
        let deadline = Instant::now() + Duration::from_secs(asked.wait_seconds.into());
        loop {
            let (consumer, leases) = self.lease(by, consumer, &asked, &line).await?;
            if !leases.is_empty() {
                let events = self.hand_out(&keys, &consumer, leases).await?;
                if !events.is_empty() {
                    return Ok(Claimed { events, idle: None });
                }
                // Nothing of it could be opened, and all of it has failed; perhaps there is more.
                continue;
            }
            if let Some(idle) = self.wait(by, &consumer, deadline, &mut line).await? {
                return Ok(Claimed { events: Vec::new(), idle: Some(idle) });
            }
            line.reads_on_until = Instant::now();
        }
    }

    /// Leases in one transaction, which ends with another look at the caller. At its end, so that on
    /// PostgreSQL too nothing is leased that came after the key had gone.
    async fn lease(
        &self,
        by: &By,
        name: &str,
        asked: &Claim,
        line: &Line,
    ) -> Result<(ConsumerRecord, Vec<Lease>), StoreError> {
        let claim = handoffs::Claim {
            randoms: (0..asked.max).map(|_| self.random.bytes()).collect(),
            lease_seconds: asked.lease_seconds,
            handler_version: check::word(asked.handler_version.clone()),
        };
        let (caller, clock, name) = (by.principal, Arc::clone(&self.clock), name.to_owned());
        // On SQLite the write waits for its turn, and a caller may be gone by then. Its events would
        // be out of reach until the lease runs out.
        let waits = Arc::new(());
        let still_there = Arc::downgrade(&waits);
        let line = line.clone();
        let (consumer, claimed) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, caller.tenant, &name).await?;
                    let Some(consumer) = consumer else {
                        look_again(conn, caller, Scope::EventsConsume, clock.now()).await?;
                        return Err(not_found().into());
                    };
                    if still_there.strong_count() == 0 || line.leads_nowhere() {
                        return Err(StoreError::Unavailable {
                            statement: "claim",
                            detail: "the claimer has gone away".to_owned(),
                        });
                    }
                    let claimed = handoffs::claim(conn, &consumer, claim).await?;
                    look_again(conn, caller, Scope::EventsConsume, clock.now()).await?;
                    Ok((consumer, claimed))
                })
            })
            .await?;
        drop(waits);
        figures::handoffs_retried(claimed.expired.pending);
        figures::handoffs_failed(claimed.expired.failed);
        if claimed.more {
            // Others may have waited since before there was so much.
            self.wakeups.wake(consumer.id);
        }
        Ok((consumer, claimed.leases))
    }

    /// Loads and opens what was leased. What can't be opened fails with a note, and is never handed
    /// out as anything else.
    async fn hand_out(
        &self,
        keys: &TenantKeyset,
        consumer: &ConsumerRecord,
        leases: Vec<Lease>,
    ) -> Result<Vec<ClaimedEvent>, StoreError> {
        let tenant = consumer.tenant;
        let ids: Vec<ReceiptId> = leases.iter().map(|lease| lease.receipt).collect();
        let mut events = self.events_with_content(tenant, keys, &ids).await?;
        let mut replays = self.replays_of(tenant, &leases).await?;
        let mut claimed = Vec::with_capacity(leases.len());
        let mut failed = Vec::new();
        for lease in leases {
            let event = events.remove(&lease.receipt);
            match event.unwrap_or(Err("There is no receipt for this event.")) {
                Ok(mut event) => {
                    event.replay = lease.replay.and_then(|id| replays.remove(&id));
                    claimed.push(ClaimedEvent {
                        event,
                        attempt: lease.attempt,
                        token: lease.token,
                        expires_at: lease.expires_at,
                    });
                }
                Err(why) => {
                    tracing::error!(receipt.id = %lease.receipt, why, "an event can't be handed out");
                    failed.push(LeaseNack {
                        token: Some(lease.token),
                        asked: Nack::Failed,
                        retry_in_seconds: None,
                        error: Some(why.to_owned()),
                        remote_operation_id: None,
                        random: 0,
                    });
                }
            }
        }
        if !failed.is_empty() {
            figures::handoffs_failed(failed.len() as u64);
            let consumer = consumer.clone();
            self.store
                .write(move |conn| Box::pin(async move { handoffs::nack(conn, &consumer, failed).await }))
                .await?;
        }
        Ok(claimed)
    }

    /// Waits until it is worth to claim again; `Some` tells that the time is up, or that the server stops.
    async fn wait(
        &self,
        by: &By,
        consumer: &ConsumerRecord,
        deadline: Instant,
        line: &mut Line,
    ) -> Result<Option<Idle>, StoreError> {
        let mut consumer = consumer.clone();
        let place = self.wakeups.place(consumer.id);
        loop {
            let mut woken = pin!(place.notified());
            // From here on nothing is missed that comes between the look and the wait.
            woken.as_mut().enable();
            let (now_enabled, idle) = self.look(by, &consumer).await?;
            consumer.enabled = now_enabled;
            let in_future = idle.next_at.map(|at| at.micros_since(idle.now).max(0).unsigned_abs());
            let next_in = in_future.filter(|_| consumer.enabled).map(Duration::from_micros);
            if Instant::now() >= deadline || self.wakeups.is_closed() || line.is_closed() {
                let next_at = idle.next_at.filter(|_| consumer.enabled);
                return Ok(Some(Idle { leased: idle.leased, next_at, paused: !consumer.enabled }));
            }
            if next_in == Some(Duration::ZERO) {
                tokio::time::sleep_until(deadline.min(Instant::now() + AFTER_A_RACE)).await;
                return Ok(None);
            }
            let until =
                deadline.min(Instant::now() + next_in.map_or(LOOK_AGAIN, |next| next.min(LOOK_AGAIN)));
            tokio::select! {
                () = &mut woken => {}
                () = tokio::time::sleep_until(until) => {}
                () = line.closed() => {}
            }
        }
    }

    /// Looks at a consumer and its caller without taking a turn to write: whether the caller may go on
    /// waiting, whether the consumer is enabled, and what it has.
    async fn look(&self, by: &By, consumer: &ConsumerRecord) -> Result<(bool, handoffs::Idle), StoreError> {
        let (caller, now, consumer) = (by.principal, self.clock.now(), consumer.clone());
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    look_again(conn, caller, Scope::EventsConsume, now).await?;
                    let known = consumers::by_name(conn, consumer.tenant, &consumer.name).await?;
                    let known = known.filter(|known| known.id == consumer.id).ok_or_else(not_found)?;
                    Ok((known.enabled, handoffs::idle(conn, &consumer).await?))
                })
            })
            .await
    }
}
