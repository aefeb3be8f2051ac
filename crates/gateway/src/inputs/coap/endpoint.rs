//! Who is at the other end.

use std::net::SocketAddr;

/// Where datagrams come from. Over DTLS it is a session: the same address in another session is another endpoint (RFC 7252, 9.1.1),
/// as the device may have begun to count its messages anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Its address and port.
    pub address: SocketAddr,
    /// Which session; 0 without DTLS.
    pub session: u32,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint { address, session: 0 }
    }
}
