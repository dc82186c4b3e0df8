//! `restante keys rotate-tenant` and `restante keys reseal`.

use restante_app::people::Actor;
use restante_core::seal::{KEY_SETTLES_SECONDS, KeyClass};
use serde_json::json;

use crate::failure::Failure;
use crate::instance::Instance;
use crate::key_arguments::RotatingClass;
use crate::say;

pub(super) async fn rotate(instance: &Instance, slug: &str, class: RotatingClass) -> Result<(), Failure> {
    let app = &instance.app;
    let class = match class {
        RotatingClass::Payload => KeyClass::Payload,
        RotatingClass::Secrets => KeyClass::Secrets,
    };
    let tenant = app.tenant_of_slug(slug).await?;
    let version = app.rotate_tenant_key(&Actor::operator(), tenant, class).await?;
    say::result(&format!(
        "The tenant {slug} has a {} key of version {version}. It seals from {KEY_SETTLES_SECONDS} seconds on, when every \
         server has it; the older ones go on opening what they sealed.",
        class.as_str()
    ));
    if class == KeyClass::Secrets {
        say::note(&format!(
            "Run `restante keys reseal {slug}` after that: it seals the tenant's secrets anew and destroys the older keys."
        ));
    }
    Ok(())
}

pub(super) async fn reseal(instance: &Instance, slug: &str, as_json: bool) -> Result<(), Failure> {
    let app = &instance.app;
    let tenant = app.tenant_of_slug(slug).await?;
    let done = app.reseal_secrets(&Actor::operator(), tenant).await?;
    if as_json {
        let shown = json!({
            "version": done.version, "resealed": done.resealed, "destroyed": done.destroyed,
            "destroy_from": done.destroy_from,
        });
        say::result(&shown.to_string());
        return Ok(());
    }
    say::result(&format!(
        "{} secrets were sealed anew; all of the tenant {slug} are sealed under version {}.",
        done.resealed, done.version
    ));
    for version in &done.destroyed {
        say::result(&format!("Version {version} was destroyed. Backups from before still hold it."));
    }
    if let Some(from) = done.destroy_from {
        say::note(&format!(
            "An older version is kept for now: a server may still seal with it until {from}. Run this again after that."
        ));
    }
    Ok(())
}
