//! Keys whose time is over: their tombstones go, and from then on their events would come in as new ones.

use std::time::Instant;

use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::events::PayloadState;
use restante_store::retention::{self, HoldFacts, Kept, KeyRule, LineCounts};
use uuid::Uuid;

use super::Running;
use crate::retention::plan::{EndpointPlan, InstanceRetention};
use crate::retention::report::EndpointReport;

/// Tombstones that one batch looks at and one transaction removes. With each go its handoffs and attempts.
const KEYS_PER_BATCH: u32 = 250;
/// Looks at keys in a row that find nothing but keys which their secret keeps; younger ones are kept as well then.
const LOOKS_IN_VAIN_MAX: u32 = 8;

impl Running<'_> {
    pub(super) async fn keys(
        &mut self,
        holds: &HoldFacts,
        plan: &EndpointPlan,
        state: PayloadState,
        line: &mut EndpointReport,
    ) -> Result<(), StoreError> {
        let (tenant, endpoint, at) = (line.tenant, line.endpoint, self.at);
        let before = plan.cutoffs(at).key;
        let mut after = (Timestamp::from_micros(i64::MIN), Uuid::nil());
        let (mut looked, mut in_vain) = (0, 0);
        loop {
            if self.stopped() || self.options.look_max.is_some_and(|max| looked >= max) {
                return Ok(());
            }
            let (holds, secrets, sent_before) = (holds.clone(), plan.secrets, plan.sent_before(at));
            let found = self
                .app
                .store
                .read(move |conn| {
                    Box::pin(async move {
                        let rule = KeyRule { secrets, sent_before, holds: &holds };
                        let limit = KEYS_PER_BATCH;
                        retention::due_keys(conn, tenant, endpoint, state, after, before, limit, &rule).await
                    })
                })
                .await?;
            let Some(last) = found.last else { return Ok(()) };
            after = last;
            looked += u64::from(KEYS_PER_BATCH);
            for (why, count) in &found.kept {
                *line.kept.entry(*why).or_default() += count;
            }
            let by_secret = found.keys.is_empty() && found.kept.keys().all(|why| *why == Kept::Secret);
            in_vain = if by_secret { in_vain + 1 } else { 0 };
            if in_vain >= LOOKS_IN_VAIN_MAX {
                return Ok(());
            }
            if self.options.dry_run {
                line.counts.keys += found.keys.len() as u64;
            } else if !found.keys.is_empty() {
                let began = Instant::now();
                line.counts.keys += self.remove_keys(tenant, endpoint, found.keys, before).await?;
                self.rest(began).await;
            }
        }
    }

    async fn remove_keys(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        keys: Vec<Uuid>,
        planned: Timestamp,
    ) -> Result<u64, StoreError> {
        let (at, run) = (self.at, self.id);
        self.app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if !retention::hold_still(conn, tenant).await? {
                        return Ok(0);
                    }
                    // The guardrail of this moment: no edit since the plan was made gets around it.
                    let facts = retention::facts(conn, tenant, Some(endpoint), at).await?;
                    let instance = InstanceRetention::read(facts.instance.as_deref())?;
                    let Some(found) = facts.endpoints.first() else { return Ok(0) };
                    let plan = EndpointPlan::new(&facts, &instance, found);
                    if plan.held {
                        return Ok(0);
                    }
                    let before = planned.min(plan.cutoffs(at).key);
                    let rule = KeyRule {
                        secrets: plan.secrets,
                        sent_before: plan.sent_before(at),
                        holds: &facts.holds,
                    };
                    let keys = retention::remove_keys(conn, tenant, keys, before, &rule).await?;
                    let counts = LineCounts { keys, ..LineCounts::default() };
                    retention::add_to_line(conn, tenant, run, endpoint, counts).await?;
                    Ok(keys)
                })
            })
            .await
    }
}
