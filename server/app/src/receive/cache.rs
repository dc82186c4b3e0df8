//! Endpoints by their token, kept for a few seconds, so that a delivery costs no query.
//!
//! An entry is used for at most [`TARGET_AGE_MAX_MICROS`]. Changes made through this process are
//! forgotten at once. On another node no delivery is stored by an entry that no longer holds, since the
//! commit compares what it was made from with what there is; and none is refused by one that is older than
//! a second. Unknown tokens are not kept: an endpoint works the moment it exists.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use restante_core::id::{EndpointId, TenantId};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_core::token::{IngestToken, TokenHash};

use super::Target;
use crate::App;

/// The oldest that an entry may be.
const TARGET_AGE_MAX_MICROS: u64 = 5 * 1_000_000;
/// From this age on, one request reads the entry anew while the others go on with it.
const TARGET_REFRESH_MICROS: u64 = 3 * 1_000_000;
/// Endpoints that are kept.
const TARGETS_MAX: usize = 50_000;

/// The entries.
#[derive(Debug, Default)]
pub struct Targets {
    known: RwLock<HashMap<TokenHash, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    target: Arc<Target>,
    refreshing: bool,
}

enum Found {
    Fresh(Arc<Target>),
    Aging(Arc<Target>),
    Nothing,
}

impl Targets {
    fn find(&self, hash: &TokenHash, now: Timestamp) -> Found {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = known.get(hash) else { return Found::Nothing };
        let target = &entry.target;
        if target.is_older_than(TARGET_AGE_MAX_MICROS, now) || now >= target.good_until {
            Found::Nothing
        } else if target.is_older_than(TARGET_REFRESH_MICROS, now) && !entry.refreshing {
            Found::Aging(Arc::clone(target))
        } else {
            Found::Fresh(Arc::clone(target))
        }
    }

    /// Whether the caller is the one who reads the entry anew.
    fn begin_refresh(&self, hash: &TokenHash) -> bool {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.get_mut(hash).is_some_and(|entry| !std::mem::replace(&mut entry.refreshing, true))
    }

    fn keep(&self, hash: TokenHash, target: &Arc<Target>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= TARGETS_MAX {
            known.clear();
        }
        known.insert(hash, Entry { target: Arc::clone(target), refreshing: false });
    }

    fn remove(&self, hash: &TokenHash) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }

    /// Forgets the endpoints of a tenant that was suspended, limited or deleted.
    pub fn forget_tenant(&self, tenant: TenantId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, entry| entry.target.tenant != tenant);
    }

    /// Forgets an endpoint that has changed.
    pub fn forget(&self, endpoint: EndpointId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, entry| entry.target.endpoint != endpoint);
    }
}

impl App {
    /// The endpoint of a token; `None` when there is none, or the text can't be a token.
    ///
    /// # Errors
    /// When the database can't be asked, or the endpoint's keys can't be opened: the sender has to
    /// come back, since an endpoint may well be there.
    pub async fn find_endpoint(&self, token: &str) -> Result<Option<Arc<Target>>, Problem> {
        let Some(token) = IngestToken::parse(token) else { return Ok(None) };
        let hash = token.hash();
        match self.targets.find(&hash, self.clock.now()) {
            Found::Fresh(target) => Ok(Some(target)),
            Found::Aging(target) => {
                if self.targets.begin_refresh(&hash) {
                    let app = self.clone();
                    tokio::spawn(async move {
                        if let Err(problem) = app.load_target(&token).await {
                            tracing::warn!(detail = problem.detail, "an endpoint could not be read anew");
                        }
                    });
                }
                Ok(Some(target))
            }
            Found::Nothing => self.load_target(&token).await,
        }
    }

    /// The endpoint as it was read after a time, now if nobody has.
    pub(super) async fn load_target_since(
        &self,
        token: &IngestToken,
        since: Timestamp,
    ) -> Result<Option<Arc<Target>>, Problem> {
        match self.targets.find(&token.hash(), self.clock.now()) {
            Found::Fresh(target) if target.loaded_at > since => Ok(Some(target)),
            _ => self.load_target(token).await,
        }
    }

    /// Reads an endpoint anew, whatever is kept of it.
    pub(super) async fn load_target(&self, token: &IngestToken) -> Result<Option<Arc<Target>>, Problem> {
        let hash = token.hash();
        let loaded = Target::load(self, token).await?.map(Arc::new);
        match &loaded {
            Some(target) => self.targets.keep(hash, target),
            None => self.targets.remove(&hash),
        }
        Ok(loaded)
    }
}
