//! The routes for people, with what each asks of whoever opens it. Forms know GET and POST alone. A page
//! of a tenant has the tenant's name in its path, so that a link works for a colleague; whether the
//! person belongs there is asked anew at each request.

use super::Scope::{self, ConfigRead, ConfigWrite, EventsRead, EventsReplay, PayloadsRead};
use super::{Access, Route};

const fn public(method: &'static str, path: &'static str) -> Route {
    Route::new(method, path, Access::Public)
}

const fn signed_in(method: &'static str, path: &'static str) -> Route {
    Route::new(method, path, Access::SignedIn)
}

const fn tenant(method: &'static str, path: &'static str, scope: Scope) -> Route {
    Route::new(method, path, Access::Tenant(scope))
}

const fn owner(method: &'static str, path: &'static str) -> Route {
    Route::new(method, path, Access::Owner)
}

const fn administrator(method: &'static str, path: &'static str) -> Route {
    Route::new(method, path, Access::Administrator)
}

/// Every route of the pages.
pub const PAGE_ROUTES: &[Route] = &[
    // For anyone.
    public("GET", "/"),
    public("GET", "/docs/api"),
    public("GET", "/docs/errors"),
    public("GET", "/docs/errors/{slug}"),
    public("GET", "/assets/{name}"),
    // Coming and going.
    public("GET", "/sign-in"),
    public("POST", "/sign-in"),
    public("GET", "/sign-in/code"),
    public("POST", "/sign-in/code"),
    public("GET", "/sign-up"),
    public("POST", "/sign-up"),
    signed_in("POST", "/sign-out"),
    // One-time links. The path itself is the credential.
    public("GET", "/set-up/{link}"),
    public("POST", "/set-up/{link}"),
    public("GET", "/links/{link}"),
    public("POST", "/links/{link}"),
    // The own account.
    signed_in("GET", "/account"),
    signed_in("POST", "/account/password"),
    signed_in("GET", "/account/second-factor"),
    signed_in("POST", "/account/second-factor").confirmed(),
    signed_in("POST", "/account/second-factor/enable"),
    signed_in("POST", "/account/second-factor/remove").confirmed(),
    signed_in("POST", "/account/second-factor/recovery-codes").confirmed(),
    signed_in("POST", "/account/sessions/end-others"),
    signed_in("POST", "/account/sessions/{id}/end"),
    // A tenant.
    tenant("GET", "/t/{slug}", EventsRead),
    tenant("POST", "/t/{slug}/enter", EventsRead),
    // Its members, and what others may see of it.
    owner("GET", "/t/{slug}/members"),
    owner("POST", "/t/{slug}/members/invites"),
    owner("POST", "/t/{slug}/members/invites/{id}/revoke"),
    owner("POST", "/t/{slug}/members/{id}/role"),
    owner("POST", "/t/{slug}/members/{id}/remove"),
    owner("POST", "/t/{slug}/members/{id}/reset-link").confirmed(),
    owner("POST", "/t/{slug}/grants").confirmed(),
    owner("POST", "/t/{slug}/grants/{id}/end"),
    owner("GET", "/t/{slug}/audit"),
    // Its events.
    tenant("GET", "/t/{slug}/events", EventsRead),
    tenant("GET", "/t/{slug}/events/newer", EventsRead),
    tenant("GET", "/t/{slug}/events/{id}", EventsRead),
    tenant("GET", "/t/{slug}/events/{id}/payload", PayloadsRead),
    tenant("GET", "/t/{slug}/events/{id}/payload/download", PayloadsRead),
    tenant("POST", "/t/{slug}/events/{id}/settle", EventsReplay),
    tenant("POST", "/t/{slug}/events/{id}/repair", EventsReplay),
    tenant("GET", "/t/{slug}/refusals", EventsRead),
    tenant("GET", "/t/{slug}/refusals/{endpoint}/{id}", PayloadsRead),
    tenant("POST", "/t/{slug}/refusals/{endpoint}/{id}/verify", EventsReplay),
    tenant("GET", "/t/{slug}/replays/new", EventsReplay),
    tenant("POST", "/t/{slug}/replays", EventsReplay),
    tenant("GET", "/t/{slug}/replays/{id}", EventsRead),
    tenant("POST", "/t/{slug}/replays/{id}/cancel", EventsReplay),
    tenant("GET", "/t/{slug}/failures", EventsRead),
    tenant("GET", "/t/{slug}/failures/settle", EventsReplay),
    tenant("POST", "/t/{slug}/failures/settle/confirmed", EventsReplay),
    tenant("GET", "/t/{slug}/search", EventsRead),
    tenant("GET", "/t/{slug}/settings", ConfigRead),
    // Its consumers and keys.
    tenant("GET", "/t/{slug}/consumers", ConfigRead),
    tenant("GET", "/t/{slug}/consumers/new", ConfigWrite),
    tenant("POST", "/t/{slug}/consumers/new", ConfigWrite),
    tenant("GET", "/t/{slug}/consumers/{name}", ConfigRead),
    tenant("GET", "/t/{slug}/consumers/{name}/edit", ConfigWrite),
    tenant("POST", "/t/{slug}/consumers/{name}/edit", ConfigWrite),
    tenant("POST", "/t/{slug}/consumers/{name}/pause", ConfigWrite),
    tenant("POST", "/t/{slug}/consumers/{name}/resume", ConfigWrite),
    tenant("POST", "/t/{slug}/consumers/{name}/delete", ConfigWrite),
    tenant("GET", "/t/{slug}/keys", ConfigRead),
    tenant("GET", "/t/{slug}/keys/new", ConfigWrite),
    tenant("POST", "/t/{slug}/keys/new", ConfigWrite),
    tenant("POST", "/t/{slug}/keys/{id}/revoke", ConfigWrite),
    // Its endpoints.
    tenant("GET", "/t/{slug}/endpoints", ConfigRead),
    tenant("GET", "/t/{slug}/endpoints/new", ConfigWrite),
    tenant("GET", "/t/{slug}/endpoints/new/{provider}", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/new/{provider}", ConfigWrite),
    tenant("GET", "/t/{slug}/endpoints/{id}", ConfigRead),
    tenant("GET", "/t/{slug}/endpoints/{id}/edit", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/edit", ConfigWrite),
    tenant("GET", "/t/{slug}/endpoints/{id}/first", ConfigWrite),
    tenant("GET", "/t/{slug}/endpoints/{id}/first/state", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/first/secret", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/secrets", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/secrets/{secret}/delete", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/test", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/enable", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/disable", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/delete", ConfigWrite),
    // How long it keeps things.
    tenant("GET", "/t/{slug}/retention", ConfigRead),
    tenant("POST", "/t/{slug}/retention", ConfigWrite).confirmed(),
    tenant("POST", "/t/{slug}/retention/preview", ConfigWrite),
    tenant("POST", "/t/{slug}/retention/holds", ConfigWrite),
    tenant("POST", "/t/{slug}/retention/holds/{id}/release", ConfigWrite),
    owner("POST", "/t/{slug}/retention/erase").confirmed(),
    tenant("GET", "/t/{slug}/endpoints/{id}/retention", ConfigRead),
    tenant("POST", "/t/{slug}/endpoints/{id}/retention", ConfigWrite).confirmed(),
    tenant("POST", "/t/{slug}/endpoints/{id}/retention/preview", ConfigWrite),
    tenant("POST", "/t/{slug}/events/{id}/erase", ConfigWrite).confirmed(),
    // Asking providers what they sent.
    tenant("GET", "/t/{slug}/reconciliation", ConfigRead),
    tenant("GET", "/t/{slug}/endpoints/{id}/reconciliation", ConfigRead),
    tenant("POST", "/t/{slug}/endpoints/{id}/reconciliation", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/reconciliation/run", ConfigWrite),
    tenant("POST", "/t/{slug}/endpoints/{id}/reconciliation/remove", ConfigWrite),
    tenant("GET", "/t/{slug}/endpoints/{id}/reconciliation/runs/{run}", ConfigRead),
    // The instance.
    administrator("GET", "/admin/retention"),
    administrator("POST", "/admin/retention").confirmed(),
    administrator("POST", "/admin/retention/clock").confirmed(),
    administrator("POST", "/admin/retention/override").confirmed(),
    administrator("POST", "/admin/retention/lift").confirmed(),
    administrator("GET", "/admin"),
    administrator("GET", "/admin/tenants"),
    administrator("GET", "/admin/tenants/new"),
    administrator("POST", "/admin/tenants/new"),
    administrator("GET", "/admin/tenants/{id}"),
    administrator("POST", "/admin/tenants/{id}/names"),
    administrator("POST", "/admin/tenants/{id}/limits"),
    administrator("POST", "/admin/tenants/{id}/suspend").confirmed(),
    administrator("POST", "/admin/tenants/{id}/resume"),
    administrator("POST", "/admin/tenants/{id}/delete").confirmed(),
    administrator("GET", "/admin/tenants/{id}/removal"),
    administrator("GET", "/admin/people"),
    administrator("GET", "/admin/people/{id}"),
    administrator("POST", "/admin/people/{id}/administrator").confirmed(),
    administrator("POST", "/admin/people/{id}/disabled").confirmed(),
    administrator("POST", "/admin/people/{id}/end-sessions"),
    administrator("POST", "/admin/people/{id}/reset-link").confirmed(),
    administrator("POST", "/admin/sign-up").confirmed(),
    administrator("GET", "/admin/health"),
    administrator("GET", "/admin/schedule"),
    administrator("GET", "/admin/schedule/{name}"),
    administrator("POST", "/admin/schedule/{name}/run"),
    administrator("POST", "/admin/schedule/{name}/pause"),
    administrator("GET", "/admin/audit"),
    administrator("GET", "/admin/keys"),
    administrator("POST", "/admin/keys/rotate").confirmed(),
];
