//! A client's DTLS 1.2 session with a pre-shared key. The owner of the socket transfers its datagrams.

use crate::Failure;
use dimpl::{
    Config, Dtls, Error, Output, PskResolver,
    crypto::{Dtls12CipherSuite, rust_crypto},
};
use std::{collections::VecDeque, path::Path, sync::Arc, time::Instant};

/// Maximum datagram size in bytes.
const MAX_DATAGRAM: usize = 2048;
/// The identity of the key.
const IDENTITY: &str = "load";

/// The key of all sessions, with their configuration.
#[derive(Clone)]
pub struct Key {
    pub secret: String,
    config: Arc<Config>,
}

struct Secret(String);

impl PskResolver for Secret {
    fn resolve(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.clone().into())
    }
}

impl Key {
    /// A key whose bytes are the characters of `secret`.
    pub fn new(secret: &str) -> Result<Key, Failure> {
        let config = Config::builder()
            .with_crypto_provider(rust_crypto::default_provider())
            .with_psk_client(IDENTITY.into(), Arc::new(Secret(secret.into())))
            .dtls12_cipher_suites(&[Dtls12CipherSuite::PSK_AES128_CCM_8])
            .dtls13_cipher_suites(&[]);
        Ok(Key { secret: secret.into(), config: Arc::new(config.build()?) })
    }

    /// Adds a key for all devices to the gateway whose files are in `folder`.
    pub fn of_gateway(folder: &Path) -> Result<Key, Failure> {
        let (_, secret) = dunnage_gateway::keys::add(&folder.join("keys.toml"), Some(IDENTITY), "*", None)?;
        Key::new(&secret)
    }
}

/// The session of a client.
pub struct Session {
    dtls: Dtls,
    /// Whether the handshake is done.
    pub connected: bool,
    /// Received messages that the caller has not removed yet.
    pub received: VecDeque<Vec<u8>>,
}

impl Session {
    /// A session that has not sent anything.
    pub fn new(key: &Key) -> Session {
        let now = Instant::now();
        let mut dtls = Dtls::new_12_psk(Arc::clone(&key.config), now);
        dtls.set_active(true);
        Session { dtls, connected: false, received: VecDeque::new() }
    }

    /// Encrypts `message`. [`Session::outgoing`] then returns the datagram.
    pub fn encrypt(&mut self, message: &[u8]) -> Result<(), Error> {
        self.dtls.send_application_data(message).map(drop)
    }

    /// Returns the datagrams to send now, and the latest time for the next call.
    pub fn outgoing(&mut self) -> Result<(Vec<Vec<u8>>, Instant), Error> {
        self.dtls.handle_timeout(Instant::now())?;
        let mut datagrams = Vec::new();
        let mut bytes = [0; MAX_DATAGRAM];
        loop {
            match self.dtls.poll_output(&mut bytes) {
                Output::Packet(datagram) => datagrams.push(datagram.to_vec()),
                Output::ApplicationData(message) => self.received.push_back(message.to_vec()),
                Output::Connected => self.connected = true,
                Output::Timeout(at) => return Ok((datagrams, at)),
                _ => {}
            }
        }
    }

    /// Processes a received datagram. [`Session::outgoing`] then returns the reaction.
    pub fn process(&mut self, datagram: &[u8]) -> Result<(), Error> {
        self.dtls.handle_packet(datagram)
    }
}
