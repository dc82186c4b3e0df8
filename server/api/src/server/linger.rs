//! A request's body that, when it is dropped unread, is read on and thrown away for a while. A
//! connection that is closed while bytes still come in is reset by the system, and the reset would
//! take the answer ("too large", say) out of the sender's hands before it was read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use restante_core::limits::BODY_BYTES_CEILING_DEFAULT;

use super::watched::Progress;

/// How long a sender may go on after it was refused.
const LINGER: Duration = Duration::from_secs(5);
/// How much it may go on to send.
const LINGER_BYTES_MAX: u64 = BODY_BYTES_CEILING_DEFAULT;

/// A body as it comes in.
pub(super) struct Lingering {
    body: Option<Incoming>,
    progress: Arc<Progress>,
}

impl Lingering {
    pub(super) fn new(body: Incoming, progress: &Arc<Progress>) -> Self {
        progress.set_unread(!body.is_end_stream());
        Self { body: Some(body), progress: Arc::clone(progress) }
    }
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = Pin::new(&mut *body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || body.is_end_stream() {
            self.progress.set_unread(false);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        if let Some(mut body) = self.body.take().filter(|body| !body.is_end_stream()) {
            tokio::spawn(async move {
                let mut count: u64 = 0;
                let read_on = async {
                    while let Some(Ok(frame)) = body.frame().await {
                        count += frame.data_ref().map_or(0, |data| data.len() as u64);
                        if count > LINGER_BYTES_MAX {
                            break;
                        }
                    }
                };
                // Whether it ended or time did, the sender has had its answer.
                let _ = tokio::time::timeout(LINGER, read_on).await;
            });
        }
    }
}
