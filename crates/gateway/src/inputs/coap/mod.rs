//! `[input.coap]`: takes messages over CoAP (RFC 7252), `POST ingest/{device}`, each answered after its commit.

mod block;
mod content_format;
mod datagram;
mod exchanges;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod reply;
mod request;
mod separate;
mod server;
mod transfers;

use super::Input;
use crate::shared::Shared;
use serde::{Deserialize, Serialize};
use server::Server;
use std::{io, net::SocketAddr, sync::Arc};
use tokio::{net::UdpSocket, sync::watch};

/// What the commented default configuration says.
pub const EXAMPLE: &str = "\
# CoAP over UDP: POST ingest/{device}, confirmable or not, in blocks or whole; answered when the message is on disk.
# [[input]]
# name = \"coap\"
# [input.coap]
# Address and port. Port 0 takes a free one.
# listen = \"127.0.0.1:5683\"
";

/// `[input.coap]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
}

/// The input.
pub struct Coap {
    name: String,
    listen: SocketAddr,
    socket: Option<UdpSocket>,
}

impl Coap {
    /// The input `name` as `settings` describe it, or what is wrong with them.
    pub fn new(name: &str, settings: &Settings) -> Result<Coap, String> {
        if settings.listen.ip().is_multicast() {
            return Err("listen: a multicast address, which is not supported".into());
        }
        Ok(Coap { name: name.into(), listen: settings.listen, socket: None })
    }
}

#[async_trait::async_trait]
impl Input for Coap {
    async fn listen(&mut self) -> io::Result<Option<SocketAddr>> {
        let failed = |e: io::Error| io::Error::new(e.kind(), format!("listen: {}: {e}", self.listen));
        let socket = UdpSocket::bind(self.listen).await.map_err(failed)?;
        let address = socket.local_addr()?;
        self.socket = Some(socket);
        Ok(Some(address))
    }

    async fn run(self: Box<Self>, shared: Arc<Shared>, stopping: watch::Receiver<bool>) {
        if let Some(socket) = self.socket {
            Server::new(self.name, socket, shared).run(stopping).await;
        }
    }
}
