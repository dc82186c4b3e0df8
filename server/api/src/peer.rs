//! Whose address a request comes from: the connection's, or behind a trusted proxy the one that the
//! proxy vouches for. It is for logs and limits only; nothing is allowed because of it.

use std::net::IpAddr;

use http::HeaderMap;
use ipnet::IpNet;
use restante_app::context::ClientAddress;

/// Entries of forwarded addresses that are looked at.
const ENTRIES_MAX: usize = 32;

/// The address from which the request comes: the rightmost entry of `X-Forwarded-For` that is no
/// trusted proxy, when the connection's other end is one. What stands further left, the client may
/// have made up. An entry that is no address ends the search at the proxy that sent it.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> ClientAddress {
    let mut address = peer.to_canonical();
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let entries = headers
        .get_all("x-forwarded-for")
        .iter()
        .rev()
        .flat_map(|value| value.to_str().unwrap_or("?").rsplit(','))
        .take(ENTRIES_MAX);
    for entry in entries {
        if !is_trusted(&address) {
            break;
        }
        match entry.trim().parse::<IpAddr>() {
            Ok(before) => address = before.to_canonical(),
            Err(_) => return ClientAddress(peer.to_canonical()),
        }
    }
    ClientAddress(address)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn seen(peer: &str, forwarded: &[&'static str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_static(value));
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
        client(peer.parse().unwrap(), &headers, &trusted).0.to_string()
    }

    #[test]
    fn without_a_trusted_proxy_the_header_says_nothing() {
        assert_eq!(seen("192.0.2.1", &["127.0.0.1"], &[]), "192.0.2.1");
        assert_eq!(seen("192.0.2.1", &["127.0.0.1"], &["10.9.0.0/16"]), "192.0.2.1");
    }

    #[test]
    fn behind_one_the_rightmost_stranger_counts() {
        let trusted = &["10.9.0.0/16", "fd00::/8"];
        assert_eq!(seen("10.9.0.2", &["1.1.1.1", "8.8.8.8"], trusted), "8.8.8.8");
        assert_eq!(seen("10.9.0.2", &["1.1.1.1, 8.8.8.8, 10.9.3.3"], trusted), "8.8.8.8");
        assert_eq!(seen("::ffff:10.9.0.2", &["8.8.8.8"], trusted), "8.8.8.8");
        assert_eq!(seen("fd00::1", &["2001:db8::7"], trusted), "2001:db8::7");
        assert_eq!(seen("10.9.0.2", &[], trusted), "10.9.0.2");
    }

    #[test]
    fn rubbish_falls_back_to_the_connection() {
        let trusted = &["10.9.0.0/16"];
        for rubbish in ["unknown", "8.8.8.8, ", "1.1.1.1:80", "\u{7f}"] {
            if let Ok(_value) = HeaderValue::from_str(rubbish) {
                assert_eq!(seen("10.9.0.2", &[rubbish], trusted), "10.9.0.2", "{rubbish}");
            }
        }
    }
}
