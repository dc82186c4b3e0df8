//! The recorder behind `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use restante_api::FiguresText;

use crate::failure::Failure;

/// How often old samples are drained while nobody asks for the figures.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// Bounds in seconds: from a commit on a fast disk to the deadline of an answer.
const SECONDS: &[f64] = &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0];
/// Bounds for the age of a signed time, which tells of clocks: both ways around zero.
const AGE_SECONDS: &[f64] = &[-300.0, -60.0, -5.0, -1.0, 0.0, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0];

/// Begins to record, and gives what prints the figures.
///
/// # Errors
/// When a recorder is there already.
pub(crate) fn begin() -> Result<(FiguresText, PrometheusHandle), Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::new(format!("The figures can't be recorded: {error}."));
    let handle = PrometheusBuilder::new()
        .set_buckets(SECONDS)
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Suffix("_age_seconds".to_owned()), AGE_SECONDS)
        })
        .map_err(|error| failed(&error))?
        .install_recorder()
        .map_err(|error| failed(&error))?;
    restante_app::figures::describe();
    let text = {
        let handle = handle.clone();
        Arc::new(move || handle.render())
    };
    Ok((text, handle))
}

/// Keeps the recorder's memory bounded.
pub(crate) async fn upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        handle.run_upkeep();
    }
}
