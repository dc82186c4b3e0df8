//! `restante serve`: the server.

use crate::arguments::SettingFlags;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::serving::{self, Ports};
use crate::settings::Settings;
use crate::{logging, say, standing};

pub(crate) async fn run(asked: SettingFlags) -> Result<(), Failure> {
    let (settings, _) = asked.settings()?;
    logging::begin();
    let stop = serving::interrupted()?;
    let ports = Ports::take(&settings)?;
    let instance = Instance::open(&settings, For::Serving).await?;
    if let Some(why) = standing::refusal(instance.app.standing(&settings.data_dir).await?) {
        return Err(Failure::new(why));
    }
    instance.app.keep_high_water(&settings.data_dir).await?;
    greet(&settings, &instance, ports.address()?).await?;
    serving::run(instance, ports, &settings, stop).await
}

/// What a person wants to know who has just started it.
async fn greet(
    settings: &Settings,
    instance: &Instance,
    address: std::net::SocketAddr,
) -> Result<(), Failure> {
    say::note(&format!("Restante {} listens on http://{address}", env!("CARGO_PKG_VERSION")));
    say::note(&format!("  for the world it is   {}", settings.public_url));
    say::note(&format!("  the data is kept in   {}", instance.database));
    let key = instance.master_key_file.display();
    if instance.is_new_master_key {
        say::note(&format!("  a master key was made {key}"));
        say::note("Keep a copy of that file apart from the database: without it nothing can be read again.");
    }
    if instance.is_key_beside_data {
        say::note(&format!(
            "Warning: the master key {key} lies beside the database: whoever copies the folder can read everything. Where \
             that matters, move it to another place and name it with RESTANTE_MASTER_KEY_FILE."
        ));
    }
    if instance.app.needs_set_up().await? {
        let link = instance.app.new_set_up_link().await?;
        say::note(
            "Nobody administers this instance yet. Set it up in the browser, with this link, once, within a day:",
        );
        say::note(&format!("  {}/set-up/{}", settings.public_url, link.expose()));
        say::note("The next start prints a new one. For scripts there is `restante bootstrap`.");
    }
    Ok(())
}
