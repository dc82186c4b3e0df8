//! A mark outside of the database that says how far the instance had come. The disk may lose the end of
//! SQLite's log, a backup may be restored, a standby may lack the last commits: the database then looks sound
//! and is older than what was acknowledged. At its start a server compares, and does not serve what went back
//! before a person has said so.
//!
//! The mark is a small file: the id of the instance, the number that the database raises now and then, and the
//! last event that was acknowledged. It is written after the commit and before the answer's turn comes, and
//! not waited for to reach the disk: after a power failure it may be older than the database, never newer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use restante_core::id::{ReceiptId, TenantId};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::instance_audit;
use restante_store::high_water::{self, Marks};
use serde_json::json;
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use crate::App;
use crate::people::Actor;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "high-water";
const FIRST_WORD: &str = "restante-high-water-1";
/// An event that is older than this before the number was raised says nothing of its own: the number is raised
/// each twenty seconds, and the clocks of nodes and database differ by less.
const YOUNG_MICROS: i64 = 3_600 * 1_000_000;
/// No mark is longer.
const FILE_BYTES_MAX: usize = 256;

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    instance: Uuid,
    number: i64,
    last: Option<(TenantId, ReceiptId)>,
}

impl Mark {
    /// Always of one length, so that a later one covers an earlier one whole.
    fn text(&self) -> String {
        let (tenant, receipt) = self.last.map_or((Uuid::nil(), Uuid::nil()), |(t, r)| (t.0, r.0));
        format!("{FIRST_WORD} {} {:020} {tenant} {receipt}\n", self.instance, self.number)
    }

    fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [FIRST_WORD, instance, number, tenant, receipt] = words[..] else { return None };
        let (tenant, receipt) = (Uuid::parse_str(tenant).ok()?, Uuid::parse_str(receipt).ok()?);
        let last = (!receipt.is_nil()).then_some((TenantId(tenant), ReceiptId(receipt)));
        Some(Self { instance: Uuid::parse_str(instance).ok()?, number: number.parse().ok()?, last })
    }
}

/// The mark of a running server. Without a file it keeps none, as in tests.
#[derive(Default)]
pub struct HighWater {
    file: OnceLock<File>,
    mark: Mutex<Option<Mark>>,
    changed: Notify,
}

impl HighWater {
    /// Notes an event that is committed. It costs no look at the disk: a task writes what was noted last.
    pub(crate) fn acknowledged(&self, tenant: TenantId, receipt: ReceiptId) {
        if self.file.get().is_none() {
            return;
        }
        if let Some(mark) = &mut *self.mark() {
            mark.last = Some((tenant, receipt));
        }
        self.changed.notify_one();
    }

    fn raised(&self, instance: Uuid, number: i64) {
        let mut mark = self.mark();
        let last = mark.as_ref().filter(|mark| mark.instance == instance).and_then(|mark| mark.last);
        *mark = Some(Mark { instance, number, last });
        drop(mark);
        self.changed.notify_one();
    }

    fn mark(&self) -> std::sync::MutexGuard<'_, Option<Mark>> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) {
        let text = self.mark().map(|mark| mark.text());
        if let (Some(file), Some(text)) = (self.file.get(), text)
            && let Err(error) = file.write_all_at(text.as_bytes(), 0)
        {
            tracing::warn!(%error, "the mark of how far the instance has come can't be written");
        }
    }
}

/// Whether a database may be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is as it was left, or further.
    Sound,
    /// It is older than what was acknowledged.
    WentBack {
        /// Up to when it knows of the instance's life, at least.
        knows_until: Timestamp,
        /// How far the instance had come.
        had_come_to: Timestamp,
    },
    /// It is a copy that `restante backup` took.
    IsBackup {
        /// When.
        taken_at: Timestamp,
    },
    /// It was moved elsewhere by `restante copy`, and the instance lives there.
    WasMoved {
        /// When.
        at: Timestamp,
    },
    /// `restante copy` began to fill it and has not come to its end.
    IsHalfCopied,
}

impl App {
    /// Compares the database with the mark beside it.
    ///
    /// # Errors
    /// What the database or the file ran into.
    pub async fn standing(&self, folder: &Path) -> Result<Standing, StoreError> {
        let marks = self.store.read(|conn| Box::pin(high_water::read(conn))).await?;
        if marks.half_copied {
            return Ok(Standing::IsHalfCopied);
        }
        if let Some(at) = marks.moved_at {
            return Ok(Standing::WasMoved { at });
        }
        if let Some(taken_at) = marks.backup_taken_at {
            return Ok(Standing::IsBackup { taken_at });
        }
        let Some(mark) = read_file(folder)? else { return Ok(Standing::Sound) };
        if marks.instance.is_some_and(|instance| instance != mark.instance) {
            tracing::info!("the folder's mark is of another database, and is replaced");
            return Ok(Standing::Sound);
        }
        self.compare(marks, mark).await
    }

