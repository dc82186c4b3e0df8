//! Where a connection stands, as far as its bytes and its requests have to know of each other.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;

/// No byte has come since the connection began.
pub(super) const FRESH: u8 = 0;
/// A part of a head has come.
pub(super) const HEAD: u8 = 1;
/// A request is being worked on.
pub(super) const BUSY: u8 = 2;
/// An answer was sent, and nothing has come since.
pub(super) const IDLE: u8 = 3;

/// What is shared. The relaxed order will do: a connection is one task, and what another one notes (it
/// reads a delivery's body) comes before its answer.
#[derive(Debug, Default)]
pub(super) struct Progress {
    phase: AtomicU8,
    requests: AtomicU64,
    /// The number of the first request with both lengths; 0 for none.
    both_lengths: AtomicU64,
    unread: AtomicBool,
    stopping: AtomicBool,
    hung_up: watch::Sender<bool>,
}

impl Progress {
    pub(super) fn phase(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    pub(super) fn set_phase(&self, phase: u8) {
        self.phase.store(phase, Ordering::Relaxed);
    }

    /// Notes which request is the first one with both a length and a chunked coding.
    pub(super) fn set_both_lengths(&self, request: u64) {
        self.both_lengths.store(request, Ordering::Relaxed);
    }

    /// Whether the request that is being worked on has both.
    pub(super) fn has_both_lengths(&self) -> bool {
        self.both_lengths.load(Ordering::Relaxed) == self.requests.load(Ordering::Relaxed)
    }

    /// Notes whether something is left of the body of the request that is being worked on.
    pub(super) fn set_unread(&self, unread: bool) {
        self.unread.store(unread, Ordering::Relaxed);
    }

    /// Whether something is left of it.
    pub(super) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// The server stops: what has not come whole soon is given up.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// The client has closed its side.
    pub(super) fn hang_up(&self) {
        self.hung_up.send_replace(true);
    }

    /// Becomes true when the client closes its side.
    pub(super) fn hung_up(&self) -> watch::Receiver<bool> {
        self.hung_up.subscribe()
    }
}

/// A request that is being worked on, until its answer is sent.
pub(super) struct Answering(Arc<Progress>);

impl Answering {
    pub(super) fn begin(progress: &Arc<Progress>) -> Self {
        progress.set_phase(BUSY);
        progress.requests.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(progress))
    }

    /// Whether the answer comes before the whole body was read.
    pub(super) fn leaves_unread(&self) -> bool {
        self.0.is_unread()
    }

    /// Ties this to the answer's body.
    pub(super) fn until_sent(self, body: Body) -> AnswerBody {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.set_phase(IDLE);
    }
}

/// The body of an answer; when it is dropped the connection is idle.
pub(super) struct AnswerBody {
    body: Body,
    _answering: Answering,
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
