//! The template of the signed text: literals and placeholders, parsed once.

use serde::Deserialize;

use super::header::header_name;

/// One part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that stands for itself.
    Text(String),
    /// The body, as the entry says which bytes those are.
    Body,
    /// The time of signing as it was sent.
    Timestamp,
    /// The method.
    Method,
    /// The registered URL with the request's query.
    Url,
    /// A header's value, by its name in lower case.
    Header(String),
    /// The fields of a form body: names sorted, each followed by each of its different values, sorted.
    Form,
}

/// The signed text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template(pub(crate) Vec<Part>);

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text, true)
    }
}

impl Template {
    /// The body alone.
    pub(crate) fn body() -> Self {
        Self(vec![Part::Body])
    }

    /// Reads a template. `{form}` is for the catalogue; `options.verify` does without.
    ///
    /// # Errors
    /// A sentence that says what can't be read.
    pub(crate) fn parse(text: &str, form: bool) -> Result<Self, String> {
        if text.len() > 1_024 {
            return Err("A template has at most 1,024 bytes.".into());
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '{' if rest.next_if_eq(&'{').is_some() => literal.push('{'),
                '}' if rest.next_if_eq(&'}').is_some() => literal.push('}'),
                '}' => {
                    return Err("A } stands alone. Write }} for a brace that is signed as it stands.".into());
                }
                '{' => {
                    let mut word = String::new();
                    loop {
                        match rest.next() {
                            Some('}') => break,
                            Some(inner) => word.push(inner),
                            None => {
                                return Err(
                                    "A { is never closed. Write {{ for a brace that is signed as it stands."
                                        .into(),
                                );
                            }
                        }
                    }
                    if !literal.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                    }
                    parts.push(placeholder(&word, form)?);
                }
                other => literal.push(other),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        if parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return Err(
                "The signed text has to hold something of the request, such as {body}; a fixed text would accept anything.".into(),
            );
        }
        Ok(Self(parts))
    }

    /// Whether a part stands in the template.
    pub(crate) fn has(&self, part: &Part) -> bool {
        self.0.contains(part)
    }

    /// Whether the value of a header is signed.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Header(known) if known == name))
    }

    /// Whether a change of the body would be noticed.
    pub(crate) fn covers_body(&self) -> bool {
        self.has(&Part::Body) || self.has(&Part::Form)
    }
}

fn placeholder(word: &str, form: bool) -> Result<Part, String> {
    match word {
        "body" => Ok(Part::Body),
        "timestamp" => Ok(Part::Timestamp),
        "method" => Ok(Part::Method),
        "url" => Ok(Part::Url),
        "form" if form => Ok(Part::Form),
        other => match other.strip_prefix("header:") {
            Some(name) => header_name(name).map(Part::Header),
            None => Err(format!(
                "There is no {{{other}}}. A template knows {{body}}, {{timestamp}}, {{method}}, {{url}} and {{header:Name}}; {{{{ and }}}} stand for braces."
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_literals_and_placeholders() {
        assert_eq!(
            Template::parse("v0:{timestamp}:{body}", false),
            Ok(Template(vec![Part::Text("v0:".into()), Part::Timestamp, Part::Text(":".into()), Part::Body]))
        );
        assert_eq!(
            Template::parse("{{{header:X-Id}}}{method}{url}", false),
            Ok(Template(vec![
                Part::Text("{".into()),
                Part::Header("x-id".into()),
                Part::Text("}".into()),
                Part::Method,
                Part::Url
            ]))
        );
    }

    #[test]
    fn what_does_not_parse_is_said_so() {
        for wrong in [
            "",
            "fixed",
            "{",
            "}",
            "{body",
            "body}",
            "{Body}",
            "{ body }",
            "{header:}",
            "{header:X Y}",
            "{id}",
            "{form}",
        ] {
            assert!(Template::parse(wrong, false).is_err(), "{wrong}");
        }
        assert!(Template::parse("{url}{form}", true).is_ok());
    }
}
