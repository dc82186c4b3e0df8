//! The keys of the instance, as administrators see them, and the rotation of a tenant's.

use restante_core::seal::KeyClass;
use restante_store::StoreError;
use restante_store::nodes::{self, NodeRow};

use super::administrator;
use crate::App;
use crate::keys::{KeyTotals, MasterKeyUse};
use crate::people::Actor;

/// What the page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysPage {
    /// The master keys that are loaded or in use, the active one first.
    pub master_keys: Vec<MasterKeyUse>,
    /// Keys of tenants by class and state.
    pub totals: KeyTotals,
    /// Whether every key was counted; of a very large instance only the first ones are.
    pub is_whole: bool,
    /// The servers that run.
    pub servers: Vec<NodeRow>,
}

impl App {
    /// The keys of the instance, in numbers.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator.
    pub async fn keys_page(&self, actor: &Actor) -> Result<KeysPage, StoreError> {
        let actor = actor.clone();
        let servers = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    nodes::live(conn).await
                })
            })
            .await?;
        let (master_keys, totals, is_whole) = self.some_master_keys_in_use().await?;
        Ok(KeysPage { master_keys, totals, is_whole, servers })
    }

    /// Gives a tenant a new key of a class, as an administrator; gives its version.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator, `not-found` for a tenant that is none, and as
    /// [`rotate_tenant_key`](Self::rotate_tenant_key).
    pub async fn rotate_key_of(&self, actor: &Actor, slug: &str, class: KeyClass) -> Result<u32, StoreError> {
        let asks = actor.clone();
        self.store.read(move |conn| Box::pin(async move { administrator(conn, &asks).await })).await?;
        let tenant = self.tenant_of_slug(slug).await?;
        self.rotate_tenant_key(actor, tenant, class).await
    }
}
