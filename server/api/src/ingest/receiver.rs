//! What receiving needs of the verbs, as a trait, so that the tests of the HTTP side can stand in
//! for them.

use std::future::Future;
use std::sync::Arc;

use restante_app::App;
use restante_app::receive::{Incoming, Target};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_core::verify::Reply;

/// Where deliveries go.
pub(super) trait Receiver: Clone + Send + Sync + 'static {
    /// An endpoint as it was found by its token.
    type Target: Send + Sync + 'static;

    /// Finds an endpoint.
    fn find(&self, token: &str) -> impl Future<Output = Result<Option<Arc<Self::Target>>, Problem>> + Send;

    /// The largest body that the endpoint takes.
    fn body_bytes_max(target: &Self::Target) -> u64;

    /// The answer where none needs the body: a method that does not deliver, an endpoint that is disabled, a
    /// tenant that is suspended or sends more than it may. Who is let in counts for the limits.
    fn gate(&self, target: &Self::Target, method: &str, at: Timestamp) -> Option<Reply>;

    /// Counts a refusal from before the body was whole, for the tenant's figures.
    fn count(&self, target: &Self::Target, what: &'static str, at: Timestamp);

    /// Verifies, keeps and answers.
    fn receive(&self, target: &Arc<Self::Target>, delivery: Incoming) -> impl Future<Output = Reply> + Send;
}

impl Receiver for App {
    type Target = Target;

    async fn find(&self, token: &str) -> Result<Option<Arc<Target>>, Problem> {
        self.find_endpoint(token).await
    }

    fn body_bytes_max(target: &Target) -> u64 {
        target.body_bytes_max()
    }

    fn gate(&self, target: &Target, method: &str, at: Timestamp) -> Option<Reply> {
        self.let_in(target, method, at).err()
    }

    fn count(&self, target: &Target, what: &'static str, at: Timestamp) {
        self.refusals.count(target, what, at);
    }

    async fn receive(&self, target: &Arc<Target>, delivery: Incoming) -> Reply {
        Self::receive(self, target, delivery).await
    }
}
