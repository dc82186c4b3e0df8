//! Payloads whose time is over: their receipts become tombstones.

use std::collections::HashSet;
use std::time::Instant;

use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::retention::{self, Cutoffs, Due, HoldFacts, Kept, LineCounts};
use uuid::Uuid;

use super::{EVENTS_PER_BATCH, Running};
use crate::retention::plan::{EndpointPlan, InstanceRetention};
use crate::retention::report::EndpointReport;

/// Events that one transaction makes tombstones of. On SQLite it holds the one writer for some ten milliseconds.
const EVENTS_PER_WRITE: usize = 250;
/// Bytes of payloads that one transaction removes; one larger payload goes alone.
const BYTES_PER_WRITE: u64 = 8 * 1024 * 1024;

impl Running<'_> {
    pub(super) async fn look(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        after: (Timestamp, Uuid),
        before: Timestamp,
    ) -> Result<Vec<Due>, StoreError> {
        self.app
            .store
            .read(move |conn| {
                Box::pin(retention::due_payloads(conn, tenant, endpoint, after, before, EVENTS_PER_BATCH))
            })
            .await
    }

    pub(super) async fn payloads(
        &mut self,
        holds: &HoldFacts,
        cutoffs: &Cutoffs,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint) = (line.tenant, line.endpoint);
        let mut after = (Timestamp::from_micros(i64::MIN), Uuid::nil());
        let mut looked = 0;
        loop {
            if self.stopped() || self.options.look_max.is_some_and(|max| looked >= max) {
                return Ok(());
            }
            let due = self.look(tenant, endpoint, after, cutoffs.look_before()).await?;
            let Some(last) = due.last() else { return Ok(()) };
            after = (last.stored_at, last.id);
            looked += due.len() as u64;
            let (holds, cutoffs, dry_run) = (holds.clone(), *cutoffs, self.options.dry_run);
            let found = due.clone();
            let (judged, sizes) = self
                .app
                .store
                .read(move |conn| {
                    Box::pin(async move {
                        let judged =
                            retention::judge(conn, tenant, &found, &cutoffs, &holds, dry_run).await?;
                        let requests = judged.go.iter().map(|request| request.payload).collect();
                        let sizes = match dry_run {
                            true => retention::sizes(conn, tenant, requests).await?,
                            false => (0, 0),
                        };
                        Ok((judged, sizes))
                    })
                })
                .await?;
            let take: HashSet<Uuid> = judged
                .go
                .iter()
                .flat_map(|request| &request.receipts)
                .chain(&judged.give_up)
                .copied()
                .collect();
            for (id, why) in &judged.kept {
                if dry_run || !take.contains(id) {
                    *line.kept.entry(*why).or_default() += 1;
                }
            }
            if dry_run {
                let asked: HashSet<Uuid> = due.iter().map(|due| due.id).collect();
                let mine =
                    judged.go.iter().flat_map(|request| &request.receipts).filter(|id| asked.contains(id));
                line.counts.payloads += mine.count() as u64;
                line.counts.payload_bytes += sizes.1;
                line.counts.expired += judged.give_up.len() as u64;
                continue;
            }
            for batch in batches(&due, &take) {
                let began = Instant::now();
                self.remove_payloads(cutoffs, batch, line).await?;
                self.rest(began).await;
            }
        }
    }

    async fn remove_payloads(
        &self,
        planned: Cutoffs,
        batch: Vec<Uuid>,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint, at, run) = (line.tenant, line.endpoint, self.at, self.id);
        let (counts, kept) = self
            .app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let nothing = (LineCounts::default(), Vec::new());
                    // Policies, holds and consumers are asked again, and stand still until the commit.
                    if !retention::hold_still(conn, tenant).await? {
                        return Ok(nothing);
                    }
                    let facts = retention::facts(conn, tenant, Some(endpoint), at).await?;
                    let instance = InstanceRetention::read(facts.instance.as_deref())?;
                    let Some(found) = facts.endpoints.first() else { return Ok(nothing) };
                    let plan = EndpointPlan::new(&facts, &instance, found);
                    let all = |why| batch.iter().map(|id| (*id, why)).collect::<Vec<_>>();
                    if plan.held {
                        return Ok((LineCounts::default(), all(Kept::Hold)));
                    }
                    if facts.backfilling {
                        return Ok((LineCounts::default(), all(Kept::Backfill)));
                    }
                    let cutoffs = planned.stricter(plan.cutoffs(at));
                    let removed =
                        retention::remove_payloads(conn, tenant, batch, &cutoffs, &facts.holds).await?;
                    let counts = LineCounts {
                        payloads: removed.payloads,
                        payload_bytes: removed.bytes,
                        keys: 0,
                        expired: removed.expired,
                    };
                    retention::add_to_line(conn, tenant, run, endpoint, counts).await?;
                    Ok((counts, removed.kept))
                })
            })
            .await?;
        line.counts.payloads += counts.payloads;
        line.counts.payload_bytes += counts.payload_bytes;
        line.counts.expired += counts.expired;
        for (_, why) in kept {
            *line.kept.entry(why).or_default() += 1;
        }
        Ok(())
    }
}

/// The events that are taken, in portions of so many events and bytes.
fn batches(due: &[Due], take: &HashSet<Uuid>) -> Vec<Vec<Uuid>> {
    let mut batches: Vec<Vec<Uuid>> = Vec::new();
    let mut room = 0_u64;
    for one in due.iter().filter(|one| take.contains(&one.id)) {
        match batches.last_mut() {
            Some(batch) if one.bytes <= room && batch.len() < EVENTS_PER_WRITE => {
                room -= one.bytes;
                batch.push(one.id);
            }
            _ => {
                room = BYTES_PER_WRITE.saturating_sub(one.bytes);
                batches.push(vec![one.id]);
            }
        }
    }
    batches
}
