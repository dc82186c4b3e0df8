//! `restante retention run`: what the schedule does, now. It opens the database itself, beside a running server or
//! without one; with SQLite it takes its turns between the server's commits.

use restante_app::retention::{self, Cause, Kept, Options, Report};
use restante_core::time::Timestamp;

use crate::arguments::RetentionRunArguments;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::say;

pub(crate) async fn run(asked: RetentionRunArguments) -> Result<(), Failure> {
    let (settings, _) = asked.settings.settings()?;
    let at = match &asked.at {
        Some(text) => Some(Timestamp::parse_rfc3339(text).ok_or_else(|| {
            Failure::usage(format!("{text} is no time in RFC 3339, such as 2026-11-30T12:00:00Z."))
        })?),
        None => None,
    };
    let instance = Instance::open(&settings, For::Command).await?;
    let options = Options {
        dry_run: asked.dry_run,
        cause: Cause::Command,
        actor: "operator".to_owned(),
        ..Options::default()
    };
    let done = retention::run(&instance.app, at, options).await;
    instance.close().await;
    let report = done?;
    if asked.json {
        say::result(&report.json().to_string());
    } else {
        tell(&report);
    }
    match report.stopped {
        Some(why) => Err(Failure::new(why)),
        None => Ok(()),
    }
}

fn tell(report: &Report) {
    let verb = if report.dry_run { "would go" } else { "went" };
    let counts = report.counts;
    say::result(&format!(
        "As of {}: {} payloads ({} bytes) and {} keys {verb}; {} unprocessed handoffs {}.",
        report.at,
        counts.payloads,
        counts.payload_bytes,
        counts.keys,
        counts.expired,
        if report.dry_run { "would be given up" } else { "were given up" }
    ));
    for line in &report.endpoints {
        say::result(&format!(
            "  {} {}: {} payloads ({} bytes), {} keys{}",
            line.endpoint,
            line.name,
            line.counts.payloads,
            line.counts.payload_bytes,
            line.counts.keys,
            line.kept
                .iter()
                .map(|(why, count)| format!("; {count} stay: {}", reason(*why)))
                .collect::<String>()
        ));
    }
    if !report.dry_run {
        say::note(&format!(
            "{} old rows of logs and counters went, {} pages were given back, in {} ms.",
            report.old_rows, report.pages_given_back, report.milliseconds
        ));
    }
}

const fn reason(why: Kept) -> &'static str {
    match why {
        Kept::Pending => "a consumer has still to process them",
        Kept::Leased => "a worker has them",
        Kept::Failed => "they failed, and nobody has settled them",
        Kept::Uncertain => "they are uncertain, and nobody has settled them",
        Kept::Repair => "they wait for a repair",
        Kept::Hold => "they are held",
        Kept::Shared => "another event of the same request stays",
        Kept::Backfill => "a consumer is being handed what was here before it",
        Kept::Secret => "their scheme signs no id or no time, and a secret of their day still verifies",
        Kept::SentAgain => "the provider sent them again and may still be trying",
    }
}
