//! Fields of a JSON merge (RFC 7396): one that is left out stays as it is, and `null` is a value of
//! its own. serde takes both for `None` unless it is told.

use serde::{Deserialize, Deserializer};

/// A field that was sent, `null` included. Where the type takes no `null`, it is refused. Use it with
/// `#[serde(default, deserialize_with = "sent")]`.
pub(crate) fn sent<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Patch {
        #[serde(default, deserialize_with = "sent")]
        name: Option<String>,
        #[serde(default, deserialize_with = "sent")]
        limit: Option<Option<u64>>,
    }

    #[test]
    fn left_out_null_and_a_value_are_three_things() {
        let read = |text| serde_json::from_str::<Patch>(text).ok();
        assert_eq!(read("{}"), Some(Patch { name: None, limit: None }));
        assert_eq!(read(r#"{"limit":null}"#), Some(Patch { name: None, limit: Some(None) }));
        assert_eq!(
            read(r#"{"name":"a","limit":1}"#),
            Some(Patch { name: Some("a".into()), limit: Some(Some(1)) })
        );
        assert_eq!(read(r#"{"name":null}"#), None);
    }
}
