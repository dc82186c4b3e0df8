//! A POST that is sent again with the same `Idempotency-Key` makes nothing twice: it gets the first
//! answer again. The answer is kept for a day, sealed, in the transaction of what was made, so that
//! either both are there or neither is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use restante_core::problem::{Code, Problem};
use restante_core::seal::{BodyMac, NONCE_BYTES, Place, TenantKeyset};
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_store::control::idempotency::{self, KeptAnswer};
use restante_store::control::tenants;
use restante_store::{Conn, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::tenant_keys::unreadable;
use crate::{App, By};

/// How long an answer is kept: a day.
const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// Answers that one step of the clean-up removes, in a transaction of its own.
const EXPIRE_STEP: u32 = 500;

/// What a verb has made, or had made when the same request came first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made<T> {
    /// The answer.
    pub value: T,
    /// Whether it was made before, by a request with the same `Idempotency-Key`.
    pub repeated: bool,
}

/// The `Idempotency-Key` of a request, and the request that it stands for.
#[derive(Debug, Clone)]
pub struct Repeat {
    key: String,
    /// Method, path and body. May hold secrets, so only a keyed digest of it is kept.
    request: Secret<Vec<u8>>,
}

impl Repeat {
    /// Takes the client's key, and what tells its request from another one.
    pub fn new(key: String, method: &str, path: &str, body: &[u8]) -> Self {
        let request = [method.as_bytes(), b" ", path.as_bytes(), b"\n", body].concat();
        Self { key, request: Secret::new(request) }
    }
}

/// The one making of something, in a transaction: [`Once::begin`] first, [`Once::keep`] last.
pub(crate) struct Once {
    by: By,
    keys: Arc<TenantKeyset>,
    now: Timestamp,
    claim: Option<Claim>,
}

struct Claim {
    key_hash: [u8; 32],
    request: Secret<Vec<u8>>,
    nonce: [u8; NONCE_BYTES],
}

impl Once {
    pub(crate) fn new(
        app: &App,
        by: &By,
        repeat: Option<Repeat>,
        keys: &Arc<TenantKeyset>,
        now: Timestamp,
    ) -> Self {
        let claim = repeat.map(|repeat| Claim {
            key_hash: key_hash(by, &repeat.key),
            request: repeat.request,
            nonce: app.random.bytes(),
        });
        Self { by: by.clone(), keys: Arc::clone(keys), now, claim }
    }

    /// Takes the tenant's turn, and gives what was made before, if anything was. All that makes
    /// something in a tenant passes here, one after another, so that of two requests with one key the
    /// second finds what the first has made.
    pub(crate) async fn begin<T: DeserializeOwned>(
        &self,
        conn: &mut Conn<'_>,
    ) -> Result<Option<Made<T>>, StoreError> {
        tenants::config_changed(conn, self.by.tenant()).await?;
        self.kept(conn).await
    }

    /// Whether the client sent a key at all.
    pub(crate) const fn is_asked(&self) -> bool {
        self.claim.is_some()
    }

    /// Gives what was made before, if anything was, without taking the tenant's turn.
    pub(crate) async fn kept<T: DeserializeOwned>(
        &self,
        conn: &mut Conn<'_>,
    ) -> Result<Option<Made<T>>, StoreError> {
        let Some(claim) = &self.claim else { return Ok(None) };
        let kept = idempotency::kept(conn, self.by.tenant(), &claim.key_hash, self.kept_since()).await?;
        kept.map(|kept| self.open(claim, &kept)).transpose()
    }

    /// Bits that are the same whenever this client sends this request with this key, for what is made in
    /// another transaction than its answer: the second time it is made under the same name.
    pub(crate) fn bits(&self) -> Option<u128> {
        let claim = self.claim.as_ref()?;
        let named = Secret::new([&claim.key_hash[..], claim.request.expose()].concat());
        let mac = self.keys.body_mac(named.expose()).mac;
        mac.first_chunk().map(|bits| u128::from_be_bytes(*bits))
    }

    /// Keeps the answer under the key.
    pub(crate) async fn keep<T: Serialize>(
        self,
        conn: &mut Conn<'_>,
        value: T,
    ) -> Result<Made<T>, StoreError> {
        if let Some(claim) = &self.claim {
            let place = Place::idempotency_answer(&claim.key_hash);
            let answer = Secret::new(serde_json::to_vec(&value).map_err(|error| unreadable(&place, &error))?);
            let kept = KeptAnswer {
                request_hash: self.keys.body_mac(claim.request.expose()).to_bytes().to_vec(),
                answer_sealed: self.keys.seal(&place, answer.expose(), claim.nonce),
            };
            let tenant = self.by.tenant();
            let since = self.kept_since();
            if idempotency::claim(conn, tenant, &claim.key_hash, kept, self.now, since).await?.is_some() {
                // `begin` has taken the tenant's turn, so nobody can have come between.
                return Err(StoreError::Taken { statement: "idempotency" });
            }
        }
        Ok(Made { value, repeated: false })
    }

    fn open<T: DeserializeOwned>(&self, claim: &Claim, kept: &KeptAnswer) -> Result<Made<T>, StoreError> {
        let place = Place::idempotency_answer(&claim.key_hash);
        let is_same = BodyMac::from_bytes(&kept.request_hash)
            .and_then(|stored| self.keys.is_same_body(&stored, claim.request.expose()))
            .map_err(|error| unreadable(&place, &error))?;
        if !is_same {
            return Err(Problem::new(
                Code::Invalid,
                "This Idempotency-Key came within the last 24 hours with another request. \
                 Use a new key for a new request.",
            )
            .into());
        }
        let answer =
            self.keys.open_secret(&place, &kept.answer_sealed).map_err(|error| unreadable(&place, &error))?;
        let value = serde_json::from_slice(answer.expose()).map_err(|error| unreadable(&place, &error))?;
        Ok(Made { value, repeated: true })
    }

    const fn kept_since(&self) -> Timestamp {
        self.now.plus_seconds(-KEPT_SECONDS)
    }
}

/// Each API key has its own keys here: an answer may hold a secret that its client alone may see.
fn key_hash(by: &By, key: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"restante idempotency key\0");
    hash.update(by.actor().as_bytes());
    hash.update(b"\0");
    hash.update(key.as_bytes());
    hash.finalize().into()
}

impl App {
    /// Removes answers that are no longer kept, in steps, for about so long; tells how many. It is safe to
    /// run twice, on several nodes, or to be killed: a step that was not committed is done again.
    ///
    /// # Errors
    /// What the database ran into; what was removed by then stays removed.
    pub(crate) async fn expire_kept_answers(&self, goes_on_for: Duration) -> Result<u64, StoreError> {
        let began = Instant::now();
        let mut removed = 0;
        loop {
            let step = self
                .store
                .write(|conn| {
                    Box::pin(async move {
                        // By the database's clock: a node that runs ahead must not forget too early.
                        let before = conn.now().await?.plus_seconds(-KEPT_SECONDS);
                        idempotency::expire(conn, before, EXPIRE_STEP).await
                    })
                })
                .await?;
            removed += step;
            if step < u64::from(EXPIRE_STEP) || began.elapsed() > goes_on_for {
                return Ok(removed);
            }
        }
    }
}
