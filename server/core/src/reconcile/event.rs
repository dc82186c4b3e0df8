//! From an entry of a list to the request that the provider would have sent. It is identified by the very
//! rules by which a delivery is, so that one event has one key, by whichever road it comes.

use bytes::Bytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::lister::Lister;
use super::page::Listed;
use super::pick;
use super::template::{Place, Values, fill};
use crate::request::{HeaderList, Request};

impl Lister {
    /// The request that the provider would have sent for an entry. `whole` is what was fetched of it; without
    /// it, where the recipe fetches, the request has an empty object as its body and tells the key alone.
    ///
    /// # Errors
    /// A sentence that says what the entry lacks.
    pub fn event(&self, entry: &Listed, whole: Option<&str>) -> Result<Request, String> {
        let words = &self.recipe.event;
        let lacks = |what: &str| format!("An entry of the list lacks {what}.");
        let mut headers: Vec<(String, Bytes)> = Vec::new();
        if let (Some(at), Some(whole)) = (&words.headers_at, whole) {
            let sent = pick::raw(whole, at).and_then(pick::members).ok_or_else(|| lacks("its headers"))?;
            let mut sent: Vec<(String, String)> = sent
                .iter()
                .filter_map(|(name, value)| Some((name.to_string(), pick::text(value.get(), "")?)))
                .collect();
            sent.sort();
            for (name, value) in sent {
                let name = name.to_ascii_lowercase();
                // They tell of the bytes that were sent, which these are not.
                if !name.starts_with("content-") && !name.contains("signature") {
                    headers.push((name, Bytes::from(value)));
                }
            }
        }
        let item = |pointer: &str| entry.value(pointer);
        let values = Values { named: &self.options, item: &item };
        for (name, template) in &words.headers {
            if headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                continue;
            }
            if let Some(value) = fill(template, &values, Place::Header)? {
                headers.push((name.to_ascii_lowercase(), Bytes::from(value)));
            }
        }
        let fetched = words.fetch.is_some();
        let (content_type, body) = if !words.form.is_empty() {
            let pairs: Vec<String> = words
                .form
                .iter()
                .filter_map(|(name, pointer)| {
                    Some(format!("{}={}", encoded(name), encoded(&entry.value(pointer)?)))
                })
                .collect();
            ("application/x-www-form-urlencoded", pairs.join("&"))
        } else if fetched && whole.is_none() {
            ("application/json", "{}".to_owned())
        } else {
            let document = whole.unwrap_or(&entry.raw);
            let body = pick::raw(document, &words.body).ok_or_else(|| lacks("its body"))?;
            let body = match &words.envelope {
                Some((before, after)) => format!("{before}{body}{after}"),
                None => body.to_owned(),
            };
            ("application/json", body)
        };
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("content-type".to_owned(), Bytes::from_static(content_type.as_bytes())));
        }
        Ok(Request {
            method: "POST".to_owned(),
            headers: HeaderList(headers),
            body: Bytes::from(body),
            ..Request::default()
        })
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
