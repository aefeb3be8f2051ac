//! The DTLS library, and its callbacks: for keys, and for the verification of cookies.

use super::hello::{COOKIE, Hello};
use dimpl::{
    Config, CryptoError, Dtls, Error, HashAlgorithm, Output, PskResolver,
    crypto::{CryptoProvider, Dtls12CipherSuite, HmacProvider, rust_crypto},
};
use dunnage_access::{Access, Key};
use std::{
    cell::Cell,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The first timeout before a flight is retransmitted; it doubles each time (RFC 6347, 4.2.4.1).
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRANSMIT: usize = 4;
/// The maximum duration of a handshake: four flights that are each lost once or twice.
const HANDSHAKE: Duration = Duration::from_secs(20);
/// How many datagrams of a handshake may wait for an earlier one.
const WAITING: usize = 16;

/// The result of the lookup of an identity that a client has sent.
#[derive(Clone)]
pub struct Named {
    /// The identity as the client sent it.
    pub identity: Vec<u8>,
    /// Its key, or why no key was found.
    pub key: Result<Arc<Key>, &'static str>,
}

/// Creates the servers of handshakes.
#[derive(Clone)]
pub struct Library {
    config: Arc<Config>,
    names: Arc<Names>,
}

/// Looks up keys, and remembers the last lookup, because the library does not report it.
struct Names {
    access: AssertUnwindSafe<Arc<Access>>,
    last: Mutex<Option<Named>>,
}

impl PskResolver for Names {
    /// For an identity without a key the library continues with a random key, so that nobody can distinguish it from a wrong key (RFC
    /// 4279, 2).
    fn resolve(&self, identity: &[u8]) -> Option<Vec<u8>> {
        let key = self.access.key(identity);
        let secret = key.as_ref().ok().map(|key| key.secret().to_vec());
        let named = Named { identity: identity.to_vec(), key };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
        secret
    }
}

thread_local! {
    /// The verified cookie, while its ClientHello is handed over.
    static GOOD: Cell<Option<[u8; COOKIE]>> = const { Cell::new(None) };
}

/// The library's HMAC, except for cookies: in DTLS 1.2, the library calls `hmac_sha256` only for them.
#[derive(Debug)]
struct Hmac;

impl HmacProvider for Hmac {
    fn hmac_sha256(&self, key: &[u8], data: &[u8]) -> Result<[u8; 32], CryptoError> {
        if let Some(good) = GOOD.get() {
            return Ok(good);
        }
        let mut tag = [0; 32];
        self.hmac(HashAlgorithm::SHA256, key, data, &mut tag)?;
        Ok(tag)
    }

    fn hmac(
        &self,
        hash: HashAlgorithm,
        key: &[u8],
        data: &[u8],
        out: &mut [u8],
    ) -> Result<usize, CryptoError> {
        rust_crypto::default_provider().hmac_provider.hmac(hash, key, data, out)
    }
}

/// An output of a handshake or session.
pub enum Event {
    /// A datagram for the peer.
    Send(Vec<u8>),
    /// The handshake is complete.
    Connected,
    /// A message from the peer.
    Message(Vec<u8>),
    /// The peer has closed the session.
    Closed,
}

impl Library {
    /// Creates servers that use the keys of `access`.
    pub fn new(access: Arc<Access>) -> Result<Library, String> {
        let names = Arc::new(Names { access: AssertUnwindSafe(access), last: Mutex::default() });
        let provider = CryptoProvider { hmac_provider: &Hmac, ..rust_crypto::default_provider() };
        let config = Config::builder()
            .with_crypto_provider(provider)
            .with_psk_server(None, Arc::clone(&names) as Arc<dyn PskResolver>)
            .dtls12_cipher_suites(&[Dtls12CipherSuite::PSK_AES128_CCM_8])
            .dtls13_cipher_suites(&[])
            .flight_start_rto(TIMEOUT)
            .flight_retries(RETRANSMIT)
            .handshake_timeout(HANDSHAKE)
            .max_queue_rx(WAITING)
            .build();
        Ok(Library { config: Arc::new(config.map_err(|e| e.to_string())?), names })
    }

    /// Returns a server that has sent the HelloVerifyRequests that came before `hello`.
    pub fn begin(&self, hello: &Hello<'_>, now: Instant) -> Result<Dtls, Error> {
        let mut server = Dtls::new_12_psk(Arc::clone(&self.config), now);
        server.handle_timeout(now)?;
        for sequence in 0..hello.sequence {
            server.handle_packet(&hello.before(sequence))?;
            // This output was sent long ago.
            while let Output::Packet(_) = server.poll_output(&mut [0; 256]) {}
        }
        Ok(server)
    }

    /// Returns the identity that a client has sent since the last call.
    pub fn named(&self) -> Option<Named> {
        self.names.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Hands over a ClientHello with a verified cookie.
pub fn hand_over(server: &mut Dtls, hello: &Hello<'_>, datagram: &[u8], now: Instant) -> Result<(), Error> {
    server.handle_timeout(now)?;
    GOOD.set(hello.cookie.try_into().ok());
    let taken = server.handle_packet(datagram);
    GOOD.set(None);
    taken
}

/// Hands over any other datagram.
pub fn hand(server: &mut Dtls, datagram: &[u8], now: Instant) -> Result<(), Error> {
    server.handle_timeout(now)?;
    server.handle_packet(datagram)
}

/// Returns the output of `server`, and when its next timeout is due. `buffer` grows as needed.
pub fn drain(server: &mut Dtls, buffer: &mut Vec<u8>) -> (Vec<Event>, Instant) {
    let mut events = Vec::new();
    loop {
        match server.poll_output(buffer) {
            Output::Packet(datagram) => events.push(Event::Send(datagram.to_vec())),
            Output::ApplicationData(message) => events.push(Event::Message(message.to_vec())),
            Output::Connected => events.push(Event::Connected),
            Output::CloseNotify => events.push(Event::Closed),
            Output::BufferTooSmall { needed } => buffer.resize(needed, 0),
            Output::Timeout(due) => return (events, due),
            _ => {}
        }
    }
}
