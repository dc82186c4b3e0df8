//! The one router page: which file answers what. Paths, methods and access stand in
//! `restante_core::access`; a handler's own path stands at the handler, and a test compares the two.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::{Api, FiguresText};
use crate::{access, health, ingest, openapi, v1};

/// Every route with its description, before the state and the guard.
pub(crate) fn described() -> OpenApiRouter<Api> {
    // Each file of handlers has `pub(crate) fn routes() -> OpenApiRouter<Api>`; merge it here.
    OpenApiRouter::new().routes(routes!(health::healthz)).routes(routes!(health::readyz)).merge(v1::routes())
}

/// The router for machines. It answers 404 to what is not its own; see [`crate::with_layers`].
pub fn router(api: &Api) -> Router {
    let (router, _) = described().split_for_parts();
    let mut router = router
        .route("/openapi.json", get(openapi::serve))
        // Outside of the description: a provider calls these, and in its own way.
        .route("/in/{token}", any(ingest::ingest))
        .route("/in/{token}/", any(ingest::ingest));
    if api.figures.is_some() {
        router = router.route("/metrics", get(health::metrics));
    }
    router.route_layer(from_fn_with_state(api.clone(), access::guard)).with_state(api.clone())
}

/// The router of a separate address for operators: health and figures, and nothing else.
pub fn operations_router(api: &Api, figures: FiguresText) -> Router {
    let mut api = api.clone();
    api.figures = Some(figures);
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route_layer(from_fn_with_state(api.clone(), access::guard))
        .with_state(api)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use restante_core::access::API_ROUTES;

    use crate::openapi;

    fn described() -> BTreeSet<(String, String)> {
        let document = serde_json::to_value(openapi::document()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        paths
            .iter()
            .flat_map(|(path, methods)| {
                methods.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone()))
            })
            .collect()
    }

    /// Routes that stand in no description: a provider calls them, or a program that knows them.
    const UNDESCRIBED: [&str; 4] = ["/in/{token}", "/in/{token}/", "/metrics", "/openapi.json"];

    #[test]
    fn the_table_the_router_and_the_description_have_the_same_routes() {
        let table: BTreeSet<_> = API_ROUTES
            .iter()
            .map(|route| (route.method.to_owned(), route.path.to_owned()))
            .filter(|(_, path)| !UNDESCRIBED.contains(&path.as_str()))
            .collect();
        assert_eq!(table.len() + UNDESCRIBED.len(), API_ROUTES.len(), "a route stands twice");
        let described = described();
        let unstated: Vec<_> = described.difference(&table).collect();
        assert!(unstated.is_empty(), "in the router and not in the table: {unstated:?}");
        let missing: Vec<_> = table.difference(&described).collect();
        assert!(missing.is_empty(), "in the table and not in the router: {missing:?}");
    }
}
