//! Calls to places that people write down. A name is resolved once; every address that it resolves to has
//! to be public, or allowed by the operator; the connection goes to the one that was looked at, and no other
//! look-up follows. Redirects are not followed, proxies of the environment are not used, an answer has a
//! limit in bytes and in time, and is never inflated.

mod call;
mod guard;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use ipnet::IpNet;
use restante_core::outbound::Location;
use restante_core::secret::Secret;

/// A call to be made.
pub struct Call {
    /// Where to.
    pub location: Location,
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Its headers.
    pub headers: Vec<(String, Secret<String>)>,
    /// Its body.
    pub body: Option<String>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// `Retry-After`, `Link` and the like.
    pub headers: http::HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// A header as a text; several of one name are joined.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> =
            self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

/// Why nothing came back. What a tenant is told names no address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFault {
    /// It leads where calls must not go; the sentence says why.
    Blocked(String),
    /// The name can't be resolved.
    Unresolved,
    /// No connection came about.
    Unreachable,
    /// The certificate is not the name's, or is not trusted.
    Untrusted,
    /// It took too long.
    TooSlow,
    /// The answer is larger than it may be.
    TooLarge,
    /// The connection broke off, or what came is no HTTP.
    Broken,
}

impl std::fmt::Display for CallFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Blocked(why) => why,
            Self::Unresolved => "The name of the host can’t be resolved.",
            Self::Unreachable => "The host can’t be reached.",
            Self::Untrusted => "The host has no certificate that can be trusted.",
            Self::TooSlow => "The host did not answer in time.",
            Self::TooLarge => "The answer is larger than it may be.",
            Self::Broken => "The connection broke off in the middle of the answer.",
        })
    }
}

/// Makes calls. Clones share it.
#[derive(Clone)]
pub struct Outbound {
    allowed: Arc<[IpNet]>,
    tls: Result<Arc<rustls::ClientConfig>, String>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Outbound({:?})", self.allowed)
    }
}

impl Outbound {
    /// With the inner ranges that the operator allows.
    pub fn new(allowed: &[IpNet]) -> Self {
        let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map(|builder| Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
            .map_err(|error| error.to_string());
        Self { allowed: allowed.into(), tls }
    }
}
