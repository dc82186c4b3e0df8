//! A POST that creates: its body, and with `Idempotency-Key` what tells it from another request.

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

impl<T: DeserializeOwned> FromRequest<Api> for Creating<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refused> {
        let (mut parts, body) = request.into_parts();
        let IdempotencyKey(key) = IdempotencyKey::from_request_parts(&mut parts, api).await?;
        if !json::is_json(&parts.headers) {
            return Err(json::unsupported());
        }
        let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
        let bytes = json::whole(Request::from_parts(parts, body), api).await?;
        let value = json::read(&bytes).map_err(Refused)?;
        Ok(Self { value, repeat: key.map(|key| Repeat::new(key, method.as_str(), &path, &bytes)) })
    }
}
