//! Changing an endpoint by a JSON merge. What the change makes of it passes the same rules as a new
//! one, in the transaction that writes it, so that two changes at once can't make what neither may.

use restante_core::id::EndpointId;
use restante_core::problem::Problem;
use restante_core::seal::{NONCE_BYTES, Place, TenantKeyset};
use restante_core::time::Timestamp;
use restante_store::control::endpoints::EndpointRow;
use restante_store::control::secrets::SecretRow;
use restante_store::control::{audit, endpoints, secrets, tenants};
use restante_store::retention::policy;
use restante_store::{Conn, StoreError};
use serde_json::json;

use super::merge::merge;
use super::read::not_found;
use super::shown::Options;
use super::{EndpointChange, Noted, Notice, check, shown};
use crate::retention::{PolicyLevel, write_policy};
use crate::{App, By};

impl App {
    /// Changes an endpoint and gives it as it is then.
    ///
    /// # Errors
    /// Not found, also when it is another tenant's; or a [`Problem`] that names every field at fault.
    /// Then nothing was changed.
    pub async fn update_endpoint(
        &self,
        by: &By,
        id: EndpointId,
        mut change: EndpointChange,
    ) -> Result<Noted, StoreError> {
        let keys = self.tenant_keys(by.tenant()).await?;
        let now = self.clock.now();
        let (tenant, by) = (by.tenant(), by.clone());
        let app = self.clone();
        let noted = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    tenants::config_changed(conn, tenant).await?;
                    let before = endpoints::get(conn, tenant, id).await?.ok_or_else(not_found)?;
                    let secrets = secrets::of_endpoint(conn, tenant, id).await?;
                    let merged =
                        Merge { app: &app, keys: &keys, secrets: &secrets, nonce: app.random.bytes(), now };
                    let said = change.retention.take();
                    let (mut after, notices, mut changed) = merged.apply(&before, change)?;
                    if changed.contains(&"dedup_scope") {
                        refuse_while_it_holds_events(conn, &by, &keys, &before, &after).await?;
                    }
                    let level = PolicyLevel::Endpoint(id);
                    let policy = policy(conn, tenant, &level).await?.map(|row| row.policy);
                    let mut in_the_end = policy;
                    if let Some(wanted) = said {
                        in_the_end = wanted.filter(|wanted| !wanted.is_empty());
                        if in_the_end != policy {
                            changed.push("retention");
                            let wanted = wanted.unwrap_or_default();
                            write_policy(conn, tenant, level, wanted, by.actor(), now, "/retention").await?;
                        }
                    }
                    if !changed.is_empty() {
                        after.updated_at = now;
                        endpoints::update(conn, tenant, &after).await?;
                        let detail = json!({ "changed": changed });
                        let line = by.audit(&*app.random, now, "endpoint.update", id.to_string(), &detail);
                        audit::insert(conn, tenant, line).await?;
                    }
                    let mut endpoint = shown::endpoint(&app, &keys, after, &secrets, now)?;
                    endpoint.retention = in_the_end;
                    Ok(Noted { endpoint, notices })
                })
            })
            .await?;
        self.targets.forget(id);
        Ok(noted)
    }
}

/// The scope is part of an event's key. With another scope, what was an event before would come in
/// as another one.
async fn refuse_while_it_holds_events(
    conn: &mut Conn<'_>,
    by: &By,
    keys: &TenantKeyset,
    before: &EndpointRow,
    after: &EndpointRow,
) -> Result<(), StoreError> {
    let provider = check::provider(&before.provider).map_err(Problem::fields)?;
    let options = Options::read(keys, after)?.whole();
    // What the catalogue knows and the same in words are one scope.
    let usual = check::options(provider, &options).ok().map(|scheme| scheme.default_dedup_scope());
    let same = before.dedup_scope.or(usual) == after.dedup_scope.or(usual);
    if !same && endpoints::holds_event(conn, by.tenant(), before.id).await? {
        return Err(Problem::field(
            "/dedup_scope",
            "The endpoint already holds events, and another scope would let them in a second time. \
             Make another endpoint with the scope that you want.",
        )
        .into());
    }
    Ok(())
}

