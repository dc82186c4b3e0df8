//! A consumer's filter: which events it wants, by endpoint, provider and type. An empty list wants
//! any. Whether an endpoint is the tenant's is not known here; whether a provider exists is asked.

use serde::{Deserialize, Serialize};

use crate::id::EndpointId;
use crate::limits::{EVENT_TEXT_BYTES_MAX, FILTER_ENTRIES_MAX};
use crate::problem::FieldError;

/// A filter as it comes with a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilterInput {
    /// Ids of endpoints.
    pub endpoints: Vec<String>,
    /// Names of the catalogue.
    pub providers: Vec<String>,
    /// Globs of types.
    pub types: Vec<String>,
}

/// A filter that can't be wrong in its form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Any of these endpoints; any at all when empty.
    pub endpoints: Vec<EndpointId>,
    /// Any of these providers; any at all when empty.
    pub providers: Vec<String>,
    /// Any of these types; any at all when empty, and then also events without a type.
    pub types: Vec<TypeGlob>,
}

impl FilterInput {
    /// Checks a filter that stands at `pointer` in the request.
    ///
    /// # Errors
    /// Every fault, each with its pointer.
    pub fn check(self, pointer: &str, is_provider: impl Fn(&str) -> bool) -> Result<Filter, Vec<FieldError>> {
        let mut errors = Vec::new();
        let endpoints = entries(&self.endpoints, &format!("{pointer}/endpoints"), &mut errors, |text| {
            text.parse()
                .map_err(|_| "This is not the id of an endpoint: such ids start with ep_.".to_string())
        });
        let providers = entries(&self.providers, &format!("{pointer}/providers"), &mut errors, |text| {
            if is_provider(text) {
                Ok(text.to_string())
            } else {
                Err("There is no provider of this name: GET /v1/providers lists them.".to_string())
            }
        });
        let types = entries(&self.types, &format!("{pointer}/types"), &mut errors, TypeGlob::parse);
        if errors.is_empty() { Ok(Filter { endpoints, providers, types }) } else { Err(errors) }
    }
}

fn entries<T>(
    texts: &[String],
    pointer: &str,
    errors: &mut Vec<FieldError>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    if texts.len() > FILTER_ENTRIES_MAX {
        let detail = format!("At most {FILTER_ENTRIES_MAX} entries; an empty list means any.");
        errors.push(FieldError { pointer: pointer.to_string(), detail });
        return Vec::new();
    }
    let mut good = Vec::with_capacity(texts.len());
    for (place, text) in texts.iter().enumerate() {
        match read(text) {
            Ok(entry) => good.push(entry),
            Err(detail) => errors.push(FieldError { pointer: format!("{pointer}/{place}"), detail }),
        }
    }
    good
}

impl Filter {
    /// Whether a consumer with this filter wants an event.
    pub fn matches(&self, endpoint: EndpointId, provider: &str, event_type: Option<&str>) -> bool {
        (self.endpoints.is_empty() || self.endpoints.contains(&endpoint))
            && (self.providers.is_empty() || self.providers.iter().any(|wanted| wanted == provider))
            && (self.types.is_empty()
                || event_type.is_some_and(|text| self.types.iter().any(|glob| glob.matches(text))))
    }
}

/// A pattern of types: `*` is any run of characters, also none; everything else is itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TypeGlob(String);

impl TypeGlob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence for the person, when it is empty or longer than a type can be.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("An empty type matches nothing: leave it out, or write * for every event that has a type."
                .into())
        } else if text.len() > EVENT_TEXT_BYTES_MAX {
            Err(format!("A type is at most {EVENT_TEXT_BYTES_MAX} bytes long."))
        } else {
            Ok(Self(text.to_string()))
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a type matches, from its first character to its last; case counts.
    ///
    /// The time is linear: between the fixed ends, each piece is taken at its first place, which is
    /// never worse than a later one, so nothing is ever tried again.
    pub fn matches(&self, event_type: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else {
            return self.0 == event_type;
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(mut open) = event_type.strip_prefix(start).and_then(|text| text.strip_suffix(end)) else {
            return false;
        };
        for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
            match open.find(piece) {
                Some(place) => open = &open[place + piece.len()..],
                None => return false,
            }
        }
        true
    }
}

