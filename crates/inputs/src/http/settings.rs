//! `[http]`: the settings of the HTTP listener.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// `[http]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSettings {
    /// Address and port; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Whether the listener speaks HTTPS, with the certificate of `[tls]`.
    pub tls: bool,
    /// Largest message, in bytes.
    pub body_limit_bytes: usize,
    /// Most connections at a time. Idle ones are closed to make room for new ones.
    pub connections: usize,
    /// Most connections of one address (of IPv6, a /64) at a time. The loopback address has no such limit.
    pub address_connections: usize,
    /// Longest wait for the next request's headers, which is also how long an idle connection stays open.
    pub header_timeout_seconds: u64,
    /// Longest time that a body may take to arrive.
    pub body_timeout_seconds: u64,
    /// Longest time that a client may leave an answer unread.
    pub write_timeout_seconds: u64,
    /// Longest time that requests may take to finish when the gateway stops.
    pub drain_timeout_seconds: u64,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            tls: false,
            body_limit_bytes: 1 << 20,
            connections: 4096,
            address_connections: 1024,
            header_timeout_seconds: 75,
            body_timeout_seconds: 30,
            write_timeout_seconds: 30,
            drain_timeout_seconds: 10,
        }
    }
}
