//! The token that each form of a session carries, against forms that other sites put before the person.
//! It stands in the field `csrf`, or for scripts in the header `X-CSRF-Token`.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use http::HeaderMap;
use restante_app::people::Session;
pub(crate) use restante_core::limits::FORM_BYTES_MAX;
use restante_core::problem::{Code, Problem};
use subtle::ConstantTimeEq as _;
use url::form_urlencoded;

/// The name of the field.
pub(super) const FIELD: &str = "csrf";
const HEADER: &str = "x-csrf-token";

/// The token of a session, as forms carry it.
pub(super) fn token(session: &Session) -> String {
    hex::encode(session.csrf)
}

/// A request that carried the token, with the bytes of its form.
pub(super) struct Checked {
    pub(super) request: Request,
    pub(super) form: Bytes,
}

/// Demands the token of a request, and gives the request back with its body whole.
///
/// # Errors
/// When it is missing or another session's, or the form is too large.
pub(super) async fn check(request: Request, session: &Session) -> Result<Checked, Problem> {
    let (parts, body) = request.into_parts();
    let form = to_bytes(body, FORM_BYTES_MAX).await.map_err(|_| {
        Problem::new(
            Code::TooLarge,
            format!("A form may have {} MiB; this one has more, or broke off.", FORM_BYTES_MAX >> 20),
        )
    })?;
    let found = match in_header(&parts.headers) {
        Some(found) => is(found.as_bytes(), session),
        None => form_urlencoded::parse(&form)
            .find(|(name, _)| name == FIELD)
            .is_some_and(|(_, found)| is(found.as_bytes(), session)),
    };
    if !found {
        return Err(refused());
    }
    Ok(Checked { request: Request::from_parts(parts, Body::from(form.clone())), form })
}

fn in_header(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER).and_then(|value| value.to_str().ok())
}

fn is(found: &[u8], session: &Session) -> bool {
    token(session).as_bytes().ct_eq(found).into()
}

fn refused() -> Problem {
    Problem::new(
        Code::MissingScope,
        "This form is of another session, or did not come from Restante. Nothing was done. Go back, load the page \
         again and send it once more.",
    )
}
