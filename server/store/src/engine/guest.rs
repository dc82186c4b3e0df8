//! A command of the operator beside a busy server, on SQLite.
//!
//! SQLite's lock is fair to nobody: a server that commits one group after another leaves it free for
//! microseconds, and a second process that looks ten times a second may never find it so. Such a
//! process therefore leaves a file beside the database, and while it lies there the server waits a
//! moment between two groups. The command in its turn rests after each of its transactions for as long
//! as that took, or one that writes without end would leave the server nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the server leaves the lock to a guest: a little more than SQLite's longest pause between
/// two looks at it (100 ms).
const PAUSE: Duration = Duration::from_millis(120);
/// An older file was left by a command that was killed.
const STAY_MAX: Duration = Duration::from_secs(60);
/// A command that goes on for longer says so often that it is still here.
const SAY_AGAIN: Duration = Duration::from_secs(20);
/// The shortest rest of a command, in which a waiting server looks at the lock again.
const REST_MIN: Duration = Duration::from_millis(5);

fn mark_of(database: &Path) -> PathBuf {
    let mut name = OsString::from(database.as_os_str());
    name.push("-guest");
    PathBuf::from(name)
}

/// The file of a guest, which goes with this.
#[derive(Debug)]
pub(crate) struct Guest {
    mark: PathBuf,
}

impl Guest {
    /// Asks the server for room. Without the file the guest still works, with more patience.
    pub(crate) fn announce(database: &Path) -> Self {
        let mark = mark_of(database);
        if let Err(error) = std::fs::write(&mark, b"") {
            tracing::warn!(error = %error, "the server can't be asked for room");
        }
        Self { mark }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // A file that stays is ignored after a minute.
        let _ = std::fs::remove_file(&self.mark);
    }
}

/// How a process takes its turns at the lock.
#[derive(Debug)]
pub(crate) enum Turns {
    /// The server, which makes room for commands.
    Host(Host),
    /// A command beside it.
    Guest(Pace),
}

impl Turns {
    pub(crate) fn of(database: &Path, is_guest: bool) -> Self {
        if is_guest {
            let now = Instant::now();
            Self::Guest(Pace { mark: mark_of(database), said: now, began: now, ended: now })
        } else {
            Self::Host(Host::of(database))
        }
    }

    /// Before a transaction begins.
    pub(crate) async fn wait(&mut self) {
        match self {
            Self::Host(host) => host.make_room().await,
            Self::Guest(pace) => pace.wait().await,
        }
    }

    /// After a transaction has ended.
    pub(crate) fn ended(&mut self) {
        if let Self::Guest(pace) = self {
            pace.ended = Instant::now();
        }
    }
}

/// A command's side.
#[derive(Debug)]
pub(crate) struct Pace {
    mark: PathBuf,
    said: Instant,
    began: Instant,
    ended: Instant,
}

impl Pace {
    async fn wait(&mut self) {
        if self.said.elapsed() > SAY_AGAIN {
            // Without the file the command still works, with more patience.
            let _ = std::fs::write(&self.mark, b"");
            self.said = Instant::now();
        }
        let rest =
            rest(self.ended.saturating_duration_since(self.began)).saturating_sub(self.ended.elapsed());
        if !rest.is_zero() {
            tokio::time::sleep(rest).await;
        }
        self.began = Instant::now();
    }
}

/// How long a command rests after a transaction that took so long.
fn rest(worked: Duration) -> Duration {
    worked.clamp(REST_MIN, PAUSE)
}

/// The server's side.
#[derive(Debug)]
pub(crate) struct Host {
    mark: PathBuf,
}

impl Host {
    pub(crate) fn of(database: &Path) -> Self {
        Self { mark: mark_of(database) }
    }

    /// Waits a moment while there is a guest. Costs one look at the folder otherwise.
    pub(crate) async fn make_room(&self) {
        let Ok(file) = std::fs::metadata(&self.mark) else { return };
        let age = file.modified().ok().and_then(|since| since.elapsed().ok()).unwrap_or_default();
        if age < STAY_MAX {
            tokio::time::sleep(PAUSE).await;
        } else {
            let _ = std::fs::remove_file(&self.mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_rests_for_as_long_as_it_worked_and_never_as_long_as_it_makes_a_server_wait() {
        let ms = Duration::from_millis;
        assert_eq!([ms(0), ms(30), ms(5_000)].map(rest), [ms(5), ms(30), ms(120)]);
    }

    #[tokio::test]
    async fn a_command_does_not_make_room_for_itself() {
        let database = std::env::temp_dir().join(format!("restante-{}.db", std::process::id()));
        let guest = Guest::announce(&database);
        // The mark lies there, and only a server looks at it.
        assert!(mark_of(&database).exists());
        assert!(matches!(Turns::of(&database, true), Turns::Guest(_)));
        assert!(matches!(Turns::of(&database, false), Turns::Host(_)));
        drop(guest);
        assert!(!mark_of(&database).exists());
    }
}
