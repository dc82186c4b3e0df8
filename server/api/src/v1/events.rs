//! `/v1/events`: what came in, listed, alone with its history, and as bytes.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use restante_app::App;
use restante_app::events::{EventFilter, PayloadPart};
use restante_core::access::Scope;
use restante_core::filter::TypeGlob;
use restante_core::handoff::State as HandoffState;
use restante_core::id::{DeliveryId, EndpointId, ReceiptId};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_core::token::{Cursor, FiltersDigest};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::event_answer::EventAnswer;
use super::event_detail::EventDetailAnswer;
use super::page::{Page, PageQuery};
use crate::extract::{Caller, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

/// The type that the sender gave; ours is one that no browser opens.
static ORIGINAL_TYPE: HeaderName = HeaderName::from_static("x-original-content-type");

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get)).routes(routes!(payload))
}

/// What a list of events is narrowed to.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Of this provider.
    provider: Option<String>,
    /// Of this endpoint, where they came in first.
    endpoint: Option<String>,
    /// With a type like this; `*` is any run of characters. An event without a type never matches.
    #[serde(rename = "type")]
    #[param(rename = "type", example = "invoice.*")]
    event_type: Option<String>,
    /// With a handoff in this state: at the consumer, or without one at any.
    #[param(example = "failed")]
    state: Option<String>,
    /// With a handoff to this consumer.
    consumer: Option<String>,
    /// With this event id.
    event_id: Option<String>,
    /// Received at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    received_after: Option<Timestamp>,
    /// Received before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    received_before: Option<Timestamp>,
    /// `payload` for headers and bodies, which needs the scope `payloads:read`. A page then ends after
    /// 8 MiB of bodies.
    include: Option<String>,
    /// How many entries: 1 to 250, by default 50.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

impl EventsQuery {
    /// The list that is asked for, by which its cursors are known.
    fn digest(&self, tenant: restante_core::id::TenantId) -> FiltersDigest {
        let time = |time: Option<Timestamp>| time.map_or_else(String::new, |time| time.to_string());
        let (after, before) = (time(self.received_after), time(self.received_before));
        let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let values = [
            text(&self.provider),
            text(&self.endpoint),
            text(&self.event_type),
            text(&self.state),
            text(&self.consumer),
            text(&self.event_id),
            after,
            before,
        ];
        let names = ["provider", "endpoint", "type", "state", "consumer", "event_id", "after", "before"];
        let filters: Vec<(&str, &str)> = names.into_iter().zip(values.iter().map(String::as_str)).collect();
        FiltersDigest::new(tenant, "events", &filters)
    }

    fn filter(self) -> std::result::Result<EventFilter, Problem> {
        Filters {
            provider: self.provider,
            endpoint: self.endpoint,
            event_type: self.event_type,
            state: self.state,
            consumer: self.consumer,
            event_id: self.event_id,
            received_after: self.received_after,
            received_before: self.received_before,
        }
        .check("")
    }
}

/// The filters of a list, as they come in a query or a body.
pub(super) struct Filters {
    pub(super) provider: Option<String>,
    pub(super) endpoint: Option<String>,
    pub(super) event_type: Option<String>,
    pub(super) state: Option<String>,
    pub(super) consumer: Option<String>,
    pub(super) event_id: Option<String>,
    pub(super) received_after: Option<Timestamp>,
    pub(super) received_before: Option<Timestamp>,
}

