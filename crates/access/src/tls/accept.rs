//! The TLS handshake on accepted connections.

use prometheus_client::metrics::counter::Counter;
use rustls::ServerConfig;
use std::{io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// Longest duration of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// First byte of a TLS connection: the content type of a handshake (RFC 8446, 5.1).
const RECORD: u8 = 22;
/// Most bytes to read from a client without TLS before it is answered.
const PLAIN: usize = 16 << 10;

/// Performs the TLS handshake on the connections that a listener accepts.
#[derive(Clone)]
pub struct Acceptor {
    tls: TlsAcceptor,
    plain: &'static str,
    failures: Counter,
}

impl Acceptor {
    pub(super) fn new(config: ServerConfig, plain: &'static str, failures: Counter) -> Acceptor {
        Acceptor { tls: Arc::new(config).into(), plain, failures }
    }

    /// Performs the handshake on `stream`, for at most 10 s. Counts and logs a failure, and returns `None`.
    pub async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let peer = stream.peer_addr().ok();
        let shaken = timeout(HANDSHAKE, self.shake(stream))
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "the handshake took too long")));
        shaken
            .inspect_err(|error| {
                self.failures.inc();
                tracing::debug!(?peer, %error, "a TLS handshake failed");
            })
            .ok()
    }

    async fn shake(&self, mut stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if first[0] == RECORD {
            return self.tls.accept(stream).await;
        }
        // Read the bytes that have arrived: closing a socket with unread bytes sends a reset, which would discard the answer.
        let mut seen = vec![0; PLAIN];
        let _ = stream.read(&mut seen).await?;
        stream.write_all(self.plain.as_bytes()).await?;
        stream.shutdown().await?;
        Err(io::Error::new(io::ErrorKind::InvalidData, "the client does not use TLS"))
    }
}
