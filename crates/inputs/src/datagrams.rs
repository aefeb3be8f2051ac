//! UDP sockets of inputs.

use socket2::SockRef;
use std::{io, net::SocketAddr};
use tokio::net::UdpSocket;

/// The receive buffer to ask the kernel for, in bytes. The kernel may grant less (`net.core.rmem_max`).
const UNREAD: usize = 4 << 20;

/// Binds a socket to `listen` and returns it with its address; port 0 selects a free port. Errors begin with the setting's key.
pub async fn bind(listen: SocketAddr) -> io::Result<(UdpSocket, SocketAddr)> {
    let failed = |e: io::Error| io::Error::new(e.kind(), format!("listen: {listen}: {e}"));
    let socket = UdpSocket::bind(listen).await.map_err(failed)?;
    SockRef::from(&socket).set_recv_buffer_size(UNREAD).map_err(failed)?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}
