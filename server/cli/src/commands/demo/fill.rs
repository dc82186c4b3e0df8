//! `restante fill`: the demo's week in a database of its own, and then repeated into the past until there
//! are as many receipts as asked for. What is printed leads into it. Only with the feature `bench`.

use restante_app::clock::SystemClock;
use restante_app::stats::Window;
use restante_core::time::Clock as _;
use restante_store::{Options, Url, filling};
use serde_json::json;

use super::tell;
use crate::arguments::FillArguments;
use crate::failure::Failure;
use crate::logging;
use crate::say;
use crate::settings::Database;

/// Over how many days the traffic is spread.
const DAYS: u32 = 90;

pub(crate) async fn run(asked: FillArguments) -> Result<(), Failure> {
    logging::begin_at("warn");
    let (settings, _) = asked.settings.settings()?;
    let (instance, clock, cast) = tell(&settings, SystemClock.now()).await?;
    let week = instance.app.overview(&cast.by_owner, Window::Week).await?.slots.total();
    clock.run();
    let link = instance.app.new_sign_in_link(cast.owner).await?;
    instance.close().await;
    let receipts = u32::try_from(week.accepted).unwrap_or(u32::MAX).max(1);
    let copies = asked.receipts / receipts;
    // Without a copy there is nothing to be apart.
    if let Some(minutes_apart) = (DAYS * 24 * 60).checked_div(copies) {
        let url = match &settings.database {
            Database::Sqlite(path) => Url::Sqlite(path.clone()),
            Database::Postgres(url) => Url::Postgres(url.expose().clone()),
        };
        filling::multiply(&Options::new(url), copies, minutes_apart.max(1)).await?;
    }
    let shown = json!({
        "receipts": u64::from(receipts) * (u64::from(copies) + 1),
        "link": format!("/links/{}", link.expose()),
        "api_key": cast.api_key.expose(),
    });
    say::result(&shown.to_string());
    Ok(())
}
