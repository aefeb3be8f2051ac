//! `[input.coap]`: receives messages over CoAP (RFC 7252). `POST ingest/{device}` is answered after the commit of its message.

mod block;
mod content_format;
mod datagram;
pub mod dtls;
mod endpoint;
mod exchanges;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod identify;
mod link;
mod reply;
mod request;
mod separate;
mod server;
mod transfers;

use crate::{Environment, Input, datagrams, device_at};
use dtls::Sessions;
use link::Link;
use serde::{Deserialize, Serialize};
use server::Server;
use std::{io, net::SocketAddr, sync::Arc, time::Instant};
use tokio::net::UdpSocket;

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# CoAP over UDP: POST ingest/{device}, confirmable or not, block-wise or whole; answered when the message is on disk.
# [[input]]
# name = \"coap\"
# [input.coap]
# Address and port. Port 0 selects a free port.
# listen = \"127.0.0.1:5683\"
# Whether it accepts only DTLS (\"coaps\", port 5684), with pre-shared keys of `dunnage gateway key`. For both, configure two inputs.
# dtls = false
# device_at = \"/imei\"   # also POST ingest: the JSON pointer to the device ID in a JSON message
";

/// `[input.coap]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Address and port; port 0 selects a free port.
    pub listen: SocketAddr,
    /// Whether the listener accepts DTLS only.
    #[serde(default)]
    pub dtls: bool,
    /// Where a JSON message has its device ID, as a JSON pointer, if its path has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_at: Option<String>,
}

/// The CoAP input.
pub struct Coap {
    name: String,
    listen: SocketAddr,
    dtls: bool,
    device_at: Option<String>,
    socket: Option<UdpSocket>,
}

impl Coap {
    /// Creates the input `name`. An error says which setting is wrong.
    pub fn new(name: &str, settings: &Settings) -> Result<Coap, String> {
        if settings.listen.ip().is_multicast() {
            return Err("listen: must not be a multicast address".into());
        }
        device_at::check(settings.device_at.as_deref(), false)?;
        let Settings { listen, dtls, device_at } = settings.clone();
        Ok(Coap { name: name.into(), listen, dtls, device_at, socket: None })
    }
}

#[async_trait::async_trait]
impl Input for Coap {
    async fn listen(&mut self) -> io::Result<Option<SocketAddr>> {
        let (socket, address) = datagrams::bind(self.listen).await?;
        self.socket = Some(socket);
        Ok(Some(address))
    }

    async fn run(self: Box<Self>, env: Arc<Environment>) {
        let Some(socket) = self.socket else { return };
        let sessions = match self.dtls {
            true => match sessions(&self.name, &env) {
                Ok(sessions) => Some(sessions),
                Err(error) => {
                    env.ingest.metrics.inputs.of(&self.name).failed(&format!("cannot start DTLS: {error}"));
                    tracing::error!(input = self.name, error, "cannot start DTLS");
                    return;
                }
            },
            false => None,
        };
        match Link::new(socket, sessions) {
            Ok(link) => Server::new(self.name, link, self.device_at, env).run().await,
            Err(error) => tracing::error!(input = self.name, %error, "cannot use the socket"),
        }
    }
}

fn sessions(name: &str, env: &Environment) -> Result<Sessions, String> {
    if env.ingest.access.keys() == 0 {
        tracing::warn!(
            input = name,
            "there is no key, so no device can send: make one with `dunnage gateway key new`"
        );
    }
    Sessions::new(Arc::clone(&env.ingest.access), env.metrics.dtls.clone(), Instant::now())
}
