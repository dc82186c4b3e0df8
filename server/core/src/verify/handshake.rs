//! Probes and challenges that a provider documents, answered exactly and never stored.

use subtle::ConstantTimeEq;

use super::headers::holds;
use super::{Endpoint, Handshake, Reason, Rejection, Reply, reject};
use crate::catalogue;
use crate::identity::Fields;
use crate::limits::ECHO_BYTES_MAX;
use crate::request::Request;

/// The answer to a handshake that comes without a signature, where the request is one.
pub(super) fn unsigned(endpoint: &Endpoint<'_>, request: &Request) -> Result<Option<Handshake>, Rejection> {
    let mut all = endpoint.scheme.handshakes.iter().filter(|handshake| !handshake.rule.signed);
    let Some(found) = all.find(|one| one.rule.method == request.method && holds(&one.when, request)) else {
        return Ok(None);
    };
    if let Some(token) = &found.rule.token {
        let query = Fields::of_query(request);
        let offered =
            query.first(&token.query).filter(|field| !field.ambiguous).map_or(&b""[..], |field| field.value);
        let right = endpoint.scheme.settings.texts.get(&token.option);
        let fits = right.is_some_and(|right| offered.ct_eq(right.expose().as_bytes()).into());
        if !fits {
            let why = if right.is_none() {
                format!(
                    "The endpoint has no {}, so no handshake can be answered. Choose one, set it in the endpoint's options and paste it at the provider.",
                    token.option
                )
            } else {
                format!("The parameter {} is not the endpoint's {}.", token.query, token.option)
            };
            let mut rejection = reject(endpoint, Reason::VerifyTokenMismatch, why);
            rejection.status = token.refused_status;
            return Err(rejection);
        }
    }
    Ok(echo(found, request).map(|echo| answer(found, echo)))
}

/// What an unsigned handshake wants echoed; what is missing or too long makes it none.
fn echo(handshake: &catalogue::Handshake, request: &Request) -> Option<String> {
    super::headers::read(&handshake.echo, request).filter(|echo| echo.len() <= ECHO_BYTES_MAX)
}

/// The documented answer.
pub(super) fn answer(handshake: &catalogue::Handshake, echo: String) -> Handshake {
    let reply = &handshake.rule.reply;
    let headers = vec![
        ("content-type".to_owned(), reply.content_type.clone()),
        // What is echoed was chosen by the sender, so no browser may take it for a page.
        ("x-content-type-options".to_owned(), "nosniff".to_owned()),
    ];
    Handshake { reply: Reply { status: reply.status, headers, body: echo.into_bytes() } }
}
