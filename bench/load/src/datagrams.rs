//! The kernel's statistics of a UDP socket (`/proc/net/udp`, proc(5)).

use crate::Failure;
use std::net::SocketAddr;

/// A socket's queue and losses; both are 0 for a TCP port.
#[derive(Debug, Default, Clone, Copy)]
pub struct Socket {
    /// Bytes that have arrived and have not been read.
    pub waiting: u64,
    /// Datagrams that were dropped because the queue was full.
    pub dropped: u64,
}

/// Reads the statistics of the sockets at the port of `address`.
pub fn socket(address: SocketAddr) -> Result<Socket, Failure> {
    let port = format!(":{:04X}", address.port());
    let mut socket = Socket::default();
    for table in ["/proc/net/udp", "/proc/net/udp6"] {
        for line in std::fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<_> = line.split_whitespace().collect();
            if fields.get(1).is_some_and(|local| local.ends_with(&port)) {
                let queues = fields.get(4).and_then(|field| field.split_once(':'));
                let (_, waiting) = queues.ok_or("a socket has no queues")?;
                socket.waiting += u64::from_str_radix(waiting, 16)?;
                socket.dropped += fields.last().map_or(Ok(0), |drops| drops.parse())?;
            }
        }
    }
    Ok(socket)
}
