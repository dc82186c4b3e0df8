//! Reading a form from the body of a request. What is wrong with it, and how that is shown, is `form.rs`.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use restante_core::problem::{Code, Problem};
use serde::de::DeserializeOwned;

use crate::fault::Fault;

/// The fields of a form. Each field of `T` that may be missing is an `Option` or has a default; a field
/// that `T` doesn't know is passed over, since the token of the form is one.
#[derive(Debug)]
pub(crate) struct Form<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Form<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, state: &S) -> Result<Self, Fault> {
        let unreadable = || {
            let detail = "The form can't be read. Go back, load the page again and send it once more.";
            Problem::new(Code::Malformed, detail)
        };
        let bytes = Bytes::from_request(request, state).await.map_err(|_| unreadable())?;
        // What was typed may be a secret, so the reader's words are not passed on.
        serde_urlencoded::from_bytes(&bytes).map(Self).map_err(|_| unreadable().into())
    }
}
