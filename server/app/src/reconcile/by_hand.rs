//! A run from the command line: asked for like any other, done by this process unless another node has the endpoint,
//! and waited for until it ends.

use std::time::{Duration, Instant};

use restante_core::id::{EndpointId, ReconciliationRunId, TenantId};
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::tenants;
use serde_json::json;
use tokio::sync::watch;

use super::runs::{AskedRun, Run, ask, stretch};
use crate::App;
use crate::people::Actor;

/// How long one claim of the endpoint goes on before it is given back and claimed again.
const GOES_ON_MAX: Duration = Duration::from_secs(600);
/// Between two looks at a run that another node does, or that waits for its provider.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl App {
    /// Has the provider of a tenant's endpoint be asked on behalf of the operator, behind a run that is under way, and
    /// gives the run when it has ended. `stop` gives it as it stands then; a server, or the next call, goes on with it.
    /// `waits` is told why a run has to wait, once for each reason.
    ///
    /// # Errors
    /// Not found, also when nothing is set; a fault of the stretch; a conflict when several runs wait already.
    pub async fn reconcile_by_hand(
        &self,
        slug: &str,
        endpoint: EndpointId,
        asked: AskedRun,
        mut stop: watch::Receiver<bool>,
        waits: impl Fn(&str) + Send,
    ) -> Result<Run, StoreError> {
        let wanted = slug.to_owned();
        let found =
            self.store.read(move |conn| Box::pin(async move { tenants::by_slug(conn, &wanted).await }));
        let tenant = found.await?.ok_or_else(|| Problem::not_found("tenant"))?.id;
        let id = self.ask_by_hand(tenant, endpoint, asked).await?;
        let mut told = None;
        loop {
            self.reconcile(tenant, endpoint, &stop, Instant::now() + GOES_ON_MAX).await?;
            let run = self.run_of(tenant, endpoint, id).await?;
            if run.row.finished_at.is_some() || *stop.borrow() {
                return Ok(run);
            }
            if let Some(why) = &run.row.error
                && told.as_ref() != Some(why)
            {
                waits(why);
                told = Some(why.clone());
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stop.changed() => {}
            }
        }
    }

    async fn ask_by_hand(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        asked: AskedRun,
    ) -> Result<ReconciliationRunId, StoreError> {
        let now = self.clock.now();
        stretch(asked, now)?;
        let id = ReconciliationRunId::new(now, self.random.bytes());
        let actor = Actor::operator();
        let detail = json!({ "run": id, "from": asked.from, "to": asked.to, "trusting": asked.trusting });
        let line = actor.line(&*self.random, now, "reconciliation.run", endpoint.to_string(), &detail);
        let new = asked.run(id, actor.name());
        self.store
            .write(move |conn| Box::pin(async move { ask(conn, tenant, endpoint, new, line).await }))
            .await?;
        Ok(id)
    }
}
