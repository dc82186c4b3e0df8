//! `restante check`: whether the instance is sound. It ends with status 1 when something is not.

use restante_app::check::CheckReport;
use restante_app::high_water::Standing;
use serde_json::json;

use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::settings::Settings;
use crate::upkeep_arguments::CheckArguments;
use crate::{data_folder, say, standing};

pub(crate) async fn run(asked: CheckArguments) -> Result<(), Failure> {
    let (settings, _) = asked.settings.settings()?;
    let instance = Instance::open(&settings, For::Command).await?;
    let done = if asked.acknowledge_restore {
        acknowledge(&instance, &settings).await
    } else {
        check(&instance, &settings, asked.json).await
    };
    instance.close().await;
    done
}

async fn acknowledge(instance: &Instance, settings: &Settings) -> Result<(), Failure> {
    let found = instance.app.standing(&settings.data_dir).await?;
    let Some(why) = standing::refusal(found) else {
        say::note("There is nothing to acknowledge: the database is as the instance left it.");
        return Ok(());
    };
    if found == Standing::IsHalfCopied {
        return Err(Failure::new(why));
    }
    // A server that runs on it would not notice.
    let _lock = match &settings.database {
        crate::settings::Database::Sqlite(path) => {
            Some(data_folder::lock(path.parent().unwrap_or(std::path::Path::new(".")))?)
        }
        crate::settings::Database::Postgres(_) => None,
    };
    instance.app.acknowledge_restore(&settings.data_dir, found).await?;
    say::note(&why);
    say::note("This is acknowledged: the server serves this database from now on.");
    say::note(standing::AFTER_A_RESTORE);
    Ok(())
}

async fn check(instance: &Instance, settings: &Settings, as_json: bool) -> Result<(), Failure> {
    let standing = standing::refusal(instance.app.standing(&settings.data_dir).await?);
    let mut progress = |what: &str| {
        if !as_json {
            say::note(&format!("Looking at {what} …"));
        }
    };
    let report = instance.app.check(&mut progress).await?;
    if as_json {
        let shown = json!({
            "sound": report.faults.is_empty() && standing.is_none(), "counts": report.counts, "opened": report.opened,
            "erased": report.erased, "faults": report.faults, "file_checked": report.file_checked,
            "not_served_because": standing,
        });
        say::result(&shown.to_string());
    } else {
        print(&report);
    }
    match (report.faults.len(), standing) {
        (0, None) => Ok(()),
        (0, Some(why)) => Err(Failure::new(why)),
        (faults, why) => Err(Failure::new(format!(
            "{faults} faults were found. {}",
            why.unwrap_or_else(|| {
                "Take a copy of everything as it is before you change anything; a backup from before the fault is the way \
                 back."
                    .to_owned()
            })
        ))),
    }
}

fn print(report: &CheckReport) {
    for (name, count) in &report.counts {
        say::result(&format!("{count:>12} {name}"));
    }
    say::result(&format!("{:>12} sealed values were opened", report.opened));
    if report.erased > 0 {
        say::result(&format!("{:>12} were erased with their key", report.erased));
    }
    if !report.file_checked {
        say::note("PostgreSQL looks at its own files: run `pg_amcheck` on the database for that.");
    }
    for fault in &report.faults {
        say::result(&format!("FAULT: {fault}"));
    }
    if report.faults.is_empty() {
        say::result("Nothing is wrong with what was looked at.");
    }
}
