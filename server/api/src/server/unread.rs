//! A request's body that notes whether something of it was left unread.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::progress::Progress;

/// A body as it comes in.
pub(super) struct Unread {
    body: Incoming,
    progress: Arc<Progress>,
}

impl Unread {
    pub(super) fn new(body: Incoming, progress: &Arc<Progress>) -> Self {
        progress.set_unread(!body.is_end_stream());
        Self { body, progress: Arc::clone(progress) }
    }
}

impl Body for Unread {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.progress.set_unread(false);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
