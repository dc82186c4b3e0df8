//! The replay itself, after the confirmation.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_store::StoreError;

use super::new::{Wanted, page};
use crate::fault::Fault;
use crate::parts::form::{Faults, first_step};
use crate::parts::link::Link;
use crate::session::Member;
use crate::state::Web;

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let wanted = Wanted::read(std::str::from_utf8(&body).unwrap_or_default());
    let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    if wanted.all {
        return all(&web, &member, &slug, &wanted, text(&wanted.to), text(&wanted.reason)).await;
    }
    let ids = &wanted.picked;
    let made = web.app.replay_events(&member.by, ids, text(&wanted.to), text(&wanted.reason)).await;
    let made = match made {
        Ok(made) => made,
        Err(StoreError::Problem(problem)) => {
            return page(&web, &member, &wanted, Faults::of(&problem, first_step)).await;
        }
        Err(failure) => return Err(failure.into()),
    };
    if let Some((_, why)) = made.refused.first()
        && made.events == 0
    {
        let mut faults = Faults::default();
        faults.add("to", why.clone());
        return page(&web, &member, &wanted, faults).await;
    }
    let to = match ids.as_slice() {
        [only] => format!("/t/{slug}/events/{only}"),
        _ => format!("/t/{slug}/events"),
    };
    let to = Link::to(to).with("said", "replayed").with("n", made.handoffs.to_string());
    Ok(Redirect::to(&to.to_string()).into_response())
}

/// Asks for a replay of all that match, which is worked off while the person watches or goes on.
async fn all(
    web: &Web,
    member: &Member,
    slug: &str,
    wanted: &Wanted,
    to: Option<String>,
    reason: Option<String>,
) -> Result<Response, Fault> {
    let (filter, faults) = wanted.filters.read();
    if !faults.is_empty() {
        return page(web, member, wanted, faults).await;
    }
    match web.app.create_replay_job(&member.by, filter, to, reason).await {
        Ok(id) => Ok(Redirect::to(&format!("/t/{slug}/replays/{id}")).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, |pointer| match pointer {
                "/consumer" => Some("to".to_owned()),
                pointer => first_step(pointer),
            });
            page(web, member, wanted, faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}
