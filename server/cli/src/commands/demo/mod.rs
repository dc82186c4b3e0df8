//! `restante demo`: the real server on a folder that goes when it ends, with a tenant, endpoints and
//! traffic, so that there is something to look at.

mod senders;
mod traffic;

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use restante_core::secret::Secret;
use restante_core::token::LinkToken;
use tokio::net::TcpListener;

use crate::arguments::DemoArguments;
use crate::data_folder;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::serving::{self, Ports};
use crate::settings::{AllGiven, Given, Settings};
use crate::{logging, say};

use senders::Sender;

pub(crate) async fn run(asked: DemoArguments) -> Result<(), Failure> {
    // The log of every request would drown what the demo has to say.
    logging::begin_at("warn");
    let stop = serving::interrupted()?;
    let ports = Ports::only(listen(asked.listen)?);
    let address = ports.address()?;
    let folder = ThrowAway::make()?;
    let settings = settings(&folder.0, address)?;
    let instance = Instance::open(&settings, For::Serving).await?;
    let password = Secret::new(traffic::random_hex::<16>()?);
    let tenant = instance.app.bootstrap("demo", "demo@example.com", password).await?;
    let link = instance.app.new_sign_in_link(tenant.user).await?;

    let stopping = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&stopping);
    let stop = async move {
        stop.await;
        noted.store(true, Ordering::Relaxed);
    };
    // The requests of the demo take the same road as anybody's: through the socket.
    let life = tokio::spawn(async move {
        let lived = live(address, tenant.api_key, &link).await;
        // A server that is about to stop owes its senders no answer.
        if stopping.load(Ordering::Relaxed) { Ok(()) } else { lived }
    });
    let served = serving::run(instance, ports, &settings, stop).await;
    life.abort();
    match life.await {
        // The demo's own part failed while the server was well.
        Ok(Err(failure)) if served.is_ok() => Err(failure),
        _ => served,
    }
}

/// Takes the address, or a free port when it is taken.
fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = match restante_api::server::listen(address) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            restante_api::server::listen(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
        }
        other => other,
    };
    listener.map_err(|error| Failure::new(format!("The demo can't listen on {address}: {error}.")))
}

fn settings(folder: &Path, address: SocketAddr) -> Result<Settings, Failure> {
    let given = |text: String| Given { text, origin: "the demo".to_owned() };
    let all: AllGiven = [
        ("data_dir", given(folder.display().to_string())),
        ("listen", given(address.to_string())),
        // Losing the demo's events does no harm.
        ("allow_volatile", given("1".to_owned())),
    ]
    .into();
    Settings::read(&all, folder)
}

/// Sets the tenant up, says what there is to try, and then sends for as long as the demo runs.
async fn live(address: SocketAddr, key: Secret<String>, link: &LinkToken) -> Result<(), Failure> {
    let mut senders = Vec::new();
    for kind in senders::KINDS {
        senders.push(Sender::set_up(address, key.expose(), kind).await?);
    }
    say::result(&introduction(address, key.expose(), link, &senders));
    traffic::run(address, &senders).await
}

fn introduction(address: SocketAddr, key: &str, link: &LinkToken, senders: &[Sender]) -> String {
    let here = format!("http://{address}");
    let post = format!("curl -sS -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json'");
    let urls: String =
        senders.iter().map(|sender| format!("  {:<8} {}\n", sender.provider(), sender.url)).collect();
    let mut text = format!(
        "Restante's demo runs on {here} until Ctrl-C ends it; then all of it is removed.\n\n\
         Sign in with this link, once:\n  {here}/links/{}\n\n\
         The API key of its tenant, with every scope:\n  {key}\n\n\
         Its endpoints, which get signed, repeated and forged requests all the time:\n{urls}\n\
         What came in:\n  curl -sS -H 'Authorization: Bearer {key}' '{here}/v1/events?limit=5'\n\n\
         Claim two events as an application does, for a minute:\n  \
         {post} -d '{{\"max\":2,\"lease_seconds\":60}}' {here}/v1/consumers/default/claim\n\n\
         Acknowledge one of them, with the lease that the claim gave:\n  \
         {post} -d '{{\"leases\":[\"LEASE\"]}}' {here}/v1/consumers/default/ack\n\n\
         What was counted:\n  curl -sS -H 'Authorization: Bearer {key}' '{here}/v1/stats?window=1h'\n",
        link.expose()
    );
    if let Some(first) = senders.first() {
        text.push_str(&format!(
            "\nSign a request of your own; it prints the command that sends it:\n  \
             restante sign --provider {} --secret {} --url {}\n",
            first.provider(),
            first.secret,
            first.url
        ));
    }
    text
}

/// A folder that goes with the demo.
struct ThrowAway(PathBuf);

impl ThrowAway {
    fn make() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("restante-demo-{}", traffic::random_hex::<8>()?));
        data_folder::make(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for ThrowAway {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            say::note(&format!("The demo's folder {} could not be removed: {error}.", self.0.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_taken_address_gives_a_free_port_and_the_folder_goes_in_the_end() {
        let first = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let second = listen(first.local_addr().unwrap()).unwrap();
        assert_ne!(first.local_addr().unwrap(), second.local_addr().unwrap());
        let folder = ThrowAway::make().unwrap();
        let path = folder.0.clone();
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists());
    }

    /// The whole demo but its end, which is a signal: what it sends ends as it should.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn its_senders_are_accepted_counted_as_repeats_and_refused() {
        let ports = Ports::only(listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap());
        let address = ports.address().unwrap();
        let folder = ThrowAway::make().unwrap();
        let settings = settings(&folder.0, address).unwrap();
        let instance = Instance::open(&settings, For::Serving).await.unwrap();
        let password = Secret::new("correct horse battery staple".to_owned());
        let tenant = instance.app.bootstrap("demo", "demo@example.com", password).await.unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stop = async {
                let _ = stopped.await;
            };
            serving::run(instance, ports, &settings, stop).await.map_err(|failure| failure.to_string())
        });
        for kind in senders::KINDS {
            let sender = Sender::set_up(address, tenant.api_key.expose(), kind).await.unwrap();
            let event = sender.event("one").unwrap();
            assert_eq!(sender.send(address, &event).await.unwrap(), "200 accepted");
            assert_eq!(sender.send(address, &event).await.unwrap(), "200 duplicate");
            let forged = sender.forged("two").unwrap();
            assert_eq!(sender.send(address, &forged).await.unwrap(), "401 signature");
        }
        stop.send(()).unwrap();
        assert_eq!(served.await.unwrap(), Ok(()));
    }
}
