//! `restante keys`: the master keys and the keys of tenants. Each command opens the database itself, beside
//! running servers or without one, and changes the key file of this machine.

mod list;
mod master;
mod tenant;

use crate::arguments::SettingFlags;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::key_arguments::{KeysArguments, KeysCommand};

pub(crate) async fn run(asked: KeysArguments) -> Result<(), Failure> {
    match asked.command {
        KeysCommand::List(asked) => {
            on(&asked.settings, async |instance| {
                list::run(instance, asked.tenant.as_deref(), asked.json).await
            })
            .await
        }
        KeysCommand::Add(asked) => {
            on(&asked.settings, async |instance| master::add(instance, asked.json).await).await
        }
        KeysCommand::Activate(asked) => {
            on(&asked.settings, async |instance| master::activate(instance, &asked.id).await).await
        }
        KeysCommand::Rewrap(asked) => {
            on(&asked.settings, async |instance| master::rewrap(instance, asked.json).await).await
        }
        KeysCommand::Retire(asked) => {
            on(&asked.settings, async |instance| {
                master::retire(instance, &asked.id, asked.keep_in.as_deref()).await
            })
            .await
        }
        KeysCommand::RotateTenant(asked) => {
            on(&asked.settings, async |instance| tenant::rotate(instance, &asked.tenant, asked.class).await)
                .await
        }
        KeysCommand::Reseal(asked) => {
            on(&asked.settings, async |instance| tenant::reseal(instance, &asked.tenant, asked.json).await)
                .await
        }
    }
}

/// Opens the instance, works, and closes it however the work ends.
async fn on(
    settings: &SettingFlags,
    work: impl AsyncFnOnce(&Instance) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (settings, _) = settings.settings()?;
    let instance = Instance::open(&settings, For::Command).await?;
    let done = work(&instance).await;
    instance.close().await;
    done
}
