//! A connection with deadlines: for its first byte, for the head of a request, for the next request
//! on an idle connection, and for a client that does not read its answer. While a request is being
//! worked on nothing runs out here: its body has deadlines of its own (`body.rs`).

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::Limits;
use super::head_scan::HeadScan;

/// No byte has come since the connection began.
const FRESH: u8 = 0;
/// A part of a head has come.
const HEAD: u8 = 1;
/// A request is being worked on.
const BUSY: u8 = 2;
/// An answer was sent, and nothing has come since.
const IDLE: u8 = 3;

/// Where a connection stands; shared between its bytes and its requests.
#[derive(Debug, Default)]
pub(super) struct Progress {
    phase: AtomicU8,
    both_lengths: AtomicBool,
    unread: AtomicBool,
}

impl Progress {
    /// Whether the head that was read last has both a length and a chunked coding.
    pub(super) fn both_lengths(&self) -> bool {
        self.both_lengths.load(Ordering::Relaxed)
    }

    /// Notes whether something is left of the body of the request that is being worked on.
    pub(super) fn set_unread(&self, unread: bool) {
        self.unread.store(unread, Ordering::Relaxed);
    }
}

/// A request that is being worked on, until its answer is sent.
pub(super) struct Answering(Arc<Progress>);

impl Answering {
    pub(super) fn begin(progress: &Arc<Progress>) -> Self {
        progress.phase.store(BUSY, Ordering::Relaxed);
        Self(Arc::clone(progress))
    }

    /// Whether the answer comes before the whole body was read.
    pub(super) fn leaves_unread(&self) -> bool {
        self.0.unread.load(Ordering::Relaxed)
    }

    /// Ties this to the answer's body.
    pub(super) fn until_sent(self, body: Body) -> AnswerBody {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.phase.store(IDLE, Ordering::Relaxed);
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

/// The bytes of a connection, with its deadlines.
pub(super) struct Watched<S> {
    stream: S,
    progress: Arc<Progress>,
    limits: Limits,
    read: Timer,
    /// The phase for which `read` runs.
    timed: u8,
    write: Timer,
    scan: HeadScan,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, progress: Arc<Progress>, limits: Limits) -> Self {
        let mut read = Timer::default();
        read.start(limits.head);
        Self {
            stream,
            progress,
            limits,
            read,
            timed: FRESH,
            write: Timer::default(),
            scan: HeadScan::default(),
        }
    }

    /// Starts the timer anew when the connection has come to another phase; gives the phase.
    fn phase(&mut self) -> u8 {
        let phase = self.progress.phase.load(Ordering::Relaxed);
        if phase != self.timed {
            self.timed = phase;
            match phase {
                HEAD | FRESH => self.read.start(self.limits.head),
                IDLE => self.read.start(self.limits.idle),
                _ => self.read.stop(),
            }
        }
        phase
    }

    /// Bytes have come while a head is awaited.
    fn took(&mut self, phase: u8, bytes: &[u8]) {
        if phase != HEAD {
            self.scan = HeadScan::default();
            self.progress.phase.store(HEAD, Ordering::Relaxed);
            self.phase();
        }
        self.scan.feed(bytes);
        self.progress.both_lengths.store(self.scan.both_lengths(), Ordering::Relaxed);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let phase = this.phase();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if phase == BUSY {
            return read;
        }
        match read {
            Poll::Ready(Ok(())) => {
                let came = buffer.filled().get(before..).unwrap_or_default();
                if !came.is_empty() {
                    this.took(phase, came);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => this.read.poll(cx, "no request came in time").map(Err),
        }
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Runs the deadline of a client that takes nothing.
    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(done) => {
                self.write.stop();
                Poll::Ready(done)
            }
            Poll::Pending => {
                self.write.start_once(self.limits.write);
                self.write.poll(cx, "the client does not read its answer").map(Err)
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A deadline that can be moved. Its allocation is made once a connection.
#[derive(Default)]
struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    runs: bool,
}

impl Timer {
    fn start(&mut self, after: Duration) {
        let deadline = Instant::now() + after;
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(deadline),
            None => self.sleep = Some(Box::pin(tokio::time::sleep_until(deadline))),
        }
        self.runs = true;
    }

    fn start_once(&mut self, after: Duration) {
        if !self.runs {
            self.start(after);
        }
    }

    const fn stop(&mut self) {
        self.runs = false;
    }

    /// Gives the error when the time is over.
    fn poll(&mut self, cx: &mut Context<'_>, over: &'static str) -> Poll<io::Error> {
        match &mut self.sleep {
            Some(sleep) if self.runs => {
                sleep.as_mut().poll(cx).map(|()| io::Error::new(io::ErrorKind::TimedOut, over))
            }
            _ => Poll::Pending,
        }
    }
}
