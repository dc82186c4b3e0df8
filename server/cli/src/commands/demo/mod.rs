//! `restante demo`: the real server on a folder that goes when it ends, with a tenant that has a week
//! behind it, and with traffic, so that there is something to look at.

mod cast;
mod clock;
mod dice;
#[cfg(feature = "bench")]
pub(crate) mod fill;
mod introduction;
mod kinds;
mod plot;
mod rhythm;
mod senders;
mod traffic;
mod week;
#[cfg(test)]
mod week_tests;
mod workers;

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use restante_app::clock::SystemClock;
use restante_core::time::{Clock as _, Timestamp};
use tokio::net::TcpListener;

use crate::arguments::DemoArguments;
use crate::data_folder;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::serving::{self, Ports};
use crate::settings::{AllGiven, Given, Settings};
use crate::{logging, say};

use cast::Cast;
use clock::MovedClock;

pub(crate) async fn run(asked: DemoArguments) -> Result<(), Failure> {
    // The log of every request would drown what the demo has to say.
    logging::begin_at("warn");
    let stop = serving::interrupted()?;
    let ports = Ports::only(listen(asked.listen)?);
    let address = ports.address()?;
    let folder = ThrowAway::make()?;
    let settings = settings(&folder.0, address)?;
    tokio::pin!(stop);
    say::note("Restante's demo lives through a week of webhooks, which takes a few seconds.");
    let (instance, clock, cast) = tokio::select! {
        told = tell(&settings, SystemClock.now()) => told?,
        () = &mut stop => return Ok(()),
    };
    clock.run();
    let link = instance.app.new_sign_in_link(cast.owner).await?;

    let stopping = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&stopping);
    let stop = async move {
        stop.await;
        noted.store(true, Ordering::Relaxed);
    };
    let app = instance.app.clone();
    // The requests of the demo take the same road as anybody's: through the socket.
    let life = tokio::spawn(async move {
        say::result(&introduction::text(address, &cast, &link));
        let lived = traffic::run(&app, address, &cast, seed()?).await;
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

/// Opens an instance, and tells in it the week that ends at a time. The clock stands there afterwards.
async fn tell(settings: &Settings, end: Timestamp) -> Result<(Instance, MovedClock, Cast), Failure> {
    // The tenant is a little older than its first event.
    let begin = rhythm::steps(end).first().map_or(end, |first| first.plus_seconds(-3_600));
    let clock = MovedClock::standing_at(begin);
    let instance = Instance::open_with_clock(settings, Arc::new(clock.clone())).await?;
    let cast = Cast::set_up(&instance.app, &clock).await?;
    week::pass(&instance.app, &clock, &cast, end).await?;
    Ok((instance, clock, cast))
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

/// What the traffic of the present begins with: another course each time.
fn seed() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

/// Random bytes in hex.
fn random_hex<const N: usize>() -> Result<String, Failure> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| Failure::new(format!("There is no randomness: {error}.")))
}

/// A folder that goes with the demo.
struct ThrowAway(PathBuf);

impl ThrowAway {
    fn make() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("restante-demo-{}", random_hex::<8>()?));
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
}
