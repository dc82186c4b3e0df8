//! Bodies of requests for people. Pages read forms in their own ways; here each is read whole before
//! a page sees it, with the deadlines of every body, and within a budget of its own, so that nobody
//! who merely opens pages keeps deliveries out.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http_body::Body as _;
use restante_core::limits::FORM_BYTES_MAX;
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::body::{Fault, read_whole};
use crate::problem::Refused;
use crate::state::Deadlines;

/// Bytes of forms that may be in memory at once.
const BUDGET_BYTES: usize = 32 * 1024 * 1024;

/// What reading takes.
#[derive(Debug, Clone)]
pub(crate) struct PageBodies {
    deadlines: Deadlines,
    budget: Arc<Semaphore>,
}

impl PageBodies {
    pub(crate) fn new(deadlines: Deadlines) -> Self {
        Self { deadlines, budget: Arc::new(Semaphore::new(BUDGET_BYTES)) }
    }

    /// Answers a request by a page.
    pub(crate) async fn answer(&self, pages: Router, request: Request) -> Response {
        if request.body().is_end_stream() {
            return page(pages, request).await;
        }
        let (parts, mut body) = request.into_parts();
        let bytes_max = FORM_BYTES_MAX as u64;
        match read_whole(&mut body, bytes_max, self.deadlines, &self.budget).await {
            Ok(whole) => {
                let response = page(pages, Request::from_parts(parts, Body::from(whole.bytes))).await;
                drop(whole.room);
                response
            }
            // The page itself says how large a form may be, when it can't read it.
            Err(Fault::TooLarge) => page(pages, Request::from_parts(parts, unreadable())).await,
            Err(fault) => Refused(fault.problem(bytes_max)).into_response(),
        }
    }
}

fn unreadable() -> Body {
    Body::from_stream(stream::iter([Err::<Bytes, _>(io::Error::other("the body is too large"))]))
}

async fn page(pages: Router, request: Request) -> Response {
    match pages.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::routing::post;
    use http::StatusCode;

    use super::*;

    fn pages() -> Router {
        let read = |request: Request| async {
            match axum::body::to_bytes(request.into_body(), FORM_BYTES_MAX).await {
                Ok(bytes) => (StatusCode::OK, bytes.len().to_string()),
                Err(_) => (StatusCode::PAYLOAD_TOO_LARGE, "a page that says so".to_owned()),
            }
        };
        Router::new().route("/form", post(read))
    }

    async fn send(bodies: &PageBodies, body: Body) -> (u16, String) {
        let request = Request::post("/form").body(body).unwrap();
        let response = bodies.answer(pages(), request).await;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// A body that begins and goes no further.
    fn stuck() -> Body {
        use futures_util::StreamExt as _;
        let begin = stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"email=you"))]);
        Body::from_stream(begin.chain(stream::pending()))
    }

    #[tokio::test]
    async fn a_page_gets_a_form_whole_and_says_itself_when_it_is_too_large() {
        let bodies = PageBodies::new(Deadlines::default());
        let chunked =
            || Body::from_stream(stream::iter([Ok::<_, io::Error>(vec![b'x'; FORM_BYTES_MAX + 1])]));
        assert_eq!(send(&bodies, Body::empty()).await, (200, "0".to_owned()));
        assert_eq!(send(&bodies, Body::from("a=b")).await, (200, "3".to_owned()));
        assert_eq!(send(&bodies, Body::from(vec![b'x'; FORM_BYTES_MAX])).await.0, 200);
        for body in [Body::from(vec![b'x'; FORM_BYTES_MAX + 1]), chunked()] {
            assert_eq!(send(&bodies, body).await, (413, "a page that says so".to_owned()));
        }
        assert_eq!(bodies.budget.available_permits(), BUDGET_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_that_does_not_come_is_408_and_its_room_is_given_back() {
        let bodies = PageBodies::new(Deadlines::default());
        let waiting = bodies.clone();
        let sent = tokio::spawn(async move { send(&waiting, stuck()).await.0 });
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert!(bodies.budget.available_permits() < BUDGET_BYTES);
        assert_eq!(sent.await.unwrap(), 408);
        assert_eq!(bodies.budget.available_permits(), BUDGET_BYTES);
    }

    #[tokio::test]
    async fn forms_without_room_are_503() {
        let bodies = PageBodies::new(Deadlines::default());
        let _held = bodies.budget.acquire_many((BUDGET_BYTES - 2) as u32).await.unwrap();
        assert_eq!(send(&bodies, Body::from("a=b")).await.0, 503);
    }
}
