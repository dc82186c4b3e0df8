//! Who may do what. Callers hold scopes: an API key its own, a person those of their role in the tenant.
//! What a route asks for stands in two tables, one for programs and one for people; a route that is in
//! neither can't be reached.

mod api_routes;
mod page_routes;
mod principal;
mod role;
mod route;
mod scope;

pub use api_routes::API_ROUTES;
pub use page_routes::PAGE_ROUTES;
pub use principal::Principal;
pub use role::Role;
pub use route::{Access, Route, allowed_methods, find};
pub use scope::{Scope, Scopes};
