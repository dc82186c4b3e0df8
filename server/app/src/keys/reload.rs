//! A changed key file, noticed by a server that runs.

use std::path::Path;

use super::{CheckError, MasterKeyError, check_master_keys, read_master_keys};
use crate::App;

/// Why other master keys are not taken into use. The server goes on with those that it has.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The file can't be used.
    #[error(transparent)]
    File(#[from] MasterKeyError),
    /// Something is wrapped under a key that it lacks, or the database can't be asked.
    #[error(transparent)]
    Check(#[from] CheckError),
}

impl App {
    /// Reads the key file again and takes its keys into use, when nothing gets out of reach by it.
    ///
    /// # Errors
    /// With a sentence for the operator; then the keys stay those that are loaded.
    pub async fn reload_master_keys(&self, path: &Path) -> Result<(), ReloadError> {
        let ring = read_master_keys(path)?;
        check_master_keys(&ring, &self.store).await?;
        let ids = |ring: &restante_core::seal::KeyRing| -> Vec<String> {
            ring.ids().map(|id| id.to_string()).collect()
        };
        let (before, now) = (ids(&self.keys.ring()), ids(&ring));
        if before != now {
            tracing::info!(active = now[0], loaded = now.join(" "), "the master key file has changed");
            self.keys.replace_ring(ring);
        }
        Ok(())
    }
}
