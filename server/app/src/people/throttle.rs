//! How often may be guessed. Attempts are counted before they are looked at, by the client's network
//! address and by the account, in windows of a quarter of an hour. A browser in which the person has
//! signed in before is counted apart, so that strangers who guess at an account slow each other down
//! and never its owner. The counts are of this server alone and are gone when it ends.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use restante_core::id::{SessionId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

/// How long attempts are counted together.
const WINDOW_SECONDS: i64 = 15 * 60;
/// Counts that are kept at once; beyond that the ones that end first go.
const COUNTS_MAX: usize = 20_000;

/// What attempts are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Counted {
    /// The network that the client is in.
    Address(IpAddr),
    /// The account that is tried, whether it exists or not.
    Account(TokenHash),
    /// A browser in which the person has signed in before.
    Device(TokenHash),
    /// Codes of a person's second factor.
    Codes(UserId),
    /// A session that asks whether it is still the person.
    Session(SessionId),
}

impl Counted {
    /// The address, or for IPv6 the network that one household has.
    pub(crate) fn address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(ip) => {
                let network = u128::from(ip) & !u128::from(u64::MAX);
                IpAddr::V6(network.into())
            }
            ip => ip,
        })
    }

    /// Attempts within a window.
    const fn most(&self) -> u32 {
        match self {
            Self::Address(_) => 30,
            Self::Account(_) | Self::Device(_) => 10,
            Self::Codes(_) | Self::Session(_) => 5,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Count {
    attempts: u32,
    ends_at: Timestamp,
}

/// The counts of attempts.
#[derive(Debug, Default)]
pub struct Throttle {
    counts: Mutex<HashMap<Counted, Count>>,
}

impl Throttle {
    /// Counts an attempt under each of these, or under none when one of them has had its most.
    ///
    /// # Errors
    /// `rate-limited`, with the minutes to wait.
    pub(crate) fn begin(&self, all: &[Counted], now: Timestamp) -> Result<(), Problem> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let full = all.iter().filter_map(|counted| {
            let count = counts.get(counted).filter(|count| count.ends_at > now)?;
            (count.attempts >= counted.most()).then_some(count.ends_at)
        });
        if let Some(ends_at) = full.max() {
            let minutes = (ends_at.micros_since(now) + 59_999_999) / 60_000_000;
            let minutes = if minutes == 1 { "a minute".to_owned() } else { format!("{minutes} minutes") };
            return Err(Problem::new(
                Code::RateLimited,
                format!("There were too many attempts. Try again in {minutes}."),
            ));
        }
        for counted in all {
            if counts.len() >= COUNTS_MAX && !counts.contains_key(counted) {
                make_room(&mut counts, now);
            }
            let count = counts.entry(*counted).or_insert(Count { attempts: 0, ends_at: now });
            if count.ends_at <= now {
                *count = Count { attempts: 0, ends_at: now.plus_seconds(WINDOW_SECONDS) };
            }
            count.attempts += 1;
        }
        Ok(())
    }

    /// Takes an attempt back that was none of a guesser. An account and its like begin anew; of an
    /// address only this one attempt goes, since others may guess behind it.
    pub(crate) fn succeed(&self, all: &[Counted]) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for counted in all {
            match counted {
                Counted::Address(_) => {
                    if let Some(count) = counts.get_mut(counted) {
                        count.attempts = count.attempts.saturating_sub(1);
                    }
                }
                _ => {
                    counts.remove(counted);
                }
            }
        }
    }
}

fn make_room(counts: &mut HashMap<Counted, Count>, now: Timestamp) {
    counts.retain(|_, count| count.ends_at > now);
    if counts.len() >= COUNTS_MAX {
        let first = counts.iter().min_by_key(|(_, count)| count.ends_at).map(|(counted, _)| *counted);
        if let Some(first) = first {
            counts.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn account(text: &str) -> Counted {
        Counted::Account(TokenHash::of(text.as_bytes()))
    }

    #[test]
    fn the_most_is_allowed_and_one_more_waits_for_the_window_to_end() {
        let throttle = Throttle::default();
        let ada = [account("ada"), Counted::address([192, 0, 2, 1].into())];
        for _ in 0..10 {
            assert_eq!(throttle.begin(&ada, NOW), Ok(()));
        }
        let refused = throttle.begin(&ada, NOW).unwrap_err();
        assert_eq!(refused.code, Code::RateLimited);
        assert!(refused.detail.contains("15 minutes"), "{}", refused.detail);
        // Another account from there goes on, and so does ada when the time is over.
        assert_eq!(throttle.begin(&[account("bob"), ada[1]], NOW), Ok(()));
        assert_eq!(throttle.begin(&ada, NOW.plus_seconds(WINDOW_SECONDS)), Ok(()));
    }

    #[test]
    fn an_attempt_that_is_refused_is_counted_nowhere() {
        let throttle = Throttle::default();
        let (ada, address) = (account("ada"), Counted::address([192, 0, 2, 1].into()));
        for _ in 0..10 {
            throttle.begin(&[ada], NOW).unwrap();
        }
        for _ in 0..100 {
            throttle.begin(&[address, ada], NOW).unwrap_err();
        }
        assert_eq!(throttle.begin(&[address, account("bob")], NOW), Ok(()));
    }

    #[test]
    fn an_address_that_guesses_at_many_accounts_is_stopped() {
        let throttle = Throttle::default();
        let address = Counted::address([192, 0, 2, 1].into());
        for number in 0..30 {
            throttle.begin(&[address, account(&number.to_string())], NOW).unwrap();
        }
        throttle.begin(&[address, account("x")], NOW).unwrap_err();
    }

    #[test]
    fn success_clears_an_account_but_not_the_address_behind_which_others_may_guess() {
        let throttle = Throttle::default();
        let (ada, address) = (account("ada"), Counted::address([192, 0, 2, 1].into()));
        for _ in 0..9 {
            throttle.begin(&[address, ada], NOW).unwrap();
        }
        throttle.begin(&[address, ada], NOW).unwrap();
        throttle.succeed(&[address, ada]);
        for number in 0..21 {
            throttle.begin(&[address, account(&number.to_string())], NOW).unwrap();
        }
        throttle.begin(&[address, account("x")], NOW).unwrap_err();
        throttle.begin(&[ada], NOW).unwrap();
    }

    #[test]
    fn a_household_of_ipv6_counts_as_one() {
        let one = Counted::address("2001:db8:1:2:3:4:5:6".parse().unwrap());
        assert_eq!(one, Counted::address("2001:db8:1:2:ffff::1".parse().unwrap()));
        assert_ne!(one, Counted::address("2001:db8:1:3::1".parse().unwrap()));
        assert_eq!(
            Counted::address("::ffff:192.0.2.1".parse().unwrap()),
            Counted::address([192, 0, 2, 1].into())
        );
    }

    #[test]
    fn the_counts_have_a_bound() {
        let throttle = Throttle::default();
        for number in 0..COUNTS_MAX + 100 {
            throttle.begin(&[account(&number.to_string())], NOW).unwrap();
        }
        assert_eq!(throttle.counts.lock().unwrap().len(), COUNTS_MAX);
    }
}
