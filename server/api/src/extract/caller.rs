//! Who acts: the API key in `Authorization`. The route table (`restante_core::access`) says what a route asks
//! for and looks the key up before the handler runs; here the handler gets the answer.

use axum::extract::FromRequestParts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use restante_app::By;
use restante_core::problem::{Code, Problem};

use crate::problem::Refused;

/// The caller of a route that is not public, with the id of the request: what verbs ask for.
#[derive(Debug, Clone)]
pub struct Caller(pub By);

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        parts.extensions.get::<By>().cloned().map(Self).ok_or_else(|| {
            // The route stands in the table as public, yet its handler asks who calls.
            tracing::error!("a handler asked for a caller on a public route");
            Refused(Problem::new(Code::Internal, "Restante could not tell who calls."))
        })
    }
}

/// The API key that a request presents: `Bearer KEY`, or HTTP basic with the key as the user name,
/// as `curl -u KEY:` sends it.
pub(crate) fn token(headers: &HeaderMap) -> Result<String, Problem> {
    let refuse = |detail: &str| Err(Problem::new(Code::Unauthorized, detail));
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return refuse("Send an API key: `Authorization: Bearer rst_…`.");
    };
    if values.next().is_some() {
        return refuse("Send one Authorization header; there are several.");
    }
    let (scheme, rest) = value.to_str().ok().and_then(|text| text.split_once(' ')).unwrap_or_default();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Ok(rest.trim().to_owned());
    }
    let user = scheme
        .eq_ignore_ascii_case("basic")
        .then(|| STANDARD.decode(rest.trim()).ok())
        .flatten()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.split_once(':').map(|(user, _)| user.to_owned()));
    match user {
        Some(user) => Ok(user),
        None => refuse("The Authorization header can't be read. It looks like `Bearer rst_…`."),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn sent(values: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        token(&headers).ok()
    }

    #[test]
    fn a_key_comes_as_bearer_or_as_the_user_of_basic() {
        assert_eq!(sent(&["Bearer rst_abc"]).as_deref(), Some("rst_abc"));
        assert_eq!(sent(&["bearer  rst_abc"]).as_deref(), Some("rst_abc"));
        assert_eq!(sent(&["Basic cnN0X2FiYzo="]).as_deref(), Some("rst_abc"));
    }

    #[test]
    fn anything_else_is_no_key() {
        for values in [
            &[][..],
            &["Bearer"],
            &["rst_abc"],
            &["Digest x"],
            &["Basic !!"],
            &["Basic /w=="],
            &["Bearer a", "Bearer a"],
        ] {
            assert_eq!(sent(values), None, "{values:?}");
        }
    }
}
