//! The `Idempotency-Key` of a request that creates. Only its form is checked here.

use axum::extract::FromRequestParts;
use http::request::Parts;
use restante_core::problem::{Code, Problem};

use crate::problem::Refused;

/// As other APIs have it; a UUID has 36.
const KEY_BYTES_MAX: usize = 255;

/// The client's key for this attempt; `None` when it sent none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        let text = value.to_str().unwrap_or_default();
        if values.next().is_some()
            || text.is_empty()
            || text.len() > KEY_BYTES_MAX
            || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        {
            return Err(Refused(Problem::new(
                Code::Malformed,
                format!(
                    "Idempotency-Key has to come once, with 1 to {KEY_BYTES_MAX} visible ASCII characters."
                ),
            )));
        }
        Ok(Self(Some(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(values: &[&[u8]]) -> Option<Option<String>> {
        let mut request = http::Request::new(());
        for value in values {
            request.headers_mut().append("idempotency-key", http::HeaderValue::from_bytes(value).unwrap());
        }
        let mut parts = request.into_parts().0;
        IdempotencyKey::from_request_parts(&mut parts, &()).await.ok().map(|key| key.0)
    }

    #[tokio::test]
    async fn a_key_is_taken_as_it_is_or_refused() {
        assert_eq!(sent(&[]).await, Some(None));
        assert_eq!(sent(&[b"order 17"]).await, Some(Some("order 17".to_owned())));
        for unfit in [&[&b""[..]][..], &[b"\xff"], &[&[b'a'; 256]], &[b"a", b"a"]] {
            assert_eq!(sent(unfit).await, None);
        }
    }
}
