//! The two cookies: the session's, which ends with the browser, and the mark of a browser in which
//! somebody has signed in. Both are for this host alone, unreadable for scripts, and not sent with forms
//! of other sites.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use restante_app::people::DEVICE_SECONDS_MAX;
use restante_core::token::DeviceToken;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, SessionManagerLayer};

use super::PublicAddress;
use super::store::Sessions;
use crate::state::Web;

/// The session's cookie. The prefix makes browsers refuse it without `Secure` and with any other path or
/// host, so it is left out only where there is no encryption: on this machine itself.
fn session_name(public: &PublicAddress) -> &'static str {
    if public.is_https { "__Host-restante" } else { "restante" }
}

fn device_name(public: &PublicAddress) -> &'static str {
    if public.is_https { "__Host-restante-device" } else { "restante-device" }
}

/// The layer that finds a request's session and keeps it.
pub(crate) fn layer(web: &Web) -> SessionManagerLayer<Sessions> {
    SessionManagerLayer::new(Sessions(web.app.clone()))
        .with_name(session_name(&web.public))
        .with_secure(web.public.is_https)
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_path("/")
        // How long a session lives is decided by the server, at each request.
        .with_expiry(Expiry::OnSessionEnd)
}

/// The header that makes a browser forget its session. The layer's own one lacks `Secure`, without
/// which browsers leave a cookie with this prefix as it is.
pub(crate) fn removal(public: &PublicAddress) -> HeaderValue {
    cookie(public, session_name(public), "", 0)
}

/// The mark of the browser, if it carries one.
pub(crate) fn device_mark(headers: &HeaderMap, public: &PublicAddress) -> Option<DeviceToken> {
    let name = device_name(public);
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(found, _)| *found == name)
        .and_then(|(_, value)| DeviceToken::parse(value))
}

/// The header that marks a browser.
pub(crate) fn remember_device(public: &PublicAddress, mark: &DeviceToken) -> HeaderValue {
    cookie(public, device_name(public), mark.expose(), DEVICE_SECONDS_MAX)
}

fn cookie(public: &PublicAddress, name: &str, value: &str, seconds: i64) -> HeaderValue {
    let secure = if public.is_https { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut header = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
    header.set_sensitive(true);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_bound_to_the_host_and_to_encryption_where_there_is_any() {
        let mark = DeviceToken::new([7; 20]);
        let public = PublicAddress::read("https://hooks.example.com");
        let header = remember_device(&public, &mark);
        let text = header.to_str().unwrap();
        assert!(text.starts_with("__Host-restante-device=") && text.contains(mark.expose()), "{text}");
        for part in ["Path=/;", "HttpOnly", "SameSite=Lax", "Secure", "Max-Age=7776000"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("Domain"));
        let local = PublicAddress::read("http://127.0.0.1:8080");
        assert!(!remember_device(&local, &mark).to_str().unwrap().contains("Secure"));
        assert_eq!(removal(&local), "restante=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn a_mark_reads_back_among_other_cookies_and_rubbish_is_none() {
        let public = PublicAddress::read("http://127.0.0.1:8080");
        let mark = DeviceToken::new([7; 20]);
        let mut headers = HeaderMap::new();
        let text = format!("a=b; restante-device={}; c", mark.expose());
        headers.insert(COOKIE, HeaderValue::from_str(&text).unwrap());
        assert_eq!(device_mark(&headers, &public).map(|read| read.hash()), Some(mark.hash()));
        headers.insert(COOKIE, HeaderValue::from_static("restante-device=short"));
        assert!(device_mark(&headers, &public).is_none());
        assert!(device_mark(&HeaderMap::new(), &public).is_none());
    }
}
