//! A recipe with the values of one endpoint: what makes its requests. A fault in either is found here, when
//! it is saved, and never first in a run at night.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::recipe::{Auth, Field, Method, Next, Recipe, Unit};
use super::template::{Piece, Place, Values, fill, no_item, pieces};
use super::{POSITION_BYTES_MAX, VALUE_BYTES_MAX, auth, units};
use crate::outbound::Location;
use crate::problem::FieldError;
use crate::secret::Secret;
use crate::time::Timestamp;

/// The stretch of time that a run looks at, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// From here on.
    pub from: Timestamp,
    /// Up to here.
    pub to: Timestamp,
}

/// A request to be made.
#[derive(Debug)]
pub struct ListRequest {
    /// Where to.
    pub location: Location,
    /// Its method.
    pub method: Method,
    /// Its headers. Values may be credentials.
    pub headers: Vec<(String, Secret<String>)>,
    /// Its body.
    pub body: Option<String>,
}

/// A recipe with the values of one endpoint.
pub struct Lister {
    pub(super) recipe: Recipe,
    base: Location,
    /// Options, and what `{place}` stands for.
    pub(super) options: BTreeMap<String, String>,
    credentials: BTreeMap<String, String>,
    auth: Auth,
    entries: String,
}

impl std::fmt::Debug for Lister {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lister({})", self.base.url().host_str().unwrap_or_default())
    }
}

/// Names that stand for what a run knows.
const RUN_NAMES: [&str; 5] = ["from", "to", "page_size", "cursor", "place"];

