//! Where a request comes from: a form of our own pages, or one that somebody else put before the person.
//! And by which address the person opened us, which decides whether a cookie would come back.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

use super::PublicAddress;
use super::public_address::is_loopback_authority;

/// Whether a request that changes something comes from a page of ours. Browsers say so in
/// `Sec-Fetch-Site`, which no page can forge; those that don't have to send our own address as `Origin`.
/// Without either it is refused.
pub(super) fn is_own(headers: &HeaderMap, public: &PublicAddress) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site.as_bytes() == b"same-origin" && headers.get_all("sec-fetch-site").iter().count() == 1;
    }
    headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() == public.origin.as_bytes())
        && headers.get_all(ORIGIN).iter().count() == 1
}

/// How the person reached us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenedAs {
    /// In a way in which the session's cookie comes back, over a connection that nobody reads.
    Rightly,
    /// By another address than the public one, or without encryption: the cookie would be lost, or
    /// the password cross the network in clear.
    Wrongly,
}

impl OpenedAs {
    /// Reads it off the request. `X-Forwarded-Proto` can only worsen the verdict, so that it need not
    /// be believed.
    pub(crate) fn read(headers: &HeaderMap, uri: &Uri, public: &PublicAddress) -> Self {
        let host = uri
            .authority()
            .map(http::uri::Authority::as_str)
            .or_else(|| headers.get(HOST).and_then(|host| host.to_str().ok()))
            .unwrap_or_default();
        if public.is_https {
            let came_as_http = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "http");
            let is_public = host.eq_ignore_ascii_case(&public.authority);
            return if is_public && !came_as_http { Self::Rightly } else { Self::Wrongly };
        }
        if is_loopback_authority(host) { Self::Rightly } else { Self::Wrongly }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_our_own_pages_may_change_something() {
        let public = PublicAddress::read("https://hooks.example.com");
        let own = |all: &[(&'static str, &'static str)]| is_own(&headers(all), &public);
        assert!(own(&[("sec-fetch-site", "same-origin")]));
        assert!(own(&[("origin", "https://hooks.example.com")]));
        for foreign in [
            &[][..],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
            // What the browser says of the site outweighs what it says of the origin.
            &[("sec-fetch-site", "cross-site"), ("origin", "https://hooks.example.com")],
            &[("origin", "https://evil.example")],
            &[("origin", "http://hooks.example.com")],
            &[("origin", "https://hooks.example.com.evil.example")],
            &[("origin", "null")],
            &[("origin", "https://hooks.example.com"), ("origin", "https://evil.example")],
            &[("referer", "https://hooks.example.com/sign-in")],
        ] {
            assert!(!own(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn an_address_that_would_lose_the_cookie_is_known_as_such() {
        let opened = |public: &str, host: &'static str, proto: Option<&'static str>| {
            let mut all = vec![("host", host)];
            all.extend(proto.map(|proto| ("x-forwarded-proto", proto)));
            OpenedAs::read(&headers(&all), &Uri::from_static("/sign-in"), &PublicAddress::read(public))
        };
        let (behind_proxy, local) = ("https://hooks.example.com", "http://127.0.0.1:8080");
        assert_eq!(opened(behind_proxy, "hooks.example.com", None), OpenedAs::Rightly);
        assert_eq!(opened(behind_proxy, "Hooks.Example.com", Some("https")), OpenedAs::Rightly);
        assert_eq!(opened(behind_proxy, "hooks.example.com", Some("http")), OpenedAs::Wrongly);
        assert_eq!(opened(behind_proxy, "10.0.0.5:8080", None), OpenedAs::Wrongly);
        assert_eq!(opened(behind_proxy, "127.0.0.1:8080", None), OpenedAs::Wrongly);
        assert_eq!(opened(local, "127.0.0.1:8080", None), OpenedAs::Rightly);
        assert_eq!(opened(local, "localhost:9000", None), OpenedAs::Rightly);
        assert_eq!(opened(local, "10.0.0.5:8080", None), OpenedAs::Wrongly);
    }
}
