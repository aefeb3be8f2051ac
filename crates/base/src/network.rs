//! The unit in which limits count addresses.

use std::net::{IpAddr, Ipv6Addr};

/// Returns the address that limits count: of IPv6 only the first 64 bits, because a client usually has a whole /64.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}
