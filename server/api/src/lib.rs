//! HTTP for machines: receiving, pulling, management, health and figures. Handlers are thin: who
//! acts, what is asked, the verb of `app`, the answer. Pages for people are in `web`.

mod access;
mod body;
mod context;
pub mod extract;
mod health;
mod ingest;
mod layers;
mod openapi;
mod page_body;
mod peer;
pub mod problem;
mod request_log;
mod router;
pub mod server;
mod state;
#[cfg(test)]
mod surface_tests;
mod v1;

pub use layers::with_layers;
pub use openapi::document as openapi_document;
pub use router::{operations_router, router};
pub use state::{Api, Deadlines, FiguresText};
