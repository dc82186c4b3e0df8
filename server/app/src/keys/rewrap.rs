//! Wrapping every key anew under the active master key. What is done is done in short transactions that
//! replace only what was read, so that it can be killed, run twice and run beside servers: a key is
//! wrapped by one master key or the other, and both are loaded.

use restante_core::seal::{KeyState, WrappedKey};
use restante_store::StoreError;
use restante_store::control::tenant_keys::RewrappedKey;
use restante_store::control::{instance_audit, second_factors, tenant_keys};
use serde_json::json;

use super::{KeysChangeError, TenantKeyRows};
use crate::App;
use crate::people::Actor;
use crate::people::second_factor::{KEY_VERSION, owner};

/// Keys of one step. Few, so that on SQLite deliveries wait for it for some milliseconds only.
const KEYS_PER_STEP: u32 = 100;
/// How often all keys are gone through: servers that had not noticed the new master key may have wrapped
/// something by the old one meanwhile.
const PASSES_MAX: u32 = 3;

/// What a run has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewrapped {
    /// Keys that it has wrapped anew.
    pub rewrapped: u64,
    /// Keys that are wrapped by the active master key and unwrap, when it ended.
    pub verified: u64,
}

#[derive(Default)]
struct Pass {
    rewrapped: u64,
    verified: u64,
    behind: u64,
}

impl App {
    /// Wraps every key of tenants and people under the active master key, and looks at the end that each
    /// unwraps. `progress` hears after each step how many were wrapped anew so far.
    ///
    /// # Errors
    /// What the database ran into, or a key that does not unwrap; what is done stays done.
    pub async fn rewrap_keys(
        &self,
        actor: &Actor,
        mut progress: impl FnMut(u64),
    ) -> Result<Rewrapped, KeysChangeError> {
        let mut done = Rewrapped::default();
        for _ in 0..PASSES_MAX {
            let mut pass = Pass::default();
            self.rewrap_tenants(&mut pass, done.rewrapped, &mut progress).await?;
            self.rewrap_people(&mut pass, done.rewrapped, &mut progress).await?;
            done.rewrapped += pass.rewrapped;
            done.verified = pass.verified;
            if pass.rewrapped == 0 && pass.behind == 0 {
                break;
            }
        }
        if done.rewrapped > 0 {
            let id = self.keys.ring().active_id().to_string();
            let line = actor.line(
                &*self.random,
                self.clock.now(),
                "master_key.rewrap",
                id,
                &json!({ "keys": done.rewrapped }),
            );
            self.store.write(move |conn| Box::pin(instance_audit::insert(conn, line))).await?;
        }
        Ok(done)
    }

    async fn rewrap_tenants(
        &self,
        pass: &mut Pass,
        before: u64,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), KeysChangeError> {
        let ring = self.keys.ring();
        let mut after = None;
        loop {
            let page = self.store.page(after, KEYS_PER_STEP).await?;
            let Some((tenant, last)) = page.last() else { return Ok(()) };
            after = Some((*tenant, last.class, last.version));
            let mut anew = Vec::new();
            for (tenant, read) in page {
                if read.state == KeyState::Destroyed {
                    continue;
                }
                let broken = |cause| KeysChangeError::Damaged { whose: tenant.to_string(), cause };
                let wrapped = WrappedKey::parse(&read.wrapped).map_err(broken)?;
                if wrapped.kek_id() == ring.active_id() {
                    ring.unwrap(tenant, read.version, &wrapped).map_err(broken)?;
                    pass.verified += 1;
                    continue;
                }
                let nonce = self.random.bytes();
                let wrapped = ring.rewrap(tenant, read.version, &wrapped, nonce).map_err(broken)?;
                anew.push(RewrappedKey { tenant, read, wrapped: wrapped.as_bytes().to_vec() });
            }
            if !anew.is_empty() {
                let asked = anew.len() as u64;
                let done = self.step(move |conn| Box::pin(tenant_keys::rewrap_all(conn, anew))).await?;
                pass.note(asked, done);
                progress(before + pass.rewrapped);
            }
        }
    }

    async fn rewrap_people(
        &self,
        pass: &mut Pass,
        before: u64,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), KeysChangeError> {
        let ring = self.keys.ring();
        let mut after = None;
        loop {
            let page = self.store.people_page(after, KEYS_PER_STEP).await?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = Some(*last);
            let mut anew = Vec::new();
            for (user, read) in page {
                let opened = WrappedKey::parse(&read)
                    .and_then(|wrapped| ring.unwrap(owner(user), KEY_VERSION, &wrapped).map(|_| wrapped));
                let Ok(wrapped) = opened else {
                    // It keeps one person out already, and holds up nobody else.
                    tracing::warn!(user = %user, "the key of a second factor is damaged and was left as it is");
                    continue;
                };
                if wrapped.kek_id() == ring.active_id() {
                    pass.verified += 1;
                    continue;
                }
                let nonce = self.random.bytes();
                if let Ok(wrapped) = ring.rewrap(owner(user), KEY_VERSION, &wrapped, nonce) {
                    anew.push((user, read, wrapped.as_bytes().to_vec()));
                }
            }
            if !anew.is_empty() {
                let asked = anew.len() as u64;
                let done = self.step(move |conn| Box::pin(second_factors::rewrap_all(conn, anew))).await?;
                pass.note(asked, done);
                progress(before + pass.rewrapped);
            }
        }
    }

    async fn step<F>(&self, work: F) -> Result<u64, StoreError>
    where
        F: for<'a, 'c> FnOnce(
                &'a mut restante_store::Conn<'c>,
            ) -> restante_store::BoxFuture<'a, Result<u64, StoreError>>
            + Send
            + 'static,
    {
        self.store.write(work).await
    }
}

impl Pass {
    fn note(&mut self, asked: u64, done: u64) {
        self.rewrapped += done;
        // Somebody else has changed the others; the next pass looks at them again.
        self.behind += asked - done.min(asked);
    }
}
