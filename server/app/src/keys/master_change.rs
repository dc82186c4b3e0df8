//! The steps of a change of the master key: a new one is added, then activated, everything is wrapped
//! anew, and the old one is retired. After each step the server goes on, and the next one may wait for days.

use std::path::{Path, PathBuf};
use std::time::Duration;

use restante_core::seal::{KekId, KeyFileText, NotAnId, SealError};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::control::instance_audit;
use restante_store::nodes::NodeRow;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::census;
use super::master_file::write_new;
use super::master_file_change::change_file;
use super::{CheckError, MasterKeyError, ReloadError};
use crate::App;
use crate::people::Actor;

/// How long is waited for servers to notice a changed file: they look each second.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Why a step is not taken.
#[derive(Debug, thiserror::Error)]
pub enum KeysChangeError {
    /// The key file.
    #[error(transparent)]
    File(#[from] MasterKeyError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the operator wrote.
    #[error(transparent)]
    NotAnId(#[from] NotAnId),
    /// The changed file can't be used.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A key does not unwrap.
    #[error(
        "a key of {whose} can't be unwrapped: {cause}. Restore its row in the table tenant_keys from a backup"
    )]
    Damaged {
        /// Whose it is.
        whose: String,
        /// Why.
        cause: SealError,
    },
    /// It would put something out of reach. The sentence says what to do.
    #[error("{0}")]
    Refused(String),
}

impl From<ReloadError> for KeysChangeError {
    fn from(error: ReloadError) -> Self {
        match error {
            ReloadError::File(error) => Self::File(error),
            ReloadError::Check(error) => Self::Check(error),
        }
    }
}

/// What becomes of a retired key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is written into a new file, to be kept where backups can't be read with it at once.
    In(PathBuf),
    /// It is forgotten, since no backup needs it any more.
    Nowhere,
}

impl App {
    /// Adds a new master key to the file. It unwraps and does not wrap yet.
    ///
    /// # Errors
    /// With a sentence that says what to do.
    pub async fn add_master_key(&self, actor: &Actor, path: &Path) -> Result<KekId, KeysChangeError> {
        let key = Secret::new(self.random.bytes());
        let now = self.clock.now().to_string();
        let remark = format!("added {}", now.split('T').next().unwrap_or_default());
        let id = change_file(path, |text| -> Result<KekId, KeysChangeError> {
            let added = text.add(&key, &remark);
            added.map_err(|cause| MasterKeyError::Text { path: path.to_path_buf(), cause }.into())
        })?;
        self.reload_master_keys(path).await?;
        self.note_master_key(actor, "master_key.add", id, &json!({})).await?;
        Ok(id)
    }

    /// Makes a key of the file the one that wraps. Every server has to have it before; what is wrapped
    /// under the others stays so until it is wrapped anew.
    ///
    /// # Errors
    /// When a server lacks it, or the file.
    pub async fn activate_master_key(
        &self,
        actor: &Actor,
        path: &Path,
        id: KekId,
    ) -> Result<(), KeysChangeError> {
        if !self.keys.ring().holds(id) {
            return Err(KeysChangeError::Refused(format!(
                "The master key {id} is not in {}: add one with `restante keys add`, or copy its line from the file of \
                 another server.",
                path.display()
            )));
        }
        let lacking = self.nodes_in_time(|node| node.master_keys.contains(&id)).await?;
        if lacking > 0 {
            return Err(KeysChangeError::Refused(format!(
                "{lacking} of the running servers have not loaded the master key {id}, and could not open what it wraps: \
                 copy its line to the end of their key files, and run this again a few seconds later. A server that was \
                 killed counts for a minute."
            )));
        }
        change_file(path, |text: &mut KeyFileText| -> Result<(), KeysChangeError> {
            text.activate(id);
            Ok(())
        })?;
        self.reload_master_keys(path).await?;
        self.note_master_key(actor, "master_key.activate", id, &json!({})).await
    }

    /// Waits until every running server wraps by the active key; gives how many do not yet.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn servers_with_another_active_key(&self) -> Result<usize, StoreError> {
        let active = self.keys.ring().active_id();
        self.nodes_in_time(|node| node.master_keys.first() == Some(&active)).await
    }

    /// Takes a key out of the file that wraps nothing any more.
    ///
    /// # Errors
    /// While something is wrapped by it, and while a server wraps by it.
    pub async fn retire_master_key(
        &self,
        actor: &Actor,
        path: &Path,
        id: KekId,
        kept: &Kept,
    ) -> Result<(), KeysChangeError> {
        let ring = self.keys.ring();
        if !ring.holds(id) {
            return Err(KeysChangeError::Refused(format!(
                "The master key {id} is not in {}. `restante keys list` shows those that are.",
                path.display()
            )));
        }
        if id == ring.active_id() {
            return Err(KeysChangeError::Refused(format!(
                "The master key {id} is the active one: add another with `restante keys add` and activate it first."
            )));
        }
        self.refuse_while_in_use(id).await?;
        let busy = self.nodes_in_time(|node| node.master_keys.first() != Some(&id)).await?;
        if busy > 0 {
            return Err(KeysChangeError::Refused(format!(
                "{busy} of the running servers still wrap by the master key {id}: put the line of {} first in their key \
                 files, and run `restante keys rewrap` again afterwards. A server that was killed counts for a minute.",
                ring.active_id()
            )));
        }
        // Nobody wraps by it now, so what is counted from here on stays so.
        self.refuse_while_in_use(id).await?;
        change_file(path, |text| -> Result<(), KeysChangeError> {
            let Some(line) = text.remove(id) else { return Ok(()) };
            if let Kept::In(file) = kept {
                let failed = |cause| MasterKeyError::Io { path: file.clone(), verb: "made", cause };
                let content = zeroize::Zeroizing::new(format!(
                    "# The master key {id} of a Restante, retired. Backups from before need it.\n{}\n",
                    line.expose()
                ));
                write_new(file, content.as_bytes()).map_err(failed)?;
            }
            Ok(())
        })?;
        self.reload_master_keys(path).await?;
        let kept = matches!(kept, Kept::In(_));
        self.note_master_key(actor, "master_key.retire", id, &json!({ "kept": kept })).await
    }

    async fn refuse_while_in_use(&self, id: KekId) -> Result<(), KeysChangeError> {
        let (uses, _) = census::count(&self.store).await?;
        let (tenants, people) = uses.get(&id).copied().unwrap_or_default();
        if tenants + people == 0 {
            return Ok(());
        }
        Err(KeysChangeError::Refused(format!(
            "The master key {id} still wraps {tenants} keys of tenants and {people} of people: run `restante keys rewrap` \
             first."
        )))
    }

    /// Waits a little until all running servers are as they have to be; gives how many are not.
    async fn nodes_in_time(&self, fits: impl Fn(&NodeRow) -> bool) -> Result<usize, StoreError> {
        let deadline = Instant::now() + NOTICED_WITHIN;
        loop {
            let others = self.live_nodes().await?.iter().filter(|node| !fits(node)).count();
            if others == 0 || Instant::now() >= deadline {
                return Ok(others);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn note_master_key(
        &self,
        actor: &Actor,
        action: &'static str,
        id: KekId,
        detail: &Value,
    ) -> Result<(), KeysChangeError> {
        let line = actor.line(&*self.random, self.clock.now(), action, id.to_string(), detail);
        Ok(self.store.write(move |conn| Box::pin(instance_audit::insert(conn, line))).await?)
    }
}
