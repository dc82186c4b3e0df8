//! How the instance is: what an administrator looks at when something is odd. Each figure is judged by a rule
//! that stands here; what the page says of it is the business of `web`. It is this node's view: of several,
//! each has connections, a queue and commits of its own.

use std::sync::Arc;

use restante_core::time::Timestamp;
use restante_store::vitals::{self, PoolUse, Vitals, WrappedKeys};
use restante_store::{Conn, StoreError};

use super::administrator;
use crate::App;
use crate::figures::{self, Latency};
use crate::people::Actor;

/// Room on a disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// What this program may still write.
    pub free: u64,
    /// All of it.
    pub total: u64,
}

/// Looks how much room there is; `None` when that can't be told.
pub type DiskProbe = Arc<dyn Fn() -> Option<DiskSpace> + Send + Sync>;

/// What a figure says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Nothing is lost yet; somebody should look.
    Look,
    /// Something has to be done.
    Bad,
}

/// How the instance is.
#[derive(Debug, Clone)]
pub struct Health {
    /// The engine's name.
    pub engine: &'static str,
    /// What the database tells.
    pub vitals: Vitals,
    /// The last migration that this program knows, and how many it knows.
    pub migrations_known: (u64, u64),
    /// Room on the database's disk; `None` where it is another machine's, or can't be told.
    pub disk: Option<DiskSpace>,
    /// How long the last commits of this node took; `None` before the first.
    pub latency: Option<Latency>,
    /// Records that wait for this node's committers.
    pub queue_depth: u64,
    /// Connections of clients to this node.
    pub connections: u64,
    /// This node's connections to the database.
    pub pool: PoolUse,
    /// How far this machine's clock is ahead of the database's, in microseconds.
    pub clock_ahead_micros: i64,
    /// The master key that wraps new keys, by its id.
    pub active_master_key: String,
    /// Each master key that is loaded or in use, with how many keys of tenants it wraps.
    pub master_keys: Vec<MasterKeyUse>,
    /// Keys of tenants that were destroyed on purpose.
    pub destroyed_keys: u64,
    /// When this process began.
    pub started_at: Timestamp,
}

/// A master key, by what is known of it without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterKeyUse {
    /// Its id, which is derived from it and opens nothing.
    pub id: String,
    /// Whether this process has it.
    pub loaded: bool,
    /// Keys of tenants that it wraps.
    pub keys: u64,
}

/// Below this share of the disk, in percent, somebody should look; below the second, something has to be done.
const DISK_FREE_PERCENT: (u64, u64) = (15, 5);
/// Above this 99th percentile of commits somebody should look, and above the second, senders begin to be told 503.
const COMMIT_P99_MICROS: (u64, u64) = (250_000, 2_000_000);
/// The same for records that wait.
const QUEUE_DEPTH: (u64, u64) = (256, 1_024);
/// The same for the clock, either way. Schemes allow five minutes; leases and lists are told in seconds.
const CLOCK_MICROS: (u64, u64) = (2_000_000, 30_000_000);
/// The share of the database server's connections, in percent.
const SERVER_CONNECTIONS_PERCENT: (u64, u64) = (80, 95);

const fn above(value: u64, (look, bad): (u64, u64)) -> Verdict {
    if value >= bad {
        Verdict::Bad
    } else if value >= look {
        Verdict::Look
    } else {
        Verdict::Good
    }
}

const fn percent(part: u64, whole: u64) -> u64 {
    let whole = if whole == 0 { 1 } else { whole };
    (part as u128 * 100 / whole as u128) as u64
}

impl Health {
    /// The schema is that of this program.
    pub const fn schema(&self) -> Verdict {
        let (latest, count) = self.migrations_known;
        if self.vitals.migrated_to == latest && self.vitals.migrations == count {
            Verdict::Good
        } else {
            // A newer program has been here: it went on with the schema, and this one should follow.
            Verdict::Look
        }
    }

    /// There is room on the disk.
    pub const fn disk(&self) -> Option<Verdict> {
        let Some(DiskSpace { free, total }) = self.disk else { return None };
        let (look, bad) = DISK_FREE_PERCENT;
        let free = percent(free, total);
        Some(if free < bad {
            Verdict::Bad
        } else if free < look {
            Verdict::Look
        } else {
            Verdict::Good
        })
    }

    /// Commits are quick.
    pub const fn commits(&self) -> Option<Verdict> {
        match self.latency {
            Some(latency) => Some(above(latency.p99_micros, COMMIT_P99_MICROS)),
            None => None,
        }
    }

    /// Nothing waits for long.
    pub const fn queue(&self) -> Verdict {
        above(self.queue_depth, QUEUE_DEPTH)
    }

    /// There are connections to the database left, on this node and at its server.
    pub fn database_connections(&self) -> Verdict {
        let all_in_use = self.pool.open >= self.pool.most && self.pool.idle == 0;
        let here = if all_in_use { Verdict::Look } else { Verdict::Good };
        let there = self.vitals.connections;
        here.max(
            there
                .map_or(Verdict::Good, |(open, most)| above(percent(open, most), SERVER_CONNECTIONS_PERCENT)),
        )
    }

    /// The clock agrees with the database's.
    pub const fn clock(&self) -> Verdict {
        above(self.clock_ahead_micros.unsigned_abs(), CLOCK_MICROS)
    }

