//! Which listed events may be inserted once keys of their scope have been removed: only those that are surely
//! newer than every one of them. An older one may have been here, and would come in a second time.

use crate::time::Timestamp;

/// How much later than its receipt the provider's clock may say that an event happened. Retention stops where the
/// clocks of a node and of the database disagree by as much.
pub const CLOCK_ERROR_SECONDS: i64 = 60 * 60;

/// From when on the key of every event is still held, where the newest one that was removed came at `newest_removed`.
pub const fn keys_held_from(newest_removed: Timestamp) -> Timestamp {
    newest_removed.plus_seconds(CLOCK_ERROR_SECONDS)
}

/// Whether an event may have had a key that was removed. One that does not say when it happened may.
pub fn may_have_been_here(happened: Option<Timestamp>, newest_removed: Option<Timestamp>) -> bool {
    newest_removed.is_some_and(|newest| happened.is_none_or(|happened| happened <= keys_held_from(newest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_surely_newer_than_the_removed_keys_may_come_in() {
        let at = Timestamp::from_seconds;
        let newest = Some(at(1_000_000));
        assert!(may_have_been_here(Some(at(999_999)), newest));
        assert!(may_have_been_here(Some(at(1_000_000 + CLOCK_ERROR_SECONDS)), newest));
        assert!(!may_have_been_here(Some(at(1_000_001 + CLOCK_ERROR_SECONDS)), newest));
        assert!(may_have_been_here(None, newest), "without a time nothing is sure");
        assert!(!may_have_been_here(None, None));
        assert!(!may_have_been_here(Some(at(0)), None), "no key was ever removed");
    }
}
