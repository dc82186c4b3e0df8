//! Deleting a tenant with everything. The call destroys its keys and every way to it in one transaction, so
//! that nothing it sealed can be opened from then on: at once at this node, and within five seconds at
//! others, where an API key that was looked up a moment ago still counts. Its rows go afterwards, by a
//! background task at every node: in short steps, each a transaction, which rest as long as they worked.
//!
//! A kill costs the step that was under way. What the instance's audit log says of the tenant stays.

use std::time::{Duration, Instant};

use restante_core::id::TenantId;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::instance_audit;
use restante_store::tenant_removal::{self, NewRemoval, RemovalRow, Step};
use serde_json::json;
use tokio::sync::watch;

use super::super::administrator;
use super::{no_tenant, tenant_or_none};
use crate::App;
use crate::people::Actor;

/// How often is looked for deletions that another node began, or that a stop cut off.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Deletions that are worked on in turns.
const AT_ONCE: u32 = 10;
/// The shortest and the longest rest after a step: half of the time belongs to others.
const REST: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

impl App {
    /// Begins to delete a tenant with everything, after its name in URLs was typed.
    ///
    /// # Errors
    /// A fault of the typed name; a conflict while anything of it is held; `not-found`; `missing-scope` for who is no
    /// administrator.
    pub async fn delete_tenant(
        &self,
        actor: &Actor,
        tenant: TenantId,
        typed_name: &str,
    ) -> Result<RemovalRow, StoreError> {
        let now = self.clock.now();
        let (typed, actor) = (typed_name.trim().to_owned(), actor.clone());
        let random = std::sync::Arc::clone(&self.random);
        let removal = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let row = tenant_or_none(conn, tenant).await?;
                    if row.slug != typed {
                        let detail =
                            format!("This is not the tenant's name, {}, so nothing was deleted.", row.slug);
                        return Err(Problem::field("/typed_name", detail).into());
                    }
                    let new = NewRemoval { actor: actor.name(), requested_at: now };
                    let removal = tenant_removal::begin(conn, tenant, new).await?.ok_or_else(no_tenant)?;
                    let detail =
                        json!({ "slug": removal.slug, "name": removal.name, "events": removal.events });
                    let line = actor.line(&*random, now, "tenant.delete", tenant.to_string(), &detail);
                    instance_audit::insert(conn, line).await?;
                    Ok(removal)
                })
            })
            .await?;
        self.keys.forget(tenant);
        self.callers.forget_tenant(tenant);
        self.targets.forget_tenant(tenant);
        tracing::info!(tenant.id = %tenant, events = removal.events, "a tenant's keys were destroyed; its rows go now");
        Ok(removal)
    }

    /// Does one step of a deletion.
    ///
    /// # Errors
    /// What the database ran into; then the step is done anew later.
    pub(crate) async fn step_tenant_removal(&self, tenant: TenantId) -> Result<Step, StoreError> {
        let now = self.clock.now();
        let random = std::sync::Arc::clone(&self.random);
        let step = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let step = tenant_removal::step(conn, tenant, now).await?;
                    if step == Step::Finished
                        && let Some(done) = tenant_removal::of_tenant(conn, tenant).await?
                    {
                        instance_audit::insert(conn, ended(&done, &*random, now)).await?;
                    }
                    Ok(step)
                })
            })
            .await?;
        if step == Step::Finished {
            tracing::info!(tenant.id = %tenant, "nothing is left of a deleted tenant");
        }
        Ok(step)
    }

    /// Works at the deletions that are under way until none is left; tells how many steps it did.
    ///
    /// # Errors
    /// What the database ran into first; the others went on all the same.
    pub(crate) async fn work_off_tenant_removals(&self) -> Result<u64, StoreError> {
        let mut open = self.store.read(|conn| Box::pin(tenant_removal::open(conn, AT_ONCE))).await?;
        let (mut steps, mut failed) = (0, None);
        while !open.is_empty() {
            let mut left = Vec::new();
            for tenant in open {
                let began = Instant::now();
                match self.step_tenant_removal(tenant).await {
                    Ok(Step::Removed(_)) => left.push(tenant),
                    Ok(Step::Finished | Step::Nothing) => {}
                    Err(error) => {
                        failed.get_or_insert(error);
                    }
                }
                steps += 1;
                tokio::time::sleep(began.elapsed().clamp(REST.0, REST.1)).await;
            }
            open = left;
        }
        failed.map_or(Ok(steps), Err)
    }
}

/// The last line of a tenant in the instance's log. Who asked for the deletion stands for what it did.
fn ended(
    done: &RemovalRow,
    random: &dyn crate::random::Random,
    now: Timestamp,
) -> restante_store::control::audit::AuditRow {
    let detail = json!({ "slug": done.slug, "rows_removed": done.rows_removed });
    let mut line = Actor::operator().line(random, now, "tenant.deleted", done.tenant.to_string(), &detail);
    line.actor.clone_from(&done.actor);
    line
}

/// Works off deletions of tenants until it is told to stop. A step that is under way then is rolled back.
pub async fn run_tenant_removals(app: App, mut stop: watch::Receiver<bool>) {
    let work = async {
        loop {
            if let Err(error) = app.work_off_tenant_removals().await {
                tracing::warn!(%error, "the deletion of a tenant goes on later");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        () = work => {}
        _ = stop.wait_for(|stopped| *stopped) => {}
    }
}
