//! A URL that the program may call, read once. What a browser would silently repair (a backslash, a number
//! in place of an address, white space) is refused, so that what a person reads is what is called.

use std::net::IpAddr;

use url::{Host, Url};

/// How a place is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// With TLS.
    Https,
    /// In clear, for addresses that the operator allows by name.
    Http,
}

/// Where a call goes: read, and not yet resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    url: Url,
    scheme: Scheme,
}

/// Names that lie in nobody's internet. The check of the address is what guards; this explains.
const INNER_SUFFIXES: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "localdomain",
    "home.arpa",
    "lan",
    "intranet",
    "corp",
    "svc",
    "cluster.local",
    "onion",
    "test",
    "invalid",
    "example",
];
/// The longest URL.
const URL_BYTES_MAX: usize = 8 * 1024;

impl Location {
    /// Reads a URL. `http`, another port than 443 and inner names are read too: whether they are allowed
    /// depends on the address, see [`Location::needs_allowance`].
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > URL_BYTES_MAX {
            return Err(format!("A URL has at most {URL_BYTES_MAX} bytes."));
        }
        if text.chars().any(|c| c.is_ascii_control() || c == '\\' || c.is_whitespace()) {
            return Err("This URL has a character in it that does not belong into one.".to_owned());
        }
        let url = Url::parse(text)
            .map_err(|_| "This is no URL. Write it whole, such as https://api.example.com.".to_owned())?;
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err("The URL has to begin with https://.".to_owned()),
        };
        if !url.username().is_empty() || url.password().is_some() || text.contains('@') && has_userinfo(text)
        {
            return Err(
                "The URL must not hold a name or password; credentials have fields of their own.".to_owned()
            );
        }
        if url.fragment().is_some() {
            return Err("The URL must not have a part behind #.".to_owned());
        }
        if url.port() == Some(0) {
            return Err("There is no port 0.".to_owned());
        }
        if !is_written_as_read(text, &url) {
            return Err(format!(
                "The host of this URL is written in a way that means another one. Write it as {}.",
                url.host_str().unwrap_or_default()
            ));
        }
        let name = url.host_str().unwrap_or_default();
        if name.strip_suffix('.').unwrap_or(name).split('.').any(str::is_empty)
            && !matches!(url.host(), Some(Host::Ipv6(_)))
        {
            return Err("The host of this URL has an empty part.".to_owned());
        }
        Ok(Self { url, scheme })
    }

    /// The URL.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// How it is spoken to.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// The name that is resolved and that the certificate has to bear; `None` for an address.
    pub fn name(&self) -> Option<&str> {
        match self.url.host() {
            Some(Host::Domain(name)) => Some(name.trim_end_matches('.')),
            _ => None,
        }
    }

    /// The address, where the URL has one instead of a name.
    pub fn address(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        }
    }

    /// Why this needs an address that the operator has allowed; `None` for what anybody may call.
    pub fn needs_allowance(&self) -> Option<&'static str> {
        if self.scheme == Scheme::Http {
            return Some("It has to be https.");
        }
        if self.port() != 443 {
            return Some("Its port has to be 443.");
        }
        let name = self.name()?;
        let lower = name.to_ascii_lowercase();
        let inner = !lower.contains('.')
            || INNER_SUFFIXES.iter().any(|suffix| {
                lower.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
        inner.then_some("Its name lies in an inner network.")
    }

    /// Whether two are the same scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.url.host() == other.url.host() && self.port() == other.port()
    }

    /// A link of this place's answer, which may be relative to it, and must not lead elsewhere.
    ///
    /// # Errors
    /// A sentence that says why it is not followed.
    pub fn follow(&self, link: &str) -> Result<Self, String> {
        let elsewhere =
            || "The provider's answer names a next page on another host, which is not followed.".to_owned();
        let joined = self
            .url
            .join(link)
            .map_err(|_| "The provider's answer names a next page that is no URL.".to_owned())?;
        let next = Self::parse(joined.as_str())?;
        if next.same_origin(self) { Ok(next) } else { Err(elsewhere()) }
    }
}

/// The part between `//` and the next `/`, `?` or `#`.
fn authority(text: &str) -> &str {
    let rest = text.split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn has_userinfo(text: &str) -> bool {
    authority(text).contains('@')
}

/// Whether the host stands in the text as it was read: numbers in place of addresses, full-width digits and
/// escapes do not. Case may differ, a name may be punycode.
fn is_written_as_read(text: &str, url: &Url) -> bool {
    let written = authority(text);
    let host = match written.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(host, _)| host).to_owned(),
        None => written.rsplit_once(':').map_or(written, |(host, _)| host).to_owned(),
    };
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case(&host),
        Some(Host::Ipv4(address)) => address.to_string() == host,
        Some(Host::Ipv6(address)) => host.parse() == Ok(address),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_mean_another_host_are_refused() {
        for text in [
            "http://2130706433/",
            "http://0x7f.1",
            "http://127.1",
            "http://0177.0.0.1",
            "http://0",
            "http://1.2.3",
            "https://①②⑦.⓪.⓪.①",
            "https://%31%32%37.0.0.1",
            "https://ⓛocalhost",
            "https://a@127.0.0.1",
            "https://example.com:80@127.0.0.1",
            "https://u:p@example.com",
            "http://127.0.0.1\\@example.com",
            "https://exa\tmple.com",
            " https://example.com",
            "https:example.com",
            "gopher://127.0.0.1",
            "ftp://a.b",
            "https://example.com..",
            "https://.example.com",
            "https://a.b:0",
            "https://a.b:65536",
            "https://a.b/#x",
            "https://",
            "file:///etc/passwd",
            "https://[fe80::1%25eth0]/",
            "https:/\\127.0.0.1",
        ] {
            assert!(Location::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_anybody_may_call_needs_no_allowance_and_the_rest_says_why() {
        for text in [
            "https://api.stripe.com",
            "https://API.stripe.com/v1/events?a=b",
            "https://xn--bcher-kva.example.org",
        ] {
            assert_eq!(Location::parse(text).unwrap().needs_allowance(), None, "{text}");
        }
        for text in [
            "http://api.stripe.com",
            "https://api.stripe.com:8443",
            "https://localhost",
            "https://db.internal",
            "https://kubernetes.default.svc",
            "https://printer.local",
            "https://localhost.",
        ] {
            assert!(Location::parse(text).unwrap().needs_allowance().is_some(), "{text}");
        }
    }

    #[test]
    fn a_link_is_followed_on_its_origin_alone() {
        let at = Location::parse("https://api.example.com/v1/list?page=1").unwrap();
        for (link, to) in [
            ("/v1/list?page=2", "https://api.example.com/v1/list?page=2"),
            ("?page=2", "https://api.example.com/v1/list?page=2"),
            ("https://api.example.com:443/x", "https://api.example.com/x"),
        ] {
            assert_eq!(at.follow(link).unwrap().url().as_str(), to);
        }
        for link in [
            "https://evil.example.org/",
            "http://api.example.com/",
            "//evil.example.org/x",
            "https://api.example.com:444/",
            "file:///x",
        ] {
            assert!(at.follow(link).is_err(), "{link}");
        }
    }
}
