//! How the world reaches this instance, as far as cookies and forms have to know it.

use url::{Host, Url};

/// The public address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicAddress {
    /// Scheme, host and port, as browsers send it in `Origin`.
    pub(crate) origin: String,
    /// Host and port, as browsers send it in `Host`.
    pub(crate) authority: String,
    /// Whether connections are encrypted, so that cookies may demand it.
    pub(crate) is_https: bool,
    /// Whether the host is this machine itself.
    pub(crate) is_loopback: bool,
}

impl PublicAddress {
    /// From the setting, which was checked at start.
    pub(crate) fn read(public_url: &str) -> Self {
        let url = Url::parse(public_url).ok();
        let origin = url.as_ref().map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        Self {
            authority: origin.split_once("://").map(|(_, rest)| rest.to_owned()).unwrap_or_default(),
            is_https: origin.starts_with("https:"),
            is_loopback: url.as_ref().and_then(Url::host).is_some_and(is_loopback),
            origin,
        }
    }
}

/// Whether a `Host` header names this machine itself, with or without a port.
pub(super) fn is_loopback_authority(authority: &str) -> bool {
    Url::parse(&format!("http://{authority}/")).ok().is_some_and(|url| url.host().is_some_and(is_loopback))
}

fn is_loopback(host: Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let public = PublicAddress::read("https://hooks.example.com/base");
        assert_eq!(public.origin, "https://hooks.example.com");
        assert_eq!(public.authority, "hooks.example.com");
        assert!(public.is_https && !public.is_loopback);
        let local = PublicAddress::read("http://127.0.0.1:8080");
        assert_eq!(local.authority, "127.0.0.1:8080");
        assert!(!local.is_https && local.is_loopback);
    }

    #[test]
    fn loopback_is_this_machine_and_nothing_that_looks_like_it() {
        for here in ["localhost", "localhost:9000", "127.0.0.1:1", "[::1]:8080", "app.localhost"] {
            assert!(is_loopback_authority(here), "{here}");
        }
        for elsewhere in
            ["10.0.0.1", "localhost.example.com", "127.0.0.1.example.com", "", "a b", "x@localhost.com"]
        {
            assert!(!is_loopback_authority(elsewhere), "{elsewhere}");
        }
    }
}
