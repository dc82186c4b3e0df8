//! `restante admin link`: a one-time link for a person who can't sign in. Who may run this command may
//! read the master key, so it asks for nothing more. It opens the database itself, beside a running
//! server or without one.

use restante_app::App;
use restante_app::people::{Actor, RESET_SECONDS};
use restante_core::token::LinkToken;
use serde_json::json;

use crate::arguments::LinkArguments;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::say;

pub(crate) async fn run(asked: LinkArguments) -> Result<(), Failure> {
    let (settings, _) = asked.settings.settings()?;
    let instance = Instance::open(&settings, For::Command).await?;
    let made = make(&instance.app, &asked).await;
    instance.close().await;
    let Made { link, path, note } = made?;
    let url = format!("{}/{path}/{}", settings.public_url, link.expose());
    if asked.json {
        say::result(&json!({ "url": url }).to_string());
    } else {
        say::note(&note);
        say::result(&url);
    }
    Ok(())
}

struct Made {
    link: LinkToken,
    path: &'static str,
    note: String,
}

async fn make(app: &App, asked: &LinkArguments) -> Result<Made, Failure> {
    let Some(user) = app.person_of(&asked.email).await? else {
        if app.needs_set_up().await? {
            let link = app.new_set_up_link().await?;
            let note =
                "Nobody administers this instance yet. This link sets it up, once, within a day:".to_owned();
            return Ok(Made { link, path: "set-up", note });
        }
        return Err(Failure::new(format!(
            "There is no account of {}. An owner of a tenant can invite this address.",
            asked.email
        )));
    };
    let (person, _) = app.person(&Actor::operator(), user).await?;
    let link = app.new_reset_link(&Actor::operator(), user, asked.without_second_factor).await?;
    let mut note = format!(
        "This link sets a new password for {}, once, within {} minutes",
        person.email,
        RESET_SECONDS / 60
    );
    note.push_str(match (person.has_second_factor, asked.without_second_factor) {
        (true, true) => ", and takes the second factor away:",
        (true, false) => ". The second factor stays (--without-second-factor takes it away):",
        (false, _) => ":",
    });
    if person.disabled_at.is_some() {
        say::note(
            "This account is disabled: whatever its password is, it can't sign in until an administrator enables it.",
        );
    }
    Ok(Made { link, path: "links", note })
}