impl Filters {
    /// Checks each; `prefix` stands before the names in pointers.
    pub(super) fn check(self, prefix: &str) -> std::result::Result<EventFilter, Problem> {
        let field = |name: &str, detail: &str| Problem::field(format!("{prefix}{name}"), detail);
        let endpoint = self.endpoint.map(|text| text.parse::<EndpointId>()).transpose();
        let endpoint = endpoint
            .map_err(|_| field("endpoint", "This is not the id of an endpoint: such ids start with ep_."))?;
        let event_type = self.event_type.map(|text| TypeGlob::parse(&text)).transpose();
        let event_type = event_type.map_err(|detail| field("type", &detail))?;
        let state = self.state.map(|word| {
            HandoffState::from_word(&word).ok_or_else(|| {
                field("state", "A state is pending, leased, processed, failed, uncertain or cancelled.")
            })
        });
        Ok(EventFilter {
            endpoint,
            provider: self.provider,
            event_type,
            event_id: self.event_id,
            state: state.transpose()?,
            consumer: self.consumer,
            received_after: self.received_after,
            received_before: self.received_before,
        })
    }
}

/// Lists events, the newest first. A page may be short, and empty, and still have a next one.
#[utoipa::path(
    get,
    path = "/v1/events",
    tag = "events",
    params(EventsQuery),
    responses((status = 200, description = "A page of events.", body = Page<EventAnswer>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<EventsQuery>,
) -> Result<Json<Page<EventAnswer>>> {
    let with_content = match query.include.as_deref() {
        None => false,
        Some("payload") => {
            by.principal.require(Scope::PayloadsRead)?;
            true
        }
        Some(_) => return Err(Problem::field("include", "Only payload can be included.").into()),
    };
    let digest = query.digest(by.tenant());
    let asked = PageQuery { limit: query.limit, cursor: query.cursor.clone() }.check(digest)?;
    let page = app.events(&by, query.filter()?, asked.after, asked.fetch() - 1, with_content).await?;
    Ok(Json(Page {
        data: page.events.into_iter().map(EventAnswer::new).collect(),
        next_cursor: page.next.map(|last| Cursor { last }.encode(digest)),
    }))
}

/// Gives an event with its history; with headers and bytes when the key has the scope `payloads:read`.
#[utoipa::path(
    get,
    path = "/v1/events/{id}",
    tag = "events",
    params(("id" = String, Path, description = "`rcp_…`")),
    responses((status = 200, description = "The event.", body = EventDetailAnswer))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReceiptId>,
) -> Result<Json<EventDetailAnswer>> {
    let with_content = by.principal.scopes.contains(Scope::PayloadsRead);
    Ok(Json(app.event(&by, id, with_content).await?.into()))
}

/// Which bytes of an event.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PayloadQuery {
    /// The whole body of the request that the event came in.
    #[serde(default)]
    whole: bool,
    /// Other bytes that came under the event's key: an id from `variants`.
    #[param(value_type = Option<String>)]
    variant: Option<DeliveryId>,
}

/// Gives the bytes of an event, exactly as they came.
#[utoipa::path(
    get,
    path = "/v1/events/{id}/payload",
    tag = "events",
    params(("id" = String, Path, description = "`rcp_…`"), PayloadQuery),
    responses(
        (
            status = 200,
            description = "The bytes. `X-Original-Content-Type` is what the sender called them.",
            content_type = "application/octet-stream"
        ),
        (status = 410, description = "They are no longer kept.", content_type = "application/problem+json")
    )
)]
pub(crate) async fn payload(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReceiptId>,
    Query(query): Query<PayloadQuery>,
) -> Result<Response> {
    let part = match (query.whole, query.variant) {
        (true, Some(_)) => return Err(Problem::field("variant", "Ask for one of whole and variant.").into()),
        (true, None) => PayloadPart::Whole,
        (false, Some(variant)) => PayloadPart::Variant(variant.0),
        (false, None) => PayloadPart::Event,
    };
    let payload = app.payload(&by, id, part).await?;
    let disposition = format!("attachment; filename=\"{id}.bin\"");
    let mut response = payload.body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    // What can't stand in a header is left out.
    if let Some(Ok(kind)) = payload.content_type.map(|kind| HeaderValue::from_bytes(kind.as_bytes())) {
        headers.insert(ORIGINAL_TYPE.clone(), kind);
    }
    Ok(response)
}
