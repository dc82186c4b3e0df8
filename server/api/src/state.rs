//! What handlers share: the app, and what belongs to HTTP alone.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRef;
use ipnet::IpNet;
use restante_app::App;
use tokio::sync::{Semaphore, watch};

use crate::health::Readiness;

/// Gives the figures as Prometheus text.
pub type FiguresText = Arc<dyn Fn() -> String + Send + Sync>;

/// How long the parts of a request may take. Tests make them short.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// From the head of a request to the first byte of its body.
    pub first_byte: Duration,
    /// From the head of a request to the last byte of its body. A total, so that a trickle does not beat it.
    pub body: Duration,
    /// From the last byte of a delivery to its answer.
    pub answer: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(10),
            body: Duration::from_secs(20),
            answer: Duration::from_secs(4),
        }
    }
}

/// Counts the deliveries that are being worked on. Their senders may be gone, so that no connection
/// tells of them any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnderWay(Arc<watch::Sender<usize>>);

/// A delivery that has begun, until this is dropped.
#[derive(Debug)]
pub(crate) struct Begun(UnderWay);

impl UnderWay {
    pub(crate) fn begin(&self) -> Begun {
        self.0.send_modify(|count| *count += 1);
        Begun(self.clone())
    }

    /// Resolves when there are none.
    pub(crate) async fn ended(&self) {
        // Never an error, since a sender is here.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// The state of the router. Clones share it.
#[derive(Clone)]
pub struct Api {
    /// The verbs.
    pub app: App,
    /// How long the parts of a request may take.
    pub deadlines: Deadlines,
    /// Bytes of bodies that may still be taken into memory.
    pub(crate) budget: Arc<Semaphore>,
    pub(crate) under_way: UnderWay,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) figures: Option<FiguresText>,
    pub(crate) trusted_proxies: Arc<[IpNet]>,
}

impl Api {
    /// The state around an app: `figures` gives the text of `/metrics`, which without it is not there;
    /// `trusted_proxies` may say whose request they pass on.
    pub fn new(app: App, figures: Option<FiguresText>, trusted_proxies: Vec<IpNet>) -> Self {
        let budget = Arc::new(Semaphore::new(app.settings.body_bytes_budget.min(Semaphore::MAX_PERMITS)));
        Self {
            app,
            deadlines: Deadlines::default(),
            budget,
            under_way: UnderWay::default(),
            readiness: Arc::default(),
            figures,
            trusted_proxies: trusted_proxies.into(),
        }
    }

    /// Tells load balancers that this server is about to stop.
    pub fn drain(&self) {
        self.readiness.drain();
        // Claims that wait for something to come would hold up the stop.
        self.app.wakeups.close();
    }

    /// Resolves when no delivery is being worked on.
    pub async fn deliveries_ended(&self) {
        self.under_way.ended().await;
    }
}

impl FromRef<Api> for App {
    fn from_ref(api: &Api) -> Self {
        api.app.clone()
    }
}
