//! The keys of the instance: what each master key wraps, which servers have it, and what to do next. The
//! master keys themselves are changed at the command line, where their file is; a tenant's key is rotated
//! here.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use restante_app::administration::KeysPage as Found;
use restante_app::keys::MasterKeyUse;
use restante_core::problem::{Code, Problem};
use restante_core::seal::KeyClass;
use restante_store::StoreError;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/keys.html")]
struct KeysPage {
    shell: Shell,
    master_keys: Vec<MasterKeyLine>,
    totals: Vec<(&'static str, &'static str, u64)>,
    is_whole: bool,
    servers: Vec<ServerLine>,
    tenant: String,
    faults: Faults,
    status: StatusCode,
}

impl Page for KeysPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

/// A master key in the list.
struct MasterKeyLine {
    id: String,
    state: &'static str,
    tenant_keys: u64,
    people: u64,
    /// What may come next, each with its command; nothing for the active one.
    next: Vec<(&'static str, String)>,
}

impl MasterKeyLine {
    fn of(key: &MasterKeyUse) -> Self {
        let id = key.id.to_string();
        let (state, next) = match (key.active, key.loaded, key.wraps()) {
            (true, ..) => ("active", Vec::new()),
            (_, false, _) => (
                "not loaded",
                vec![(
                    "What it wraps can’t be opened. Put its line at the end of the key file.",
                    String::new(),
                )],
            ),
            (_, _, 0) => (
                "unwraps",
                vec![
                    (
                        "It wraps nothing. If it is new, let it wrap from now on:",
                        format!("restante keys activate {id}"),
                    ),
                    (
                        "If it is the one before, take it out of the key file and keep it for old backups:",
                        format!("restante keys retire {id} --keep-in FILE"),
                    ),
                ],
            ),
            _ => (
                "unwraps",
                vec![(
                    "Some keys are still wrapped by it. Have them wrapped by the active one:",
                    "restante keys rewrap".to_owned(),
                )],
            ),
        };
        Self { id, state, tenant_keys: key.tenant_keys, people: key.people, next }
    }
}

/// A server that runs.
struct ServerLine {
    id: String,
    version: String,
    wraps_by: String,
    others: String,
    seen: Moment,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    said: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let notice = (asked.said == "rotated").then_some(
        "The tenant has a new key. It seals from two minutes on, when every server has it; what the old one sealed stays \
         readable.",
    );
    page(&web, &person, notice, String::new(), None).await
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    tenant: String,
    class: String,
}

pub(crate) async fn rotate(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let class = match typed.class.as_str() {
        "payload" => KeyClass::Payload,
        "secrets" => KeyClass::Secrets,
        _ => return Err(Problem::field("/class", "Choose what the new key is for.").into()),
    };
    match web.app.rotate_key_of(&person.actor(), typed.tenant.trim(), class).await {
        Ok(_) => Ok(Redirect::to("/admin/keys?said=rotated").into_response()),
        Err(StoreError::Problem(problem)) if matches!(problem.code, Code::NotFound | Code::Conflict) => {
            let fault = Problem::field("/tenant", &problem.detail);
            page(&web, &person, None, typed.tenant, Some(fault)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn page(
    web: &Web,
    person: &Person,
    notice: Option<&'static str>,
    tenant: String,
    refused: Option<Problem>,
) -> Result<Response, Fault> {
    let Found { master_keys, totals, is_whole, servers } = web.app.keys_page(&person.actor()).await?;
    let now = web.app.clock.now();
    let mut shell = person.shell(Area::AdminKeys);
    shell.notices.extend(notice.map(Notice::done));
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(answer(&KeysPage {
        shell,
        master_keys: master_keys.iter().map(MasterKeyLine::of).collect(),
        totals: totals
            .into_iter()
            .map(|((class, state), keys)| (class_in_words(class), state_in_words(state), keys))
            .collect(),
        is_whole,
        servers: servers
            .into_iter()
            .map(|node| {
                let mut keys = node.master_keys.iter().map(ToString::to_string);
                ServerLine {
                    wraps_by: keys.next().unwrap_or_default(),
                    others: keys.collect::<Vec<_>>().join(", "),
                    id: node.id.to_string(),
                    version: node.version,
                    seen: Moment::new(node.seen_at, now),
                }
            })
            .collect(),
        tenant,
        faults: refused.map(|problem| Faults::of(&problem, first_step)).unwrap_or_default(),
        status,
    }))
}

const fn class_in_words(class: KeyClass) -> &'static str {
    match class {
        KeyClass::Payload => "Bodies and headers",
        KeyClass::Digest => "Digests of bodies",
        KeyClass::Secrets => "Credentials",
    }
}

fn state_in_words(state: &str) -> &'static str {
    match state {
        "active" => "newest",
        "decrypt_only" => "only opens what it sealed",
        _ => "destroyed",
    }
}

#[cfg(test)]
mod tests {
    use restante_core::seal::KekId;
    use restante_core::time::Timestamp;

    use super::*;
    use crate::parts::samples;

    fn key(number: u8) -> MasterKeyUse {
        MasterKeyUse {
            id: KekId([number; 8]),
            loaded: number != 2,
            active: number == 0,
            tenant_keys: if number == 3 { 0 } else { u64::from(number) + 3 },
            people: 0,
        }
    }

    #[test]
    fn the_page_stands_for_every_state_of_a_key_and_hostile_text() {
        for text in ["", "acme", samples::HOSTILE, &samples::long()] {
            let mut faults = Faults::default();
            faults.add("tenant", text);
            let now = Timestamp::from_seconds(1_796_040_000);
            let server = |_| ServerLine {
                id: "x".to_owned(),
                version: text.to_owned(),
                wraps_by: text.to_owned(),
                others: text.to_owned(),
                seen: Moment::new(now, now),
            };
            let page = KeysPage {
                shell: Shell::hostile(Area::AdminKeys),
                master_keys: (0..4).map(key).map(|key| MasterKeyLine::of(&key)).collect(),
                totals: vec![(class_in_words(KeyClass::Payload), state_in_words("active"), 3)],
                is_whole: text.is_empty(),
                servers: (0..text.len().min(3)).map(server).collect(),
                tenant: text.to_owned(),
                faults,
                status: StatusCode::OK,
            };
            let shown = page.render().unwrap();
            samples::check(&shown);
            assert!(shown.contains("restante keys rewrap") && shown.contains("not loaded"), "{shown}");
            // A key that wraps nothing is new or old, and only its owner knows which.
            for verb in ["activate", "retire"] {
                assert!(shown.contains(&format!("restante keys {verb} {}", key(3).id)), "{verb}: {shown}");
            }
        }
    }
}