impl Lister {
    /// Puts values into a recipe.
    ///
    /// # Errors
    /// What is missing, unknown or wrong, each with its place under `/options`, `/credentials` or `/base_url`.
    pub fn new(
        recipe: &Recipe,
        base_url: Option<&str>,
        options: &Map<String, Value>,
        credentials: &BTreeMap<String, Secret<String>>,
    ) -> Result<Self, Vec<FieldError>> {
        let mut errors: Vec<FieldError> =
            recipe.faults().into_iter().map(|fault| error("/options/recipe", fault)).collect();
        let given: BTreeMap<&str, String> = options
            .iter()
            .filter_map(|(name, value)| match value {
                Value::Null => None,
                Value::String(text) => Some((name.as_str(), text.trim().to_owned())),
                Value::Number(number) => Some((name.as_str(), number.to_string())),
                Value::Array(list) => {
                    let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                    Some((name.as_str(), texts.join(",")))
                }
                _ => {
                    errors.push(error(&format!("/options/{name}"), "This is a text.".to_owned()));
                    None
                }
            })
            .filter(|(_, text)| !text.is_empty())
            .collect();
        let mut named = values(&recipe.options, &given, "/options", &mut errors);
        let secrets: BTreeMap<&str, String> = credentials
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose().trim().to_owned()))
            .collect();
        let secret = values(&recipe.credentials, &secrets, "/credentials", &mut errors);
        if let Some(places) = &recipe.places
            && let Some(path) = named.get(&places.option).and_then(|value| places.paths.get(value))
        {
            match fill(path, &Values { named: &named, item: &no_item }, Place::Path) {
                Ok(Some(filled)) => {
                    named.insert("place".to_owned(), filled);
                }
                Ok(None) => {
                    let lacking: Vec<String> =
                        names(path).into_iter().filter(|name| !named.contains_key(name)).collect();
                    for name in lacking {
                        let what =
                            format!("This is needed where {} is {}.", places.option, named[&places.option]);
                        errors.push(error(&format!("/options/{name}"), what));
                    }
                }
                Err(fault) => errors.push(error("/options", fault)),
            }
        }
        let base = match base_url {
            Some(url) => Location::parse(url).map_err(|fault| errors.push(error("/base_url", fault))).ok(),
            None => match fill(&recipe.base_url, &Values { named: &named, item: &no_item }, Place::Host) {
                Ok(Some(url)) => {
                    Location::parse(&url).map_err(|fault| errors.push(error("/options", fault))).ok()
                }
                // What is missing has been said.
                Ok(None) => None,
                Err(fault) => {
                    errors.push(error("/options", fault));
                    None
                }
            },
        };
        let auth = recipe
            .auth_when
            .iter()
            .find(|rule| named.get(&rule.option) == Some(&rule.is))
            .map_or(&recipe.auth, |rule| &rule.auth)
            .clone();
        // Credentials win over an option of the same name.
        let secret: BTreeMap<String, String> = named.clone().into_iter().chain(secret).collect();
        if errors.is_empty()
            && let Err(fault) = auth::header(&auth, &secret, Timestamp::from_seconds(0))
        {
            errors.push(error("/credentials", fault));
        }
        let entries = fill(&recipe.event.entries, &Values { named: &named, item: &no_item }, Place::Plain)
            .ok()
            .flatten()
            .unwrap_or_default();
        match base {
            Some(base) if errors.is_empty() => {
                let (recipe, options, credentials) = (recipe.clone(), named, secret);
                Ok(Self { recipe, base, options, credentials, auth, entries })
            }
            _ => Err(errors),
        }
    }

    /// The recipe.
    pub const fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Where it calls.
    pub const fn base(&self) -> &Location {
        &self.base
    }

    /// Where the entries stand in an answer.
    pub(super) fn entries(&self) -> &str {
        &self.entries
    }

    /// A text of the recipe with options filled in, such as the types to compare with.
    pub fn filled(&self, template: &str) -> Option<String> {
        fill(template, &Values { named: &self.options, item: &no_item }, Place::Plain).ok().flatten()
    }

    /// The request for a page: the first, or the one at a position.
    ///
    /// # Errors
    /// A sentence that says why it can't be made.
    pub fn request(
        &self,
        window: Window,
        position: Option<&str>,
        now: Timestamp,
    ) -> Result<ListRequest, String> {
        if position.is_some_and(|position| position.len() > POSITION_BYTES_MAX) {
            return Err("The provider's cursor is longer than any cursor should be.".to_owned());
        }
        let mut named = self.options.clone();
        let unit = self.recipe.time_unit;
        named.insert("from".to_owned(), units::write(window.from, unit));
        // A day is meant whole.
        let to = if unit == Unit::Date { window.to.plus_seconds(86_400) } else { window.to };
        named.insert("to".to_owned(), units::write(to, unit));
        named.insert("page_size".to_owned(), self.recipe.page_size.to_string());
        let url = match position.and_then(|position| position.split_once(':')) {
            Some(("u", url)) => Some(self.base.follow(url)?),
            Some(("c", cursor)) => {
                named.insert("cursor".to_owned(), cursor.to_owned());
                None
            }
            _ => {
                match self.recipe.next {
                    Next::Offset => named.insert("cursor".to_owned(), "0".to_owned()),
                    Next::Page => named.insert("cursor".to_owned(), "1".to_owned()),
                    _ => None,
                };
                None
            }
        };
        let values = Values { named: &named, item: &no_item };
        let location = match url {
            Some(url) => url,
            None => self.at(&self.recipe.path, &self.recipe.query, &values)?,
        };
        let body = match &self.recipe.body {
            Some(body) => Some(filled_json(body, &values)?.to_string()),
            None => None,
        };
        self.made(location, self.recipe.method, body, now)
    }

    /// The request for the whole of an entry; `None` where the list has it.
    ///
    /// # Errors
    /// A sentence that says why it can't be made.
    pub fn fetch(
        &self,
        item: &dyn Fn(&str) -> Option<String>,
        now: Timestamp,
    ) -> Result<Option<ListRequest>, String> {
        let Some(path) = &self.recipe.event.fetch else { return Ok(None) };
        let location = self.at(path, &[], &Values { named: &self.options, item })?;
        self.made(location, Method::Get, None, now).map(Some)
    }

    /// The request that has the provider send an entry again; `None` where it can't be asked.
    ///
    /// # Errors
    /// A sentence that says why it can't be made.
    pub fn redeliver(
        &self,
        item: &dyn Fn(&str) -> Option<String>,
        now: Timestamp,
    ) -> Result<Option<ListRequest>, String> {
        let Some(path) = &self.recipe.event.redeliver else { return Ok(None) };
        let location = self.at(path, &[], &Values { named: &self.options, item })?;
        self.made(location, Method::Post, None, now).map(Some)
    }

    fn at(&self, path: &str, query: &[(String, String)], values: &Values<'_>) -> Result<Location, String> {
        // What stands for a place is a path already.
        let place = self.options.get("place").map_or("", String::as_str);
        let path = path.replace("{place}", place);
        let path = fill(&path, values, Place::Path)?
            .ok_or_else(|| "The entry lacks what the path of the next request is made of.".to_owned())?;
        let mut url = self.base.url().clone();
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        let mut pairs = Vec::new();
        for (name, template) in query {
            let Some(value) = fill(template, values, Place::Query)? else { continue };
            if name.ends_with("[]") {
                pairs.extend(value.split(',').map(|one| (name.clone(), one.trim().to_owned())));
            } else {
                pairs.push((name.clone(), value));
            }
        }
        url.set_query(None);
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        Location::parse(url.as_str())
    }

    fn made(
        &self,
        location: Location,
        method: Method,
        body: Option<String>,
        now: Timestamp,
    ) -> Result<ListRequest, String> {
        if !location.same_origin(&self.base) {
            return Err("The request would lead to another host, which is not done.".to_owned());
        }
        let mut headers = vec![("accept".to_owned(), Secret::new("application/json".to_owned()))];
        if body.is_some() {
            headers.push(("content-type".to_owned(), Secret::new("application/json".to_owned())));
        }
        let values = Values { named: &self.options, item: &no_item };
        for (name, template) in &self.recipe.headers {
            let Some(value) = fill(template, &values, Place::Header)? else { continue };
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.to_ascii_lowercase(), Secret::new(value)));
        }
        headers.extend(auth::header(&self.auth, &self.credentials, now)?);
        Ok(ListRequest { location, method, headers, body })
    }
}

