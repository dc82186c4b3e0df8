//! `restante copy`: an instance moves from SQLite into an empty PostgreSQL.

use std::path::Path;

use restante_core::secret::Secret;
use restante_core::time::Clock as _;
use restante_store::copy::Copying;

use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::settings::{Database, Settings};
use crate::upkeep_arguments::CopyArguments;
use crate::{data_folder, say, standing};

/// A URL is no longer.
const URL_BYTES_MAX: usize = 8 * 1024;

pub(crate) async fn run(asked: CopyArguments) -> Result<(), Failure> {
    let url = target(&asked)?;
    let (settings, _) = asked.settings.settings()?;
    let Database::Sqlite(sqlite) = settings.database.clone() else {
        return Err(Failure::usage(
            "The settings name PostgreSQL already. `restante copy` moves an instance out of SQLite: take \
             RESTANTE_DATABASE_URL away, and name the data folder with RESTANTE_DATA_DIR.",
        ));
    };
    if !sqlite.exists() {
        return Err(Failure::new(format!("There is no database {}.", sqlite.display())));
    }
    // Held to the end: no server starts on it meanwhile, and none may run.
    let _lock = data_folder::lock(sqlite.parent().unwrap_or(Path::new("."))).map_err(|_| {
        Failure::new(format!(
            "A server runs on {}. Stop it: what came in during the copy would be in neither of the two.",
            sqlite.display()
        ))
    })?;
    // Brings its tables up to date, and finds out whether it may be moved at all.
    let source = Instance::open(&settings, For::Command).await?;
    let found = source.app.standing(&settings.data_dir).await;
    source.close().await;
    if let Some(why) = standing::refusal(found?) {
        return Err(Failure::new(why));
    }
    let to = Settings { database: Database::Postgres(Secret::new(url.clone())), ..settings };
    let target = Instance::open(&to, For::Command).await?;
    let copied = copy(&sqlite, &url, &target).await;
    target.close().await;
    let rows = copied?;
    say::result(&format!("{rows} rows are in PostgreSQL, as many of each table as in SQLite."));
    say::note(&format!(
        "What to do now:\n  1. Set RESTANTE_DATABASE_URL to the PostgreSQL database, and start the server.\n  2. Keep the \
         master key where it is ({}), or name it with RESTANTE_MASTER_KEY_FILE; every other node needs a copy.\n  3. Look \
         at the dashboard, and send a test event.\n  4. Keep {} until you trust the move. It is marked as moved, and no \
         server serves it any more.\nFrom here on, back up PostgreSQL: `restante backup` says how.",
        target_key(&to),
        sqlite.display()
    ));
    Ok(())
}

fn target_key(settings: &Settings) -> String {
    let own = settings.data_dir.join("master.key");
    settings.master_key_file.clone().unwrap_or(own).display().to_string()
}

async fn copy(sqlite: &Path, url: &str, target: &Instance) -> Result<i64, Failure> {
    let mut copying = Copying::begin(sqlite, url).await?;
    let mut table = String::new();
    copying
        .run(|step| {
            if step.table != table {
                table.clone_from(&step.table);
                say::note(&format!("Copying {} …", step.table));
            }
        })
        .await?;
    let rows = copying.compare().await?;
    say::note("Opening samples of what is sealed …");
    let report = target.app.check_sealed().await?;
    if let Some(fault) = report.faults.first() {
        return Err(Failure::new(format!(
            "{} sealed values do not open in PostgreSQL: {fault}. Run `restante check` on SQLite: they may be damaged there \
             already. Nothing was switched over.",
            report.faults.len()
        )));
    }
    say::note(&format!("{} sealed values were opened there.", report.opened));
    copying.finish(sqlite, restante_app::clock::SystemClock.now()).await?;
    Ok(rows)
}

fn target(asked: &CopyArguments) -> Result<String, Failure> {
    let url = match (&asked.to, &asked.to_file) {
        (Some(url), _) => url.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("The file {} can't be read: {error}.", file.display())))?
            .trim()
            .to_owned(),
        (None, None) => String::new(),
    };
    let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
    if !is_postgres || url.len() > URL_BYTES_MAX {
        return Err(Failure::usage(
            "A copy goes into PostgreSQL: its URL looks like postgres://user:password@host:5432/database.",
        ));
    }
    Ok(url)
}
