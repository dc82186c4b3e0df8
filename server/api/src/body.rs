//! Reading a request's body, once and whole: with a limit that is counted while reading, with
//! deadlines, and within a budget of bytes that all requests share. It knows nothing of what the
//! body means.

use std::error::Error;
use std::io;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use restante_core::problem::{Code, Problem};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::server::Stopping;
use crate::state::Deadlines;

/// What a buffer holds at first. It then doubles, up to the declared length: declaring costs the
/// sender nothing, so no more is set aside than twice what has come.
const FIRST_BUFFER_BYTES: usize = 16 * 1024;

/// A whole body, with the room it takes of the budget. The room is given back when this is dropped.
pub(crate) struct Whole {
    /// The bytes as they came.
    pub(crate) bytes: Bytes,
    /// To be kept for as long as the bytes are.
    pub(crate) room: Room,
}

/// A share of the budget.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<OwnedSemaphorePermit>);

impl Room {
    /// Takes room for more bytes; false when there is none.
    fn grow(&mut self, budget: &Arc<Semaphore>, bytes: usize) -> bool {
        let Some(more) =
            u32::try_from(bytes).ok().and_then(|bytes| Arc::clone(budget).try_acquire_many_owned(bytes).ok())
        else {
            return false;
        };
        match &mut self.0 {
            Some(held) => held.merge(more),
            None => self.0 = Some(more),
        }
        true
    }

    /// Gives room back.
    fn shrink(&mut self, bytes: usize) {
        drop(self.0.as_mut().and_then(|held| held.split(bytes)));
    }
}

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Larger than the limit.
    TooLarge,
    /// It did not come in time.
    TooSlow,
    /// Other bodies fill the memory that is set aside for them.
    NoRoom,
    /// The sender went away, or its framing is wrong.
    Broken,
    /// The server stops and waits for it no longer.
    Stopping,
}

impl Fault {
    /// What the client is told.
    pub(crate) fn problem(self, bytes_max: u64) -> Problem {
        match self {
            Self::TooLarge => Problem::new(
                Code::TooLarge,
                format!("The body is larger than the limit of {bytes_max} bytes."),
            ),
            Self::TooSlow => {
                Problem::new(Code::Timeout, "The body did not come in time. Send the request again, faster.")
            }
            Self::NoRoom => Problem::new(
                Code::Unavailable,
                "Too many requests are being received at once. Send this one again in a few seconds.",
            ),
            Self::Broken => Problem::new(
                Code::Malformed,
                "The body ended early or is not framed as HTTP asks for. Send the request again.",
            ),
            Self::Stopping => Problem::new(
                Code::Unavailable,
                "The server is being stopped. Send the request again in a few seconds.",
            ),
        }
    }

    /// What an error of the connection means.
    fn of(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            if inner.is_some_and(|inner| inner.is::<Stopping>()) {
                return Self::Stopping;
            }
            cause = error.source();
        }
        Self::Broken
    }
}

