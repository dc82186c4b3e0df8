//! From texts to settings that can't be wrong. Each refusal names the setting as it was given.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use restante_app::mail::Mailer;
use restante_core::limits::BODY_BYTES_CEILING_DEFAULT;
use restante_core::secret::Secret;
use url::{Host, Url};

use super::sources::{AllGiven, Given};
use crate::failure::Failure;

/// The name of the SQLite file in the data folder.
const DATABASE_FILE: &str = "restante.db";
const LISTEN_DEFAULT: &str = "127.0.0.1:8080";
const DATA_DIR_DEFAULT: &str = "data";

/// Where the data is kept.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// In a file.
    Sqlite(PathBuf),
    /// On a server. The URL may hold a password.
    Postgres(Secret<String>),
}

/// The settings in force.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) public_url: String,
    pub(crate) data_dir: PathBuf,
    pub(crate) database: Database,
    pub(crate) master_key_file: Option<PathBuf>,
    pub(crate) metrics_listen: Option<SocketAddr>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) outbound_allow_cidrs: Vec<IpNet>,
    pub(crate) allow_volatile: bool,
    pub(crate) body_bytes_ceiling: u64,
    pub(crate) body_bytes_budget: usize,
    pub(crate) connections_max: u32,
    pub(crate) postgres_connections_max: u32,
    /// The mail server and the sender's address, when letters are to be sent.
    pub(crate) mail: Option<(Secret<String>, String)>,
}

impl Settings {
    /// Reads what was given and fills in the rest. Relative paths begin at `folder`.
    ///
    /// # Errors
    /// With a sentence that names the setting.
    pub(crate) fn read(given: &AllGiven, folder: &Path) -> Result<Self, Failure> {
        let path = |name: &str| given.get(name).map(|given| folder.join(&given.text));
        let listen = match given.get("listen") {
            Some(given) => address(given)?,
            None => address(&Given { text: LISTEN_DEFAULT.to_owned(), origin: String::new() })?,
        };
        let data_dir = path("data_dir").unwrap_or_else(|| folder.join(DATA_DIR_DEFAULT));
        let database = match given.get("database_url") {
            Some(given) => database(given, folder)?,
            None => Database::Sqlite(data_dir.join(DATABASE_FILE)),
        };
        let public_url = match given.get("public_url") {
            Some(given) => public_url(given)?,
            None => format!("http://{}", reachable(listen)),
        };
        let body_bytes_ceiling = number(given, "body_bytes_ceiling", 1, 1 << 30, BODY_BYTES_CEILING_DEFAULT)?;
        let body_bytes_budget = number(given, "body_bytes_budget", 1 << 20, 1 << 40, 256 << 20)?;
        if body_bytes_budget < body_bytes_ceiling {
            return Err(Failure::usage(format!(
                "body_bytes_budget ({body_bytes_budget}) has to be at least body_bytes_ceiling ({body_bytes_ceiling}), \
                 or the largest bodies could never be taken."
            )));
        }
        Ok(Self {
            listen,
            public_url,
            data_dir,
            database,
            master_key_file: path("master_key_file"),
            metrics_listen: given.get("metrics_listen").map(address).transpose()?,
            trusted_proxies: networks(given, "trusted_proxies")?,
            outbound_allow_cidrs: networks(given, "outbound_allow_cidrs")?,
            allow_volatile: given.get("allow_volatile").map_or(Ok(false), yes_or_no)?,
            body_bytes_ceiling,
            body_bytes_budget: usize::try_from(body_bytes_budget).unwrap_or(usize::MAX),
            connections_max: small(number(given, "connections_max", 1, 1_000_000, 2_000)?),
            postgres_connections_max: small(number(given, "postgres_connections_max", 4, 1_000, 16)?),
            mail: mail(given)?,
        })
    }
}

/// The address at which a program on this machine reaches a listening socket.
pub(crate) fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn wrong(given: &Given, sentence: &str) -> Failure {
    Failure::usage(format!("{}: {sentence}", given.origin))
}

fn address(given: &Given) -> Result<SocketAddr, Failure> {
    let found = given.text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| {
        wrong(
            given,
            &format!(
                "`{}` is no address to listen on; it looks like 127.0.0.1:8080 or [::]:8080.",
                given.text
            ),
        )
    })
}

fn database(given: &Given, folder: &Path) -> Result<Database, Failure> {
    match given.text.parse::<restante_store::Url>() {
        Ok(restante_store::Url::Sqlite(path)) => Ok(Database::Sqlite(folder.join(path))),
        Ok(restante_store::Url::Postgres(url)) => Ok(Database::Postgres(Secret::new(url))),
        Err(sentence) => Err(wrong(given, &sentence)),
    }
}

