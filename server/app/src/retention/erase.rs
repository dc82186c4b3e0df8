//! Erasing now. The key stays, so that the event can't come in a second time; what an erasure does not reach stands
//! in [`NOT_REACHED`], for every page that offers it.

use std::time::{Duration, Instant};

use restante_core::id::{ReceiptId, TenantId, uuid_v7_floor};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::{audit, tenants};
use restante_store::retention::{self, Erased};
use serde_json::json;
use uuid::Uuid;

use super::holds::reason;
use crate::{App, By};

/// What an erasure does not reach, a sentence each.
pub const NOT_REACHED: [&str; 5] = [
    "What was handed to your applications, downloaded or copied is theirs.",
    "Backups, replicas and archived write-ahead logs hold the sealed payload until they are gone themselves.",
    "The blocks that held it are free and are written over in time. What stands there is sealed under the tenant's key.",
    "The receipt stays as a tombstone: id, type, account, times, sizes and digests, so that the event can't come in again.",
    "The logs of the server and of proxies may hold ids, types and accounts.",
];

/// Events that one transaction erases.
const EVENTS_PER_STEP: u32 = 250;
/// How long those who have an event in hand are waited for.
const BUSY_REST: Duration = Duration::from_millis(50);
/// How long one call goes on.
const CALL_MAX: Duration = Duration::from_secs(20);

/// What a call has erased of a tenant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasedMany {
    /// What went.
    pub erased: Erased,
    /// Nothing is left but what is held; otherwise another call goes on.
    pub complete: bool,
}

impl App {
    /// Erases the payload of an event now, and ends what was still to be done about it.
    ///
    /// # Errors
    /// Not found; gone; a conflict where it is held, or came in one request with others and `whole_request` is not said.
    pub async fn erase_event(
        &self,
        by: &By,
        id: ReceiptId,
        whole_request: bool,
        why: &str,
    ) -> Result<Erased, StoreError> {
        let why = reason(why)?;
        let (tenant, now, actor) = (by.tenant(), self.clock.now(), by.actor());
        let detail = json!({ "reason": why, "whole_request": whole_request });
        let line = by.audit(&*self.random, now, "event.erase", id.to_string(), &detail);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    retention::hold_still(conn, tenant).await?;
                    let erased = retention::erase(conn, tenant, id, whole_request, &actor).await?;
                    audit::insert(conn, tenant, line).await?;
                    Ok(erased)
                })
            })
            .await
    }

    /// Erases every payload of the caller's tenant that came until now, and then the samples of refused requests, in
    /// steps, for up to 20 seconds. `slug` is the tenant's name, typed once more.
    ///
    /// # Errors
    /// A fault of the name or the reason; a conflict while the tenant is held.
    pub async fn erase_payloads(&self, by: &By, slug: &str, why: &str) -> Result<ErasedMany, StoreError> {
        let why = reason(why)?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let found = self.store.read(move |conn| Box::pin(tenants::by_id(conn, tenant))).await?;
        if found.is_none_or(|tenant| tenant.slug != slug) {
            return Err(Problem::field(
                "/confirm",
                "Type the tenant's short name, as it stands in the address.",
            )
            .into());
        }
        let line = by.audit(
            &*self.random,
            now,
            "tenant.erase_payloads",
            tenant.to_string(),
            &json!({ "reason": why }),
        );
        self.store.write(move |conn| Box::pin(audit::insert(conn, tenant, line))).await?;
        let (began, until) = (Instant::now(), uuid_v7_floor(now.plus_seconds(1)));
        let mut done = ErasedMany::default();
        let (mut after, mut busy) = (Uuid::nil(), 0);
        while began.elapsed() < CALL_MAX {
            let actor = by.actor();
            let step = self
                .store
                .write(move |conn| {
                    Box::pin(async move {
                        retention::hold_still(conn, tenant).await?;
                        retention::erase_some(conn, tenant, after, until, EVENTS_PER_STEP, &actor).await
                    })
                })
                .await?;
            done.erased.events += step.events;
            done.erased.bytes += step.bytes;
            done.erased.handoffs += step.handoffs;
            done.erased.held += step.held;
            done.erased.refusals += step.refusals;
            busy += step.busy;
            match step.last {
                Some(last) => after = last,
                // Somebody had some of them in hand, and is done with them soon: all are looked at once more.
                None if busy > 0 => {
                    (after, busy, done.erased.held) = (Uuid::nil(), 0, 0);
                    tokio::time::sleep(BUSY_REST).await;
                }
                None => {
                    done.erased.refusals += self.erase_refusals(tenant, now).await?;
                    done.complete = true;
                    break;
                }
            }
        }
        Ok(done)
    }

    async fn erase_refusals(&self, tenant: TenantId, now: Timestamp) -> Result<u64, StoreError> {
        let before = now.plus_seconds(1);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    retention::hold_still(conn, tenant).await?;
                    retention::erase_refusals(conn, tenant, before).await
                })
            })
            .await
    }
}
