//! Settling a group of failures: first what it does, then, confirmed and with a note, the settlement.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::handoff::Settlement;
use restante_core::id::ReceiptId;
use restante_core::limits::PAGE_SIZE_MAX;
use restante_store::StoreError;
use url::form_urlencoded;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::counted;
use crate::parts::form::{Faults, first_step};
use crate::parts::link::Link;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/failures/settle.html")]
struct SettlePage {
    shell: Shell,
    count: String,
    ids: Vec<String>,
    consumer: String,
    settlement: String,
    note: String,
    faults: Faults,
}

impl Page for SettlePage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// What is to be settled.
#[derive(Debug, Default)]
struct Wanted {
    ids: Vec<ReceiptId>,
    consumer: String,
    settlement: String,
    note: String,
}

impl Wanted {
    fn read(pairs: &[u8]) -> Self {
        let mut wanted = Self::default();
        for (name, value) in form_urlencoded::parse(pairs) {
            match &*name {
                "event" if wanted.ids.len() <= PAGE_SIZE_MAX as usize => {
                    wanted.ids.extend(value.parse::<ReceiptId>().ok())
                }
                "to" => wanted.consumer = value.into_owned(),
                "settlement" => wanted.settlement = value.into_owned(),
                "note" => wanted.note = value.into_owned(),
                _ => {}
            }
        }
        wanted
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let wanted = Wanted::read(query.unwrap_or_default().as_bytes());
    page(&web, &member, &wanted, Faults::default()).await
}

async fn page(web: &Web, member: &Member, wanted: &Wanted, faults: Faults) -> Result<Response, Fault> {
    let shell = frame(web, member, Area::Failures, &Said::default()).await?;
    Ok(answer(&SettlePage::new(shell, wanted, faults)))
}

impl SettlePage {
    fn new(shell: Shell, wanted: &Wanted, faults: Faults) -> Self {
        Self {
            count: counted(wanted.ids.len() as u64, "event", "events"),
            ids: wanted.ids.iter().map(ToString::to_string).collect(),
            consumer: wanted.consumer.clone(),
            settlement: wanted.settlement.clone(),
            note: wanted.note.clone(),
            faults,
            shell,
        }
    }
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let wanted = Wanted::read(&body);
    let settlement = match wanted.settlement.as_str() {
        "processed" => Settlement::Processed,
        "failed" => Settlement::Failed,
        _ => {
            let mut faults = Faults::default();
            faults.add("settlement", "Say whether they were done after all, or will not be done.");
            return page(&web, &member, &wanted, faults).await;
        }
    };
    let note = Some(wanted.note.trim().to_owned()).filter(|note| !note.is_empty());
    let done = web.app.settle_events(&member.by, &wanted.ids, &wanted.consumer, settlement, note).await;
    match done {
        Ok((0, refused)) if !refused.is_empty() => {
            let mut faults = Faults::default();
            faults.add("settlement", refused.into_iter().next().map(|(_, why)| why).unwrap_or_default());
            page(&web, &member, &wanted, faults).await
        }
        Ok((settled, _)) => {
            let to = Link::to(format!("/t/{slug}/failures"))
                .with("said", "settled-many")
                .with("n", settled.to_string());
            Ok(Redirect::to(&to.to_string()).into_response())
        }
        Err(StoreError::Problem(problem)) => {
            page(&web, &member, &wanted, Faults::of(&problem, first_step)).await
        }
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "billing", HOSTILE, &long()] {
            let ids = vec![ReceiptId(uuid::Uuid::nil()); 250];
            let wanted =
                Wanted { ids, consumer: text.to_owned(), settlement: text.to_owned(), note: text.to_owned() };
            let mut faults = Faults::default();
            faults.add("settlement", text);
            check(&SettlePage::new(Shell::sample(Area::Failures), &wanted, faults).render().unwrap());
        }
    }
}
