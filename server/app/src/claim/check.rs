//! The limits of pull calls. A whole call is refused for what its author must mend; a single lease
//! that is no good is answered for itself.

use restante_core::limits::{
    CLAIM_EVENTS_MAX, EVENT_TEXT_BYTES_MAX, LEASE_SECONDS_MAX, LEASES_PER_CALL_MAX, NOTE_BYTES_MAX,
    RETRY_SECONDS_MAX, WAIT_SECONDS_MAX,
};
use restante_core::problem::{FieldError, Problem};

use super::{Claim, NackOne};

pub(super) fn claim(asked: &Claim) -> Result<(), Problem> {
    let mut errors = Vec::new();
    let mut within = |pointer: &str, value: u32, from: u32, to: u32, what: &str| {
        if !(from..=to).contains(&value) {
            let detail = format!("{what} {from} to {to}.");
            errors.push(FieldError { pointer: pointer.to_owned(), detail });
        }
    };
    within("/max", asked.max, 1, CLAIM_EVENTS_MAX, "A claim can ask for this many events:");
    within("/lease_seconds", asked.lease_seconds, 1, LEASE_SECONDS_MAX, "A lease can run this many seconds:");
    within("/wait_seconds", asked.wait_seconds, 0, WAIT_SECONDS_MAX, "A claim can wait this many seconds:");
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}

pub(super) fn leases(count: usize) -> Result<(), Problem> {
    if count > LEASES_PER_CALL_MAX {
        let detail = format!("A call takes at most {LEASES_PER_CALL_MAX} leases, and this one has {count}.");
        return Err(Problem::field("/leases", detail));
    }
    Ok(())
}

pub(super) fn lease_seconds(seconds: u32) -> Result<(), Problem> {
    if (1..=LEASE_SECONDS_MAX).contains(&seconds) {
        return Ok(());
    }
    let detail = format!("A lease can run this many seconds: 1 to {LEASE_SECONDS_MAX}.");
    Err(Problem::field("/lease_seconds", detail))
}

pub(super) fn delays(leases: &[NackOne]) -> Result<(), Problem> {
    let too_long = leases
        .iter()
        .position(|lease| lease.retry_in_seconds.is_some_and(|seconds| seconds > RETRY_SECONDS_MAX));
    match too_long {
        None => Ok(()),
        Some(place) => Err(Problem::field(
            format!("/leases/{place}/retry_in_seconds"),
            format!("A retry can wait at most {RETRY_SECONDS_MAX} seconds."),
        )),
    }
}

/// A note as it is kept: cut where it is too long, since the work that it tells of is done, and a
/// refusal would only let its lease run out.
pub(super) fn note(text: Option<String>) -> Option<String> {
    text.map(|text| cut(&text, NOTE_BYTES_MAX))
}

/// A version or an id of elsewhere as it is kept: cut where it is too long.
pub(super) fn word(text: Option<String>) -> Option<String> {
    text.map(|text| cut(&text, EVENT_TEXT_BYTES_MAX))
}

fn cut(text: &str, bytes_max: usize) -> String {
    // PostgreSQL can't hold a NUL.
    text[..text.floor_char_boundary(bytes_max)].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_is_cut_between_characters_and_loses_its_nul() {
        let text = format!("{}é", "a".repeat(NOTE_BYTES_MAX - 1));
        assert_eq!(note(Some(text)).map(|text| text.len()), Some(NOTE_BYTES_MAX - 1));
        assert_eq!(word(Some("a\0b".to_owned())).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(note(None), None);
    }

    #[test]
    fn the_edges_of_a_claim_are_its_limits() {
        let ask = |max, lease_seconds, wait_seconds| {
            claim(&Claim { max, lease_seconds, wait_seconds, handler_version: None })
                .err()
                .map_or_else(Vec::new, |problem| problem.errors.into_iter().map(|e| e.pointer).collect())
        };
        assert!(ask(1, 1, 0).is_empty() && ask(500, 43_200, 30).is_empty());
        assert_eq!(ask(0, 0, 31), ["/max", "/lease_seconds", "/wait_seconds"]);
        assert_eq!(ask(501, 43_201, u32::MAX), ["/max", "/lease_seconds", "/wait_seconds"]);
        assert!(leases(1_000).is_ok() && leases(1_001).is_err());
    }
}
