//! The layer between CoAP and the network: a socket, and DTLS if it is configured.

use super::{dtls::Sessions, endpoint::Endpoint, request::Post};
use dunnage_access::{Access, Denied, Foreign, Peer, is_loopback_host};
use std::{io, net::SocketAddr, time::Instant};
use tokio::net::UdpSocket;

/// A socket, with or without DTLS sessions.
pub struct Link {
    socket: UdpSocket,
    listen: SocketAddr,
    sessions: Option<Box<Sessions>>,
}

/// The contents of a datagram.
pub enum Opened {
    /// The datagram is a CoAP message.
    Plain,
    /// The datagram completed these messages of sessions.
    Messages(Vec<(Endpoint, Vec<u8>)>),
    /// The datagram has no message. The text describes it.
    Nothing(&'static str),
}

impl Link {
    /// Creates a link over `socket`, with `sessions` if it uses DTLS.
    pub fn new(socket: UdpSocket, sessions: Option<Sessions>) -> io::Result<Link> {
        let listen = socket.local_addr()?;
        Ok(Link { socket, listen, sessions: sessions.map(Box::new) })
    }

    /// Returns the peer that has sent `post` from `address`.
    pub fn peer(&self, address: SocketAddr, post: &Post) -> Peer {
        // Without these options, a request is addressed to the socket that received it (RFC 7252, 6.4).
        let local = post.host.as_deref().is_none_or(is_loopback_host)
            && post.port.is_none_or(|port| port == usize::from(self.listen.port()));
        let peer = Peer::of_listener(address.ip(), self.listen.ip());
        peer.unless((!local).then_some(Foreign::Host))
    }

    /// Waits for a datagram.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.recv_from(buffer).await
    }

    /// Returns a datagram that has already arrived.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.try_recv_from(buffer)
    }

    /// Returns the contents of the datagram `bytes`.
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

    /// Checks whether a sender may send as `device`: without DTLS by its token, with DTLS by the key of its session. As long as the device
    /// is not known, checks whether it may send as any.
    pub fn may_send(
        &self,
        access: &Access,
        (from, peer): (Endpoint, &Peer),
        token: Option<&str>,
        device: Option<&str>,
    ) -> Result<(), Denied> {
        let Some(sessions) = &self.sessions else {
            return match device {
                Some(device) => access.may_send(peer, device, token),
                None => access.may_connect(peer, token),
            };
        };
        match (sessions.key(from), device) {
            (Some(key), Some(device)) => access.may_send_by_key(key, device),
            (Some(_), None) => Ok(()),
            (None, _) => Err(Denied::Unauthorized("the session has ended".into())),
        }
    }

    /// Returns the identity that the session of `from` was opened with.
    pub fn identity(&self, from: Endpoint) -> Option<&str> {
        self.sessions.as_ref()?.key(from).map(|key| &*key.name)
    }

    /// Returns the number of sessions, with DTLS.
    pub fn sessions(&self) -> Option<usize> {
        self.sessions.as_ref().map(|sessions| sessions.len())
    }

    /// Retransmits datagrams that are due, and removes expired sessions.
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
            // The peer will repeat its message.
            tracing::debug!(%to, error = %e, "cannot send a datagram");
        }
    }
}
