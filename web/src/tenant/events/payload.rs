//! The payload of an event: opened on purpose, and on the audit log. What it contains is only ever text;
//! as a file it is an attachment that no browser shows as a page.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use restante_app::events::{EventDetail, PayloadPart};
use restante_core::id::ReceiptId;
use restante_core::request::HeaderList;
use restante_core::time::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::detail::Head;
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::amount::bytes;
use crate::parts::link::Link;
use crate::parts::moment::Moment;
use crate::parts::payload::{self, Code, Shown, View};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/events/payload.html")]
pub(crate) struct PayloadPage {
    shell: Shell,
    head: Head,
    replay: String,
    views: Vec<(View, String, bool)>,
    shown: Option<Shown>,
    size: String,
    headers: Vec<(Alien, Alien)>,
    curl: Option<String>,
    variants: Vec<VariantShown>,
    download: String,
    /// That the bytes can't be opened, though they should be there.
    broken: bool,
}

impl Page for PayloadPage {}

/// Another body that came under the event's key.
#[derive(Debug)]
struct VariantShown {
    received: Moment,
    size: String,
    download: String,
    /// The first body and this one, with what differs.
    beside: Option<(Code, Code)>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    view: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReceiptId>() else { return Ok(missing()) };
    let detail = web.app.reveal_event(&member.by, id).await?;
    let shell = frame(&web, &member, Area::Events, &Said::default()).await?;
    let view = View::from_word(&asked.view).unwrap_or(View::Pretty);
    Ok(answer(&PayloadPage::new(shell, &detail, view, web.app.clock.now())))
}

impl PayloadPage {
    pub(crate) fn new(shell: Shell, detail: &EventDetail, view: View, now: Timestamp) -> Self {
        let head = Head::new(&shell, detail);
        let content = detail.event.content.as_ref();
        let kind = detail.event.receipt.content_type.as_deref().unwrap_or_default();
        let shown = content.map(|content| payload::show(&content.body, kind, view));
        let present = shown.as_ref().map_or(view, |shown| shown.view);
        let path = format!("{}/payload", head.href);
        let download = |part: &str| format!("{path}/download?part={part}");
        let variants = detail.variants.iter().map(|variant| VariantShown {
            received: Moment::new(variant.received_at, now),
            size: bytes(variant.size as u64),
            download: download(&variant.id.to_string()),
            beside: content
                .zip(variant.content.as_ref())
                .and_then(|(first, other)| payload::side_by_side(&first.body, &other.body)),
        });
        let replay = Link::to(shell.at("/replays/new")).with("event", &*head.id).to_string();
        Self {
            views: View::ALL
                .map(|one| (one, Link::to(&*path).with("view", one.as_str()).to_string(), one == present))
                .into(),
            size: bytes(detail.event.receipt.slice.length as u64),
            headers: content.map(|content| headers(&content.headers)).unwrap_or_default(),
            curl: content.and_then(|content| payload::curl(&content.headers, &content.body)),
            variants: variants.collect(),
            download: download("event"),
            broken: content.is_none(),
            shown,
            replay,
            head,
            shell,
        }
    }
}

/// Headers as text; a value that is no UTF-8 shows its bytes as far as they are.
pub(crate) fn headers(list: &HeaderList) -> Vec<(Alien, Alien)> {
    let text = |value: &[u8]| Alien::cut(&String::from_utf8_lossy(value), 4_096);
    list.0.iter().map(|(name, value)| (Alien::cut(name, 256), text(value))).collect()
}

/// Which bytes are asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    part: String,
}

pub(crate) async fn download(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Query(asked): Query<Part>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReceiptId>() else { return Ok(missing()) };
    let part = match asked.part.as_str() {
        "" | "event" => PayloadPart::Event,
        "whole" => PayloadPart::Whole,
        variant => match Uuid::try_parse(variant) {
            Ok(variant) => PayloadPart::Variant(variant),
            Err(_) => return Ok(missing()),
        },
    };
    let payload = web.app.download_payload(&member.by, id, part).await?;
    Ok(attachment(&format!("{id}.bin"), payload.body.into()))
}

/// Bytes that a browser saves and never shows, whatever they are. The name is ours.
pub(crate) fn attachment(name: &str, body: axum::body::Body) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::super::detail::samples;
    use super::*;
    use crate::parts::samples::check;

    fn page(detail: &EventDetail, view: View) -> String {
        PayloadPage::new(Shell::sample(Area::Events), detail, view, samples::NOW).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page_in_every_view() {
        for detail in [samples::empty(), samples::ordinary(), samples::hostile(), samples::huge()] {
            for view in View::ALL {
                check(&page(&detail, view));
            }
        }
    }

    #[test]
    fn the_page_shows_the_bytes_the_headers_and_what_differs() {
        let text = page(&samples::ordinary(), View::Pretty);
        assert!(text.contains(
            "<span class=\"k\">&quot;id&quot;</span>: <span class=\"s\">&quot;invoice.paid&quot;</span>"
        ));
        assert_eq!(text.matches("<mark>").count(), 4, "two lines in each of two bodies");
        assert!(text.contains("/payload?view=hex") && text.contains("/payload/download?part=event"));
        assert!(text.contains("curl -sS http://127.0.0.1:3000/webhook"));
        assert!(page(&samples::empty(), View::Raw).contains("can’t be opened"));
    }

    #[test]
    fn a_file_is_an_attachment_that_may_do_nothing() {
        let response = attachment("rcp_1.bin", "<script>".into());
        let header = |name| response.headers()[&name].to_str().unwrap().to_owned();
        assert_eq!(header(CONTENT_TYPE), "application/octet-stream");
        assert_eq!(header(CONTENT_DISPOSITION), "attachment; filename=\"rcp_1.bin\"");
        assert!(header(CONTENT_SECURITY_POLICY).starts_with("sandbox;"));
    }
}
