//! Sources: where a value of a request stands. The words that the catalogue and `options.verify` share.
//! Here they are parsed and checked; reading them is the matter of `identity`.

use serde::Deserialize;

use super::header::header_name;
use super::pointer::Pointer;

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawSource")]
pub(crate) enum Source {
    /// A request header, by its name in lower case.
    Header(String),
    /// A place in the document, or in the batch element.
    Json(Pointer),
    /// A place in the document around a batch element; each `*` is the element's own index.
    Whole(Pointer),
    /// A field of a form body.
    Form(String),
    /// A parameter of the query string.
    Query(String),
    /// SHA-256 of the received bytes in hex; in a batch, of the element's bytes.
    Digest,
    /// Always this text.
    Text(String),
    /// All of these, or nothing.
    Join {
        /// The parts.
        parts: Vec<Source>,
        /// Plain text between them, for display alone; `None` joins so that two lists never read alike.
        with: Option<String>,
    },
    /// The first of these that is there.
    First(Vec<Source>),
}

impl Source {
    /// Calls `visit` for this source and every source inside it.
    pub(crate) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Join { parts, .. } | Self::First(parts) => {
                for part in parts {
                    part.walk(visit);
                }
            }
            _ => {}
        }
    }

    /// Whether this source, or one inside it, fits.
    pub(crate) fn any(&self, mut fits: impl FnMut(&Self) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |source| found |= fits(source));
        found
    }
}

/// The spelling in a provider.toml: a table with exactly one of these words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSource {
    header: Option<String>,
    json: Option<String>,
    whole: Option<String>,
    form: Option<String>,
    query: Option<String>,
    digest: Option<String>,
    text: Option<String>,
    join: Option<Vec<Source>>,
    with: Option<String>,
    first: Option<Vec<Source>>,
}

impl TryFrom<RawSource> for Source {
    type Error = String;

    fn try_from(raw: RawSource) -> Result<Self, String> {
        let mut found = Vec::new();
        if let Some(name) = &raw.header {
            found.push(Self::Header(header_name(name)?));
        }
        if let Some(pointer) = &raw.json {
            found.push(Self::Json(Pointer::parse(pointer)?));
        }
        if let Some(pointer) = &raw.whole {
            found.push(Self::Whole(Pointer::parse_with_stars(pointer)?));
        }
        found.extend(raw.form.map(Self::Form));
        found.extend(raw.query.map(Self::Query));
        match raw.digest.as_deref() {
            None => {}
            Some("body") => found.push(Self::Digest),
            Some(other) => return Err(format!("digest is “body”, not “{other}”")),
        }
        found.extend(raw.text.map(Self::Text));
        let joins = raw.join.is_some();
        found.extend(raw.join.map(|parts| Self::Join { parts, with: raw.with.clone() }));
        if raw.with.is_some() && !joins {
            return Err("“with” stands beside “join” alone".into());
        }
        found.extend(raw.first.map(Self::First));
        match found.pop() {
            Some(source) if found.is_empty() => Ok(source),
            _ => {
                Err("a source has exactly one of header, json, whole, form, query, digest, text, join, first"
                    .into())
            }
        }
    }
}

/// Something that is so or not of a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawCondition")]
pub(crate) struct Condition {
    /// Where to look.
    pub(crate) source: Source,
    /// The values that fit; empty: any value that is there.
    pub(crate) is: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCondition {
    header: Option<String>,
    json: Option<String>,
    form: Option<String>,
    query: Option<String>,
    is: Option<OneOrMany>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl TryFrom<RawCondition> for Condition {
    type Error = String;

    fn try_from(raw: RawCondition) -> Result<Self, String> {
        let is = match raw.is {
            None => Vec::new(),
            Some(OneOrMany::One(value)) => vec![value],
            Some(OneOrMany::Many(values)) => values,
        };
        let source = RawSource {
            header: raw.header,
            json: raw.json,
            form: raw.form,
            query: raw.query,
            whole: None,
            digest: None,
            text: None,
            join: None,
            with: None,
            first: None,
        };
        Ok(Self { source: source.try_into()?, is })
    }
}
