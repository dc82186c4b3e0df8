//! The list of API keys.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use restante_app::api_keys::ApiKeyRow;
use restante_core::access::Scope;
use restante_core::time::Timestamp;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::actors::Actors;
use crate::tenant::frame::{Said, frame};

/// Keys that the list shows, the newest ones.
const MAX: u32 = 250;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/keys/list.html")]
struct ListPage {
    shell: Shell,
    rows: Vec<Row>,
}

impl Page for ListPage {}

#[derive(Debug)]
struct Row {
    name: String,
    hint: String,
    scopes: Vec<&'static str>,
    maker: String,
    made: Moment,
    used: Option<Moment>,
    expires: Option<Moment>,
    expired: bool,
    revoke: String,
}

pub(crate) async fn show(State(web): State<Web>, member: Member, said: Said) -> Result<Response, Fault> {
    let keys = web.app.api_keys(&member.by, None, MAX).await?;
    let actors = Actors::of(&web.app, &member.by, keys.iter().map(|key| key.created_by.as_str())).await?;
    let shell = frame(&web, &member, Area::Keys, &said).await?;
    Ok(answer(&ListPage::new(shell, &keys, &actors, web.app.clock.now())))
}

impl ListPage {
    fn new(shell: Shell, keys: &[ApiKeyRow], actors: &Actors, now: Timestamp) -> Self {
        let row = |key: &ApiKeyRow| Row {
            name: key.name.clone(),
            hint: key.hint.clone(),
            scopes: key.scopes.iter().map(Scope::as_str).collect(),
            maker: actors.name(&key.created_by),
            made: Moment::new(key.created_at, now),
            used: key.last_used_at.map(|at| Moment::new(at, now)),
            expires: key.expires_at.map(|at| Moment::new(at, now)),
            expired: key.expires_at.is_some_and(|at| at <= now),
            revoke: shell.at(&format!("/keys/{}/revoke", key.id)),
        };
        Self { rows: keys.iter().map(row).collect(), shell }
    }
}

#[cfg(test)]
mod tests {
    use restante_core::access::{Role, Scopes};
    use restante_core::id::KeyId;
    use uuid::Uuid;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn key(text: &str) -> ApiKeyRow {
        ApiKeyRow {
            id: KeyId(Uuid::from_u128(3)),
            name: text.to_owned(),
            hint: "rst_abcd".to_owned(),
            scopes: Scopes::ALL,
            created_by: text.to_owned(),
            created_at: NOW.plus_seconds(-86_400),
            expires_at: Some(NOW.plus_seconds(-5)),
            last_used_at: Some(NOW),
        }
    }

    fn page(shell: Shell, text: &str, count: usize) -> String {
        let keys: Vec<_> = (0..count).map(|_| key(text)).collect();
        ListPage::new(shell, &keys, &Actors::default(), NOW).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for (text, count) in [("", 0), ("worker", 1), (HOSTILE, 2), (&long(), 250)] {
            check(&page(Shell::hostile(Area::Keys), text, count));
        }
    }

    #[test]
    fn a_viewer_makes_and_revokes_none() {
        let mut shell = Shell::sample(Area::Keys);
        shell.scopes = Role::Viewer.scopes();
        let text = page(shell, "worker", 1);
        assert!(
            text.contains("expired") && !text.contains("/revoke") && !text.contains("/keys/new"),
            "{text}"
        );
        assert!(page(Shell::sample(Area::Keys), "worker", 1).contains("/revoke"));
    }
}