    async fn compare(&self, marks: Marks, mark: Mark) -> Result<Standing, StoreError> {
        // What is older is in every database that knows the number: that was raised by a later commit. And
        // retention may have removed it since.
        let young = |receipt: ReceiptId| received_micros(receipt) > mark.number.saturating_sub(YOUNG_MICROS);
        let known = match mark.last.filter(|(_, receipt)| young(*receipt)) {
            Some((tenant, receipt)) => {
                self.store.read(move |conn| Box::pin(high_water::is_there(conn, tenant, receipt))).await?
            }
            None => true,
        };
        if known && marks.high_water >= mark.number && marks.instance.is_some() {
            return Ok(Standing::Sound);
        }
        let last = mark.last.map_or(0, |(_, receipt)| received_micros(receipt));
        Ok(Standing::WentBack {
            knows_until: Timestamp::from_micros(marks.high_water),
            had_come_to: Timestamp::from_micros(mark.number.max(last)),
        })
    }

    /// Lets a database be served that went back, that is a backup, or that was moved elsewhere: from now on
    /// this is the instance. Everybody is signed out.
    ///
    /// # Errors
    /// What the database or the file ran into.
    pub async fn acknowledge_restore(&self, folder: &Path, found: Standing) -> Result<(), StoreError> {
        let at_least = read_file(folder)?.map_or(0, |mark| mark.number.saturating_add(1));
        let id = Uuid::from_bytes(self.random.bytes());
        let line = Actor::operator().line(
            &*self.random,
            self.clock.now(),
            "instance.acknowledge_restore",
            "instance".to_owned(),
            &detail(found),
        );
        let (instance, number) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    high_water::let_serve_again(conn).await?;
                    instance_audit::insert(conn, line).await?;
                    high_water::raise(conn, id, at_least).await
                })
            })
            .await?;
        let file = open_file(folder).map_err(|error| unwritable(folder, &error))?;
        let text = Mark { instance, number, last: None }.text();
        file.write_all_at(text.as_bytes(), 0).map_err(|error| unwritable(folder, &error))
    }

    /// From now on this server keeps the mark in this folder. Where it can't be written, as on a node whose
    /// folder is read-only, the log says so and the server goes on without.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn keep_high_water(&self, folder: &Path) -> Result<(), StoreError> {
        let file = match open_file(folder) {
            Ok(file) => file,
            Err(error) => {
                tracing::warn!(
                    %error, folder = %folder.display(),
                    "the mark of how far the instance has come can't be kept: an older database is not noticed here"
                );
                return Ok(());
            }
        };
        let _ = self.high_water.file.set(file);
        self.raise_high_water().await?;
        self.high_water.write();
        Ok(())
    }

    /// Raises the number in the database, and then the mark.
    ///
    /// # Errors
    /// What the database ran into; then the mark stays as it was.
    pub(crate) async fn raise_high_water(&self) -> Result<(), StoreError> {
        if self.high_water.file.get().is_none() {
            return Ok(());
        }
        let id = Uuid::from_bytes(self.random.bytes());
        let raise = self.store.write(move |conn| Box::pin(high_water::raise(conn, id, 0)));
        let (instance, number) = raise.await?;
        let before = self.high_water.mark().filter(|mark| mark.instance == instance).map(|mark| mark.number);
        if let Some(before) = before.filter(|before| number <= *before) {
            // The database was put back under the running server, as by a standby that lacked the end. The
            // mark stays, so that the next start asks a person.
            tracing::error!(
                had_come_to = %Timestamp::from_micros(before), knows_until = %Timestamp::from_micros(number),
                "the database has gone back: events that were acknowledged may be missing in it"
            );
            return Ok(());
        }
        self.high_water.raised(instance, number);
        Ok(())
    }
}

/// Writes what was noted, until it is told to stop.
pub async fn run_high_water(app: App, mut stop: watch::Receiver<bool>) {
    let work = async {
        loop {
            app.high_water.changed.notified().await;
            app.high_water.write();
        }
    };
    tokio::select! {
        () = work => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
    app.high_water.write();
}

fn detail(found: Standing) -> serde_json::Value {
    match found {
        Standing::WentBack { knows_until, had_come_to } => {
            json!({ "found": "went_back", "knows_until": knows_until, "had_come_to": had_come_to })
        }
        Standing::IsBackup { taken_at } => json!({ "found": "backup", "taken_at": taken_at }),
        Standing::WasMoved { at } => json!({ "found": "moved", "at": at }),
        Standing::IsHalfCopied => json!({ "found": "half_copied" }),
        Standing::Sound => json!({ "found": "sound" }),
    }
}

/// When an event was received, as its id says: UUIDs of version 7 begin with milliseconds.
fn received_micros(receipt: ReceiptId) -> i64 {
    let millis = receipt.0.as_u128() >> 80;
    i64::try_from(millis).unwrap_or(0).saturating_mul(1_000)
}

fn path_of(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

fn open_file(folder: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path_of(folder))
}

/// The mark; `None` where there is none, and where what is there is none.
fn read_file(folder: &Path) -> Result<Option<Mark>, StoreError> {
    match std::fs::read(path_of(folder)) {
        Ok(bytes) if bytes.len() <= FILE_BYTES_MAX => {
            let mark = std::str::from_utf8(&bytes).ok().and_then(Mark::read);
            if mark.is_none() && !bytes.is_empty() {
                tracing::warn!("the file {} is damaged and is replaced", path_of(folder).display());
            }
            Ok(mark)
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(folder, &error)),
    }
}

fn unwritable(folder: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable {
        statement: "high-water mark",
        detail: format!("{}: {error}", path_of(folder).display()),
    }
}
