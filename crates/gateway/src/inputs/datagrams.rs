//! Sockets that take datagrams.

use socket2::SockRef;
use std::{io, net::SocketAddr};
use tokio::net::UdpSocket;

/// What the kernel is asked to keep of datagrams that are not read yet, in bytes. It gives what it may (`net.core.rmem_max`).
const UNREAD: usize = 4 << 20;

/// A socket at `listen`, and the address that it has: port 0 takes a free one. An error begins with the setting's key.
pub async fn bind(listen: SocketAddr) -> io::Result<(UdpSocket, SocketAddr)> {
    let failed = |e: io::Error| io::Error::new(e.kind(), format!("listen: {listen}: {e}"));
    let socket = UdpSocket::bind(listen).await.map_err(failed)?;
    SockRef::from(&socket).set_recv_buffer_size(UNREAD).map_err(failed)?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}
