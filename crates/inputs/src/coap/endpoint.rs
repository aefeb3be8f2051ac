//! The sender of a datagram.

use std::net::SocketAddr;

/// The sender of a datagram. With DTLS this is a session: the same address in another session is another endpoint (RFC 7252, 9.1.1),
/// because the device may have started to number its messages anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Its address and port.
    pub address: SocketAddr,
    /// The number of the session; 0 without DTLS.
    pub session: u32,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint { address, session: 0 }
    }
}
