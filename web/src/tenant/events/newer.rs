//! Whether something newer came than what the list shows: a line that the list asks for every few
//! seconds. The list itself stands still until the person wants it anew.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_core::id::ReceiptId;

use super::filter::Typed;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::shell::Area;
use crate::session::Member;
use crate::state::Web;

/// More are not counted.
const COUNTED_MAX: u32 = 50;

#[derive(Debug, Template)]
#[template(path = "tenant/events/newer.html")]
struct Newer {
    count: String,
    href: String,
}

impl Page for Newer {}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(typed): Query<Typed>,
) -> Result<Response, Fault> {
    let (filter, _) = typed.read();
    let newest = web.app.events(&member.by, filter, None, COUNTED_MAX, false).await?.events;
    let shown: Option<ReceiptId> = typed.after.parse().ok();
    let newer = newest.iter().filter(|event| shown.is_none_or(|shown| event.receipt.id > shown)).count();
    let href = typed.link(member.shell(Area::Events).at("/events")).to_string();
    Ok(answer(&Newer { count: in_words(newer), href }))
}

fn in_words(newer: usize) -> String {
    match newer {
        0 => String::new(),
        1 => "1 new event".to_owned(),
        n if n >= COUNTED_MAX as usize => format!("{COUNTED_MAX} or more new events"),
        n => format!("{n} new events"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn hostile_and_long_filters_stay_within_the_link() {
        for text in [samples::HOSTILE.to_owned(), samples::long()] {
            let line = Newer { count: in_words(2), href: text }.render().unwrap();
            samples::check(&line);
        }
    }

    #[test]
    fn the_line_says_how_many_came_and_nothing_when_none_did() {
        let line =
            |newer| Newer { count: in_words(newer), href: "/t/acme/events".to_owned() }.render().unwrap();
        assert_eq!(line(0).trim(), "");
        assert!(line(1).contains("1 new event,") && line(50).contains("50 or more new events"));
    }
}
