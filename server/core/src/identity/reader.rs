//! Reads sources from a request whose document was passed over. The sources are compiled once against
//! the plan of their rule, so that reading one is a look at a slot.

use std::cell::Cell;

use sha2::{Digest, Sha256};

use super::fields::Fields;
use super::json::{Element, Scan};
use super::key;
use super::lex::{Kind, Token};
use super::plan::Plan;
use super::text::{self, Text};
use crate::catalogue::{Condition, Source};
use crate::request::Request;

/// A source, compiled.
#[derive(Debug, Clone)]
pub(crate) enum Read {
    Header(String),
    Slot(usize),
    Whole(usize),
    Form(String),
    Query(String),
    Digest,
    Text(String),
    Join(Vec<Read>, Option<String>),
    First(Vec<Read>),
}

impl Read {
    /// Compiles a source. `rule` is the rule whose elements `json` starts at; without one it starts at the document.
    pub(crate) fn compile(source: &Source, plan: &mut Plan, rule: Option<usize>, identity: bool) -> Self {
        match source {
            Source::Header(name) => Self::Header(name.clone()),
            Source::Json(pointer) => match rule {
                Some(rule) => Self::Slot(plan.slot(rule, pointer, identity)),
                None => Self::Whole(plan.whole(pointer, identity)),
            },
            Source::Whole(pointer) => Self::Whole(plan.whole(pointer, identity)),
            Source::Form(name) => Self::Form(name.clone()),
            Source::Query(name) => Self::Query(name.clone()),
            Source::Digest => Self::Digest,
            Source::Text(text) => Self::Text(text.clone()),
            Source::Join { parts, with } => Self::Join(
                parts.iter().map(|part| Self::compile(part, plan, rule, identity)).collect(),
                with.clone(),
            ),
            Source::First(parts) => {
                Self::First(parts.iter().map(|part| Self::compile(part, plan, rule, identity)).collect())
            }
        }
    }
}

/// A condition, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    read: Read,
    is: Vec<String>,
    /// It looks into the document.
    pub(crate) json: bool,
}

impl Test {
    pub(crate) fn compile(condition: &Condition, plan: &mut Plan) -> Self {
        Self {
            read: Read::compile(&condition.source, plan, None, false),
            is: condition.is.clone(),
            json: matches!(condition.source, Source::Json(_)),
        }
    }

    pub(crate) fn holds(&self, reader: &Reader<'_>) -> bool {
        let value = reader.text(&self.read);
        value.is_some_and(|value| self.is.is_empty() || self.is.iter().any(|wanted| *wanted == value.text))
    }
}

/// A request, its document, and the element that is being read.
pub(crate) struct Reader<'a> {
    pub(crate) request: &'a Request,
    /// What `json` sources read: the body, or a form field.
    pub(crate) document: &'a [u8],
    /// `None` when the document can't be read.
    pub(crate) scan: Option<&'a Scan>,
    pub(crate) plan: &'a Plan,
    pub(crate) element: Option<&'a Element>,
    /// What `digest` is over.
    pub(crate) digested: &'a [u8],
    pub(crate) form: &'a Fields<'a>,
    pub(crate) query: &'a Fields<'a>,
    /// A form field or parameter that was read stands twice with different values.
    pub(crate) ambiguous: Cell<bool>,
}

impl<'a> Reader<'a> {
    /// The value of a source, where it is there.
    pub(crate) fn text(&self, read: &Read) -> Option<Text<'a>> {
        match read {
            Read::Header(name) => self.header(name),
            Read::Slot(_) | Read::Whole(_) => Text::from_token(self.document, self.token(read)?),
            Read::Form(name) => self.field(self.form, name),
            Read::Query(name) => self.field(self.query, name),
            Read::Digest => Some(Text::new(hex::encode(Sha256::digest(self.digested)))),
            Read::Text(text) => Some(Text::new(text.clone())),
            Read::Join(parts, with) => {
                let parts = parts.iter().map(|part| self.text(part)).collect::<Option<Vec<_>>>()?;
                Some(match with {
                    None => key::join(parts.iter().map(Some)),
                    Some(with) => Text {
                        exact: parts.iter().all(|part| part.exact),
                        text: parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join(with).into(),
                    },
                })
            }
            Read::First(parts) => parts.iter().find_map(|part| self.text(part)),
        }
    }

    /// The value as it is written, so that `true` and `false` count too.
    pub(crate) fn written(&self, read: &Read) -> Option<String> {
        match (read, self.token(read)) {
            (Read::Slot(_) | Read::Whole(_), Some(token)) if token.kind == Kind::Literal => {
                text::raw(self.document, token).map(str::to_owned)
            }
            _ => self.text(read).map(|text| text.text.into_owned()),
        }
    }

    fn token(&self, read: &Read) -> Option<Token> {
        match read {
            Read::Slot(slot) => self.element?.slot(*slot),
            Read::Whole(slot) => {
                let scan = self.scan?;
                match self.element {
                    Some(element) => scan.whole(self.plan, *slot, element),
                    None => scan.unstarred(self.plan, *slot),
                }
            }
            _ => None,
        }
    }

    fn header(&self, name: &str) -> Option<Text<'a>> {
        let (_, value) = self.request.headers.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Text::from_bytes(value)
    }

    fn field(&self, fields: &'a Fields<'a>, name: &str) -> Option<Text<'a>> {
        let field = fields.first(name)?;
        if field.ambiguous {
            self.ambiguous.set(true);
        }
        Text::from_bytes(field.value)
    }
}
