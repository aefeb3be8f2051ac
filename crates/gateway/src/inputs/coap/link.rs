//! What is between CoAP and the network: a socket, and DTLS where it is asked for.

use super::{dtls::Sessions, endpoint::Endpoint, request::Post};
use dunnage_access::{Access, Denied, Foreign, Peer, is_loopback_host};
use std::{io, net::SocketAddr, time::Instant};
use tokio::net::UdpSocket;

/// A socket, with sessions or without.
pub struct Link {
    socket: UdpSocket,
    listen: SocketAddr,
    sessions: Option<Box<Sessions>>,
}

/// What a datagram brought.
pub enum Opened {
    /// It is a message itself.
    Plain,
    /// These messages, from sessions.
    Messages(Vec<(Endpoint, Vec<u8>)>),
    /// No message, but this.
    Nothing(&'static str),
}

impl Link {
    /// `socket` with the sessions that are over it, if it speaks DTLS.
    pub fn new(socket: UdpSocket, sessions: Option<Sessions>) -> io::Result<Link> {
        let listen = socket.local_addr()?;
        Ok(Link { socket, listen, sessions: sessions.map(Box::new) })
    }

    /// Who has sent `post` from `address`.
    pub fn peer(&self, address: SocketAddr, post: &Post) -> Peer {
        // Without the options a request is addressed to where it came (RFC 7252, 6.4).
        let local = post.host.as_deref().is_none_or(is_loopback_host)
            && post.port.is_none_or(|port| port == usize::from(self.listen.port()));
        let peer = Peer::of_listener(address.ip(), self.listen.ip());
        peer.unless((!local).then_some(Foreign::Host))
    }

    /// Waits for a datagram.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.recv_from(buffer).await
    }

    /// A datagram that has come already.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.try_recv_from(buffer)
    }

    /// What the datagram `bytes` brought.
    pub async fn open(&mut self, bytes: &[u8], from: SocketAddr) -> Opened {
        let Some(sessions) = &mut self.sessions else { return Opened::Plain };
        let was = sessions.datagram(bytes, from, Instant::now());
        let messages = std::mem::take(&mut sessions.messages);
        self.flush().await;
        was.map_or(Opened::Messages(messages), Opened::Nothing)
    }

    /// Sends `message`.
    pub async fn send(&mut self, message: &[u8], to: Endpoint) {
        match &mut self.sessions {
            None => self.send_datagram(message, to.address).await,
            Some(sessions) => {
                sessions.seal(to, message, Instant::now());
                self.flush().await;
            }
        }
    }

    /// Refuses who may not send as `device`: without DTLS by the token, with it by the key that the session was made with.
    pub fn may_send(&self, access: &Access, from: Endpoint, peer: &Peer, post: &Post) -> Result<(), Denied> {
        match &self.sessions {
            None => access.may_send(peer, &post.device, post.token.as_deref()),
            Some(sessions) => match sessions.key(from) {
                Some(key) => access.may_send_by_key(key, &post.device),
                None => Err(Denied::Unauthorized("the session has ended".into())),
            },
        }
    }

    /// The identity of the session of `from`.
    pub fn identity(&self, from: Endpoint) -> Option<&str> {
        self.sessions.as_ref()?.key(from).map(|key| &*key.name)
    }

    /// How many sessions there are, with DTLS.
    pub fn sessions(&self) -> Option<usize> {
        self.sessions.as_ref().map(|sessions| sessions.len())
    }

    /// Sends again what is due, and forgets what is over.
    pub async fn look_what_is_due(&mut self) {
        if let Some(sessions) = &mut self.sessions {
            sessions.look_what_is_due(Instant::now());
            self.flush().await;
        }
    }

    /// Ends all sessions.
    pub async fn close(&mut self) {
        if let Some(sessions) = &mut self.sessions {
            sessions.close_all(Instant::now());
            self.flush().await;
        }
    }

    async fn flush(&mut self) {
        let Some(sessions) = &mut self.sessions else { return };
        for (to, datagram) in std::mem::take(&mut sessions.outgoing) {
            self.send_datagram(&datagram, to).await;
        }
    }

    async fn send_datagram(&self, datagram: &[u8], to: SocketAddr) {
        if let Err(e) = self.socket.send_to(datagram, to).await {
            // Its sender asks again.
            tracing::debug!(%to, error = %e, "a datagram could not be sent");
        }
    }
}
