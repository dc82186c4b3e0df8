//! An instance put together from its settings: folder, database, master keys, verbs. Commands that
//! need the database open it like the server does, beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use restante_app::clock::SystemClock;
use restante_app::keys::{MasterKeys, check_master_keys, is_instance_empty, load_master_keys};
use restante_app::mail::Mailer;
use restante_app::random::SystemRandom;
use restante_app::{App, Setup};
use restante_core::time::Clock;
use restante_store::{Options, Store, Url};

use crate::data_folder::{self, Lock};
use crate::disk;
use crate::failure::Failure;
use crate::settings::{Database, Settings};

/// Who opens the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// A server, of which an SQLite database has one at most.
    Serving,
    /// A command, which may run beside a server.
    Command,
}

/// An instance, open.
pub(crate) struct Instance {
    pub(crate) app: App,
    /// The database, for people.
    pub(crate) database: String,
    /// The file of the master keys.
    pub(crate) master_key_file: PathBuf,
    /// Whether it was made just now.
    pub(crate) is_new_master_key: bool,
    /// Whether the master key lies beside the database.
    pub(crate) is_key_beside_data: bool,
    _lock: Option<Lock>,
}

impl Instance {
    /// Opens an instance, and makes what is missing: folder, database, master key.
    ///
    /// # Errors
    /// With a sentence that says what to do.
    pub(crate) async fn open(settings: &Settings, opened_for: For) -> Result<Self, Failure> {
        Self::open_by(settings, opened_for, None).await
    }

    /// Opens an instance to serve, with a clock in place of the machine's and the database's: for the demo.
    ///
    /// # Errors
    /// As [`Instance::open`].
    pub(crate) async fn open_with_clock(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self, Failure> {
        Self::open_by(settings, For::Serving, Some(clock)).await
    }

    async fn open_by(
        settings: &Settings,
        opened_for: For,
        clock: Option<Arc<dyn Clock>>,
    ) -> Result<Self, Failure> {
        data_folder::make(&settings.data_dir)?;
        let mut lock = None;
        let (url, database) = match &settings.database {
            Database::Sqlite(path) => {
                let folder = path.parent().unwrap_or(Path::new("."));
                data_folder::make(folder)?;
                if opened_for == For::Serving {
                    data_folder::check_durable(folder, settings.allow_volatile)?;
                    lock = Some(data_folder::lock(folder)?);
                }
                data_folder::make_database_file(path)?;
                (Url::Sqlite(path.clone()), format!("SQLite, {}", path.display()))
            }
            Database::Postgres(url) => {
                if opened_for == For::Serving && settings.master_key_file.is_none() {
                    // The master key lies there, and without it the database can't be read.
                    data_folder::check_durable(&settings.data_dir, settings.allow_volatile)?;
                }
                (Url::Postgres(url.expose().clone()), "PostgreSQL".to_owned())
            }
        };
        let options = Options {
            url,
            allow_volatile: settings.allow_volatile,
            beside_a_server: opened_for == For::Command,
            postgres_connections_max: settings.postgres_connections_max,
        };
        let store = Store::open_with_clock(&options, clock.clone()).await?;
        let random = Arc::new(SystemRandom);
        let is_empty = is_instance_empty(&store).await?;
        let MasterKeys { ring, path, created } = load_master_keys(
            settings.master_key_file.as_deref(),
            &settings.data_dir,
            is_empty,
            random.as_ref(),
        )?;
        check_master_keys(&ring, &store).await?;
        let app = App::new(Setup {
            store,
            clock: clock.unwrap_or_else(|| Arc::new(SystemClock)),
            random,
            settings: restante_app::settings::Settings {
                public_url: settings.public_url.clone(),
                body_bytes_ceiling: settings.body_bytes_ceiling,
                body_bytes_budget: settings.body_bytes_budget,
                outbound_allow: settings.outbound_allow_cidrs.clone(),
            },
            master_keys: ring,
        });
        let is_key_beside_data = match &settings.database {
            Database::Sqlite(file) => is_same_folder(file, &path),
            Database::Postgres(_) => false,
        };
        if let Database::Sqlite(file) = &settings.database {
            let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
            // It is set once, here.
            let _ = app.disk.set(Arc::new(move || disk::space(&folder)));
        }
        if let Some((url, from)) = &settings.mail {
            let mailer = Mailer::new(url, from).map_err(Failure::usage)?;
            let _ = app.mailer.set(mailer);
        }
        Ok(Self {
            app,
            database,
            master_key_file: path,
            is_new_master_key: created,
            is_key_beside_data,
            _lock: lock,
        })
    }

    /// Closes the database after what is queued. The folder is free afterwards.
    pub(crate) async fn close(self) {
        self.app.store.clone().close().await;
    }
}

/// Whether a copy of the folder of one file has the other in it.
fn is_same_folder(database: &Path, key: &Path) -> bool {
    let folder = |path: &Path| path.canonicalize().ok()?.parent().map(Path::to_path_buf);
    folder(database).zip(folder(key)).is_some_and(|(database, key)| key.starts_with(database))
}
