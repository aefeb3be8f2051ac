//! A client that returns its datagrams instead of sending them through a socket.

use super::{Endpoint, Sessions};
use dimpl::{
    Config, Dtls, Output, PskResolver,
    crypto::{Dtls12CipherSuite, rust_crypto},
};
use std::{net::SocketAddr, sync::Arc, time::Instant};

/// The record type of alerts.
const ALERT: u8 = 21;

/// A client, and the data that it has received.
pub struct Client {
    /// The library's client.
    pub dtls: Dtls,
    /// Its address.
    pub address: SocketAddr,
    /// Whether its handshake is complete.
    pub connected: bool,
    /// The answers that it has received.
    pub messages: Vec<Vec<u8>>,
    /// The alert with which it was rejected.
    pub alert: Option<u8>,
}

struct Secret(&'static str);

impl PskResolver for Secret {
    fn resolve(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.into())
    }
}

/// Returns the configuration of clients with the key `secret` of `identity`.
pub fn config(identity: &str, secret: &'static str) -> Arc<Config> {
    let config = Config::builder()
        .with_crypto_provider(rust_crypto::default_provider())
        .with_psk_client(identity.into(), Arc::new(Secret(secret)))
        .dtls12_cipher_suites(&[Dtls12CipherSuite::PSK_AES128_CCM_8])
        .dtls13_cipher_suites(&[])
        .build();
    Arc::new(config.unwrap_or_default())
}

impl Client {
    /// Creates a client at `address` that has not sent anything.
    pub fn new(address: SocketAddr, config: Arc<Config>, now: Instant) -> Client {
        let mut dtls = Dtls::new_12_psk(config, now);
        dtls.set_active(true);
        // No timeout can be due at the first call.
        let _ = dtls.handle_timeout(now);
        Client { dtls, address, connected: false, messages: Vec::new(), alert: None }
    }

    /// Returns the datagrams that it sends next.
    pub fn outgoing(&mut self) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let mut buffer = vec![0; 4096];
        loop {
            match self.dtls.poll_output(&mut buffer) {
                Output::Packet(datagram) => sent.push(datagram.to_vec()),
                Output::Connected => self.connected = true,
                Output::ApplicationData(message) => self.messages.push(message.to_vec()),
                Output::Timeout(_) => return sent,
                _ => {}
            }
        }
    }

    /// Handles a datagram for it.
    pub fn take(&mut self, datagram: &[u8]) {
        if datagram.first() == Some(&ALERT) {
            self.alert = datagram.get(14).copied();
        }
        // After an error it sends nothing more.
        let _ = self.dtls.handle_packet(datagram);
    }

    /// Exchanges datagrams with `sessions` until there are none.
    pub fn exchange(&mut self, sessions: &mut Sessions, now: Instant) {
        loop {
            let sent = self.outgoing();
            for datagram in &sent {
                sessions.datagram(datagram, self.address, now);
            }
            let answers = std::mem::take(&mut sessions.outgoing);
            let mine: Vec<_> = answers.iter().filter(|(to, _)| *to == self.address).collect();
            mine.iter().for_each(|(_, datagram)| self.take(datagram));
            if sent.is_empty() && answers.is_empty() {
                return;
            }
        }
    }

    /// Completes the handshake and sends a message. Returns the endpoint if the message arrives.
    pub fn connect(&mut self, sessions: &mut Sessions, now: Instant) -> Option<Endpoint> {
        self.exchange(sessions, now);
        self.dtls.send_application_data(b"ping").ok().filter(|_| self.connected)?;
        self.exchange(sessions, now);
        let (endpoint, message) = sessions.messages.pop()?;
        (endpoint.address == self.address && message == b"ping").then_some(endpoint)
    }
}
