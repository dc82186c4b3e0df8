//! Where settings come from: flags, then variables, then `restante.toml`. What is given and not
//! known is refused, since a setting that is silently dropped is believed to be in force.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use config::{Config, Environment, File, FileFormat, Source as _, Value, ValueKind};

use super::known::{KNOWN, is_foreign, is_known, nearest, secret_of_file, variable};
use crate::failure::Failure;

/// The file that is read when it is there and no other is named.
const FILE_NAME: &str = "restante.toml";
/// What `config` calls the origin of a variable; that of a file is its path, and a flag has none.
const FROM_VARIABLE: &str = "the environment";
/// A secret in a file may be this long.
const SECRET_FILE_BYTES_MAX: u64 = 64 * 1024;

/// What was given, before anything is made of it.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The settings given as flags.
    pub(crate) flags: Vec<(&'static str, String)>,
    /// The environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The file that was named; `None` looks for `restante.toml` in `folder`.
    pub(crate) file: Option<PathBuf>,
    /// The current folder.
    pub(crate) folder: PathBuf,
}

/// One setting as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The text; lists with commas between.
    pub(crate) text: String,
    /// Where it stands, for people.
    pub(crate) origin: String,
}

/// Every setting that was given, by name.
pub(crate) type AllGiven = BTreeMap<&'static str, Given>;

/// Joins the sources.
///
/// # Errors
/// With a sentence for each name that is not known, and for what can't be read.
pub(crate) fn gather(sources: &Sources) -> Result<AllGiven, Failure> {
    let path = sources.file.clone().unwrap_or_else(|| sources.folder.join(FILE_NAME));
    let file = File::from(path.clone()).format(FileFormat::Toml).required(sources.file.is_some());
    let variables =
        Environment::with_prefix("RESTANTE").ignore_empty(true).source(Some(ours(&sources.variables)?));
    let mut builder = Config::builder().add_source(file).add_source(variables);
    for (name, text) in &sources.flags {
        builder = builder.set_override(*name, text.as_str()).map_err(|error| unreadable(&error))?;
    }
    let all = builder.build().and_then(|config| config.collect()).map_err(|error| unreadable(&error))?;

    let from_file = |value: &Value| value.origin().is_some_and(|origin| origin != FROM_VARIABLE);
    let unknown: Vec<String> = all
        .iter()
        .filter(|(name, value)| !is_known(name) && (from_file(value) || !is_foreign(name)))
        .map(|(name, value)| not_known(name, from_file(value)))
        .collect();
    if !unknown.is_empty() {
        return Err(Failure::usage(unknown.join("\n")));
    }
    let mut given = AllGiven::new();
    for known in KNOWN {
        let origin = |value: &Value, name: &str| match value.origin() {
            Some(_) if from_file(value) => format!("{}, {name}", path.display()),
            Some(_) => variable(name),
            None => format!("--{}", name.replace('_', "-")),
        };
        let file_name = format!("{}_file", known.name);
        let named = all.get(&file_name).filter(|_| secret_of_file(&file_name).is_some());
        match (all.get(known.name), named) {
            (Some(_), Some(_)) => {
                return Err(Failure::usage(format!(
                    "Both {} and {} are set: give one of them.",
                    variable(known.name),
                    variable(&file_name)
                )));
            }
            (Some(value), None) => {
                given.insert(
                    known.name,
                    Given { text: text(known.name, value)?, origin: origin(value, known.name) },
                );
            }
            (None, Some(value)) => {
                let text = read_secret(&text(&file_name, value)?)?;
                given.insert(known.name, Given { text, origin: origin(value, &file_name) });
            }
            (None, None) => {}
        }
    }
    Ok(given)
}

/// The variables that begin with our prefix.
fn ours(variables: &[(OsString, OsString)]) -> Result<config::Map<String, String>, Failure> {
    let mut ours = config::Map::new();
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with("RESTANTE_")) else { continue };
        let value =
            value.to_str().ok_or_else(|| Failure::usage(format!("{name} holds bytes that are no UTF-8.")))?;
        ours.insert(name.to_owned(), value.to_owned());
    }
    Ok(ours)
}

fn not_known(name: &str, in_file: bool) -> String {
    let (what, like) = if in_file {
        (format!("In {FILE_NAME}, `{name}`"), nearest(name).map(|like| format!("`{like}`")))
    } else {
        (variable(name), nearest(name).map(variable))
    };
    let hint = like.map_or_else(
        || "`restante config` prints those that there are.".to_owned(),
        |like| format!("Is {like} meant?"),
    );
    format!("{what} is no setting of this version. {hint}")
}

fn unreadable(error: &config::ConfigError) -> Failure {
    Failure::usage(format!("The settings can't be read: {error}."))
}

