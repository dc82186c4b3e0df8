//! `restante reconcile run`: one run of an endpoint, now. It opens the database itself, beside a running server or
//! without one; whoever has the endpoint does the run, and this command waits for it.

use restante_app::reconcile::{AskedRun, Run};
use restante_core::id::EndpointId;
use restante_core::time::Timestamp;
use serde_json::json;
use tokio::sync::watch;

use crate::arguments::ReconcileRunArguments;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::say;

pub(crate) async fn run(asked: ReconcileRunArguments) -> Result<(), Failure> {
    let (settings, _) = asked.settings.settings()?;
    let endpoint: EndpointId = asked.endpoint.parse().map_err(|_| {
        Failure::usage(format!("{} is no id of an endpoint, such as ep_01….", asked.endpoint))
    })?;
    let wanted =
        AskedRun { from: time(asked.from.as_ref())?, to: time(asked.to.as_ref())?, trusting: asked.trusting };
    let instance = Instance::open(&settings, For::Command).await?;
    let (told, stop) = watch::channel(false);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = told.send(true);
        }
        // Until then nobody is told anything, and the channel stays open.
        std::future::pending::<()>().await;
    });
    let tell = |why: &str| say::note(&format!("It waits: {why}"));
    let done = instance.app.reconcile_by_hand(&asked.tenant, endpoint, wanted, stop, tell).await;
    instance.close().await;
    let run = done?;
    if asked.json {
        say::result(&as_json(&run).to_string());
    } else {
        words(&run);
    }
    let row = run.row;
    match row.outcome.as_deref() {
        Some("done") => Ok(()),
        Some(_) => {
            Err(Failure::new(row.error.unwrap_or_else(|| "The run did not come to its end.".to_owned())))
        }
        None => Err(Failure::new("The run is not at its end. A server goes on with it, or the next run.")),
    }
}

fn time(text: Option<&String>) -> Result<Option<Timestamp>, Failure> {
    let read = |text: &String| {
        Timestamp::parse_rfc3339(text).ok_or_else(|| {
            Failure::usage(format!("{text} is no time in RFC 3339, such as 2026-11-30T12:00:00Z."))
        })
    };
    text.map(read).transpose()
}

/// With the names that the API has.
fn as_json(run: &Run) -> serde_json::Value {
    let row = &run.row;
    json!({
        "id": row.id, "outcome": row.outcome, "error": row.error, "started_at": row.started_at,
        "finished_at": row.finished_at, "from": row.from, "to": row.to, "wanted_from": row.wanted_from,
        "pages": row.pages, "listed": row.listed, "known": row.known, "inserted": row.inserted,
        "redelivered": row.redelivered, "missing": row.missing, "mismatched": row.mismatched, "failed": row.failed,
        "too_old": row.too_old, "never_by_webhook": run.never_by_webhook, "unprocessed": run.unprocessed,
        "found": run.found,
    })
}

fn words(run: &Run) {
    let row = &run.row;
    if let Some((from, to)) = row.from.zip(row.to) {
        say::result(&format!("The provider was asked for everything from {from} to {to}."));
    }
    if let Some(wanted) = row.wanted_from {
        say::result(&format!(
            "It was to look back to {wanted}. Retention has removed the ids of older events since, and without its id an \
             event would come in a second time."
        ));
    }
    say::result(&format!(
        "{} listed, {} here already, {} inserted, {} asked for again.",
        row.listed, row.known, row.inserted, row.redelivered
    ));
    for (count, what) in [
        (row.missing, "objects changed that no event told of"),
        (row.mismatched, "are here with another type"),
        (row.failed, "could not be read"),
        (row.too_old, "are older than the ids that are still held, so they were not inserted"),
    ] {
        if count > 0 {
            say::result(&format!("{count} {what}."));
        }
    }
    for (consumer, count) in &run.unprocessed {
        say::result(&format!("{count} are here and not processed by {consumer}."));
    }
}