/// Reads a body to its end.
///
/// Room is taken for the buffer before it grows, so the budget bounds what is held and not only what
/// has come. A sender who declares much and sends nothing keeps nobody out; a declared length for which
/// there is no room now is refused before anything is read.
pub(crate) async fn read_whole(
    body: &mut Body,
    bytes_max: u64,
    deadlines: Deadlines,
    budget: &Arc<Semaphore>,
) -> Result<Whole, Fault> {
    let declared = body.size_hint().exact();
    if declared.is_some_and(|bytes| bytes > bytes_max) {
        return Err(Fault::TooLarge);
    }
    if declared.is_some_and(|bytes| bytes > budget.available_permits() as u64) {
        return Err(Fault::NoRoom);
    }
    let expected_max = usize::try_from(declared.unwrap_or(bytes_max)).unwrap_or(usize::MAX);
    let begin = Instant::now();
    let mut room = Room::default();
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let within =
            if buffer.is_empty() { deadlines.first_byte.min(deadlines.body) } else { deadlines.body };
        let frame = match timeout_at(begin + within, body.frame()).await {
            Err(_) => return Err(Fault::TooSlow),
            Ok(Some(Err(error))) => return Err(Fault::of(&error)),
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers say nothing that a signature covers.
        let Ok(piece) = frame.into_data() else { continue };
        let count = buffer.len().saturating_add(piece.len());
        if count as u64 > bytes_max {
            return Err(Fault::TooLarge);
        }
        if count > buffer.capacity() {
            let wanted = buffer.capacity().saturating_mul(2).max(FIRST_BUFFER_BYTES);
            let capacity = wanted.min(expected_max).max(count);
            if !room.grow(budget, capacity - buffer.capacity()) {
                return Err(Fault::NoRoom);
            }
            buffer.reserve_exact(capacity - buffer.len());
        }
        // Copied even when it is the only piece: what hyper gives is a part of a larger buffer.
        buffer.extend_from_slice(&piece);
    }
    let spare = buffer.capacity() - buffer.len();
    if spare > 0 {
        buffer.shrink_to_fit();
        room.shrink(spare);
    }
    Ok(Whole { bytes: Bytes::from(buffer), room })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    fn budget(bytes: usize) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(bytes))
    }

    fn pieces(pieces: Vec<&'static [u8]>) -> Body {
        Body::from_stream(stream::iter(
            pieces.into_iter().map(|piece| Ok::<_, Infallible>(Bytes::from_static(piece))),
        ))
    }

    /// A body that gives a byte, waits, gives a byte, for ever.
    fn trickle(pause: Duration) -> Body {
        Body::from_stream(stream::repeat(()).then(move |()| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, Infallible>(Bytes::from_static(b"x"))
        }))
    }

    #[tokio::test]
    async fn pieces_are_joined_in_a_buffer_that_is_as_large_as_they_are() {
        let text = b"{\"id\":1}";
        for (mut body, taken) in [
            (Body::from(Bytes::from_static(text)), 8),
            (pieces(vec![b"{", b"\"id\"", b":1}"]), 8),
            (Body::empty(), 0),
        ] {
            let budget = budget(1_000);
            let whole = read_whole(&mut body, 500, Deadlines::default(), &budget).await.unwrap();
            assert_eq!(whole.bytes, text[..taken]);
            assert_eq!(budget.available_permits(), 1_000 - taken);
            assert_eq!(Vec::from(whole.bytes).capacity(), taken);
        }
        let read = read_whole(&mut Body::empty(), 0, Deadlines::default(), &budget(0)).await;
        assert_eq!(read.map(|whole| whole.bytes), Ok(Bytes::new()));
    }

    /// A body that says how long it is, gives some bytes in pieces, and then nothing more.
    struct Stops {
        declared: Option<u64>,
        left: usize,
    }

    impl http_body::Body for Stops {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
            let piece = self.left.min(1_000);
            self.left -= piece;
            if piece == 0 {
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(Some(Ok(http_body::Frame::data(vec![b'x'; piece].into()))))
        }

        fn size_hint(&self) -> http_body::SizeHint {
            self.declared.map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_held_of_a_body_that_stops_is_in_the_budget_and_what_was_declared_is_not() {
        const MIB: usize = 1024 * 1024;
        for (declared, comes, held) in [
            (Some(10 * MIB), 10, FIRST_BUFFER_BYTES),
            (Some(100), 10, 100),
            (Some(10 * MIB), MIB + 1, 2 * MIB),
            (Some(10 * MIB), 9 * MIB, 10 * MIB),
            (None, 10, FIRST_BUFFER_BYTES),
            (None, 9 * MIB, 16 * MIB),
            (None, 17 * MIB, 20 * MIB),
        ] {
            let budget = budget(64 * MIB);
            let body = Stops { declared: declared.map(|bytes| bytes as u64), left: comes };
            let mut body = Body::new(body);
            let read = read_whole(&mut body, 20 * MIB as u64, Deadlines::default(), &budget);
            let mut read = std::pin::pin!(read);
            assert!(tokio::time::timeout(Duration::from_secs(1), read.as_mut()).await.is_err());
            let shown = format!("{declared:?}, {comes}");
            // The future, and with it the buffer, is still there; its room is as well.
            assert_eq!(64 * MIB - budget.available_permits(), held, "{shown}");
        }
    }

    #[tokio::test]
    async fn one_byte_over_the_limit_is_too_large_declared_or_counted() {
        for mut body in [Body::from("123456789"), pieces(vec![b"12345678", b"9"])] {
            let read = read_whole(&mut body, 8, Deadlines::default(), &budget(100)).await;
            assert_eq!(read.map(|whole| whole.bytes), Err(Fault::TooLarge));
        }
    }

    #[tokio::test]
    async fn the_budget_is_taken_and_given_back() {
        let budget = budget(10);
        let held =
            read_whole(&mut pieces(vec![b"1234", b"5678"]), 8, Deadlines::default(), &budget).await.unwrap();
        assert_eq!(budget.available_permits(), 2);
        for mut body in [Body::from("123"), pieces(vec![b"12", b"3"])] {
            let read = read_whole(&mut body, 8, Deadlines::default(), &budget).await;
            assert_eq!(read.map(|whole| whole.bytes), Err(Fault::NoRoom));
        }
        drop(held);
        assert_eq!(budget.available_permits(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_and_a_trickle_end_at_their_deadlines() {
        let begin = Instant::now();
        let mut silent = trickle(Duration::from_secs(3_600));
        let read = read_whole(&mut silent, 100, Deadlines::default(), &budget(100)).await;
        assert_eq!(read.map(|whole| whole.bytes), Err(Fault::TooSlow));
        assert_eq!(begin.elapsed().as_secs(), 10);
        let begin = Instant::now();
        let read =
            read_whole(&mut trickle(Duration::from_secs(1)), 100, Deadlines::default(), &budget(100)).await;
        assert_eq!(read.map(|whole| whole.bytes), Err(Fault::TooSlow));
        assert_eq!(begin.elapsed().as_secs(), 20);
    }
}
