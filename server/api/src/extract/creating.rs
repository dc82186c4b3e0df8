//! A POST that makes something: its body, and with `Idempotency-Key` what tells it from another request.

use axum::extract::{FromRequest, FromRequestParts as _, Request};
use restante_app::Repeat;
use serde::de::DeserializeOwned;

use super::{IdempotencyKey, json};
use crate::problem::Refused;
use crate::state::Api;

/// What is to be created.
#[derive(Debug, Clone)]
pub struct Creating<T> {
    /// The body.
    pub value: T,
    /// Under which key the answer is kept, when the client sent one.
    pub repeat: Option<Repeat>,
}

/// The same where the body may be left out, which then means `{}`.
#[derive(Debug, Clone)]
pub struct CreatingOrEmpty<T>(pub Creating<T>);

impl<T: DeserializeOwned> FromRequest<Api> for Creating<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refused> {
        read(request, api, false).await
    }
}

impl<T: DeserializeOwned> FromRequest<Api> for CreatingOrEmpty<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refused> {
        read(request, api, true).await.map(Self)
    }
}

async fn read<T: DeserializeOwned>(
    request: Request,
    api: &Api,
    may_be_empty: bool,
) -> Result<Creating<T>, Refused> {
    let (mut parts, body) = request.into_parts();
    let IdempotencyKey(key) = IdempotencyKey::from_request_parts(&mut parts, api).await?;
    let is_json = json::is_json(&parts.headers);
    if !is_json && !may_be_empty {
        return Err(json::unsupported());
    }
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let bytes = json::whole(Request::from_parts(parts, body), api).await?;
    let value = match (bytes.is_empty() && may_be_empty, is_json) {
        (true, _) => json::read(b"{}"),
        (false, true) => json::read(&bytes),
        (false, false) => return Err(json::unsupported()),
    };
    let repeat = key.map(|key| Repeat::new(key, method.as_str(), &path, &bytes));
    Ok(Creating { value: value.map_err(Refused)?, repeat })
}