impl TryFrom<String> for TypeGlob {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<TypeGlob> for String {
    fn from(glob: TypeGlob) -> Self {
        glob.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    const ENDPOINT: EndpointId = EndpointId(Uuid::from_u128(1));
    const OTHER: EndpointId = EndpointId(Uuid::from_u128(2));

    fn glob(text: &str) -> TypeGlob {
        TypeGlob::parse(text).unwrap()
    }

    fn check(json: &str) -> Result<Filter, Vec<FieldError>> {
        serde_json::from_str::<FilterInput>(json).unwrap().check("/filter", |name| name == "stripe")
    }

    #[test]
    fn a_glob_matches_whole_types() {
        for (pattern, text, expected) in [
            ("invoice.*", "invoice.paid", true),
            ("invoice.*", "invoice.", true),
            ("invoice.*", "invoice", false),
            ("invoice.*", "my.invoice.paid", false),
            ("*", "", true),
            ("*.paid", "invoice.paid", true),
            ("*.paid", "invoice.paid.late", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("a**b", "axb", true),
            ("x", "x", true),
            ("x", "X", false),
            ("?", "a", false),
            ("[ab]", "a", false),
            ("é*é", "é→é", true),
        ] {
            assert_eq!(glob(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    /// The plain definition, exponential in the worst case, to compare with.
    fn matches_by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skip| matches_by_definition(rest, &text[skip..])),
            Some((first, rest)) => text
                .split_first()
                .is_some_and(|(head, tail)| head == first && matches_by_definition(rest, tail)),
        }
    }

    proptest! {
        #[test]
        fn a_glob_matches_as_defined(pattern in "[ab*]{1,8}", text in "[ab]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let defined = matches_by_definition(&chars(&pattern), &chars(&text));
            prop_assert_eq!(glob(&pattern).matches(&text), defined);
        }
    }

    /// With backtracking this would outlast the sun.
    #[test]
    fn many_stars_cost_nothing() {
        assert!(!glob(&"a*".repeat(127)).matches(&("a".repeat(100_000) + "b")[..126]));
        assert!(!glob(&("*a".repeat(120) + "*b")).matches(&"a".repeat(100_000)));
    }

    #[test]
    fn an_empty_filter_wants_everything() {
        let filter = check("{}").unwrap();
        assert_eq!(filter, Filter::default());
        assert!(filter.matches(ENDPOINT, "stripe", None) && filter.matches(OTHER, "github", Some("push")));
    }

    #[test]
    fn every_list_must_agree() {
        let filter = check(&format!(
            r#"{{"endpoints":["{ENDPOINT}"],"providers":["stripe"],"types":["invoice.*","charge.failed"]}}"#
        ))
        .unwrap();
        assert!(filter.matches(ENDPOINT, "stripe", Some("invoice.paid")));
        assert!(filter.matches(ENDPOINT, "stripe", Some("charge.failed")));
        assert!(!filter.matches(OTHER, "stripe", Some("invoice.paid")));
        assert!(!filter.matches(ENDPOINT, "github", Some("invoice.paid")));
        assert!(!filter.matches(ENDPOINT, "stripe", Some("charge.ok")));
    }

    #[test]
    fn an_event_without_a_type_matches_no_list_of_types() {
        assert!(!check(r#"{"types":["*"]}"#).unwrap().matches(ENDPOINT, "stripe", None));
    }

    #[test]
    fn each_fault_is_told_at_its_place() {
        let long = "x".repeat(256);
        let errors = check(&format!(
            r#"{{"endpoints":["rcp_1"],"providers":["stripe","nobody"],"types":["ok","","{long}"]}}"#
        ))
        .unwrap_err();
        let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            ["/filter/endpoints/0", "/filter/providers/1", "/filter/types/1", "/filter/types/2"]
        );
    }

    #[test]
    fn too_many_entries_are_refused() {
        let input = FilterInput { types: vec!["a".into(); FILTER_ENTRIES_MAX + 1], ..FilterInput::default() };
        assert_eq!(input.check("/filter", |_| true).unwrap_err()[0].pointer, "/filter/types");
    }

    #[test]
    fn an_unknown_field_is_refused() {
        assert!(serde_json::from_str::<FilterInput>(r#"{"type":["a"]}"#).is_err());
    }

    #[test]
    fn a_checked_filter_reads_back_from_storage() {
        let filter = check(&format!(r#"{{"endpoints":["{ENDPOINT}"],"types":["a.*"]}}"#)).unwrap();
        let stored = serde_json::to_string(&filter).unwrap();
        assert_eq!(serde_json::from_str::<Filter>(&stored).unwrap(), filter);
    }
}
