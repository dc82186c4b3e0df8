//! Ids and names in a path. One that can't be read is answered like one that is not there, so that
//! an answer never tells which it was.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use restante_core::id::{
    EndpointId, HoldId, KeyId, ReceiptId, ReconciliationRunId, RefusalId, ReplayJobId, SecretId,
};
use restante_core::problem::Problem;

use crate::problem::Refused;

/// A part of a path that handlers take.
pub trait PathPart: Sized {
    /// What it names, for "There is no such …".
    const WHAT: &'static str;

    /// Reads it; `None` when nothing can have that id or name.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! ids {
    ($($id:ty = $what:literal),* $(,)?) => {$(
        impl PathPart for $id {
            const WHAT: &'static str = $what;

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

ids! {
    EndpointId = "endpoint",
    SecretId = "secret",
    KeyId = "key",
    ReceiptId = "event",
    RefusalId = "refusal",
    ReplayJobId = "replay",
    HoldId = "hold",
    ReconciliationRunId = "run",
}

/// A name, of a consumer or a provider: the handler looks whether it is there.
impl PathPart for String {
    const WHAT: &'static str = "name";

    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

/// The parameters of a path, in order: one, or two in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<T>(pub T);

fn read<T: PathPart>(text: Option<&str>) -> Result<T, Refused> {
    text.and_then(T::read).ok_or_else(|| Refused(Problem::not_found(T::WHAT)))
}

async fn texts<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Vec<String>, Refused> {
    // What does not decode to UTF-8 names nothing.
    let params = RawPathParams::from_request_parts(parts, state)
        .await
        .map_err(|_| Refused(Problem::not_found(String::WHAT)))?;
    Ok(params.iter().map(|(_, value)| value.to_owned()).collect())
}

impl<S: Send + Sync, T: PathPart> FromRequestParts<S> for Path<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let texts = texts(parts, state).await?;
        read(texts.first().map(String::as_str)).map(Self)
    }
}

impl<S: Send + Sync, T: PathPart, U: PathPart> FromRequestParts<S> for Path<(T, U)> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let texts = texts(parts, state).await?;
        let mut texts = texts.iter().map(String::as_str);
        Ok(Self((read(texts.next())?, read(texts.next())?)))
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http::{Request, StatusCode};
    use tower::ServiceExt as _;

    use super::*;

    async fn status(path: &str) -> StatusCode {
        let one = |Path(id): Path<EndpointId>| async move { id.to_string() };
        let two = |Path((id, secret)): Path<(EndpointId, SecretId)>| async move { format!("{id}{secret}") };
        let router: Router = Router::new().route("/e/{id}", get(one)).route("/e/{id}/s/{secret}", get(two));
        router.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn an_id_that_cannot_be_one_is_not_found() {
        let (endpoint, secret) = ("ep_00000000000000000000000001", "sec_00000000000000000000000001");
        assert_eq!(status(&format!("/e/{endpoint}")).await, 200);
        assert_eq!(status(&format!("/e/{endpoint}/s/{secret}")).await, 200);
        for path in [
            "/e/1".to_owned(),
            format!("/e/{secret}"),
            "/e/%ff".to_owned(),
            "/e/%00".to_owned(),
            format!("/e/{endpoint}/s/{endpoint}"),
            format!("/e/1/s/{secret}"),
        ] {
            assert_eq!(status(&path).await, 404, "{path}");
        }
    }
}
