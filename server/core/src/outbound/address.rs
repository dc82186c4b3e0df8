//! Addresses of the public internet, by IANA's registries of special-purpose addresses. Everything else
//! lies in somebody's inner network, names a group, or is not assigned.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of IPv4 that are not public: first address and bits of the prefix.
/// From <https://www.iana.org/assignments/iana-ipv4-special-registry>; the last is the platform address of
/// Azure's virtual machines, which lies in public space.
const NOT_PUBLIC_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// The one range of IPv6 that IANA assigns to the public internet. It leaves out mapped and translated
/// IPv4, unique local, link local and multicast addresses, and all that is not assigned yet.
const PUBLIC_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// What lies in that range and is not public all the same: protocols, tunnels to IPv4, documentation.
const NOT_PUBLIC_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address is one of the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let bits = u32::from(address);
            !NOT_PUBLIC_V4.iter().any(|(first, prefix)| (bits ^ u32::from(*first)) >> (32 - prefix) == 0)
        }
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            let within =
                |(first, prefix): &(Ipv6Addr, u32)| (bits ^ u128::from(*first)) >> (128 - prefix) == 0;
            within(&PUBLIC_V6) && !NOT_PUBLIC_V6.iter().any(within)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn inner_networks_metadata_and_tunnels_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.0.0.1",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "100.100.100.200",
            "168.63.129.16",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "5f00::1",
            "ff02::1",
            "2001::1",
            "2001:0:4136:e378::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2620:4f:8000::1",
            "3ffe::1",
            "3fff::1",
            "4000::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn the_internet_is_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    proptest! {
        /// What the standard library calls private in any way is never public here.
        #[test]
        fn nothing_private_is_public(bits in any::<u32>()) {
            let address = Ipv4Addr::from(bits);
            let inner = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_unspecified()
                || address.is_documentation();
            prop_assert!(!(inner && is_public(IpAddr::V4(address))));
            let mapped = IpAddr::V6(address.to_ipv6_mapped());
            prop_assert!(!is_public(mapped));
        }
    }
}
