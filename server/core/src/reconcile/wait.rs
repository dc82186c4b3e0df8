//! How long a provider asks a caller to wait, by the headers of its answer.

use super::recipe::Unit;
use super::units;
use crate::time::Timestamp;

/// Seconds until a call may be made again; `None` where the answer does not say. Known are `Retry-After`, in seconds or
/// as a date (RFC 9110, 10.2.3), and `X-RateLimit-Reset`, seconds since 1970, where `X-RateLimit-Remaining` is 0
/// (GitHub: docs.github.com/rest, "Rate limits for the REST API"; Okta: developer.okta.com, "Rate limits").
pub fn wait_seconds(header: impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<i64> {
    let until = |at: Timestamp| at.seconds().saturating_sub(now.seconds()).max(1);
    if let Some(text) = header("retry-after") {
        let text = text.trim();
        if let Ok(seconds) = text.parse::<i64>() {
            return Some(seconds.max(1));
        }
        if let Some(at) = units::read(text, Unit::Rfc2822) {
            return Some(until(at));
        }
    }
    if header("x-ratelimit-remaining")?.trim() != "0" {
        return None;
    }
    let reset = header("x-ratelimit-reset")?.trim().parse().ok()?;
    Some(until(Timestamp::from_seconds(reset)).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &str)]) -> Option<i64> {
        let header = |name: &str| headers.iter().find(|one| one.0 == name).map(|one| one.1.to_owned());
        // 1994-11-06 08:49:37 UTC, the example of RFC 9110.
        wait_seconds(header, Timestamp::from_seconds(784_111_777))
    }

    #[test]
    fn each_way_to_ask_for_patience_is_understood() {
        assert_eq!(wait(&[("retry-after", " 120 ")]), Some(120));
        assert_eq!(wait(&[("retry-after", "0")]), Some(1));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")]), Some(60));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(1), "it is over");
        assert_eq!(wait(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "784111807")]), Some(31));
    }

    #[test]
    fn what_says_nothing_is_nothing() {
        assert_eq!(wait(&[]), None);
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(wait(&[("x-ratelimit-remaining", "4999"), ("x-ratelimit-reset", "784111807")]), None);
        assert_eq!(wait(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "x")]), None);
        assert_eq!(wait(&[("x-ratelimit-remaining", "0")]), None);
        let far = i64::MAX.to_string();
        assert!(wait(&[("retry-after", &far)]).is_some_and(|seconds| seconds > 0));
    }
}
