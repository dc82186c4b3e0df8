//! The names behind the ids that the audit log, replays and settlements keep.

use std::collections::HashMap;

use restante_core::id::{KeyId, UserId};
use restante_store::StoreError;
use restante_store::control::actors;

use crate::{App, By};

/// Ids that are looked up at once.
const LOOKED_UP_MAX: usize = 200;

impl App {
    /// The addresses of members and the names of API keys of the caller's tenant, by the ids that the log
    /// keeps. Who is no member (any more) has none.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn actor_names(
        &self,
        by: &By,
        ids: Vec<String>,
    ) -> Result<HashMap<String, String>, StoreError> {
        let tenant = by.tenant();
        let ids = ids.into_iter().take(LOOKED_UP_MAX);
        let mut people: Vec<UserId> = Vec::new();
        let mut keys: Vec<KeyId> = Vec::new();
        for id in ids {
            if let Ok(user) = id.parse() {
                people.push(user);
            } else if let Ok(key) = id.parse() {
                keys.push(key);
            }
        }
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let mut names = HashMap::new();
                    for (id, email) in actors::members(conn, tenant, &people).await? {
                        names.insert(id.to_string(), email);
                    }
                    for (id, name) in actors::keys(conn, tenant, &keys).await? {
                        names.insert(id.to_string(), format!("the API key “{name}”"));
                    }
                    Ok(names)
                })
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use restante_store::both_engines;

    use crate::testing::TestApp;

    both_engines!(members_and_keys_have_names_within_their_tenant_alone, |t| async {
        let a = TestApp::new(t);
        let tenant = a.tenant("acme").await;
        let other = a.tenant("beta").await;
        let key = tenant.by.actor();
        let user = a.app.bootstrap(
            "gamma",
            "ada@gamma.test",
            restante_core::secret::Secret::new("correct horse battery".to_owned()),
        );
        let user = user.await.unwrap().user.to_string();
        let names = a
            .app
            .actor_names(&tenant.by, vec![key.clone(), user.clone(), "operator".to_owned()])
            .await
            .unwrap();
        assert_eq!(names.len(), 1);
        assert_eq!(names[&key], "the API key “bootstrap”");
        assert!(a.app.actor_names(&other.by, vec![key, user]).await.unwrap().is_empty());
    });
}