    /// Every master key in use is loaded.
    pub fn keys(&self) -> Verdict {
        let missing = self.master_keys.iter().any(|key| !key.loaded && key.keys > 0);
        if missing { Verdict::Bad } else { Verdict::Good }
    }
}

impl App {
    /// How the instance is.
    ///
    /// # Errors
    /// What the database ran into; `missing-scope` for who is no administrator.
    pub async fn health(&self, actor: &Actor) -> Result<Health, StoreError> {
        let actor = actor.clone();
        let (database_now, vitals, wrapped) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    look(conn).await
                })
            })
            .await?;
        let clock_ahead_micros = self.clock.now().micros_since(database_now);
        let ring = self.keys.ring();
        Ok(Health {
            engine: self.store.engine().name(),
            vitals,
            migrations_known: self.store.migrations_known(),
            disk: self.disk.get().and_then(|probe| probe()),
            latency: figures::commit_latency(),
            queue_depth: self.store.queue_depth() as u64,
            connections: figures::open_connections(),
            pool: self.store.pool_use(),
            clock_ahead_micros,
            active_master_key: ring.active_id().to_string(),
            master_keys: master_keys(ring.ids().map(|id| id.0.to_vec()), &wrapped),
            destroyed_keys: wrapped.destroyed,
            started_at: self.started_at,
        })
    }
}

async fn look(conn: &mut Conn<'_>) -> Result<(Timestamp, Vitals, WrappedKeys), StoreError> {
    let vitals = vitals::read(conn).await?;
    let wrapped = vitals::wrapped_keys(conn).await?;
    // Last, so that the other questions don't count for the clock.
    Ok((conn.now().await?, vitals, wrapped))
}

/// Loaded ones first, in their order; then those in use that are not loaded.
fn master_keys(loaded: impl Iterator<Item = Vec<u8>>, wrapped: &WrappedKeys) -> Vec<MasterKeyUse> {
    let hex = |id: &[u8]| hex::encode(id);
    let mut all: Vec<MasterKeyUse> = loaded
        .map(|id| MasterKeyUse {
            id: hex(&id),
            loaded: true,
            keys: wrapped.by_master_key.get(&id).copied().unwrap_or(0),
        })
        .collect();
    for (id, keys) in &wrapped.by_master_key {
        let id = hex(id);
        if all.iter().all(|known| known.id != id) {
            all.push(MasterKeyUse { id, loaded: false, keys: *keys });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use restante_core::problem::Code;
    use restante_store::both_engines;

    use super::*;
    use crate::testing::TestApp;

    both_engines!(the_health_of_an_instance_is_for_its_administrators_and_shows_no_key, |t| async {
        let a = TestApp::new(t);
        a.tenant("first").await;
        a.tenant("other").await;
        let person = async |email: &str| Actor::person(a.app.person_of(email).await.unwrap().unwrap(), None);
        let refused = a.app.health(&person("owner@other.test").await).await;
        assert!(matches!(refused, Err(StoreError::Problem(problem)) if problem.code == Code::MissingScope));
        let admin = person("owner@first.test").await;
        let health = a.app.health(&admin).await.unwrap();
        assert_eq!(health.engine, a.t.engine().name());
        assert_eq!(
            health.master_keys,
            [MasterKeyUse { id: health.active_master_key.clone(), loaded: true, keys: 6 }]
        );
        assert_eq!(
            (health.schema(), health.clock(), health.keys()),
            (Verdict::Good, Verdict::Good, Verdict::Good)
        );
        assert_eq!((health.disk, health.disk()), (None, None));
        let told = format!("{health:?}");
        assert!(!told.contains(&"07".repeat(8)) && told.contains(&health.active_master_key), "{told}");

        let space = DiskSpace { free: 4, total: 100 };
        assert!(a.app.disk.set(Arc::new(move || Some(space))).is_ok());
        a.t.execute("UPDATE tenant_keys SET state = 3 WHERE class = 1").await;
        let health = a.app.health(&admin).await.unwrap();
        assert_eq!((health.disk(), health.destroyed_keys), (Some(Verdict::Bad), 2));
        assert_eq!(health.master_keys[0].keys, 4);
    });

    #[test]
    fn a_key_in_use_that_is_not_loaded_is_seen() {
        let wrapped = WrappedKeys { by_master_key: [(vec![1; 8], 3), (vec![2; 8], 1)].into(), destroyed: 0 };
        let all = master_keys([vec![1; 8], vec![9; 8]].into_iter(), &wrapped);
        let told: Vec<_> = all.iter().map(|key| (key.loaded, key.keys)).collect();
        assert_eq!(told, [(true, 3), (true, 0), (false, 1)]);
    }

    #[test]
    fn figures_are_judged_at_their_bounds() {
        for (value, verdict) in
            [(0, Verdict::Good), (255, Verdict::Good), (256, Verdict::Look), (1_024, Verdict::Bad)]
        {
            assert_eq!(above(value, QUEUE_DEPTH), verdict);
        }
        assert_eq!(percent(1, 0), 100);
        assert_eq!(percent(u64::MAX, u64::MAX), 100);
        assert!(Verdict::Good < Verdict::Look && Verdict::Look < Verdict::Bad);
    }
}
