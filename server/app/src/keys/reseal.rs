//! Sealing a tenant's secrets anew under its newest key, and destroying the keys before it when nothing
//! needs them any more. Each step replaces only what was read, so it can be killed and run again.

use restante_core::id::TenantId;
use restante_core::problem::{Code, Problem};
use restante_core::seal::{KEY_SETTLES_SECONDS, KeyClass, KeyState, sealed_version};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::sealed_secrets::{self, SECRET_COLUMNS, SealedSecret};
use restante_store::control::tenant_keys;
use serde_json::json;

use super::rotate::note;
use crate::App;
use crate::people::Actor;
use crate::tenant_keys::unreadable;

/// Values of one step.
const VALUES_PER_STEP: u32 = 100;
/// After this nobody seals with the key before the newest one: each server holds keys for a minute, and what
/// was begun with them has ended after two more.
const OLD_SEALS_SECONDS: i64 = KEY_SETTLES_SECONDS + 60 + 120;

/// What a run has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resealed {
    /// The version under which everything is sealed now.
    pub version: u32,
    /// Values that were sealed anew.
    pub resealed: u64,
    /// Versions that were destroyed.
    pub destroyed: Vec<u32>,
    /// From when on the older versions can be destroyed, by another run.
    pub destroy_from: Option<Timestamp>,
}

impl App {
    /// Seals everything anew that is sealed under an older key of class `secrets`, and destroys the older
    /// keys once nothing refers to them and nobody can seal with them any more.
    ///
    /// # Errors
    /// `conflict` while the newest key does not seal yet; a value that does not open, which is then left
    /// as it is, with its key.
    pub async fn reseal_secrets(&self, actor: &Actor, tenant: TenantId) -> Result<Resealed, StoreError> {
        self.keys.forget(tenant);
        let rows =
            self.store.read(move |conn| Box::pin(tenant_keys::of_tenant_with_times(conn, tenant))).await?;
        let newest =
            rows.iter().filter(|(row, _)| row.class == KeyClass::Secrets && row.state == KeyState::Active);
        let (newest, made_at) = newest
            .map(|(row, at)| (row.clone(), *at))
            .next()
            .ok_or_else(|| Problem::new(Code::NotFound, "There is no such tenant."))?;
        if !newest.settled && newest.version > 1 {
            let detail = format!(
                "The new key seals from {} on, when every server has it. Run this again then.",
                made_at.plus_seconds(KEY_SETTLES_SECONDS)
            );
            return Err(Problem::new(Code::Conflict, detail).into());
        }
        let mut done = Resealed { version: newest.version, ..Resealed::default() };
        for column in SECRET_COLUMNS {
            let mut after: Option<SealedSecret> = None;
            loop {
                let from = after.take();
                let page = self
                    .store
                    .read(move |conn| {
                        Box::pin(async move {
                            sealed_secrets::page(conn, tenant, *column, from.as_ref(), VALUES_PER_STEP).await
                        })
                    })
                    .await?;
                let Some(last) = page.last().cloned() else { break };
                done.resealed += self.reseal_step(tenant, newest.version, page).await?;
                after = Some(last);
            }
        }
        let older: Vec<u32> = rows
            .iter()
            .map(|(row, _)| row)
            .filter(|row| row.class == KeyClass::Secrets && row.state == KeyState::DecryptOnly)
            .map(|row| row.version)
            .collect();
        let destroy_from = made_at.plus_seconds(OLD_SEALS_SECONDS);
        let now = self.store.read(|conn| Box::pin(conn.now())).await?;
        if older.is_empty() {
            return Ok(done);
        }
        if now < destroy_from {
            done.destroy_from = Some(destroy_from);
            return Ok(done);
        }
        for version in older {
            if self.destroy_secrets_key(actor, tenant, version).await? {
                done.destroyed.push(version);
            } else {
                done.destroy_from = Some(now);
            }
        }
        self.keys.forget(tenant);
        Ok(done)
    }

    async fn reseal_step(
        &self,
        tenant: TenantId,
        version: u32,
        page: Vec<SealedSecret>,
    ) -> Result<u64, StoreError> {
        let keys = self.tenant_keys(tenant).await?;
        let mut anew = Vec::new();
        for value in page {
            let place = value.place;
            let broken = |error: restante_core::seal::SealError| unreadable(&place, &error);
            if sealed_version(&value.sealed).map_err(broken)? == version {
                continue;
            }
            let plain = keys.open_secret(&place, &value.sealed).map_err(broken)?;
            let sealed = keys.seal(&place, plain.expose(), self.random.bytes());
            anew.push((value, sealed));
        }
        if anew.is_empty() {
            return Ok(0);
        }
        self.store.write(move |conn| Box::pin(sealed_secrets::replace(conn, tenant, anew))).await
    }

    /// Destroys an older key, unless something is sealed under it.
    async fn destroy_secrets_key(
        &self,
        actor: &Actor,
        tenant: TenantId,
        version: u32,
    ) -> Result<bool, StoreError> {
        let (app, actor) = (self.clone(), actor.clone());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if sealed_secrets::is_in_use(conn, tenant, version).await?
                        || !tenant_keys::destroy(conn, tenant, KeyClass::Secrets, version).await?
                    {
                        return Ok(false);
                    }
                    let detail = json!({ "class": KeyClass::Secrets.as_str(), "version": version });
                    note(conn, &app, &actor, tenant, "keys.destroy", &detail).await?;
                    Ok(true)
                })
            })
            .await
    }
}
