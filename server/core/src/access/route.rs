//! One row of the access tables, and how a request finds its row.

use super::Scope;

/// What a route asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone may call it.
    Public,
    /// An API key that has the scope.
    Key(Scope),
    /// A person who is signed in, whatever they belong to.
    SignedIn,
    /// A person whose role in the tenant that the path names has the scope.
    Tenant(Scope),
    /// An owner of the tenant that the path names.
    Owner,
    /// An administrator of the instance.
    Administrator,
}

/// One route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method; `ANY` where the handler decides.
    pub method: &'static str,
    /// The path with its parameters in braces.
    pub path: &'static str,
    /// What it asks of its caller.
    pub access: Access,
    /// Whether the person has to have shown within the last minutes that it is still them.
    pub confirmed: bool,
}

impl Route {
    pub(super) const fn new(method: &'static str, path: &'static str, access: Access) -> Self {
        Self { method, path, access, confirmed: false }
    }

    /// The same route for a person who has just shown that it is them.
    pub(super) const fn confirmed(self) -> Self {
        Self { confirmed: true, ..self }
    }
}

/// The route of a request in a table; `None` when its path or method is not there. HEAD is GET
/// without the body.
pub fn find(routes: &'static [Route], method: &str, path: &str) -> Option<&'static Route> {
    let method = if method == "HEAD" { "GET" } else { method };
    routes.iter().find(|route| route.path == path && (route.method == method || route.method == "ANY"))
}

/// The methods that a table takes at a path, as `Allow` lists them.
pub fn allowed_methods(routes: &[Route], path: &str) -> String {
    let mut allowed: Vec<&str> =
        routes.iter().filter(|route| route.path == path).map(|route| route.method).collect();
    if allowed.contains(&"GET") {
        allowed.push("HEAD");
    }
    allowed.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{API_ROUTES, PAGE_ROUTES};
    use super::*;

    #[test]
    fn no_route_stands_twice_and_each_table_has_its_own_kinds_of_callers() {
        let mut seen = BTreeSet::new();
        for route in API_ROUTES.iter().chain(PAGE_ROUTES) {
            assert!(seen.insert((route.method, route.path)), "{} {}", route.method, route.path);
        }
        for route in API_ROUTES {
            assert!(matches!(route.access, Access::Public | Access::Key(_)), "{}", route.path);
            assert!(!route.confirmed, "{}: a key can't be asked", route.path);
        }
        for route in PAGE_ROUTES {
            assert!(!matches!(route.access, Access::Key(_)), "{}", route.path);
            assert!(matches!(route.method, "GET" | "POST"), "{}: forms know no more", route.path);
            // Somebody who is asked for their password has typed a form before, and it goes on with it.
            assert!(!route.confirmed || route.method == "POST", "{}", route.path);
            assert!(!route.confirmed || route.access != Access::Public, "{}", route.path);
        }
    }

    #[test]
    fn what_a_route_asks_for_fits_its_path() {
        for route in PAGE_ROUTES {
            let of_tenant = route.path == "/t/{slug}" || route.path.starts_with("/t/{slug}/");
            let asks_tenant = matches!(route.access, Access::Tenant(_) | Access::Owner);
            assert_eq!(of_tenant, asks_tenant, "{} {}", route.method, route.path);
            let of_instance = route.path == "/admin" || route.path.starts_with("/admin/");
            assert_eq!(of_instance, route.access == Access::Administrator, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn head_is_get_and_another_method_is_none() {
        assert!(find(API_ROUTES, "HEAD", "/healthz").is_some());
        assert!(find(API_ROUTES, "POST", "/healthz").is_none());
        assert!(find(API_ROUTES, "BREW", "/in/{token}").is_some());
        assert!(find(PAGE_ROUTES, "GET", "/nothing").is_none());
        assert_eq!(allowed_methods(API_ROUTES, "/v1/keys"), "GET, POST, HEAD");
    }
}
