//! `[http]`: the settings of the HTTP listener.

use documented::DocumentedFields;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// `[http]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSettings {
    /// Address and port of the HTTP input, the API and the page. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Whether the port accepts only HTTPS, with the certificate of `[tls]`.
    pub tls: bool,
    /// Whether `/ingest` accepts plain text, forms, and GET with a query as a form, from devices whose profile does not list these formats.
    pub forms: bool,
    /// Maximum size of a message in bytes, at most 1 MiB; larger ones get 413.
    pub body_limit_bytes: usize,
    /// Maximum number of connections. At the limit, idle connections are closed to make room.
    pub connections: usize,
    /// Maximum number of connections of an address (of IPv6, a /64); not applied to the loopback address.
    pub address_connections: usize,
    /// Maximum wait for the headers of a request; idle connections are closed after it.
    pub header_timeout_seconds: u64,
    /// Maximum time for a body to arrive; then 408.
    pub body_timeout_seconds: u64,
    /// Maximum time that a client may leave an answer unread.
    pub write_timeout_seconds: u64,
    /// Maximum time for requests to finish when the gateway stops.
    pub drain_timeout_seconds: u64,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            tls: false,
            forms: false,
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
