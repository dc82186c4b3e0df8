//! What the operator has set, as far as the verbs need it.

use ipnet::IpNet;
use restante_core::limits;

/// The settings that verbs read.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How the world reaches this instance, without a slash at the end: `https://hooks.example.com`.
    pub public_url: String,
    /// The largest body that any endpoint may accept, in bytes.
    pub body_bytes_ceiling: u64,
    /// Bytes of bodies that may be held in memory at once before senders are told to come back.
    pub body_bytes_budget: usize,
    /// Inner ranges that calls to providers may reach; none by default.
    pub outbound_allow: Vec<IpNet>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            body_bytes_ceiling: limits::BODY_BYTES_CEILING_DEFAULT,
            body_bytes_budget: 256 * 1024 * 1024,
            outbound_allow: Vec::new(),
        }
    }
}
