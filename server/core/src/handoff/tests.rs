//! Each rule of a handoff at its edges, and what must not happen.

use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_000);
const MAX: u32 = 3;

fn live(tries: u32) -> Presented {
    Presented::Open { expires_at: NOW.plus_seconds(1), tries }
}

fn over() -> Presented {
    Presented::Open { expires_at: NOW, tries: 1 }
}

fn nack_now(lease: Presented, asked: Nack) -> Ruling {
    nack(lease, asked, None, MAX, NOW, u64::MAX)
}

#[test]
fn stored_numbers_and_words_read_back() {
    assert_eq!(State::ALL.iter().map(|s| s.code()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    for &state in State::ALL {
        assert_eq!(State::from_code(state.code().into()), Some(state));
        assert_eq!(State::from_word(state.as_str()), Some(state));
    }
    for &outcome in Outcome::ALL {
        assert_eq!(Outcome::from_word(outcome.as_str()), Some(outcome));
    }
    assert_eq!((State::from_code(-1), State::from_code(6), State::from_word("")), (None, None, None));
}

#[test]
fn a_live_lease_is_acked_once_and_a_repeat_changes_nothing() {
    assert_eq!(ack(live(1), NOW), (LeaseResult::Acked, end(Outcome::Acked, State::Processed, None)));
    assert_eq!(ack(Presented::Ended(Outcome::Acked), NOW), (LeaseResult::Acked, None));
}

/// A lease ends at its expiry, not after it, whether or not another claim has come.
#[test]
fn a_lease_that_ran_out_changes_nothing() {
    for ruling in [ack(over(), NOW), nack_now(over(), Nack::Failed), extend(over(), 60, NOW)] {
        assert_eq!(ruling, (LeaseResult::Expired, None));
    }
}

#[test]
fn acked_is_final() {
    let acked = Presented::Ended(Outcome::Acked);
    for asked in [Nack::Retry, Nack::Failed, Nack::Uncertain] {
        assert_eq!(nack_now(acked, asked), (LeaseResult::Expired, None));
    }
    assert_eq!(extend(acked, 60, NOW), (LeaseResult::Expired, None));
}

#[test]
fn an_unknown_lease_is_unknown_to_every_verb() {
    let unknown = (LeaseResult::Unknown, None);
    assert_eq!(ack(Presented::Unknown, NOW), unknown);
    assert_eq!(nack_now(Presented::Unknown, Nack::Retry), unknown);
    assert_eq!(extend(Presented::Unknown, 60, NOW), unknown);
}

#[test]
fn a_retry_waits_as_asked_or_by_backoff() {
    let due = |seconds| end(Outcome::Retried, State::Pending, Some(NOW.plus_seconds(seconds)));
    assert_eq!(nack(live(1), Nack::Retry, Some(0), MAX, NOW, 9), (LeaseResult::Retried, due(0)));
    assert_eq!(nack(live(1), Nack::Retry, Some(90), MAX, NOW, 9), (LeaseResult::Retried, due(90)));
    assert_eq!(nack(live(1), Nack::Retry, None, MAX, NOW, u64::MAX), (LeaseResult::Retried, due(5)));
    assert_eq!(nack(live(2), Nack::Retry, None, MAX, NOW, u64::MAX), (LeaseResult::Retried, due(10)));
}

#[test]
fn the_last_attempt_fails_by_retry_and_by_expiry() {
    let failed = (LeaseResult::Failed, end(Outcome::Exhausted, State::Failed, None));
    assert_eq!(nack_now(live(MAX), Nack::Retry), failed);
    assert_eq!(expire(NOW, MAX, MAX, NOW), end(Outcome::Expired, State::Failed, None));
    assert_eq!(expire(NOW, MAX - 1, MAX, NOW), end(Outcome::Expired, State::Pending, Some(NOW)));
    assert_eq!(expire(NOW.plus_seconds(1), MAX, MAX, NOW), None);
}

#[test]
fn a_repeated_nack_answers_as_the_first_time_and_another_one_does_not() {
    let again = |asked, outcome| nack_now(Presented::Ended(outcome), asked);
    assert_eq!(again(Nack::Retry, Outcome::Retried), (LeaseResult::Retried, None));
    assert_eq!(again(Nack::Retry, Outcome::Exhausted), (LeaseResult::Failed, None));
    assert_eq!(again(Nack::Failed, Outcome::Failed), (LeaseResult::Failed, None));
    assert_eq!(again(Nack::Uncertain, Outcome::Uncertain), (LeaseResult::Uncertain, None));
    assert_eq!(again(Nack::Failed, Outcome::Retried), (LeaseResult::Expired, None));
    assert_eq!(again(Nack::Retry, Outcome::Expired), (LeaseResult::Expired, None));
    assert_eq!(ack(Presented::Ended(Outcome::Retried), NOW), (LeaseResult::Expired, None));
}

#[test]
fn only_what_is_due_can_be_claimed() {
    let later = NOW.plus_seconds(1);
    assert!(is_claimable(State::Pending, NOW, 0, MAX, NOW));
    assert!(!is_claimable(State::Pending, later, 0, MAX, NOW));
    assert!(is_claimable(State::Leased, NOW, MAX - 1, MAX, NOW));
    assert!(!is_claimable(State::Leased, NOW, MAX, MAX, NOW));
    assert!(!is_claimable(State::Leased, later, 1, MAX, NOW));
    for state in [State::Processed, State::Failed, State::Uncertain, State::Cancelled] {
        assert!(!is_claimable(state, NOW, 0, MAX, NOW));
    }
}

#[test]
fn a_replay_moves_every_state_but_leased() {
    let receipt = Replayable { payload_stored: true, awaits_repair: false };
    assert_eq!(replay(None, receipt), Ok(Replayed::Pending));
    for &state in State::ALL {
        let expected = if state == State::Leased { Replayed::StaysLeased } else { Replayed::Pending };
        assert_eq!(replay(Some(state), receipt), Ok(expected));
    }
}

#[test]
fn a_tombstone_is_gone_and_an_unreadable_envelope_asks_for_repair() {
    let code = |payload_stored, awaits_repair| {
        replay(Some(State::Failed), Replayable { payload_stored, awaits_repair }).err().map(|p| p.code)
    };
    assert_eq!(code(false, false), Some(Code::Gone));
    assert_eq!(code(true, true), Some(Code::Conflict));
}

#[test]
fn only_failed_and_uncertain_are_settled() {
    for &state in State::ALL {
        let waits = matches!(state, State::Failed | State::Uncertain);
        assert_eq!(settle(state, Settlement::Processed).is_ok(), waits);
        assert_eq!(settle(state, Settlement::Failed).is_ok(), waits);
    }
    assert_eq!(settle(State::Uncertain, Settlement::Failed), Ok(State::Failed));
}

#[test]
fn open_work_is_never_called_done() {
    let open =
        |settled| State::ALL.iter().filter(|s| s.is_open(settled)).map(|s| s.as_str()).collect::<Vec<_>>();
    assert_eq!(open(false), ["pending", "leased", "failed", "uncertain"]);
    assert_eq!(open(true), ["pending", "leased", "uncertain"]);
}
