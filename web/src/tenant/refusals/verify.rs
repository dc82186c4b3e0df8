//! Verifying a refused request again. When it is authentic after all, the person lands at its event; when
//! not, at the request, with what is wrong with it now.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::refusals::VerifiedAgain;
use restante_core::id::{EndpointId, RefusalId};
use restante_core::problem::Code;
use restante_store::StoreError;

use super::detail::{self, Again};
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::alien::Alien;
use crate::parts::payload::View;
use crate::parts::reasons::reason;
use crate::session::Member;
use crate::state::Web;

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, endpoint, id)): Path<(String, String, String)>,
) -> Result<Response, Fault> {
    let (Ok(endpoint), Ok(id)) = (endpoint.parse::<EndpointId>(), id.parse::<RefusalId>()) else {
        return Ok(missing());
    };
    let to = |event: String, said: &str| {
        Redirect::to(&format!("/t/{slug}/events/{event}?said={said}")).into_response()
    };
    let again = match web.app.verify_refusal_again(&member.by, endpoint, id).await {
        Ok(VerifiedAgain::Entered(receipts)) => match receipts.as_slice() {
            [] => Again::good("It is authentic, and there is no event in it."),
            [only] if only.duplicate => return Ok(to(only.id.to_string(), "verified-known")),
            [first, ..] => return Ok(to(first.id.to_string(), "verified")),
        },
        Ok(VerifiedAgain::WasEntered(entered)) => match entered.receipt {
            Some(receipt) => return Ok(to(receipt.to_string(), "verified-known")),
            None => Again::good("It is authentic, and there is no event in it."),
        },
        Ok(VerifiedAgain::Refused { reason: word, explanation }) => {
            Again::bad(format!("Still refused: {}", reason(word)), Alien::new(&*explanation))
        }
        Ok(VerifiedAgain::Handshake) => Again::good(
            "It is a handshake of the provider. Such a request is answered when it comes, and is no event.",
        ),
        Err(StoreError::Problem(problem)) if matches!(problem.code, Code::Conflict | Code::Unavailable) => {
            Again::bad("It can’t be verified again".to_owned(), Alien::new(&*problem.detail))
        }
        Err(failure) => return Err(failure.into()),
    };
    detail::page(&web, &member, endpoint, id, View::Pretty, Some(again)).await
}