fn error(pointer: &str, detail: String) -> FieldError {
    FieldError { pointer: pointer.to_owned(), detail }
}

/// The values of fields, with what is missing, unknown or wrong of them.
fn values(
    fields: &[Field],
    given: &BTreeMap<&str, String>,
    at: &str,
    errors: &mut Vec<FieldError>,
) -> BTreeMap<String, String> {
    for name in given.keys().filter(|name| !fields.iter().any(|field| field.name == **name)) {
        let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        errors.push(error(&format!("{at}/{name}"), format!("There is no “{name}” here. Known: {known}.")));
    }
    let mut values = BTreeMap::new();
    for field in fields {
        let place = format!("{at}/{}", field.name);
        let Some(value) = given.get(field.name.as_str()).cloned().or_else(|| field.default.clone()) else {
            if !field.optional {
                errors.push(error(&place, format!("The {} is missing.", field.title)));
            }
            continue;
        };
        if value.len() > VALUE_BYTES_MAX {
            errors.push(error(&place, format!("This has at most {VALUE_BYTES_MAX} bytes.")));
        } else if !field.one_of.is_empty() && !field.one_of.contains(&value) {
            errors.push(error(&place, format!("This is one of {}.", field.one_of.join(", "))));
        } else {
            values.insert(field.name.clone(), value);
        }
    }
    values
}

/// A body with its texts filled in. A member whose text names nothing that is there is left out.
fn filled_json(value: &Value, values: &Values<'_>) -> Result<Value, String> {
    Ok(match value {
        Value::String(template) => match fill(template, values, Place::Plain)? {
            // A number stays one: `{page_size}` alone.
            Some(text) if template == "{page_size}" => text.parse::<u64>().map_or(Value::Null, Value::from),
            Some(text) => Value::String(text),
            None => Value::Null,
        },
        Value::Array(list) => {
            let mut filled = Vec::with_capacity(list.len());
            for value in list {
                filled.push(filled_json(value, values)?);
            }
            Value::Array(filled)
        }
        Value::Object(map) => {
            let mut filled = Map::new();
            for (name, value) in map {
                let one = filled_json(value, values)?;
                if !one.is_null() {
                    filled.insert(name.clone(), one);
                }
            }
            Value::Object(filled)
        }
        other => other.clone(),
    })
}

/// The names in a template.
fn names(template: &str) -> Vec<String> {
    pieces(template)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Name(name) => Some(name.to_owned()),
            Piece::Text(_) | Piece::Item(_) => None,
        })
        .collect()
}

impl Recipe {
    /// Whether the list is asked for a stretch of time.
    pub fn filters_by_time(&self) -> bool {
        let of_query = self.query.iter().any(|(_, template)| template.contains("{from}"));
        of_query || self.body.as_ref().is_some_and(|body| body.to_string().contains("{from}"))
    }