/// What a change is merged into, and with what.
struct Merge<'a> {
    app: &'a App,
    keys: &'a TenantKeyset,
    secrets: &'a [SecretRow],
    nonce: [u8; NONCE_BYTES],
    now: Timestamp,
}

impl Merge<'_> {
    /// The row as it would be, what is unusual about it, and which fields differ.
    fn apply(
        &self,
        before: &EndpointRow,
        change: EndpointChange,
    ) -> Result<(EndpointRow, Vec<Notice>, Vec<&'static str>), StoreError> {
        let mut after = before.clone();
        let mut errors = Vec::new();
        let mut notices = Vec::new();
        if change.provider.is_some_and(|provider| provider != before.provider) {
            errors.extend(check::fault(
                "/provider",
                "The provider of an endpoint can't change. Make another endpoint for the other provider.",
            ));
        }
        if let Some(name) = change.name {
            errors.extend(check::name(&name).err().unwrap_or_default());
            after.name = name;
        }
        if let Some(bytes) = change.max_body_bytes {
            let ceiling = self.app.settings.body_bytes_ceiling;
            errors.extend(check::max_body_bytes(bytes, ceiling).err().unwrap_or_default());
            after.max_body_bytes = bytes;
        }
        if let Some(scope) = change.dedup_scope {
            after.dedup_scope = scope;
        }
        if let Some(enabled) = change.enabled {
            let live = self.secrets.iter().filter(|row| shown::is_live(row, self.now)).count();
            if enabled && !before.enabled && live == 0 {
                errors.extend(check::fault(
                    "/enabled",
                    "The endpoint has no secret yet, so nothing could be verified. Add its secret first.",
                ));
            }
            after.enabled = enabled;
        }
        let mut options_changed = false;
        if let Some(patch) = change.options {
            let present = Options::read(self.keys, before)?.whole();
            let mut wanted = present.clone();
            match patch {
                Some(patch) => {
                    let provider = check::provider(&before.provider).map_err(Problem::fields)?;
                    errors.extend(check::removals(provider, &patch).err().unwrap_or_default());
                    merge(&mut wanted, patch);
                }
                None => wanted.clear(),
            }
            options_changed = wanted != present;
            if options_changed {
                match self.options(before, wanted) {
                    Ok((options, faults)) => {
                        after.options = options.stored();
                        let place = Place::endpoint_options(before.id);
                        after.options_sealed = options.sealed(self.keys, &place, self.nonce);
                        notices = faults;
                    }
                    Err(StoreError::Problem(problem)) => errors.extend(problem.errors),
                    Err(failure) => return Err(failure),
                }
            }
        }
        if !errors.is_empty() {
            return Err(Problem::fields(errors).into());
        }
        let changed = [
            ("name", before.name != after.name),
            ("options", options_changed),
            ("dedup_scope", before.dedup_scope != after.dedup_scope),
            ("max_body_bytes", before.max_body_bytes != after.max_body_bytes),
            ("enabled", before.enabled != after.enabled),
        ];
        let changed = changed.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
        Ok((after, notices, changed))
    }

    /// Options that the endpoint's secrets can still be used with.
    fn options(
        &self,
        before: &EndpointRow,
        wanted: serde_json::Map<String, serde_json::Value>,
    ) -> Result<(Options, Vec<Notice>), StoreError> {
        let provider = check::provider(&before.provider).map_err(Problem::fields)?;
        let options = Options::split(provider, wanted);
        let scheme = check::options(provider, &options.whole()).map_err(Problem::fields)?;
        let mut notices = Vec::new();
        for row in self.secrets.iter().filter(|row| shown::is_live(row, self.now)) {
            let secret = shown::open_secret(self.keys, row)?;
            let (_, found) = check::secret(&scheme, &secret, "/options").map_err(|faults| {
                let detail = faults.into_iter().next().map(|fault| fault.detail).unwrap_or_default();
                let hint = &row.hint;
                Problem::field(
                    "/options",
                    format!("With these options the secret {hint} can't be used: {detail}"),
                )
            })?;
            notices.extend(found);
        }
        Ok((options, notices))
    }
}
