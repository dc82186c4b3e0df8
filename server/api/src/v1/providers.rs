//! `/v1/providers`: the catalogue, printed: what to paste where, how requests are verified, how long
//! a provider sends an event again.

use restante_app::providers;
use restante_core::token::FiltersDigest;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::page::{Page, PageQuery};
use crate::extract::{Caller, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get))
}

/// Lists the providers of the catalogue by name.
#[utoipa::path(
    get,
    path = "/v1/providers",
    tag = "providers",
    params(PageQuery),
    responses((status = 200, description = "A page of providers.", body = Page<Object>))
)]
pub(crate) async fn list(Caller(by): Caller, Query(query): Query<PageQuery>) -> Result<Json<Page<Value>>> {
    let asked = query.check(FiltersDigest::new(by.tenant(), "providers", &[]))?;
    // Providers have no ids; their place in the list stands for one.
    let offset = asked.after.map_or(0, |last| last.as_u128().saturating_add(1));
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let fetch = usize::try_from(asked.fetch()).unwrap_or(usize::MAX);
    let found: Vec<(usize, Value)> = providers::providers(offset, fetch)
        .into_iter()
        .enumerate()
        .map(|(place, provider)| (offset.saturating_add(place), provider.summary()))
        .collect();
    let page: Page<Entry> = asked.page(found, |(place, _)| Uuid::from_u128(*place as u128));
    let data = page.data.into_iter().map(|entry| entry.0).collect();
    Ok(Json(Page { data, next_cursor: page.next_cursor }))
}

struct Entry(Value);

impl From<(usize, Value)> for Entry {
    fn from((_, summary): (usize, Value)) -> Self {
        Self(summary)
    }
}

/// Gives a provider of the catalogue.
#[utoipa::path(
    get,
    path = "/v1/providers/{name}",
    tag = "providers",
    params(("name" = String, Path, description = "Such as `stripe`.")),
    responses((status = 200, description = "The provider.", body = Object))
)]
pub(crate) async fn get(_: Caller, Path(name): Path<String>) -> Result<Json<Value>> {
    Ok(Json(providers::provider(&name)?.summary()))
}
