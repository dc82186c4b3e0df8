//! Every setting there is: its name, which is also its variable and its key in the file, and what
//! it is for. Texts become values in `read.rs`.

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Its key in `restante.toml`; in capitals behind `RESTANTE_` its variable.
    pub(crate) name: &'static str,
    /// Whether `restante config` hides a part of it.
    pub(crate) secret: bool,
}

const fn open(name: &'static str) -> Known {
    Known { name, secret: false }
}

const fn secret(name: &'static str) -> Known {
    Known { name, secret: true }
}

/// All of them, in the order in which `restante config` prints them. A secret can also be given by
/// the name of a file that holds it, in the setting of the same name with `_file` behind it.
pub(crate) const KNOWN: &[Known] = &[
    open("listen"),
    open("public_url"),
    open("data_dir"),
    secret("database_url"),
    open("master_key_file"),
    open("metrics_listen"),
    open("trusted_proxies"),
    open("outbound_allow_cidrs"),
    open("allow_volatile"),
    open("body_bytes_ceiling"),
    open("body_bytes_budget"),
    open("connections_max"),
    open("postgres_connections_max"),
    secret("smtp_url"),
    open("smtp_from"),
];

/// The setting whose file a name is, as `database_url` for `database_url_file`.
pub(crate) fn secret_of_file(name: &str) -> Option<&'static Known> {
    let base = name.strip_suffix("_file")?;
    KNOWN.iter().find(|known| known.secret && known.name == base)
}

/// Whether a name may be given.
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.iter().any(|known| known.name == name) || secret_of_file(name).is_some()
}

/// The variable of a setting.
pub(crate) fn variable(name: &str) -> String {
    format!("RESTANTE_{}", name.to_ascii_uppercase())
}

/// Variables that begin like ours and are no settings: the one that names the file, those of the
/// tests and the benchmark, and those that Kubernetes makes for a service of the name `restante`.
pub(crate) fn is_foreign(name: &str) -> bool {
    matches!(name, "bin" | "bench_commit" | "config" | "failpoint" | "long" | "port")
        || ["test_", "port_", "service_"].iter().any(|prefix| name.starts_with(prefix))
}

/// The known name that is most like a mistyped one, if one is like it at all.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    KNOWN
        .iter()
        .map(|known| (strsim::levenshtein(known.name, name), known.name))
        .min()
        .filter(|(distance, known)| *distance * 3 <= known.len())
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_neighbour_and_rubbish_finds_none() {
        assert_eq!(nearest("publicurl"), Some("public_url"));
        assert_eq!(nearest("lisen"), Some("listen"));
        assert_eq!(nearest("database_uri"), Some("database_url"));
        assert_eq!(nearest("colour"), None);
    }

    #[test]
    fn a_secret_alone_may_stand_in_a_file() {
        assert!(is_known("database_url_file"));
        assert!(!is_known("listen_file"));
        assert!(is_known("master_key_file"));
    }
}
