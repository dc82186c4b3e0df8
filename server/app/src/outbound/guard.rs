//! Which address a call goes to. Nothing is filtered: a name of which one address is an inner one is
//! refused, since the next answer of its server may put that one first.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use restante_core::outbound::{Location, is_public};

use super::{CallFault, Outbound};

/// How long a name may take.
const RESOLVE_MAX: Duration = Duration::from_secs(5);
/// Addresses of one name that are looked at; one with more is refused.
const ADDRESSES_MAX: usize = 16;

impl Outbound {
    /// The address to connect to.
    pub(super) async fn address(&self, location: &Location) -> Result<SocketAddr, CallFault> {
        let addresses = match (location.address(), location.name()) {
            (Some(address), _) => vec![address],
            (None, Some(name)) => resolve(name, location.port()).await?,
            (None, None) => return Err(CallFault::Unresolved),
        };
        self.choose(location, &addresses).map(|address| SocketAddr::new(address, location.port()))
    }

    pub(super) fn choose(&self, location: &Location, addresses: &[IpAddr]) -> Result<IpAddr, CallFault> {
        let first = *addresses.first().ok_or(CallFault::Unresolved)?;
        if addresses.len() > ADDRESSES_MAX {
            return Err(CallFault::Blocked("The name of the host has too many addresses.".to_owned()));
        }
        let allowed = |address: &IpAddr| {
            let address = address.to_canonical();
            self.allowed.iter().any(|range| range.contains(&address))
        };
        if addresses.iter().all(allowed) {
            return Ok(first);
        }
        if let Some(why) = location.needs_allowance() {
            return Err(CallFault::Blocked(format!(
                "{why} Other places can be called only where the operator allows it (RESTANTE_OUTBOUND_ALLOW_CIDRS)."
            )));
        }
        if addresses.iter().all(|address| is_public(*address)) {
            return Ok(first);
        }
        Err(CallFault::Blocked(
            "The host lies in an inner network, and calls there are not made unless the operator allows it \
             (RESTANTE_OUTBOUND_ALLOW_CIDRS)."
                .to_owned(),
        ))
    }
}

async fn resolve(name: &str, port: u16) -> Result<Vec<IpAddr>, CallFault> {
    // The dot at the end keeps search domains of the machine out of it.
    let absolute = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
    let found = tokio::time::timeout(RESOLVE_MAX, tokio::net::lookup_host((absolute, port))).await;
    let found = found.map_err(|_| CallFault::TooSlow)?.map_err(|_| CallFault::Unresolved)?;
    // IPv4 first: a host without a road to IPv6 is more common than one without IPv4.
    let mut addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.dedup();
    Ok(addresses)
}