fn public_url(given: &Given) -> Result<String, Failure> {
    let says = |sentence: &str| wrong(given, sentence);
    let like = "It looks like https://hooks.example.com.";
    let url = Url::parse(&given.text).map_err(|_| says(&format!("`{}` is no URL. {like}", given.text)))?;
    let Some(host) = url.host().filter(|_| matches!(url.scheme(), "http" | "https")) else {
        return Err(says(&format!(
            "The URL has to begin with https:// (or http:// on this machine). {like}"
        )));
    };
    if url.query().is_some()
        || url.fragment().is_some()
        || !url.username().is_empty()
        || url.password().is_some()
    {
        return Err(says(&format!("The URL may hold no user, query or fragment. {like}")));
    }
    if url.scheme() == "http" && !is_loopback(&host) {
        return Err(says(
            "The URL begins with http://, so keys and events would cross the network in clear. Use https:// with a \
             proxy that ends TLS; http:// is only for localhost and 127.0.0.1.",
        ));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// One without the other would send nothing, and nobody would notice before a link is missed.
fn mail(given: &AllGiven) -> Result<Option<(Secret<String>, String)>, Failure> {
    match (given.get("smtp_url"), given.get("smtp_from")) {
        (None, None) => Ok(None),
        (Some(url), Some(from)) => {
            let secret = Secret::new(url.text.clone());
            // The sentence of the mailer holds nothing of the URL.
            Mailer::new(&secret, &from.text).map_err(|sentence| wrong(url, &sentence))?;
            Ok(Some((secret, from.text.clone())))
        }
        (Some(url), None) => Err(wrong(url, "smtp_from is missing: the address that letters come from.")),
        (None, Some(from)) => {
            Err(wrong(from, "smtp_url is missing: the mail server that takes the letters."))
        }
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    }
}

fn networks(given: &AllGiven, name: &str) -> Result<Vec<IpNet>, Failure> {
    let Some(given) = given.get(name) else { return Ok(Vec::new()) };
    let parts = given.text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            part.parse::<IpNet>().or_else(|_| part.parse::<IpAddr>().map(IpNet::from)).map_err(|_| {
                wrong(
                    given,
                    &format!("`{part}` is no range of addresses; they look like 10.0.0.0/8 or fd00::/8."),
                )
            })
        })
        .collect()
}

fn yes_or_no(given: &Given) -> Result<bool, Failure> {
    match given.text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(wrong(given, "It has to be 1 or 0.")),
    }
}

fn number(given: &AllGiven, name: &str, least: u64, most: u64, or: u64) -> Result<u64, Failure> {
    let Some(given) = given.get(name) else { return Ok(or) };
    let number = given.text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| wrong(given, &format!("It has to be a whole number from {least} to {most}.")))
}

/// Fits by the bounds that were checked.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&'static str, &str)]) -> Result<Settings, String> {
        let given = settings
            .iter()
            .map(|(name, text)| (*name, Given { text: (*text).to_owned(), origin: format!("<{name}>") }))
            .collect();
        Settings::read(&given, Path::new("/here")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn nothing_need_be_set() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(settings.public_url, "http://127.0.0.1:8080");
        assert_eq!(settings.data_dir, Path::new("/here/data"));
        assert!(
            matches!(settings.database, Database::Sqlite(path) if path == Path::new("/here/data/restante.db"))
        );
        assert!(!settings.allow_volatile);
    }

    #[test]
    fn a_server_that_listens_everywhere_is_reached_here() {
        assert_eq!(read(&[("listen", "0.0.0.0:9000")]).unwrap().public_url, "http://127.0.0.1:9000");
        assert_eq!(read(&[("listen", "[::]:9000")]).unwrap().public_url, "http://[::1]:9000");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_name_of_its_setting() {
        for (name, text) in [
            ("listen", "8080"),
            ("listen", "nowhere.invalid"),
            ("public_url", "hooks.example.com"),
            ("public_url", "ftp://hooks.example.com"),
            ("public_url", "https://user:secret@hooks.example.com"),
            ("public_url", "https://hooks.example.com/?a"),
            ("public_url", "http://hooks.example.com"),
            ("public_url", "http://10.0.0.1:8080"),
            ("database_url", "mysql://canary-password@h/d"),
            ("trusted_proxies", "10.0.0.0/33"),
            ("outbound_allow_cidrs", "10.0.0.0/8, everyone"),
            ("allow_volatile", "perhaps"),
            ("connections_max", "0"),
            ("connections_max", "many"),
            ("smtp_url", "smtps://user:canary@mail.example.com"),
            ("smtp_from", "restante@example.com"),
        ] {
            let said = read(&[(name, text)]).unwrap_err();
            assert!(said.starts_with(&format!("<{name}>: ")), "{said}");
            assert!(!said.contains("canary") && !said.contains("secret@"), "{said}");
        }
        let in_clear = [("smtp_url", "smtp://user:canary@mail.example.com"), ("smtp_from", "a@example.com")];
        let said = read(&in_clear).unwrap_err();
        assert!(said.starts_with("<smtp_url>: ") && !said.contains("canary"), "{said}");
        assert!(read(&[("body_bytes_ceiling", "100000000"), ("body_bytes_budget", "2000000")]).is_err());
    }

    #[test]
    fn what_is_right_is_read() {
        let settings = read(&[
            ("public_url", "https://hooks.example.com/base/"),
            ("database_url", "postgres://u:p@h/d"),
            ("trusted_proxies", "10.0.0.0/8, 192.0.2.7,"),
            ("allow_volatile", "1"),
            ("data_dir", "/var/lib/restante"),
        ])
        .unwrap();
        assert_eq!(settings.public_url, "https://hooks.example.com/base");
        assert!(matches!(settings.database, Database::Postgres(_)));
        assert_eq!(settings.trusted_proxies.len(), 2);
        assert!(settings.allow_volatile);
        assert_eq!(settings.data_dir, Path::new("/var/lib/restante"));
        assert!(!format!("{settings:?}").contains("u:p"));
        assert_eq!(
            read(&[("public_url", "http://localhost:8080")]).unwrap().public_url,
            "http://localhost:8080"
        );
    }
}
