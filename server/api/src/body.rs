//! Reading a request's body, once and whole: with a limit that is counted while reading, with
//! deadlines, and within a budget of bytes that all requests share. It knows nothing of what the
//! body means.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use restante_core::problem::{Code, Problem};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::state::Deadlines;

/// A buffer grows to what the sender declared at once, but a longer body only step by step, since
/// declaring costs the sender nothing.
const FIRST_BUFFER_BYTES_MAX: u64 = 1024 * 1024;

/// A whole body, with the room it takes of the budget. The room is given back when this is dropped.
pub(crate) struct Whole {
    /// The bytes as they came.
    pub(crate) bytes: Bytes,
    /// To be kept for as long as the bytes are.
    pub(crate) room: Room,
}

/// A share of the budget.
#[derive(Default)]
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
        }
    }
}

/// Reads a body to its end. A body that comes in one piece is taken without copying.
///
/// Room is taken for what has come, not for what was declared: a sender who declares much and sends
/// nothing must not keep others out. A declared length for which there is no room now is refused
/// before anything is read.
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
    let begin = Instant::now();
    let mut room = Room::default();
    let mut count: u64 = 0;
    let mut first = Bytes::new();
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let within = if count == 0 { deadlines.first_byte.min(deadlines.body) } else { deadlines.body };
        let frame = match timeout_at(begin + within, body.frame()).await {
            Err(_) => return Err(Fault::TooSlow),
            Ok(Some(Err(_))) => return Err(Fault::Broken),
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers say nothing that a signature covers.
        let Ok(piece) = frame.into_data() else { continue };
        count = count.saturating_add(piece.len() as u64);
        if count > bytes_max {
            return Err(Fault::TooLarge);
        }
        if !room.grow(budget, piece.len()) {
            return Err(Fault::NoRoom);
        }
        if first.is_empty() && buffer.is_empty() {
            first = piece;
            continue;
        }
        if buffer.is_empty() {
            let wanted = declared.unwrap_or(0).min(FIRST_BUFFER_BYTES_MAX);
            buffer.reserve(usize::try_from(wanted).unwrap_or(0).max(first.len() + piece.len()));
            buffer.extend_from_slice(&std::mem::take(&mut first));
        }
        buffer.extend_from_slice(&piece);
    }
    let bytes = if buffer.is_empty() { first } else { Bytes::from(buffer) };
    Ok(Whole { bytes, room })
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
    async fn pieces_are_joined_and_one_piece_is_not_copied() {
        let one = Bytes::from_static(b"{\"id\":1}");
        let read = read_whole(&mut Body::from(one.clone()), 8, Deadlines::default(), &budget(8)).await;
        assert_eq!(read.map(|whole| whole.bytes.as_ptr()), Ok(one.as_ptr()));
        let read =
            read_whole(&mut pieces(vec![b"{", b"\"id\"", b":1}"]), 8, Deadlines::default(), &budget(8)).await;
        assert_eq!(read.map(|whole| whole.bytes), Ok(one));
        let read = read_whole(&mut Body::empty(), 0, Deadlines::default(), &budget(0)).await;
        assert_eq!(read.map(|whole| whole.bytes), Ok(Bytes::new()));
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
