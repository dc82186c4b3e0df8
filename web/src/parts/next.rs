//! Where somebody goes after signing in: the page that they wanted, if it is one of ours.

use http::{Method, Uri};
use url::form_urlencoded;

/// Longer ones are not carried along.
const NEXT_BYTES_MAX: usize = 1_000;

/// A path of ours that leads on to the page that was wanted.
pub(crate) fn with_next(path: &str, next: Option<&str>) -> String {
    match next {
        Some(next) => {
            let escaped: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
            format!("{path}?next={escaped}")
        }
        None => path.to_owned(),
    }
}

/// The sign-in that leads back to the page of this request. A form that was sent is not sent again.
pub(crate) fn sign_in_path(method: &Method, uri: &Uri) -> String {
    let wanted = uri.path_and_query().map_or("/", |wanted| wanted.as_str());
    match own_path(wanted) {
        Some(wanted) if method == Method::GET && wanted != "/" => with_next("/sign-in", Some(wanted)),
        _ => "/sign-in".to_owned(),
    }
}

/// The path, when it leads nowhere but to a page of ours. Browsers read a backslash as a slash and drop
/// line breaks and tabs, so that `/\evil.example` and `/<tab>/evil.example` would lead elsewhere.
pub(crate) fn own_path(path: &str) -> Option<&str> {
    let leads_home = path.starts_with('/')
        && !path.starts_with("//")
        && path.len() <= NEXT_BYTES_MAX
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    leads_home.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_paths_lead_on() {
        for own in ["/", "/t/acme", "/t/acme/events?state=failed&x=%2F", "/search?q=//x"] {
            assert_eq!(own_path(own), Some(own));
        }
        let long = format!("/{}", "a".repeat(NEXT_BYTES_MAX));
        for foreign in [
            "",
            "t/acme",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/caf\u{e9}",
            &long,
        ] {
            assert_eq!(own_path(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_page_is_come_back_to_and_a_form_is_not() {
        let uri = Uri::from_static("/t/acme/events?state=failed&consumer=a");
        assert_eq!(
            sign_in_path(&Method::GET, &uri),
            "/sign-in?next=%2Ft%2Facme%2Fevents%3Fstate%3Dfailed%26consumer%3Da"
        );
        assert_eq!(sign_in_path(&Method::POST, &uri), "/sign-in");
        assert_eq!(sign_in_path(&Method::GET, &Uri::from_static("/")), "/sign-in");
    }
}
