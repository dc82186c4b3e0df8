//! `restante config`: the settings in force.

use crate::arguments::ConfigArguments;
use crate::failure::Failure;
use crate::say;
use crate::settings::{as_json, as_toml};

pub(crate) fn run(asked: &ConfigArguments) -> Result<(), Failure> {
    let (settings, given) = asked.settings.settings()?;
    let text = if asked.json {
        serde_json::to_string_pretty(&as_json(&settings, &given)).unwrap_or_default()
    } else {
        as_toml(&settings, &given).trim_end().to_owned()
    };
    say::result(&text);
    Ok(())
}
