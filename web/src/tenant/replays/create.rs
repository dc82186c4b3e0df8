//! The replay itself, after the confirmation. A form that is sent twice, by a double click or from the page
//! before, replays once: it carries a number of its own, and its answer is kept for a day.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::Repeat;
use restante_app::replay_jobs::{NewReplays, ReplayOf};
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
    // With what was typed: the same page with another reason is another request.
    let once =
        (!wanted.once.is_empty()).then(|| format!("{} {}", wanted.once, String::from_utf8_lossy(&body)));
    let (to, reason) = (text(&wanted.to), text(&wanted.reason));
    if wanted.all {
        let repeat = once.map(|once| Repeat::new(once, "POST", "replay of all that match", b""));
        return all(
            &web,
            &member,
            &slug,
            &wanted,
            NewReplays { of: matching(&wanted), consumer: to, reason },
            repeat,
        )
        .await;
    }
    let ids = &wanted.picked;
    let made = web.app.replay_events(&member.by, ids, to, reason, once.as_deref()).await;
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

fn matching(wanted: &Wanted) -> ReplayOf {
    ReplayOf::Matching(wanted.filters.read().0)
}

/// Asks for a replay of all that match, which is worked off while the person watches or goes on.
async fn all(
    web: &Web,
    member: &Member,
    slug: &str,
    wanted: &Wanted,
    asked: NewReplays,
    repeat: Option<Repeat>,
) -> Result<Response, Fault> {
    let (_, faults) = wanted.filters.read();
    if !faults.is_empty() {
        return page(web, member, wanted, faults).await;
    }
    match web.app.create_replay_job(&member.by, asked, repeat).await {
        Ok(made) => Ok(Redirect::to(&format!("/t/{slug}/replays/{}", made.value.id)).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, |pointer| match pointer {
                "/consumer" | "consumer" => Some("to".to_owned()),
                pointer => first_step(pointer),
            });
            page(web, member, wanted, faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}