    /// What is wrong with the words, a sentence each. The catalogue has none; a tenant's recipe is told.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut check = |template: &str, secrets: bool, items: bool| match pieces(template) {
            Err(fault) => faults.push(fault),
            Ok(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Text(_) => {}
                        Piece::Item(pointer) if items && pointer.starts_with('/') => {}
                        Piece::Item(_) => {
                            faults.push(format!("“{template}” can't name a value of an entry."))
                        }
                        Piece::Name(name) => {
                            let secret = self.credentials.iter().any(|field| field.name == name);
                            let known = RUN_NAMES.contains(&name)
                                || self.options.iter().any(|field| field.name == name);
                            if secret && !secrets {
                                faults.push(format!("The credential {name} may stand in auth alone."));
                            } else if !secret && !known {
                                faults.push(format!("“{template}” names {name}, which is no option."));
                            }
                        }
                    }
                }
            }
        };
        check(&self.base_url, false, false);
        check(&self.path, false, false);
        self.query.iter().for_each(|(_, template)| check(template, false, false));
        self.headers.values().for_each(|template| check(template, false, false));
        check(&self.event.entries, false, false);
        for path in self.event.fetch.iter().chain(&self.event.redeliver).chain(self.event.headers.values()) {
            check(path, false, true);
        }
        for path in self.places.iter().flat_map(|places| places.paths.values()) {
            check(path, false, false);
        }
        for auth in std::iter::once(&self.auth).chain(self.auth_when.iter().map(|rule| &rule.auth)) {
            match auth {
                Auth::None => {}
                Auth::Bearer(token) => check(token, true, false),
                Auth::Header(_, value) => check(value, true, false),
                Auth::Basic(user, password) => {
                    check(user, true, false);
                    check(password, true, false);
                }
                Auth::JwtRs256 { issuer, key } => {
                    check(issuer, true, false);
                    check(key, true, false);
                }
            }
        }
        if !self.path.starts_with('/') && !self.path.starts_with("{place}") {
            faults.push("The path begins with a slash.".to_owned());
        }
        if self.page_size == 0 || self.page_size as usize > super::ITEMS_PER_PAGE_MAX {
            faults.push(format!("A page has 1 to {} entries.", super::ITEMS_PER_PAGE_MAX));
        }
        if self.reaches_seconds == 0 {
            faults.push("How far back the list reaches is missing.".to_owned());
        }
        let newest_first = self.order == super::recipe::Order::NewestFirst;
        if !(self.filters_by_time() || newest_first && self.event.at.is_some()) {
            faults.push(
                "A list without a filter by time has to come newest first, with the time in each entry, or a run would read all of it."
                    .to_owned(),
            );
        }
        let uses_cursor = self.query.iter().any(|(_, template)| template.contains("{cursor}"))
            || self.body.as_ref().is_some_and(|body| body.to_string().contains("{cursor}"))
            || self.path.contains("{cursor}");
        let needs_cursor =
            matches!(self.next, Next::LastEntry { .. } | Next::Token { .. } | Next::Offset | Next::Page);
        if needs_cursor != uses_cursor {
            faults.push("The way to the next page and the use of {cursor} don't fit.".to_owned());
        }
        for (name, _) in &self.query {
            if name.is_empty() || name.contains(['&', '=', '#']) {
                faults.push(format!("“{name}” is no name in a query."));
            }
        }
        for pointer in self.pointers() {
            if let Err(fault) = crate::catalogue::Pointer::parse(pointer) {
                faults.push(fault);
            }
        }
        faults
    }

    fn pointers(&self) -> impl Iterator<Item = &str> {
        let event = &self.event;
        let next = match &self.next {
            Next::LastEntry { at, more } => vec![at.as_str(), more.as_str()],
            Next::Token { at } | Next::Url { at } | Next::Links { at } => vec![at.as_str()],
            _ => Vec::new(),
        };
        [Some(event.id.as_str()), Some(event.body.as_str())]
            .into_iter()
            .chain([event.event_type.as_deref(), event.at.as_deref(), event.headers_at.as_deref()])
            .chain([event.arrived.as_ref().map(|rule| rule.at.as_str())])
            .chain([self.compare.as_ref().map(|compare| compare.id.as_str())])
            .flatten()
            .chain(next)
            .chain(event.form.values().map(String::as_str))
    }
}
