//! `restante bootstrap`: a tenant, its owner and an API key with every scope. It opens the database
//! itself, beside a running server or before the first one.

use std::io::Read as _;

use restante_core::secret::Secret;
use serde_json::json;

use crate::arguments::BootstrapArguments;
use crate::failure::Failure;
use crate::instance::{For, Instance};
use crate::say;

/// More than any password that is accepted.
const PASSWORD_BYTES_MAX: u64 = 64 * 1024;

pub(crate) async fn run(asked: BootstrapArguments) -> Result<(), Failure> {
    let (settings, _) = asked.settings.settings()?;
    let password = read_password()?;
    let instance = Instance::open(&settings, For::Command).await?;
    let made = instance.app.bootstrap(&asked.tenant, &asked.email, password).await;
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            instance.close().await;
            return Err(error.into());
        }
    };
    if asked.json {
        let shown = json!({
            "tenant": { "id": made.tenant, "slug": made.slug },
            "user": { "id": made.user, "email": made.email },
            "api_key": made.api_key.expose(),
        });
        say::result(&shown.to_string());
    } else {
        say::note(&format!("The tenant {} and its owner {} are made.", made.slug, made.email));
        if made.administrator {
            say::note("The owner is also this instance's administrator.");
        }
        say::note("Its API key, shown this once:");
        say::result(made.api_key.expose());
    }
    instance.close().await;
    Ok(())
}

fn read_password() -> Result<Secret<String>, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(PASSWORD_BYTES_MAX + 1).read_to_string(&mut text);
    let text = Secret::new(text);
    match read {
        Ok(length) if length as u64 <= PASSWORD_BYTES_MAX => Ok(text),
        Ok(_) => Err(Failure::usage("The password on standard input is too long.")),
        Err(error) => {
            Err(Failure::usage(format!("The password can't be read from standard input: {error}.")))
        }
    }
}