/// A value as text: a word, a number, true or false, or a list of words.
fn text(name: &str, value: &Value) -> Result<String, Failure> {
    let one = |value: &Value| match &value.kind {
        ValueKind::String(text) => Some(text.trim().to_owned()),
        ValueKind::Boolean(yes) => Some(yes.to_string()),
        ValueKind::I64(number) => Some(number.to_string()),
        ValueKind::U64(number) => Some(number.to_string()),
        _ => None,
    };
    let text = match &value.kind {
        ValueKind::Array(list) => list.iter().map(one).collect::<Option<Vec<_>>>().map(|list| list.join(",")),
        _ => one(value),
    };
    text.ok_or_else(|| {
        Failure::usage(format!("In {FILE_NAME}, `{name}` has to be a text, a number, or a list of texts."))
    })
}

fn read_secret(path: &str) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("The file {path} can't be read: {error}."));
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > SECRET_FILE_BYTES_MAX {
        return Err(Failure::usage(format!("The file {path} is too large to hold a secret.")));
    }
    std::fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(variables: &[(&str, &str)], toml: Option<&str>) -> (Sources, Folder) {
        let folder = Folder::new();
        if let Some(toml) = toml {
            std::fs::write(folder.0.join(FILE_NAME), toml).unwrap();
        }
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        (Sources { variables, folder: folder.0.clone(), ..Sources::default() }, folder)
    }

    /// A folder that goes when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let mut random = [0_u8; 8];
            getrandom::fill(&mut random).unwrap();
            let path = std::env::temp_dir().join(format!("restante-settings-{}", hex::encode(random)));
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_flag_beats_a_variable_and_a_variable_the_file() {
        let toml = "listen = \"1.1.1.1:1\"\npublic_url = \"https://file\"\ndata_dir = \"/file\"\nconnections_max = 7";
        let (mut sources, _folder) = sources(
            &[("RESTANTE_LISTEN", "2.2.2.2:2"), ("RESTANTE_PUBLIC_URL", "https://variable")],
            Some(toml),
        );
        sources.flags.push(("listen", "3.3.3.3:3".to_owned()));
        let given = gather(&sources).unwrap();
        let text = |name: &str| given[name].text.as_str();
        assert_eq!(text("listen"), "3.3.3.3:3");
        assert_eq!(text("public_url"), "https://variable");
        assert_eq!(text("data_dir"), "/file");
        assert_eq!(text("connections_max"), "7");
        assert_eq!(given["listen"].origin, "--listen");
        assert_eq!(given["public_url"].origin, "RESTANTE_PUBLIC_URL");
        assert!(given["data_dir"].origin.ends_with("restante.toml, data_dir"));
    }

    #[test]
    fn what_is_not_known_is_refused_with_its_name() {
        let (bad, _folder) = sources(&[("RESTANTE_LISTN", "x"), ("RESTANTE_NONSENSE", "x")], None);
        let said = gather(&bad).unwrap_err().to_string();
        assert!(
            said.contains("RESTANTE_LISTN is no setting of this version. Is RESTANTE_LISTEN meant?"),
            "{said}"
        );
        assert!(said.contains("RESTANTE_NONSENSE is no setting"), "{said}");
        let (bad, _folder) = sources(&[], Some("port = 80"));
        let said = gather(&bad).unwrap_err().to_string();
        assert!(said.contains("In restante.toml, `port` is no setting"), "{said}");
        let (bad, _folder) = sources(&[], Some("[listen]\nport = 80"));
        assert!(gather(&bad).is_err());
        let (bad, _folder) = sources(&[], Some("listen = "));
        assert!(gather(&bad).is_err());
    }

    #[test]
    fn variables_of_others_and_empty_ones_are_passed_over() {
        let (fine, _folder) = sources(
            &[
                ("RESTANTE_PORT", "tcp://10.0.0.1:8080"),
                ("RESTANTE_SERVICE_HOST", "10.0.0.1"),
                ("RESTANTE_TEST_POSTGRES_URL", "x"),
                ("RESTANTE_DATABASE_URL", ""),
                ("PATH", "/bin"),
            ],
            None,
        );
        assert_eq!(gather(&fine).unwrap(), AllGiven::new());
    }

    #[test]
    fn a_secret_may_stand_in_a_file_but_not_in_two_places() {
        let (mut secret, folder) = sources(&[], None);
        let path = folder.0.join("url");
        std::fs::write(&path, "postgres://u:p@h/d\n").unwrap();
        secret.variables.push(("RESTANTE_DATABASE_URL_FILE".into(), path.into()));
        assert_eq!(gather(&secret).unwrap()["database_url"].text, "postgres://u:p@h/d");
        secret.variables.push(("RESTANTE_DATABASE_URL".into(), "postgres://other".into()));
        let said = gather(&secret).unwrap_err().to_string();
        assert!(said.contains("RESTANTE_DATABASE_URL_FILE") && !said.contains("other"), "{said}");
    }

    #[test]
    fn a_file_that_is_named_has_to_be_there() {
        let (mut named, folder) = sources(&[], None);
        named.file = Some(folder.0.join("other.toml"));
        assert!(gather(&named).is_err());
    }
}
