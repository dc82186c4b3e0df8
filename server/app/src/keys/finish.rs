//! The job that finishes what a rotation began. Changing a master key and rotating a tenant's keys are steps that a
//! person takes; the long ones, wrapping every key anew and sealing every secret anew, may be cut off, or forgotten.
//! What they leave half done works, and this job does the other half. It adds, activates and retires nothing.

use std::collections::BTreeSet;

use restante_core::problem::Code;
use restante_core::seal::{KeyClass, KeyState};
use restante_store::StoreError;

use super::{TenantKeyRows as _, census};
use crate::App;
use crate::people::Actor;
use crate::schedule::{JobFault, Report, Work};

/// Keys that are read at once.
const KEYS_AT_ONCE: u32 = 1_000;

/// Wraps under the active master key what another one wraps, and seals under each tenant's newest key the secrets that
/// an older one seals.
pub(crate) async fn finish_rotations(work: Work) -> Result<Report, JobFault> {
    let app = &work.app;
    let (rewrapped, note) = app.finish_rewrap().await?;
    let (mut resealed, mut destroyed, mut waiting) = (0, 0, 0);
    let mut report = Report::default();
    for tenant in app.tenants_with_old_secrets_keys().await? {
        if work.stops() {
            break;
        }
        match app.reseal_secrets(&Actor::schedule(), tenant).await {
            Ok(done) => {
                resealed += done.resealed;
                destroyed += done.destroyed.len() as u64;
                waiting += u64::from(done.destroy_from.is_some());
            }
            // Its new key is so young that not every server seals with it yet.
            Err(StoreError::Problem(problem)) if problem.code == Code::Conflict => waiting += 1,
            Err(error) => {
                report = report
                    .saying(format!("The secrets of the tenant {tenant} were left as they are: {error}."));
            }
        }
    }
    report.counts = Report::of("keys wrapped by the active master key", rewrapped)
        .and("secrets sealed under the newest key of their tenant", resealed)
        .and("older keys destroyed", destroyed)
        .and("tenants whose older key is needed a little longer", waiting)
        .counts;
    Ok(match note {
        Some(note) => report.saying(note),
        None => report,
    })
}

impl App {
    /// Wraps anew what another master key than the active one wraps; gives how many keys, and why none where something
    /// is in the way.
    async fn finish_rewrap(&self) -> Result<(u64, Option<String>), JobFault> {
        let ring = self.keys.ring();
        let active = ring.active_id();
        if ring.ids().count() == 1 {
            return Ok((0, None));
        }
        let (uses, _) = census::count(&self.store).await?;
        if uses.keys().all(|id| *id == active) {
            return Ok((0, None));
        }
        // Two servers that each wrap by another key would undo each other's work for ever.
        let others =
            self.live_nodes().await?.iter().filter(|node| node.master_keys.first() != Some(&active)).count();
        if others > 0 {
            let note = format!(
                "{others} of the running servers wrap by another master key than {active}, so nothing was wrapped anew. \
                 Put the line of the active key first in the key file of each."
            );
            return Ok((0, Some(note)));
        }
        let done = self.rewrap_keys(&Actor::schedule(), |_| {}).await;
        done.map(|done| (done.rewrapped, None))
            .map_err(|error| JobFault::Failed(sentence(&error.to_string())))
    }

    /// Tenants with a key for secrets that is not the newest and is not destroyed.
    async fn tenants_with_old_secrets_keys(
        &self,
    ) -> Result<BTreeSet<restante_core::id::TenantId>, StoreError> {
        let (mut tenants, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.store.page(after, KEYS_AT_ONCE).await?;
            let Some((tenant, last)) = page.last() else { return Ok(tenants) };
            after = Some((*tenant, last.class, last.version));
            let old = page
                .iter()
                .filter(|(_, key)| key.class == KeyClass::Secrets && key.state == KeyState::DecryptOnly);
            tenants.extend(old.map(|(tenant, _)| *tenant));
        }
    }
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}
