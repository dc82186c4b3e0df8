//! `restante backup`: a copy of the SQLite database, beside a running server. Of PostgreSQL it makes none: it
//! says what does.

use std::path::Path;

use restante_core::time::Clock as _;
use restante_store::backup::backup_sqlite;
use serde_json::json;

use crate::failure::Failure;
use crate::say;
use crate::settings::Database;
use crate::upkeep_arguments::BackupArguments;

pub(crate) async fn run(asked: BackupArguments) -> Result<(), Failure> {
    let (settings, _) = asked.settings.settings()?;
    let database = match &settings.database {
        Database::Sqlite(path) => path,
        Database::Postgres(_) => return Err(of_postgres(&asked.to)),
    };
    if !database.exists() {
        return Err(Failure::new(format!(
            "There is no database {}. RESTANTE_DATA_DIR or RESTANTE_DATABASE_URL names another one.",
            database.display()
        )));
    }
    let at = restante_app::clock::SystemClock.now();
    let bytes = backup_sqlite(database, &asked.to, at).await?;
    let to = asked.to.display();
    if asked.json {
        say::result(&json!({ "path": to.to_string(), "bytes": bytes, "taken_at": at }).to_string());
        return Ok(());
    }
    say::result(&format!("{to}"));
    say::note(&format!(
        "The copy has {bytes} bytes, is sound, and lies on the disk. The master key is not in it: keep that in another \
         place, since nobody can read the copy without it, and everybody with both."
    ));
    Ok(())
}

fn of_postgres(to: &Path) -> Failure {
    say::result(&format!(
        "pg_dump --format=custom --no-owner --no-privileges --file={} --dbname=\"$RESTANTE_DATABASE_URL\"",
        to.display()
    ));
    Failure::new(
        "No backup was made: the database is PostgreSQL's, and its own tools know best how to copy it. The line above is \
         one moment of it, taken while the servers run; restore it with `pg_restore --no-owner --dbname=URL FILE` into an \
         empty database. It loses what came after that moment. To lose less, archive the write-ahead log: `pg_basebackup` \
         with `archive_mode=on`, or the point-in-time recovery of your provider. Neither holds the master key: keep that \
         in another place.",
    )
}
