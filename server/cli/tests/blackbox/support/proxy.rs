//! A proxy between the server and PostgreSQL that fails like a network: it cuts, it falls silent, or
//! it loses the one answer that says whether a commit happened.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// COMMIT as the server sends it, and as PostgreSQL says that it is done (protocol 3, `Query` and
/// `CommandComplete`): the word, ended by a zero.
const COMMIT: &[u8] = b"COMMIT\0";

/// What becomes of what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It passes.
    Open,
    /// Every connection is cut, and new ones as well.
    Cut,
    /// Nothing passes in either direction, and nobody is told. New connections are taken and get no answer.
    Silent,
    /// A COMMIT does not reach the database; its connection is cut.
    CutBeforeCommit,
    /// A COMMIT reaches the database, its answer does not come back; the connection is cut.
    CutAfterCommit,
}

struct State {
    way: Way,
    /// Connections are numbered as they come; those below this number have died without anybody being told.
    dead_below: usize,
    taken: usize,
    connections: Vec<(TcpStream, TcpStream)>,
    /// COMMITs that were kept from the database, or whose answers were lost.
    commits_lost: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while nothing may pass. `None`: this connection is at its end.
    fn pass(&self, number: usize) -> Option<Way> {
        let mut state = self.state();
        loop {
            match state.way {
                Way::Cut => return None,
                Way::Silent => {}
                _ if number < state.dead_below => {}
                way => return Some(way),
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The proxy. Its threads end with the program.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// One in front of `target` (`host:port`), open.
    pub(crate) fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state =
            State { way: Way::Open, dead_below: 0, taken: 0, connections: Vec::new(), commits_lost: 0 };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let (taking, target) = (Arc::clone(&shared), target.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                take(&taking, client, &target);
            }
        });
        Self { address, shared }
    }

    /// `host:port` of the proxy.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on it is so.
    pub(crate) fn set(&self, way: Way) {
        let mut state = self.shared.state();
        state.way = way;
        if way == Way::Cut {
            for (client, server) in state.connections.drain(..) {
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            }
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// The way is open for new connections. Those that there are stay silent for ever, as behind a
    /// firewall that has forgotten them.
    pub(crate) fn forget_connections(&self) {
        let mut state = self.shared.state();
        state.dead_below = state.taken;
        state.way = Way::Open;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// How many COMMITs were kept from the database, or lost their answers.
    pub(crate) fn commits_lost(&self) -> usize {
        self.shared.state().commits_lost
    }
}

fn take(shared: &Arc<Shared>, client: TcpStream, target: &str) {
    let Ok(server) = TcpStream::connect(target) else { return };
    let (Ok(client_2), Ok(server_2)) = (client.try_clone(), server.try_clone()) else { return };
    let mut state = shared.state();
    if state.way == Way::Cut {
        return;
    }
    let number = state.taken;
    let (Ok(client_3), Ok(server_3)) = (client.try_clone(), server.try_clone()) else { return };
    state.taken += 1;
    state.connections.push((client_3, server_3));
    drop(state);
    let (up, down) = (Arc::clone(shared), Arc::clone(shared));
    thread::spawn(move || pump(&up, number, client, server, Direction::ToDatabase));
    thread::spawn(move || pump(&down, number, server_2, client_2, Direction::FromDatabase));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToDatabase,
    FromDatabase,
}

fn pump(shared: &Shared, number: usize, mut from: TcpStream, mut to: TcpStream, direction: Direction) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let some = &buffer[..length];
        let Some(way) = shared.pass(number) else { break };
        let is_lost = match way {
            Way::CutBeforeCommit => direction == Direction::ToDatabase,
            Way::CutAfterCommit => direction == Direction::FromDatabase,
            _ => false,
        };
        if is_lost && some.windows(COMMIT.len()).any(|window| window == COMMIT) {
            shared.state().commits_lost += 1;
            break;
        }
        if to.write_all(some).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
