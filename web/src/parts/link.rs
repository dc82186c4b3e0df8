//! Addresses of our own pages: a path and what stands behind its question mark. Every filter of a list
//! is kept there, so that a link shows a colleague the same list.

use serde_urlencoded::to_string;

/// A path with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    path: String,
    query: Vec<(String, String)>,
}

impl Link {
    /// A path without a query. The path is ours: ids and names in it are checked before.
    pub(crate) fn to(path: impl Into<String>) -> Self {
        Self { path: path.into(), query: Vec::new() }
    }

    /// With one more value; an empty one is left out.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        self.query.retain(|(present, _)| present != name);
        if !value.is_empty() {
            self.query.push((name.to_owned(), value));
        }
        self
    }

    /// Without a value.
    #[must_use]
    pub(crate) fn without(self, name: &str) -> Self {
        self.with(name, "")
    }

    /// The values, for the hidden fields of a form.
    pub(crate) fn fields(&self) -> &[(String, String)] {
        &self.query
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        match to_string(&self.query) {
            Ok(query) if !query.is_empty() => write!(f, "?{query}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_replaced_and_left_out_when_empty() {
        let link =
            Link::to("/t/acme/events").with("type", "a&b=c#d").with("state", "failed").with("empty", "");
        assert_eq!(link.to_string(), "/t/acme/events?type=a%26b%3Dc%23d&state=failed");
        let other = link.clone().with("state", "pending").without("type");
        assert_eq!(other.to_string(), "/t/acme/events?state=pending");
        assert_eq!(link.fields().len(), 2);
        assert_eq!(Link::to("/x").to_string(), "/x");
    }
}
