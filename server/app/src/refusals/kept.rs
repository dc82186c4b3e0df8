//! A refused request as it is sealed: what verification looks at, with the beginning of the body.

use bytes::Bytes;
use restante_core::limits::REFUSAL_BODY_BYTES_MAX;
use restante_core::request::{HeaderList, Request};

/// Stands where older versions wrote the length of the headers, which is never so large.
const MARK: [u8; 4] = [0xff; 4];
const VERSION: u8 = 1;

/// A refused request as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The method, in upper case.
    pub(crate) method: String,
    /// The raw query string, without its question mark.
    pub(crate) query: Option<String>,
    /// The headers, without the values that were credentials themselves.
    pub(crate) headers: HeaderList,
    /// The body, or the beginning of it.
    pub(crate) body: Bytes,
    /// Whether the body was longer.
    pub(crate) cut: bool,
}

/// The bytes that are sealed: mark, version, whether the body is cut, the method, the query, the headers,
/// each after its length (u32, big-endian; all ones for no query), then the body.
pub(crate) fn encode(request: &Request, headers: &HeaderList) -> Vec<u8> {
    let body = request.body.get(..REFUSAL_BODY_BYTES_MAX);
    let mut bytes = MARK.to_vec();
    bytes.extend([VERSION, u8::from(body.is_some_and(|body| body.len() < request.body.len()))]);
    for part in [
        Some(request.method.as_bytes()),
        request.query.as_deref().map(str::as_bytes),
        Some(&headers.encode()),
    ] {
        let length = part.map_or(u32::MAX, |part| u32::try_from(part.len()).unwrap_or(0));
        bytes.extend(length.to_be_bytes());
        bytes.extend_from_slice(part.unwrap_or_default());
    }
    bytes.extend_from_slice(body.unwrap_or(&request.body));
    bytes
}

/// Reads what [`encode`] wrote, or an older version: the length of the headers, the headers, the body.
/// `None` when it is anything else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Kept> {
    let Some(rest) = bytes.strip_prefix(&MARK) else {
        let (headers, body) = part(bytes)?;
        return Some(Kept {
            method: "POST".to_owned(),
            query: None,
            headers: HeaderList::decode(headers?)?,
            body: Bytes::copy_from_slice(body),
            cut: body.len() >= REFUSAL_BODY_BYTES_MAX,
        });
    };
    let ([VERSION, cut], rest) = rest.split_first_chunk::<2>()? else { return None };
    let (method, rest) = part(rest)?;
    let (query, rest) = part(rest)?;
    let (headers, body) = part(rest)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some(Kept {
        method: text(method?)?,
        query: query.map(text).map_or(Some(None), |query| query.map(Some))?,
        headers: HeaderList::decode(headers?)?,
        body: Bytes::copy_from_slice(body),
        cut: *cut != 0,
    })
}

/// A part after its length, and the rest.
fn part(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    if *length == [0xff; 4] {
        return Some((None, rest));
    }
    let (part, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some((Some(part), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: usize, query: Option<&str>) -> Request {
        let headers = HeaderList(vec![("x-sig".to_owned(), Bytes::from_static(b"\xff"))]);
        Request {
            method: "PUT".to_owned(),
            query: query.map(str::to_owned),
            headers,
            body: Bytes::from(vec![7; body]),
        }
    }

    #[test]
    fn a_request_reads_back_with_as_much_of_its_body_as_is_kept() {
        for (body, cut) in [(0, false), (REFUSAL_BODY_BYTES_MAX, false), (REFUSAL_BODY_BYTES_MAX + 1, true)] {
            for query in [None, Some(""), Some("a=1")] {
                let request = request(body, query);
                let kept = decode(&encode(&request, &request.headers)).unwrap();
                assert_eq!((kept.method.as_str(), kept.query.as_deref(), kept.cut), ("PUT", query, cut));
                assert_eq!(
                    (kept.headers, kept.body.len()),
                    (request.headers, body.min(REFUSAL_BODY_BYTES_MAX))
                );
            }
        }
    }

    #[test]
    fn what_an_older_version_kept_is_read() {
        let request = request(3, None);
        let headers = request.headers.encode();
        let mut older = u32::try_from(headers.len()).unwrap().to_be_bytes().to_vec();
        older.extend_from_slice(&headers);
        older.extend_from_slice(&request.body);
        let kept = decode(&older).unwrap();
        assert_eq!((kept.method.as_str(), kept.headers, kept.cut), ("POST", request.headers, false));
    }

    #[test]
    fn what_is_cut_short_before_the_body_is_refused() {
        let request = request(0, Some("a=1"));
        let bytes = encode(&request, &request.headers);
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None, "{length}");
        }
    }
}
