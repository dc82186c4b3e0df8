//! `restante keys add`, `activate`, `rewrap` and `retire`: the steps of a change of the master key.

use std::path::Path;

use restante_app::keys::{Kept, KeysChangeError};
use restante_app::people::Actor;
use restante_core::seal::KekId;
use serde_json::json;

use crate::failure::Failure;
use crate::instance::Instance;
use crate::say;

pub(super) async fn add(instance: &Instance, as_json: bool) -> Result<(), Failure> {
    let path = &instance.master_key_file;
    let id = instance.app.add_master_key(&Actor::operator(), path).await?;
    if as_json {
        say::result(&json!({ "id": id.to_string(), "key_file": path.display().to_string() }).to_string());
        return Ok(());
    }
    say::note(&format!(
        "A new master key stands at the end of {}. Nothing is wrapped by it yet. Copy the file to its safe place, and to \
         every other server of this instance; then run `restante keys activate {id}`.",
        path.display()
    ));
    say::result(&id.to_string());
    Ok(())
}

pub(super) async fn activate(instance: &Instance, id: &str) -> Result<(), Failure> {
    let id = read_id(id)?;
    let app = &instance.app;
    app.activate_master_key(&Actor::operator(), &instance.master_key_file, id).await?;
    say::note(&format!("The master key {id} is active: what is new is wrapped by it."));
    let others = app.servers_with_another_active_key().await?;
    if others > 0 {
        say::note(&format!(
            "{others} of the running servers still wrap by another: put the line of {id} first in their key files too."
        ));
    }
    say::note("Run `restante keys rewrap` to wrap everything else by it.");
    Ok(())
}

pub(super) async fn rewrap(instance: &Instance, as_json: bool) -> Result<(), Failure> {
    let app = &instance.app;
    let done = app
        .rewrap_keys(&Actor::operator(), |so_far| {
            say::note(&format!("{so_far} keys were wrapped anew so far"))
        })
        .await?;
    let active = app.keys.ring().active_id();
    let (uses, _) = app.master_keys_in_use().await?;
    let left: u64 = uses.iter().filter(|key| !key.active).map(restante_app::keys::MasterKeyUse::wraps).sum();
    if as_json {
        let shown = json!({
            "active": active.to_string(), "rewrapped": done.rewrapped, "verified": done.verified, "left": left,
        });
        say::result(&shown.to_string());
    } else {
        say::result(&format!(
            "{} keys were wrapped anew; {} are wrapped by the master key {active}, and each of them unwraps.",
            done.rewrapped, done.verified
        ));
    }
    if left > 0 {
        return Err(Failure::new(format!(
            "{left} keys are still wrapped by another master key. A server may not have noticed the active one yet \
             (`restante keys list` shows it), or they are damaged (`restante check`). Run this again."
        )));
    }
    if !as_json && uses.len() > 1 {
        say::note(
            "The other master keys wrap nothing any more. Backups from before this moment still need them: \
             `restante keys retire` asks what to do with that.",
        );
    }
    Ok(())
}

pub(super) async fn retire(instance: &Instance, id: &str, keep_in: Option<&Path>) -> Result<(), Failure> {
    let id = read_id(id)?;
    let kept = keep_in.map_or(Kept::Nowhere, |file| Kept::In(file.to_path_buf()));
    let path = &instance.master_key_file;
    instance.app.retire_master_key(&Actor::operator(), path, id, &kept).await?;
    say::note(&format!("The master key {id} is no longer in {}.", path.display()));
    say::note(&match keep_in {
        Some(file) => format!(
            "It stands in {} now. A backup from before `restante keys rewrap` opens with it alone: keep the file apart \
             from the backups, for as long as one of them lives, and add its line to the key file when you restore one.",
            file.display()
        ),
        None => "A backup from before `restante keys rewrap` can't be opened any more, unless the key stands elsewhere."
            .to_owned(),
    });
    say::note("Take its line out of the key files of the other servers of this instance too.");
    Ok(())
}

fn read_id(text: &str) -> Result<KekId, Failure> {
    text.parse().map_err(|error| Failure::from(KeysChangeError::NotAnId(error)))
}
