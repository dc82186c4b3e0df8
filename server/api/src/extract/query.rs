//! The query string as a type. Give the type `#[serde(deny_unknown_fields)]`: a parameter that is
//! not known is refused by name, since a filter that is silently dropped shows too much.

use axum::extract::FromRequestParts;
use http::request::Parts;
use restante_core::problem::Problem;
use serde::de::DeserializeOwned;

use super::explain;
use crate::problem::Refused;

/// The parameters of the query string.
#[derive(Debug, Clone, Copy)]
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        read(parts.uri.query().unwrap_or_default()).map(Self).map_err(Refused)
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let pairs = serde_urlencoded::Deserializer::new(url::form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let said = explain::explain(error.path(), &error.inner().to_string());
        Problem::field(said.pointer.trim_start_matches('/'), said.detail)
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Page {
        limit: Option<u32>,
        cursor: Option<String>,
    }

    fn fault(query: &str) -> (String, String) {
        let error = read::<Page>(query).unwrap_err().errors.remove(0);
        (error.pointer, error.detail)
    }

    #[test]
    fn what_is_known_is_read() {
        assert_eq!(read::<Page>(""), Ok(Page { limit: None, cursor: None }));
        assert_eq!(
            read::<Page>("limit=5&cursor=a%20b"),
            Ok(Page { limit: Some(5), cursor: Some("a b".into()) })
        );
    }

    #[test]
    fn a_parameter_at_fault_is_named() {
        assert_eq!(fault("limt=5").0, "limt");
        assert!(fault("limt=5").1.contains("limit"), "{}", fault("limt=5").1);
        assert_eq!(fault("limit=many").0, "limit");
        assert_eq!(fault("limit=-1").0, "limit");
        assert_eq!(fault("limit=1&limit=2").0, "limit");
    }
}
