//! Addresses, as limits count them.

use std::net::{IpAddr, Ipv6Addr};

/// What counts as one address: of IPv6 the first 64 bits, as whoever has one has all behind them.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}
