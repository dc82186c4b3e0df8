//! This server among those that run on the same database: it says that it lives and which master keys it
//! has, and notices when its key file changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use restante_core::id::uuid_v7;
use restante_core::seal::KekId;
use restante_core::time::Timestamp;
use restante_store::nodes::NodeRow;
use restante_store::{StoreError, nodes};
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use crate::App;

/// Between two looks at the key file: a look is one question to the file system.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A server says so often that it lives; it counts as gone after three times that.
const BEAT_EVERY: Duration = Duration::from_secs(20);

/// This server.
pub struct Node {
    app: App,
    id: Uuid,
    started_at: Timestamp,
    version: &'static str,
    key_file: PathBuf,
    /// How the key file was when it was read last.
    seen: Option<Mark>,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    modified: std::time::SystemTime,
    length: u64,
    file: u64,
}

impl Node {
    /// This server, with the file from which its master keys came.
    pub fn new(app: App, key_file: PathBuf, version: &'static str) -> Self {
        let started_at = app.clock.now();
        let id = uuid_v7(started_at, app.random.bytes());
        // It may have changed since the keys were loaded, so the first look reads it.
        Self { app, id, started_at, version, key_file, seen: None }
    }

    /// Says that the server lives.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn beat(&self) -> Result<(), StoreError> {
        let (id, started_at, version) = (self.id, self.started_at, self.version);
        let keys: Vec<KekId> = self.app.keys.ring().ids().collect();
        self.app
            .store
            .write(move |conn| {
                Box::pin(async move { nodes::beat(conn, id, started_at, version, &keys).await })
            })
            .await
    }

    /// Looks whether the key file has changed, and takes its keys into use. Gives whether it had changed.
    /// A file that can't be used is said once in the log, and changes nothing.
    pub async fn look_at_key_file(&mut self) -> bool {
        // A file that is away for a moment is being replaced; one that stays away is missed at the next start.
        let Some(now) = mark(&self.key_file) else { return false };
        if self.seen == Some(now) {
            return false;
        }
        match self.app.reload_master_keys(&self.key_file).await {
            Err(super::keys::ReloadError::Check(super::keys::CheckError::Store(error))) => {
                // The next look tries again.
                tracing::warn!(%error, "the changed master key file was not taken into use yet");
                return false;
            }
            Err(error) => {
                tracing::error!(%error, "the changed master key file is not used: the keys from before are")
            }
            Ok(()) => {}
        }
        self.seen = Some(now);
        true
    }

    /// Runs until it is told to stop: says that the server lives, and watches the key file. `look` asks for
    /// a look at once.
    pub async fn run(mut self, look: Arc<Notify>, mut stop: watch::Receiver<bool>) {
        let work = async {
            let mut beaten = None::<Instant>;
            loop {
                let changed = self.look_at_key_file().await;
                if changed || beaten.is_none_or(|at| at.elapsed() >= BEAT_EVERY) {
                    match self.beat().await {
                        Ok(()) => {
                            beaten = Some(Instant::now());
                            if let Err(error) = self.app.raise_high_water().await {
                                tracing::debug!(%error, "the mark of how far the instance has come was not raised");
                            }
                        }
                        Err(error) => tracing::debug!(%error, "the server could not say that it lives"),
                    }
                }
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    // Asked for by a signal: whatever the file looks like from outside.
                    () = look.notified() => self.seen = None,
                }
            }
        };
        tokio::select! {
            () = work => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
        let id = self.id;
        // Without it the others wait for a minute before they believe that it is gone.
        let _ = self.app.store.write(move |conn| Box::pin(nodes::gone(conn, id))).await;
    }
}

impl App {
    /// The servers that run on this database.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn live_nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        self.store.read(|conn| Box::pin(nodes::live(conn))).await
    }
}

fn mark(path: &Path) -> Option<Mark> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let file = 0;
    Some(Mark { modified: metadata.modified().ok()?, length: metadata.len(), file })
}
