//! The peer of a connection or datagram, and whether it is the gateway's own user on this machine.

use super::owner;
use std::net::{IpAddr, SocketAddr};

/// The other end of a connection, or the sender of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Why it does not count as this machine, even if its address is a loopback one.
    pub foreign: Option<Foreign>,
}

/// Why a peer on the loopback address does not count as this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// Other machines reach the listener too, so a proxy in front of it may connect from the loopback address.
    Listener,
    /// Its socket belongs to another user than the gateway's, or the kernel cannot tell.
    User,
    /// A header shows that a proxy has forwarded the request.
    Forwarded,
    /// The request is not addressed to the listener's own loopback address and port.
    Host,
    /// A browser sends the request for a page of another site.
    Site,
    /// The request is HTTP/1.0, which proxies speak and today's clients do not.
    Version,
}

impl Foreign {
    /// Returns the reason, as errors tell it to the client.
    pub fn reason(self) -> &'static str {
        match self {
            Foreign::Listener => "this listener is reachable from other machines",
            Foreign::User => "the connection belongs to a different user than the gateway's, such as a proxy",
            Foreign::Forwarded => "a header says that a proxy has forwarded the request",
            Foreign::Host => {
                "the request is not addressed to localhost or a loopback address with this listener's port"
            }
            Foreign::Site => "a browser sent the request for a page of another site",
            Foreign::Version => "HTTP/1.0 requests may come from a proxy",
        }
    }
}

impl Peer {
    /// Returns the peer at `address` of a listener at `listener`, for protocols that carry no trace of proxies.
    pub fn of_listener(address: IpAddr, listener: IpAddr) -> Peer {
        let open = !listener.to_canonical().is_loopback();
        Peer { address, foreign: open.then_some(Foreign::Listener) }
    }

    /// Returns the peer at `peer` of a TCP connection to `local`, which a listener at `listener` has accepted.
    pub fn of_connection(peer: SocketAddr, local: SocketAddr, listener: IpAddr) -> Peer {
        let found = Peer::of_listener(peer.ip(), listener);
        if !found.is_this_machine() {
            return found;
        }
        let own = owner::is_own(peer, local).unwrap_or_else(|error| {
            tracing::debug!(%peer, %error, "the kernel does not report the owner of the connection");
            false
        });
        found.unless((!own).then_some(Foreign::User))
    }

    /// Returns a peer by its address alone, where no right depends on whether it is foreign.
    pub fn of_address(address: IpAddr) -> Peer {
        Peer { address, foreign: None }
    }

    /// Adds the reason `foreign`, unless the peer is foreign already.
    pub fn unless(self, foreign: Option<Foreign>) -> Peer {
        Peer { foreign: self.foreign.or(foreign), ..self }
    }

    /// Whether its address is a loopback address.
    pub fn is_loopback(&self) -> bool {
        self.address.to_canonical().is_loopback()
    }

    /// Whether it is the gateway's own user on this machine, and not a proxy.
    pub fn is_this_machine(&self) -> bool {
        self.is_loopback() && self.foreign.is_none()
    }
}

/// Whether `host` is `localhost` or a loopback address, with or without the brackets of an IPv6 address. No other spelling is accepted:
/// `localhost.`, `127.1` and `0.0.0.0` are other hosts.
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// The address of a listener, to compare with the one in a request.
#[derive(Debug, Clone, Copy)]
pub struct Listener {
    /// Its address.
    pub address: SocketAddr,
    /// The port of an authority that does not name one.
    pub default_port: u16,
}
