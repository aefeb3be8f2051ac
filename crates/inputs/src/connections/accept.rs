//! Accepts TCP connections.

use std::{net::SocketAddr, time::Duration};
use tokio::net::{TcpListener, TcpStream};

/// Accepts the next connection of `listener`, with Nagle's algorithm off. Returns `None` after an error, which it logs.
pub async fn accept_stream(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            // Answers are small, and clients wait for them.
            let _ = stream.set_nodelay(true);
            Some((stream, address))
        }
        Err(e) => {
            // The process is out of file descriptors, or the connection was closed already. The pause avoids a busy loop.
            tracing::debug!(error = %e, "cannot accept a connection");
            tokio::time::sleep(Duration::from_millis(20)).await;
            None
        }
    }
}
