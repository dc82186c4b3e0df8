//! A page of a provider's list: its entries, and how the next one is found.

use super::lister::{Lister, Window};
use super::recipe::{Next, Order};
use super::{ITEMS_PER_PAGE_MAX, POSITION_BYTES_MAX, pick, units};
use crate::outbound::Location;
use crate::time::Timestamp;

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its text in the answer.
    pub raw: String,
    /// What names it, for people; `None` where the entry lacks it.
    pub id: Option<String>,
    /// Its type.
    pub event_type: Option<String>,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// Whether the provider saw it arrive, where it says so.
    pub arrived: Option<bool>,
}

impl Listed {
    /// A value of the entry.
    pub fn value(&self, pointer: &str) -> Option<String> {
        pick::text(&self.raw, pointer)
    }
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// The entries that lie in the window.
    pub entries: Vec<Listed>,
    /// The position of the next page; `None` after the last one.
    pub next: Option<String>,
}

impl Lister {
    /// Reads the answer to a request for a page.
    ///
    /// # Errors
    /// A sentence that says what the answer lacks: then it is no page, and is asked for again.
    pub fn page(
        &self,
        asked: &Location,
        position: Option<&str>,
        window: Window,
        link: Option<&str>,
        body: &[u8],
    ) -> Result<ListPage, String> {
        let body = std::str::from_utf8(body).map_err(|_| "The provider's answer is no text.".to_owned())?;
        if !is_json(body) {
            return Err("The provider's answer is no JSON, or breaks off.".to_owned());
        }
        let entries = pick::raw(body, self.entries()).and_then(pick::elements).ok_or_else(|| {
            "The provider's answer holds no list of entries where one is expected.".to_owned()
        })?;
        if entries.len() > ITEMS_PER_PAGE_MAX {
            return Err(format!("A page holds more than {ITEMS_PER_PAGE_MAX} entries."));
        }
        let words = &self.recipe.event;
        let all: Vec<Listed> = entries
            .iter()
            .map(|entry| {
                let raw = entry.get().to_owned();
                Listed {
                    id: pick::text(&raw, &words.id),
                    event_type: words.event_type.as_deref().and_then(|at| pick::text(&raw, at)),
                    at: words
                        .at
                        .as_deref()
                        .and_then(|at| pick::text(&raw, at))
                        .and_then(|text| units::read(&text, words.at_unit)),
                    arrived: words.arrived.as_ref().and_then(|rule| {
                        let number: i64 = pick::text(&raw, &rule.at)?.parse().ok()?;
                        Some((rule.least..=rule.most).contains(&number))
                    }),
                    raw,
                }
            })
            .collect();
        let next = self.next(asked, position, link, body, &all)?;
        if next.as_ref().is_some_and(|next| next.len() > POSITION_BYTES_MAX) {
            return Err("The provider's cursor is longer than any cursor should be.".to_owned());
        }
        // Where the list is not cut to the window, what lies before it is not looked at, and ends the run.
        let cut = self.recipe.filters_by_time();
        let older = |entry: &Listed| !cut && entry.at.is_some_and(|at| at < window.from);
        let ends = self.recipe.order == Order::NewestFirst && all.iter().any(older);
        Ok(ListPage {
            entries: all.into_iter().filter(|entry| !older(entry)).collect(),
            next: next.filter(|_| !ends),
        })
    }

    fn next(
        &self,
        asked: &Location,
        position: Option<&str>,
        link: Option<&str>,
        body: &str,
        entries: &[Listed],
    ) -> Result<Option<String>, String> {
        let full = entries.len() >= self.recipe.page_size as usize;
        let before: u64 = position
            .and_then(|position| position.strip_prefix("c:"))
            .and_then(|number| number.parse().ok())
            .unwrap_or(0);
        let url = |link: String| asked.follow(&link).map(|location| Some(format!("u:{}", location.url())));
        match &self.recipe.next {
            Next::Single => Ok(None),
            Next::LastEntry { at, more } => {
                if pick::text(body, more).as_deref() != Some("true") {
                    return Ok(None);
                }
                entries
                    .last()
                    .and_then(|last| pick::text(&last.raw, at))
                    .map(|cursor| Some(format!("c:{cursor}")))
                    .ok_or_else(|| "There are more pages, but this one has nothing to go on from.".to_owned())
            }
            Next::Token { at } => Ok(pick::text(body, at).map(|cursor| format!("c:{cursor}"))),
            // Some lists that are followed like a log have a next link for ever.
            Next::LinkHeader if entries.is_empty() => Ok(None),
            Next::LinkHeader => link.and_then(next_link).map_or(Ok(None), url),
            Next::Url { at } => pick::text(body, at).map_or(Ok(None), url),
            Next::Links { at } => {
                let links = pick::raw(body, at).and_then(pick::elements).unwrap_or_default();
                let found =
                    links.iter().find(|link| pick::text(link.get(), "/rel").as_deref() == Some("next"));
                found.and_then(|link| pick::text(link.get(), "/href")).map_or(Ok(None), url)
            }
            // Some of the last page come once more, since entries that went meanwhile moved the rest up.
            Next::Offset => {
                let back = (entries.len() as u64 / 10).min(10);
                Ok(full.then(|| format!("c:{}", before + entries.len() as u64 - back)))
            }
            Next::Page => Ok(full.then(|| format!("c:{}", before.max(1) + 1))),
        }
    }
}

/// Whether a text is one JSON value and nothing behind it.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// The target with `rel="next"` of a header `Link` (RFC 8288).
fn next_link(header: &str) -> Option<String> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (target, parameters) = after.split_once('>')?;
        let own = parameters.split('<').next().unwrap_or_default();
        let is_next =
            own.split(';').filter_map(|parameter| parameter.trim().split_once('=')).any(|(name, value)| {
                let value = value.trim().trim_end_matches(',').trim().trim_matches('"');
                name.trim().eq_ignore_ascii_case("rel")
                    && value.split_whitespace().any(|word| word.eq_ignore_ascii_case("next"))
            });
        if is_next {
            return Some(target.to_owned());
        }
        rest = parameters;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_among_the_links() {
        let header = "<https://a.b/1?x=1,2>; rel=\"prev\", <https://a.b/3?cursor=v1_3>; rel=\"next\"";
        assert_eq!(next_link(header).as_deref(), Some("https://a.b/3?cursor=v1_3"));
        assert_eq!(next_link("<https://a.b/3>; title=x; rel=next").as_deref(), Some("https://a.b/3"));
        assert_eq!(next_link("<https://a.b/1>; rel=\"self\""), None);
        assert_eq!(next_link("rubbish <"), None);
        assert_eq!(next_link(""), None);
    }
}
