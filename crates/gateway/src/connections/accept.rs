//! Accepting TCP connections.

use std::{net::SocketAddr, time::Duration};
use tokio::net::{TcpListener, TcpStream};

/// The next connection of `listener`, on which small packets go out at once. None when it was gone already.
pub async fn accept_stream(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            // Answers are small, and a client waits for each.
            let _ = stream.set_nodelay(true);
            Some((stream, address))
        }
        Err(e) => {
            // Out of file descriptors, or a connection that was gone already.
            tracing::debug!(error = %e, "a connection could not be accepted");
            tokio::time::sleep(Duration::from_millis(20)).await;
            None
        }
    }
}
