//! What handlers of pages share.

use std::sync::Arc;

use axum::extract::FromRef;
use restante_app::App;

use crate::api_reference::Reference;
use crate::session::PublicAddress;

/// The state of the router. Clones share it.
#[derive(Clone)]
pub(crate) struct Web {
    /// The verbs.
    pub(crate) app: App,
    /// How the world reaches this instance.
    pub(crate) public: Arc<PublicAddress>,
    reference: Arc<Reference>,
}

impl Web {
    pub(crate) fn new(app: App, reference: Reference) -> Self {
        let public = Arc::new(PublicAddress::read(&app.settings.public_url));
        Self { app, public, reference: Arc::new(reference) }
    }
}

impl FromRef<Web> for App {
    fn from_ref(web: &Web) -> Self {
        web.app.clone()
    }
}

impl FromRef<Web> for Arc<Reference> {
    fn from_ref(web: &Web) -> Self {
        Arc::clone(&web.reference)
    }
}
