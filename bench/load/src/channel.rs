//! The channel of a CoAP client: it sends each message in a datagram, in plain text or in a DTLS session.

use crate::dtls::{Key, Session};
use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};
use tokio::{
    net::UdpSocket,
    time::{timeout, timeout_at},
};

/// Timeout for a handshake.
const HANDSHAKE: Duration = Duration::from_secs(60);

/// A client's UDP socket that is connected to one server.
pub struct Channel {
    socket: UdpSocket,
    session: Option<Box<Session>>,
    bytes: Vec<u8>,
}

impl Channel {
    /// Opens a channel from `from` to `address`. With a key, it completes a DTLS handshake.
    pub async fn open(address: SocketAddr, from: &str, key: Option<&Key>) -> io::Result<Channel> {
        let socket = UdpSocket::bind(from).await?;
        socket.connect(address).await?;
        let mut channel =
            Channel { socket, session: key.map(|key| Box::new(Session::new(key))), bytes: vec![0; 2048] };
        timeout(HANDSHAKE, channel.complete_handshake()).await??;
        Ok(channel)
    }

    async fn complete_handshake(&mut self) -> io::Result<()> {
        while self.session.as_ref().is_some_and(|session| !session.connected) {
            let next_call = self.flush().await?;
            if let Ok(length) = timeout_at(next_call.into(), self.socket.recv(&mut self.bytes)).await {
                self.process(length?)?;
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match &mut self.session {
            None => self.socket.send(message).await.map(drop),
            Some(session) => {
                session.encrypt(message).map_err(io::Error::other)?;
                self.flush().await.map(drop)
            }
        }
    }

    /// Waits for the next message.
    pub async fn receive(&mut self) -> io::Result<&[u8]> {
        if self.session.is_none() {
            let length = self.socket.recv(&mut self.bytes).await?;
            return Ok(&self.bytes[..length]);
        }
        loop {
            if let Some(message) = self.session.as_mut().and_then(|session| session.received.pop_front()) {
                self.bytes[..message.len()].copy_from_slice(&message);
                return Ok(&self.bytes[..message.len()]);
            }
            let length = self.socket.recv(&mut self.bytes).await?;
            self.process(length)?;
            self.flush().await?;
        }
    }

    fn process(&mut self, length: usize) -> io::Result<()> {
        match &mut self.session {
            Some(session) => session.process(&self.bytes[..length]).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// Sends the session's pending datagrams. Returns the time of the next call.
    async fn flush(&mut self) -> io::Result<Instant> {
        let Some(session) = &mut self.session else { return Ok(Instant::now()) };
        let (datagrams, next_call) = session.outgoing().map_err(io::Error::other)?;
        for datagram in datagrams {
            self.socket.send(&datagram).await?;
        }
        Ok(next_call)
    }
}
