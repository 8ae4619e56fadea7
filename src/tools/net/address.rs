//! Which addresses are not the public internet.
//!
//! From the IANA special-purpose registries for IPv4 (RFC 6890) and IPv6, with the addresses on which
//! cloud providers serve instance metadata. For IPv6 only 2000::/3 is global unicast: everything outside
//! it is refused without being listed, and forms that carry an IPv4 address are judged by that address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Why an address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The rule's stable name, as failures and documentation spell it.
    pub(super) rule: &'static str,
    /// Whether an exact host name on the allow list may lead here. Otherwise only the address
    /// itself on the list opens it, so that an allowed name cannot be pointed at the metadata
    /// service.
    pub(super) opened_by_name: bool,
}

const fn by_name(rule: &'static str) -> Refusal {
    Refusal { rule, opened_by_name: true }
}

const fn by_address(rule: &'static str) -> Refusal {
    Refusal { rule, opened_by_name: false }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

/// First match wins, so narrow ranges stand before the wide ones that hold them.
const V4_RANGES: [(Ipv4Net, Refusal); 17] = [
    (v4(169, 254, 169, 254, 32), by_address("metadata")),
    (v4(168, 63, 129, 16, 32), by_address("metadata")),
    (v4(100, 100, 100, 200, 32), by_address("metadata")),
    (v4(255, 255, 255, 255, 32), by_address("broadcast")),
    (v4(0, 0, 0, 0, 8), by_address("unspecified")),
    (v4(127, 0, 0, 0, 8), by_name("loopback")),
    (v4(10, 0, 0, 0, 8), by_name("private")),
    (v4(172, 16, 0, 0, 12), by_name("private")),
    (v4(192, 168, 0, 0, 16), by_name("private")),
    (v4(100, 64, 0, 0, 10), by_name("shared")),
    (v4(169, 254, 0, 0, 16), by_address("link_local")),
    (v4(192, 0, 0, 0, 24), by_address("reserved")),
    (v4(192, 0, 2, 0, 24), by_address("documentation")),
    (v4(198, 51, 100, 0, 24), by_address("documentation")),
    (v4(203, 0, 113, 0, 24), by_address("documentation")),
    (v4(198, 18, 0, 0, 15), by_address("benchmarking")),
    (v4(192, 88, 99, 0, 24), by_address("reserved")),
];

const V6_RANGES: [(Ipv6Net, Refusal); 9] = [
    (v6(0xfc00, 0, 0, 7), by_name("unique_local")),
    (v6(0xfe80, 0, 0, 10), by_address("link_local")),
    (v6(0xff00, 0, 0, 8), by_address("multicast")),
    // The owner of the name chooses the IPv4 address in a tunnel, and public sites do not use tunnels.
    (v6(0x2002, 0, 0, 16), by_address("tunnel")),
    (v6(0x2001, 0, 0, 32), by_address("tunnel")),
    (v6(0x2001, 0xdb8, 0, 32), by_address("documentation")),
    (v6(0x3fff, 0, 0, 20), by_address("documentation")),
    (v6(0x2001, 2, 0, 48), by_address("benchmarking")),
    (v6(0x2001, 0, 0, 23), by_address("reserved")),
];

const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 0, 3);
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 96);

/// Why `address` is not public, or `None` where it is.
pub(super) fn refusal(address: IpAddr) -> Option<Refusal> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<Refusal> {
    if let Some((_, refusal)) = V4_RANGES.iter().find(|(range, _)| range.contains(&address)) {
        return Some(*refusal);
    }
    match address.octets()[0] {
        224..=239 => Some(by_address("multicast")),
        240..=255 => Some(by_address("reserved")),
        _ => None,
    }
}

fn refusal_v6(address: Ipv6Addr) -> Option<Refusal> {
    if address.is_loopback() {
        return Some(by_name("loopback"));
    }
    if address.is_unspecified() {
        return Some(by_address("unspecified"));
    }
    if address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254) {
        return Some(by_address("metadata"));
    }
    if let Some(mapped) = address.to_ipv4_mapped() {
        return refusal_v4(mapped);
    }
    if NAT64.contains(&address) {
        let [.., a, b, c, d] = address.octets();
        return refusal_v4(Ipv4Addr::new(a, b, c, d));
    }
    if let Some((_, refusal)) = V6_RANGES.iter().find(|(range, _)| range.contains(&address)) {
        return Some(*refusal);
    }
    if GLOBAL_UNICAST.contains(&address) { None } else { Some(by_address("reserved")) }
}
