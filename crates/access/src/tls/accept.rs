//! TLS on a connection that was accepted.

use prometheus_client::metrics::counter::Counter;
use rustls::ServerConfig;
use std::{io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// Longest time that a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How a TLS connection begins: the content type of a handshake (RFC 8446, 5.1).
const RECORD: u8 = 22;
/// Most of what a client without TLS sends that is read before it is told so.
const PLAIN: usize = 16 << 10;

/// Makes TLS connections of those that a listener has accepted.
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

    /// The handshake on `stream`, within a bounded time. None when it fails, which is counted and logged here.
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
        // What has come is read, as closing a connection with unread bytes would take the answer back.
        let mut seen = vec![0; PLAIN];
        let _ = stream.read(&mut seen).await?;
        stream.write_all(self.plain.as_bytes()).await?;
        stream.shutdown().await?;
        Err(io::Error::new(io::ErrorKind::InvalidData, "the client speaks no TLS"))
    }
}
