//! The log: one JSON object a line on standard error, by default from the level `info`.

use tracing_subscriber::EnvFilter;

/// Begins to log. `RUST_LOG` chooses levels, as in `RUST_LOG=debug` or `RUST_LOG=info,restante_api=debug`.
pub(crate) fn begin() {
    begin_at("info");
}

/// Begins to log from another level on, unless `RUST_LOG` says otherwise.
pub(crate) fn begin_at(level: &str) {
    // The library that ticks tells each step of its own start, which is nobody's news.
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new(format!("{level},tokio_cron_scheduler=warn")));
    // Fails when a log was begun before, which then goes on.
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        // A record that can't be written would be complained of on standard error, which is the log itself;
        // on a full disk that fails as well, and panics in the middle of a request.
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
    log_panics();
}

/// A panic is logged with its place alone: what it says may hold a value, and the value a secret.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a fault of the program: a task panicked");
    }));
}
