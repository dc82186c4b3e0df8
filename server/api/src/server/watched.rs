//! The bytes of a connection, with deadlines: for its first byte, for the head of a request, for the
//! next request on an idle connection, for a client that does not read its answer, and for what
//! still comes in when the server stops. A body has stricter deadlines where it is read (`body.rs`);
//! the work on a request has none here.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Limits;
use super::framing::Framing;
use super::progress::{BUSY, FRESH, HEAD, IDLE, Progress};
use super::timer::Timer;

/// What a client has to take of an answer for its time to begin anew. With the 30 seconds of
/// [`Limits::write`] a client of 20 kbit/s still gets its answer.
const TAKEN_BYTES_MIN: usize = 64 * 1024;

/// Why a request is not read any further: the server stops. It is the source of the error that the
/// reader of the body gets.
#[derive(Debug, thiserror::Error)]
#[error("the server stops")]
pub(crate) struct Stopping;

/// Why a head is not read any further: its request line is longer than a head may be.
#[derive(Debug, thiserror::Error)]
#[error("the request line is too long")]
struct LineTooLong;

/// A connection's bytes.
pub(super) struct Watched<S> {
    stream: S,
    progress: Arc<Progress>,
    limits: Limits,
    read: Timer,
    /// The phase for which `read` runs.
    timed: u8,
    write: Timer,
    /// Bytes that the client has taken since `write` runs.
    taken: usize,
    stop: Timer,
    framing: Framing,
    /// A byte that came while nobody asked for one.
    ahead: Option<u8>,
    line_too_long: bool,
    hung_up: bool,
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
            taken: 0,
            stop: Timer::default(),
            framing: Framing::default(),
            ahead: None,
            line_too_long: false,
            hung_up: false,
        }
    }

    /// The stream, and whether it ended at a request line that was too long, which nobody has answered.
    pub(super) fn into_inner(self) -> (S, bool) {
        (self.stream, self.line_too_long)
    }

    /// Starts the timer anew when the connection has come to another phase; gives the phase.
    fn phase(&mut self) -> u8 {
        let mut phase = self.progress.phase();
        if phase == IDLE && self.framing.is_in_head() {
            // It came together with the request before.
            phase = HEAD;
            self.progress.set_phase(HEAD);
        }
        if phase != self.timed {
            self.timed = phase;
            match phase {
                HEAD | FRESH => self.read.start(self.limits.head),
                IDLE => self.read.start(self.limits.idle),
                // hyper reads nothing but the body meanwhile, so it runs for that alone.
                _ => self.read.start(self.limits.body),
            }
        }
        phase
    }

    /// Looks at bytes on their way to hyper.
    fn took(&mut self, phase: u8, bytes: &[u8]) {
        self.framing.feed(bytes);
        if let Some(request) = self.framing.both_lengths() {
            self.progress.set_both_lengths(request);
        }
        if matches!(phase, FRESH | IDLE) && !bytes.is_empty() {
            self.progress.set_phase(HEAD);
            self.phase();
        }
    }

    /// Refuses a request line that hyper would answer with a 431, since it never sees its end.
    fn check_line(&mut self, phase: u8) -> io::Result<()> {
        if phase != BUSY && self.framing.is_line_too_long() {
            self.line_too_long = true;
            return Err(io::Error::new(io::ErrorKind::InvalidData, LineTooLong));
        }
        Ok(())
    }

    /// Runs the deadlines of a client that sends nothing.
    fn overdue(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.progress.is_stopping() {
            self.stop.start_once(self.limits.stop_receive);
            if self.stop.poll(cx).is_ready() {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, Stopping)));
            }
        }
        self.read.poll(cx).map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "nothing came in time")))
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
        this.check_line(phase)?;
        let before = buffer.filled().len();
        let read = match this.ahead.take() {
            Some(byte) => {
                buffer.put_slice(&[byte]);
                Poll::Ready(Ok(()))
            }
            None => Pin::new(&mut this.stream).poll_read(cx, buffer),
        };
        match read {
            Poll::Ready(Ok(())) => {
                let came = buffer.filled().get(before..).unwrap_or_default();
                this.took(phase, came);
                if !came.is_empty() {
                    // A client that closed its side with its last byte is known as such from the beginning.
                    // An error will come again.
                    let _ = this.notice_hang_up(cx);
                }
                Poll::Ready(this.check_line(phase))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => this.overdue(cx),
        }
    }
}

impl<S: AsyncRead + Unpin> Watched<S> {
    /// Notices a client that hangs up after its request. hyper, which lets clients close their side
    /// and read on, does not look before it has answered.
    fn notice_hang_up(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        // What is still to come of a request is hyper's.
        if self.hung_up || self.ahead.is_some() || !self.framing.is_between() {
            return Ok(());
        }
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        if Pin::new(&mut self.stream).poll_read(cx, &mut buffer)?.is_ready() {
            match buffer.filled() {
                [] => {
                    self.hung_up = true;
                    self.progress.hang_up();
                }
                [byte, ..] => {
                    self.ahead = Some(*byte);
                    // Whoever waited for it may not have seen that it came.
                    cx.waker().wake_by_ref();
                }
            }
        }
        Ok(())
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Runs the deadline of a client that takes nothing, or next to nothing.
    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(done) = &written {
            self.taken = self.taken.saturating_add(*done.as_ref().unwrap_or(&0));
            if self.taken >= TAKEN_BYTES_MIN {
                self.write.stop();
            }
            return written;
        }
        if !self.write.runs() {
            self.taken = 0;
            self.write.start(self.limits.write);
        }
        self.write
            .poll(cx)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
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

    /// hyper flushes whenever it has done what it can, and only when all is written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write.stop();
        if self.phase() == BUSY {
            self.notice_hang_up(cx)?;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
