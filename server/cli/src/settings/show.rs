//! The settings in force, as `restante config` prints them: with their origin, and secrets masked.

use serde_json::{Map, Value, json};
use url::Url;

use super::known::KNOWN;
use super::read::{Database, Settings};
use super::sources::AllGiven;

/// One setting as it is shown. What is not set has no value.
struct Shown {
    name: &'static str,
    value: Value,
    from: String,
}

fn shown(settings: &Settings, given: &AllGiven) -> Vec<Shown> {
    let list = |list: &[ipnet::IpNet]| json!(list.iter().map(ToString::to_string).collect::<Vec<_>>());
    KNOWN
        .iter()
        .map(|known| {
            let value = match known.name {
                "listen" => json!(settings.listen.to_string()),
                "public_url" => json!(settings.public_url),
                "data_dir" => json!(settings.data_dir.display().to_string()),
                "database_url" => json!(match &settings.database {
                    Database::Sqlite(path) => format!("sqlite:{}", path.display()),
                    Database::Postgres(url) => masked(url.expose()),
                }),
                "master_key_file" => {
                    json!(settings.master_key_file.as_ref().map(|path| path.display().to_string()))
                }
                "metrics_listen" => json!(settings.metrics_listen.map(|address| address.to_string())),
                "trusted_proxies" => list(&settings.trusted_proxies),
                "outbound_allow_cidrs" => list(&settings.outbound_allow_cidrs),
                "allow_volatile" => json!(settings.allow_volatile),
                "body_bytes_ceiling" => json!(settings.body_bytes_ceiling),
                "body_bytes_budget" => json!(settings.body_bytes_budget),
                "connections_max" => json!(settings.connections_max),
                "postgres_connections_max" => json!(settings.postgres_connections_max),
                "smtp_url" => json!(settings.mail.as_ref().map(|(url, _)| masked(url.expose()))),
                "smtp_from" => json!(settings.mail.as_ref().map(|(_, from)| from)),
                _ => Value::Null,
            };
            let from =
                given.get(known.name).map_or_else(|| "default".to_owned(), |given| given.origin.clone());
            Shown { name: known.name, value, from }
        })
        .collect()
}

/// A database's URL without its password, and without options that may hold one.
fn masked(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return "[secret]".to_owned() };
    if url.password().is_some() && url.set_password(Some("[secret]")).is_err() {
        return "[secret]".to_owned();
    }
    if url.query().is_some() {
        url.set_query(Some("[hidden]"));
    }
    url.to_string().replace("%5B", "[").replace("%5D", "]")
}

/// As lines that `restante.toml` could hold.
pub(crate) fn as_toml(settings: &Settings, given: &AllGiven) -> String {
    shown(settings, given)
        .into_iter()
        .map(|Shown { name, value, from }| match value {
            Value::Null => format!("# {name} is not set\n"),
            // The strings and lists of JSON are also those of TOML.
            value => format!("{name} = {value} # {from}\n"),
        })
        .collect()
}

/// As one object: name to value and origin.
pub(crate) fn as_json(settings: &Settings, given: &AllGiven) -> Value {
    let members = shown(settings, given)
        .into_iter()
        .map(|Shown { name, value, from }| (name.to_owned(), json!({ "value": value, "from": from })))
        .collect::<Map<_, _>>();
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::sources::Given;
    use super::*;

    #[test]
    fn every_setting_is_shown_with_its_origin_and_no_password() {
        let given: AllGiven = [(
            "database_url",
            Given {
                text: "postgres://me:canary@db.example/restante?password=canary".to_owned(),
                origin: "RESTANTE_DATABASE_URL".to_owned(),
            },
        )]
        .into();
        let settings = Settings::read(&given, Path::new("/here")).unwrap();
        let (toml, json) = (as_toml(&settings, &given), as_json(&settings, &given));
        assert!(!toml.contains("canary") && !json.to_string().contains("canary"), "{toml}");
        assert!(toml.contains("postgres://me:[secret]@db.example/restante"), "{toml}");
        assert_eq!(json["database_url"]["from"], "RESTANTE_DATABASE_URL");
        assert_eq!(json["listen"], json!({ "value": "127.0.0.1:8080", "from": "default" }));
        for known in KNOWN {
            assert!(toml.contains(known.name), "{}", known.name);
            let value = &json[known.name]["value"];
            let may_be_unset =
                matches!(known.name, "master_key_file" | "metrics_listen" | "smtp_url" | "smtp_from");
            assert!(!value.is_null() || may_be_unset, "{} is never shown", known.name);
        }
    }
}
