//! The routes for programs, with what each asks of its caller. Tests compare this table with the
//! router, the OpenAPI document and what each caller may do.

use super::Scope::{self, ConfigRead, ConfigWrite, EventsConsume, EventsRead, EventsReplay, PayloadsRead};
use super::{Access, Route};

const fn public(method: &'static str, path: &'static str) -> Route {
    Route::new(method, path, Access::Public)
}

const fn key(method: &'static str, path: &'static str, scope: Scope) -> Route {
    Route::new(method, path, Access::Key(scope))
}

/// Every route of the machine interface.
pub const API_ROUTES: &[Route] = &[
    // Health, figures, description.
    public("GET", "/healthz"),
    public("GET", "/readyz"),
    public("GET", "/metrics"),
    public("GET", "/openapi.json"),
    // Receiving. The path itself is the credential.
    public("ANY", "/in/{token}"),
    public("ANY", "/in/{token}/"),
    // API keys.
    key("GET", "/v1/keys", ConfigRead),
    key("POST", "/v1/keys", ConfigWrite),
    key("DELETE", "/v1/keys/{id}", ConfigWrite),
    // The catalogue.
    key("GET", "/v1/providers", ConfigRead),
    key("GET", "/v1/providers/{name}", ConfigRead),
    // Endpoints.
    key("GET", "/v1/endpoints", ConfigRead),
    key("POST", "/v1/endpoints", ConfigWrite),
    key("GET", "/v1/endpoints/{id}", ConfigRead),
    key("PATCH", "/v1/endpoints/{id}", ConfigWrite),
    key("DELETE", "/v1/endpoints/{id}", ConfigWrite),
    key("POST", "/v1/endpoints/{id}/secrets", ConfigWrite),
    key("DELETE", "/v1/endpoints/{id}/secrets/{secret}", ConfigWrite),
    key("POST", "/v1/endpoints/{id}/test", ConfigWrite),
    key("GET", "/v1/endpoints/{id}/refusals", EventsRead),
    key("POST", "/v1/endpoints/{id}/refusals/{refusal}/verify", EventsReplay),
    key("GET", "/v1/endpoints/{id}/retention", ConfigRead),
    // Asking the provider what it sent.
    key("GET", "/v1/endpoints/{id}/reconciliation", ConfigRead),
    key("PUT", "/v1/endpoints/{id}/reconciliation", ConfigWrite),
    key("DELETE", "/v1/endpoints/{id}/reconciliation", ConfigWrite),
    key("GET", "/v1/endpoints/{id}/reconciliation/runs", ConfigRead),
    key("POST", "/v1/endpoints/{id}/reconciliation/runs", ConfigWrite),
    key("GET", "/v1/endpoints/{id}/reconciliation/runs/{run}", ConfigRead),
    // Consumers.
    key("GET", "/v1/consumers", ConfigRead),
    key("POST", "/v1/consumers", ConfigWrite),
    key("GET", "/v1/consumers/{name}", ConfigRead),
    key("PATCH", "/v1/consumers/{name}", ConfigWrite),
    key("DELETE", "/v1/consumers/{name}", ConfigWrite),
    // Pulling.
    key("POST", "/v1/consumers/{name}/claim", EventsConsume),
    key("POST", "/v1/consumers/{name}/ack", EventsConsume),
    key("POST", "/v1/consumers/{name}/nack", EventsConsume),
    key("POST", "/v1/consumers/{name}/extend", EventsConsume),
    // Events.
    key("GET", "/v1/events", EventsRead),
    key("GET", "/v1/events/{id}", EventsRead),
    key("GET", "/v1/events/{id}/payload", PayloadsRead),
    key("POST", "/v1/events/{id}/replay", EventsReplay),
    key("POST", "/v1/events/{id}/repair", EventsReplay),
    key("POST", "/v1/events/{id}/settle", EventsReplay),
    key("GET", "/v1/replays", EventsRead),
    key("POST", "/v1/replays", EventsReplay),
    key("GET", "/v1/replays/{id}", EventsRead),
    key("POST", "/v1/replays/{id}/cancel", EventsReplay),
    key("POST", "/v1/events/{id}/erase", ConfigWrite),
    // Retention.
    key("GET", "/v1/retention", ConfigRead),
    key("PUT", "/v1/retention", ConfigWrite),
    key("PUT", "/v1/retention/providers/{name}", ConfigWrite),
    key("GET", "/v1/retention/preview", ConfigRead),
    key("POST", "/v1/retention/preview", ConfigRead),
    key("GET", "/v1/retention/runs", ConfigRead),
    key("GET", "/v1/retention/holds", ConfigRead),
    key("POST", "/v1/retention/holds", ConfigWrite),
    key("DELETE", "/v1/retention/holds/{id}", ConfigWrite),
    key("POST", "/v1/retention/erase", ConfigWrite),
    // Figures.
    key("GET", "/v1/stats", EventsRead),
];
