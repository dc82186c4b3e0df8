//! A server from the moment its ports are taken to the moment nothing of it is left: `serve` and
//! `demo` both run it.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use restante_api::server::{self, Limits};
use restante_api::{Api, operations_router, router, with_layers};
use restante_app::administration::tenants::run_tenant_removals;
use restante_app::high_water::run_high_water;
use restante_app::nodes::Node;
use restante_app::receive::run_refusal_flush;
use restante_app::schedule::run_schedule;
use restante_app::sweep::run_sweeps;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::failure::Failure;
use crate::figures;
use crate::instance::Instance;
use crate::settings::Settings;

/// A stop takes no longer than this, whatever is under way. A container engine kills after ten seconds.
const STOP_MAX: Duration = Duration::from_secs(8);
/// What of it is for closing the database, after requests and background work.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// The ports of a server, taken and not yet served.
pub(crate) struct Ports {
    main: TcpListener,
    figures: Option<TcpListener>,
}

impl Ports {
    /// Takes them, before anything else is done: a port that is taken must cost nothing.
    ///
    /// # Errors
    /// That names the setting to change.
    pub(crate) fn take(settings: &Settings) -> Result<Self, Failure> {
        Ok(Self {
            main: listen(settings.listen, "RESTANTE_LISTEN")?,
            figures: settings
                .metrics_listen
                .map(|address| listen(address, "RESTANTE_METRICS_LISTEN"))
                .transpose()?,
        })
    }

    /// Ports that are there already.
    pub(crate) const fn only(main: TcpListener) -> Self {
        Self { main, figures: None }
    }

    /// Where the server is reached.
    pub(crate) fn address(&self) -> Result<SocketAddr, Failure> {
        self.main.local_addr().map_err(|error| Failure::new(format!("The port can't be told: {error}.")))
    }
}

fn listen(address: SocketAddr, setting: &str) -> Result<TcpListener, Failure> {
    server::listen(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Failure::new(format!(
            "Another program listens on {address}. Stop it, or choose another address: \
             {setting}=127.0.0.1:{} restante serve",
            address.port().saturating_add(1)
        )),
        _ => Failure::new(format!(
            "The server can't listen on {address}: {error}. {setting} names another address."
        )),
    })
}

/// Serves until `stop` resolves, finishes what is under way, and closes the database.
///
/// # Errors
/// When the database can't be written any more.
pub(crate) async fn run(
    instance: Instance,
    ports: Ports,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let app = instance.app.clone();
    let (text, recorder) = figures::begin()?;
    let on_main = ports.figures.is_none().then(|| text.clone());
    let api = Api::new(app.clone(), on_main, settings.trusted_proxies.clone());
    let description = serde_json::to_value(restante_api::openapi_document()).unwrap_or_default();
    let service = with_layers(&api, router(&api), restante_web::router(app.clone(), &description));
    let limits = Limits { connections_max: settings.connections_max, ..Limits::default() };

    let (stopping, stopped) = watch::channel(false);
    let mut background = JoinSet::new();
    background.spawn(run_refusal_flush(app.clone(), stopped.clone()));
    background.spawn(run_sweeps(app.clone(), stopped.clone()));
    let node = Node::new(app.clone(), instance.master_key_file.clone(), env!("CARGO_PKG_VERSION"));
    // Whoever changes a master key has to know of this server before it wraps anything.
    node.beat().await?;
    background.spawn(run_high_water(app.clone(), stopped.clone()));
    background.spawn(node.run(hung_up()?, stopped.clone()));
    background.spawn(run_tenant_removals(app.clone(), stopped.clone()));
    background.spawn(run_schedule(app.clone(), stopped.clone()));
    background.spawn(until(stopped.clone(), figures::upkeep(recorder)));
    background.spawn(until(stopped.clone(), restante_app::figures::watch(app.clone())));
    if let Some(listener) = ports.figures {
        let operations = with_layers(&api, operations_router(&api, text), axum::Router::new());
        let mut stopped = stopped.clone();
        background.spawn(async move {
            let stop = async {
                let _ = stopped.wait_for(|stopped| *stopped).await;
            };
            server::serve(listener, operations, Limits::default(), stop).await;
        });
    }

    let stopped_at = OnceLock::new();
    let draining = async {
        stop.await;
        let _ = stopped_at.set(Instant::now());
        tracing::info!("stopping: no more connections, requests under way are finished");
        api.drain();
        // Claims that wait for something to come are answered, so that they don't hold up the stop.
        app.wakeups.close();
    };
    let served = tokio::select! {
        left = server::serve(ports.main, service, limits, draining) => Ok(left),
        reason = app.store.failed_for_good() => Err(reason),
    };
    let left = match served {
        Ok(left) => left,
        Err(reason) => {
            // What the disk holds is not known any more in this process; a new one reads it anew.
            tracing::error!(reason, "the database can't be written any more");
            return Err(Failure::new(format!(
                "A write to the database failed for good: {reason}. The server ends here; what was acknowledged is \
                 on the disk and is read at the next start."
            )));
        }
    };
    if left > 0 {
        tracing::warn!(left, "connections were cut off, since they did not end in time");
    }
    let until = stopped_at.get().copied().unwrap_or_else(Instant::now) + STOP_MAX;
    // Deliveries go on when their senders have gone.
    if timeout_at(until - 2 * CLOSE_MAX, api.deliveries_ended()).await.is_err() {
        tracing::warn!("deliveries without an answer were given up, since they could not be stored in time");
    }
    // Whoever waits for this has ended when nobody is there.
    let _ = stopping.send(true);
    let ended = async { while background.join_next().await.is_some() {} };
    if timeout_at(until - CLOSE_MAX, ended).await.is_err() {
        tracing::warn!("background work was cut off, since it did not end in time");
        background.abort_all();
    }
    if timeout_at(until, instance.close()).await.is_err() {
        tracing::warn!("the database was not closed, since that did not end in time");
    }
    tracing::info!("stopped");
    Ok(())
}

/// Runs work that has no end of its own until the stop.
async fn until(mut stopped: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
}

/// Resolves at the first SIGTERM or SIGINT. A second one ends the process at once.
///
/// # Errors
/// When the system takes no handlers.
pub(crate) fn interrupted() -> Result<impl Future<Output = ()>, Failure> {
    let failed = |error| Failure::new(format!("Signals can't be received: {error}."));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            std::process::exit(1);
        });
    })
}

/// Tells of each SIGHUP: it asks for a look at the master key file, which a server looks at by itself each
/// second.
///
/// # Errors
/// When the system takes no handler.
fn hung_up() -> Result<Arc<Notify>, Failure> {
    let mut hang_up = signal(SignalKind::hangup())
        .map_err(|error| Failure::new(format!("Signals can't be received: {error}.")))?;
    let told = Arc::new(Notify::new());
    let tell = Arc::clone(&told);
    tokio::spawn(async move {
        while hang_up.recv().await.is_some() {
            tell.notify_one();
        }
    });
    Ok(told)
}
