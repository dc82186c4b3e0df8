//! The figures that nobody records because nothing happens: what waits, and for how long, and how
//! far the clocks are apart. They are looked up every few seconds; a look costs a few rows.

use std::time::Duration;

use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::stats::{self, Waiting};

use super::clocks::median_signed_age;
use super::{Against, clock_offset, oldest_pending, queue_depth, waiting};
use crate::App;

/// Between two looks. An alarm on the oldest pending event is set to minutes.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Looks for as long as it runs.
pub async fn watch(app: App) {
    loop {
        look(&app).await;
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Looks once. What can't be looked up keeps its last figure.
pub(crate) async fn look(app: &App) {
    queue_depth(app.store.queue_depth());
    let read = app.store.read(|conn| {
        Box::pin(async move {
            let database_now = conn.now().await?;
            Ok::<(Timestamp, Waiting), StoreError>((database_now, stats::waiting(conn).await?))
        })
    });
    match read.await {
        Ok((database_now, found)) => {
            let now = app.clock.now();
            clock_offset(Against::Database, seconds(now.micros_since(database_now)));
            let age = found.oldest.map_or(0, |oldest| database_now.micros_since(oldest).max(0) / 1_000_000);
            oldest_pending(age.unsigned_abs());
            waiting(&found);
        }
        Err(error) => tracing::warn!(%error, "what waits can't be looked up"),
    }
    if let Some(age_ms) = median_signed_age() {
        // Some of the age is the way of the request; more than that is a clock.
        clock_offset(Against::SignedTimes, seconds(age_ms.saturating_mul(1_000)));
    }
}

fn seconds(micros: i64) -> f64 {
    micros as f64 / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;
    use restante_core::secret::Secret;
    use restante_store::testing::TestStore;
    use serde_json::Map;

    use super::*;
    use crate::endpoints::NewEndpoint;
    use crate::testing::TestApp;

    // On one thread, since a recorder that is not global is the thread's.
    #[tokio::test]
    async fn what_waits_is_shown_with_the_age_of_the_oldest() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let _recording = metrics::set_default_local_recorder(&recorder);
        let test = TestApp::new(TestStore::sqlite().await);
        look(&test.app).await;
        assert!(recorder.handle().render().contains("restante_oldest_pending_seconds 0\n"));
        let tenant = test.tenant("acme").await;
        let asked = NewEndpoint {
            name: "One".to_owned(),
            provider: "github".to_owned(),
            secrets: vec![Secret::new("a secret of a test".to_owned())],
            options: Map::new(),
            dedup_scope: None,
            max_body_bytes: None,
            retention: None,
            enabled: true,
        };
        let endpoint = test.app.create_endpoint(&tenant.by, asked, None).await.unwrap().value.endpoint.id;
        test.hold_event(&tenant.by, endpoint).await;
        test.t.clock.advance_seconds(60);
        look(&test.app).await;
        let text = recorder.handle().render();
        assert!(text.contains("restante_oldest_pending_seconds 60\n"), "{text}");
        assert!(text.contains("restante_handoffs{state=\"pending\"} 1\n"), "{text}");
        assert!(text.contains("restante_clock_offset_seconds{against=\"database\"} 0\n"), "{text}");
        assert!(!text.contains("acme") && !text.contains(&endpoint.to_string()), "{text}");
    }
}
