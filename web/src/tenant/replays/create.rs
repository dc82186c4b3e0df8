//! The replay itself, after the confirmation.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_store::StoreError;

use super::new::{Wanted, few, page};
use crate::fault::Fault;
use crate::parts::form::{Faults, first_step};
use crate::parts::link::Link;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::events::named;

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let wanted = Wanted::read(std::str::from_utf8(&body).unwrap_or_default());
    let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let ids = if wanted.all {
        let (filter, faults) = wanted.filters.read();
        if !faults.is_empty() {
            return page(&web, &member, &wanted, faults).await;
        }
        match few(&web, &member, filter).await {
            Ok(Some(ids)) => ids,
            Ok(None) => {
                let mut faults = Faults::default();
                faults.add(
                    "to",
                    "These are too many for one replay. Narrow the filters, for instance by time.",
                );
                return page(&web, &member, &wanted, faults).await;
            }
            Err(StoreError::Problem(problem)) => return page(&web, &member, &wanted, named(&problem)).await,
            Err(failure) => return Err(failure.into()),
        }
    } else {
        wanted.picked.clone()
    };
    let made = web.app.replay_events(&member.by, &ids, text(&wanted.to), text(&wanted.reason)).await;
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
