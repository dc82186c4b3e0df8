//! The words of a recipe. They stand in `provider.toml` under `[reconciliation.recipe]`, and a tenant writes
//! the same ones for a sender that the catalogue lacks. docs/providers.md explains each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a provider is asked what it sent.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The provider's API, with the names of options in braces. A tenant may put another one in its place.
    pub base_url: String,
    /// The method of the list request.
    #[serde(default)]
    pub method: Method,
    /// Its path, with `{place}`, options and `{cursor}`.
    pub path: String,
    /// Its query: names and templates in order. What names an option that isn't given is left out; a name
    /// that ends in `[]` comes once for each entry of a list.
    #[serde(default)]
    pub query: Vec<(String, String)>,
    /// Its JSON body, with templates in its texts.
    #[serde(default)]
    pub body: Option<Value>,
    /// Its headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How the program shows who asks.
    pub auth: Auth,
    /// Another way where an option has a value.
    #[serde(default)]
    pub auth_when: Vec<AuthWhen>,
    /// What a person gives as credentials.
    #[serde(default, rename = "credential")]
    pub credentials: Vec<Field>,
    /// What else a person gives.
    #[serde(default, rename = "option")]
    pub options: Vec<Field>,
    /// The path behind `{place}`, by the value of an option.
    #[serde(default)]
    pub places: Option<Places>,
    /// How `{from}` and `{to}` are written. Where neither is named the list has no filter by time.
    #[serde(default)]
    pub time_unit: Unit,
    /// In which order events are listed.
    pub order: Order,
    /// How far back the provider lists, in seconds.
    pub reaches_seconds: u64,
    /// Entries that are asked for at once.
    pub page_size: u32,
    /// How the next page is found.
    pub next: Next,
    /// The pause between two requests, in milliseconds, that keeps within the provider's limit.
    #[serde(default)]
    pub pause_ms: u32,
    /// Where an event is in the answer, and how it becomes a request.
    pub event: EventWords,
    /// Objects are listed, not events: they are compared with the events that are here, and nothing is made of them.
    #[serde(default)]
    pub compare: Option<Compare>,
}

/// The method of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// GET.
    #[default]
    Get,
    /// POST.
    Post,
}

impl Method {
    /// As it is written in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// How the program shows who asks. Templates name credentials here and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Auth {
    /// `Authorization: Bearer …`.
    Bearer(String),
    /// HTTP basic: user and password.
    Basic(String, String),
    /// A header of its own: name and value.
    Header(String, String),
    /// `Authorization: Bearer …` with a JWT signed by RS256: the issuer, and the private key in PEM.
    JwtRs256 {
        /// The claim `iss`.
        issuer: String,
        /// The private key.
        key: String,
    },
    /// Nothing.
    None,
}

/// Another way of authentication where an option has a value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AuthWhen {
    /// The option.
    pub option: String,
    /// Its value.
    pub is: String,
    /// How.
    pub auth: Auth,
}

/// What a person gives.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name in `credentials` or `options`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is and where it is found, in a sentence.
    #[serde(default)]
    pub help: String,
    /// Whether it may be left out.
    #[serde(default)]
    pub optional: bool,
    /// What counts when it is left out.
    #[serde(default)]
    pub default: Option<String>,
    /// The values that are possible; empty: any.
    #[serde(default)]
    pub one_of: Vec<String>,
}

/// Paths by the value of an option.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// The option.
    pub option: String,
    /// A path for each of its values.
    pub paths: BTreeMap<String, String>,
}

/// How a moment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds since 1970.
    #[default]
    S,
    /// Milliseconds since 1970.
    Ms,
    /// RFC 3339.
    Rfc3339,
    /// RFC 2822, as e-mail has it.
    Rfc2822,
    /// The day alone, in UTC.
    Date,
}

/// In which order a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The newest first.
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}

/// How the next page is found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Next {
    /// `{cursor}` is a value of the last entry, as long as another place says that there is more.
    LastEntry {
        /// The value in the entry.
        at: String,
        /// Where the answer says that there is more.
        more: String,
    },
    /// `{cursor}` is a text of the answer; none is the end.
    Token {
        /// Where it stands.
        at: String,
    },
    /// The header `Link` with `rel="next"` (RFC 8288). A page without entries is the last one.
    LinkHeader,
    /// A URL or path in the answer.
    Url {
        /// Where it stands.
        at: String,
    },
    /// A list of links in the answer, each with `rel` and `href`.
    Links {
        /// Where the list stands.
        at: String,
    },
    /// `{cursor}` is how many entries came before; a page that is not full is the last one.
    Offset,
    /// `{cursor}` is the number of the page, from 1 on; a page that is not full is the last one.
    Page,
    /// There is one page.
    Single,
}

/// Where an event is in the answer, and how it becomes the request that the provider would have sent.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EventWords {
    /// The array of entries, with the names of options in braces; empty: the answer itself.
    #[serde(default)]
    pub entries: String,
    /// What names an entry, for people: a pointer in it.
    pub id: String,
    /// Its type, for people: a pointer in it.
    #[serde(default, rename = "type")]
    pub event_type: Option<String>,
    /// When it happened: a pointer in it.
    #[serde(default)]
    pub at: Option<String>,
    /// How that is written.
    #[serde(default)]
    pub at_unit: Unit,
    /// Whether the provider saw it arrive: a number of the entry that has to lie between two others.
    #[serde(default)]
    pub arrived: Option<Between>,
    /// The path that gives the whole of an entry, with `{place}`, options and `{item:/pointer}`.
    #[serde(default)]
    pub fetch: Option<String>,
    /// Headers of the request, made of the entry: `{item:/pointer}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// An object of the fetched whole that holds the headers as they were sent.
    #[serde(default)]
    pub headers_at: Option<String>,
    /// The body: a pointer in the fetched whole, or in the entry; empty: all of it.
    #[serde(default)]
    pub body: String,
    /// What stands before and after the body, where the provider sends several in an envelope.
    #[serde(default)]
    pub envelope: Option<(String, String)>,
    /// The body as a form: a field's name, and a pointer in the entry.
    #[serde(default)]
    pub form: BTreeMap<String, String>,
    /// The path of a POST that has the provider send it again.
    #[serde(default)]
    pub redeliver: Option<String>,
}

/// A number between two others, both included.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// Where it stands in the entry.
    pub at: String,
    /// The least.
    pub least: i64,
    /// The most.
    pub most: i64,
}

/// How listed objects are compared with the events that are here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// The types of the events that tell of such an object: a glob, with the names of options in braces.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Where an event's body holds the value that names the object in the list: a pointer.
    pub id: String,
}
