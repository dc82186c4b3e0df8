//! What is known of a request beside its content: its id, and the trace it belongs to.

use http::HeaderMap;
use restante_app::random::Random;
use restante_core::id::uuid_v7;
use restante_core::time::Timestamp;

/// Longer ids of clients are replaced: an id is for finding a line in a log.
const REQUEST_ID_BYTES_MAX: usize = 128;

/// The ids of a request. Every request has them in its extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Context {
    /// The client's `X-Request-Id` when it is fit for a log, else an own one.
    pub(crate) request_id: String,
    /// The trace that the client's `traceparent` names (W3C Trace Context).
    pub(crate) trace_id: Option<String>,
}

impl Context {
    /// An own id begins with the time, so that a search by it looks at that moment alone.
    pub(crate) fn read(headers: &HeaderMap, random: &(dyn Random + 'static), now: Timestamp) -> Self {
        let request_id = headers
            .get("x-request-id")
            .and_then(|value| value.to_str().ok())
            .filter(|text| is_request_id(text))
            .map_or_else(|| format!("req_{:032x}", uuid_v7(now, random.bytes()).as_u128()), str::to_owned);
        let trace_id = headers
            .get("traceparent")
            .and_then(|value| value.to_str().ok())
            .and_then(trace_id)
            .map(str::to_owned);
        Self { request_id, trace_id }
    }
}

fn is_request_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= REQUEST_ID_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The trace id of a `traceparent`: `00-<32 hex>-<16 hex>-<2 hex>`; later versions may append parts.
/// Ids of zeros are invalid (W3C Trace Context, section 3.2.2).
fn trace_id(text: &str) -> Option<&str> {
    let lower_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let well_formed = lower_hex(version, 2)
        && version != "ff"
        && lower_hex(trace, 32)
        && lower_hex(parent, 16)
        && lower_hex(flags, 2)
        && (version != "00" || parts.next().is_none());
    let not_zero = |part: &str| part.bytes().any(|byte| byte != b'0');
    (well_formed && not_zero(trace) && not_zero(parent)).then_some(trace)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use restante_app::random::SystemRandom;

    use super::*;

    fn read(name: &'static str, value: &[u8]) -> Context {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_bytes(value).unwrap());
        Context::read(&headers, &SystemRandom, Timestamp::default())
    }

    #[test]
    fn a_fit_id_is_kept_and_any_other_is_replaced() {
        assert_eq!(read("x-request-id", b"abc-123").request_id, "abc-123");
        for unfit in [&b""[..], b"a b", b"caf\xc3\xa9", b"\xff", &[b'a'; 129]] {
            assert!(read("x-request-id", unfit).request_id.starts_with("req_"));
        }
    }

    #[test]
    fn a_trace_is_read_from_a_well_formed_parent_alone() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace_id(good), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        assert_eq!(trace_id(&good.replacen("00", "cc", 1)), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        for bad in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
