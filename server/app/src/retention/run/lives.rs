//! What is no event and has a life all the same, and the space that all of it leaves.

use std::time::Instant;

use restante_core::id::{TenantId, uuid_v7_floor};
use restante_core::retention::{Level, resolve};
use restante_store::StoreError;
use restante_store::control::instance_settings::{InstanceSetting, read};
use restante_store::retention::{self, OldRows, TenantFacts};

use super::Running;
use crate::retention::plan::{InstanceRetention, levels};

/// How long the record of a run is kept, in days. `docs/DATA.md` has the table of all lives.
const RUNS_KEPT_DAYS: i64 = 400;
/// How long an invitation is kept after its end, in days.
const INVITES_DAYS: i64 = 30;
/// How long the record of a replay of many is kept, in days.
const REPLAY_JOBS_DAYS: i64 = 400;
/// How long a sample of a refused request is kept at most, in days.
const REFUSALS_DAYS_MAX: u32 = 30;
/// Free pages that stay in the SQLite file for what comes next: a twentieth of it, and at least a megabyte.
const PAGES_FREE_SHARE: u64 = 20;
const PAGES_FREE_MIN: u64 = 256;

impl Running<'_> {
    /// Samples of refusals, invitations, lines of the log, old records.
    pub(super) async fn old_of_tenant(
        &mut self,
        tenant: TenantId,
        facts: &TenantFacts,
        instance: &InstanceRetention,
    ) -> Result<(), StoreError> {
        let resolved = resolve(&levels(facts, instance, None, None), &instance.bounds);
        let ago = |days: i64| self.at.plus_seconds(-days * 86_400);
        let old = OldRows {
            invites: ago(INVITES_DAYS),
            refusals: ago(resolved.payload_days.value.min(REFUSALS_DAYS_MAX).into()),
            log: (!facts.holds.tenant).then(|| ago(resolved.log_days.value.into())),
            replay_jobs: ago(REPLAY_JOBS_DAYS),
        };
        let runs_before = uuid_v7_floor(ago(RUNS_KEPT_DAYS));
        loop {
            let began = Instant::now();
            let (removed, left) = self
                .app
                .store
                .write(move |conn| {
                    Box::pin(async move {
                        let (removed, left) = retention::remove_old_of_tenant(conn, tenant, old).await?;
                        let lines = retention::forget_old(conn, Some(tenant), runs_before).await?;
                        Ok((removed + lines, left))
                    })
                })
                .await?;
            self.report.old_rows += removed;
            if !left || self.stopped() {
                return Ok(());
            }
            self.rest(began).await;
        }
    }

    pub(super) async fn of_the_instance(&mut self) -> Result<(), StoreError> {
        let stored = self
            .app
            .store
            .read(|conn| Box::pin(async move { read(conn, InstanceSetting::Retention).await }))
            .await?;
        let instance = InstanceRetention::read(stored.as_deref())?;
        let resolved = resolve(&[(Level::Instance, instance.defaults)], &instance.bounds);
        let log_before = self.at.plus_seconds(-i64::from(resolved.log_days.value) * 86_400);
        let runs_before = uuid_v7_floor(self.at.plus_seconds(-RUNS_KEPT_DAYS * 86_400));
        loop {
            let began = Instant::now();
            let (removed, left) = self
                .app
                .store
                .write(move |conn| {
                    Box::pin(async move {
                        let (lines, left) = retention::remove_old_instance_log(conn, log_before).await?;
                        Ok((lines + retention::forget_old(conn, None, runs_before).await?, left))
                    })
                })
                .await?;
            self.report.old_rows += removed;
            if !left || self.stopped() {
                return Ok(());
            }
            self.rest(began).await;
        }
    }

    pub(super) async fn give_space_back(&mut self) -> Result<(), StoreError> {
        let mut pages = self.app.store.read(|conn| Box::pin(retention::pages(conn))).await?;
        loop {
            let stay = (pages.all / PAGES_FREE_SHARE).max(PAGES_FREE_MIN);
            if pages.free <= stay || self.stopped() {
                return Ok(());
            }
            let began = Instant::now();
            let left = self.app.store.write(|conn| Box::pin(retention::give_back(conn))).await?;
            if left.all >= pages.all {
                // The file was made without `auto_vacuum`, or others fill it as fast.
                return Ok(());
            }
            self.report.pages_given_back += pages.all - left.all;
            pages = left;
            self.rest(began).await;
        }
    }
}
