//! DTLS 1.2 with pre-shared keys (RFC 6347, RFC 6655) between the socket and CoAP: "coaps" (RFC 7252, 9.1.3.1).
//!
//! This module reads no socket and no clock: datagrams go in, messages and datagrams come out. The server keeps no state before the
//! client returns a valid cookie (`hello.rs`). A client with a cookie but no key occupies an entry of a bounded table for at most 20 s.

#[cfg(any(test, feature = "fuzzing"))]
mod client;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod hello;
mod library;
mod table;
#[cfg(test)]
mod tests;

use crate::{coap::endpoint::Endpoint, metrics::Handshakes};
use dimpl::{Dtls, Error, SecurityError};
use dunnage_access::{Access, Key, Peer};
use hello::{Cookies, Hello, record};
use library::{Event, Library, Named, drain, hand, hand_over};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use table::Table;

/// The maximum size of a datagram in bytes. Networks carry less in one piece, and CoAP has blocks for larger messages.
const LONGEST: usize = 2048;
/// The maximum number of handshakes, in all and of one network.
const HANDSHAKES: (usize, usize) = (1024, 256);
/// The maximum number of sessions, in all and of one network. When the first is reached, the session that has been idle for longest ends.
const SESSIONS: (usize, usize) = (16_384, 4096);
/// How long a session may be idle. Devices sleep, and a handshake costs them more than it costs the gateway.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// The maximum number of answers in a session. Each has a nonce of 8 random bytes (RFC 6655, 3); the probability that two are equal stays
/// below 1 in 10^5.
const ANSWERS: u32 = 1 << 24;
/// The interval of checks whether keys are still valid.
const SWEEP: Duration = Duration::from_secs(1);

/// Types of records.
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// A record number above all previous ones.
const LAST: u64 = 1 << 32;
/// Alerts (RFC 5246, 7.2): client and server have no parameters in common; the client does not have the key, or its identity is unknown,
/// which must not be distinguishable (RFC 4279, 2).
const HANDSHAKE_FAILURE: u8 = 40;
const DECRYPT_ERROR: u8 = 51;

/// All handshakes and sessions of a listener.
pub struct Sessions {
    access: Arc<Access>,
    library: Library,
    cookies: Cookies,
    handshakes: Table<Handshake>,
    sessions: Table<Session>,
    /// Sessions with the time of their last use, or an earlier time; the oldest first.
    order: VecDeque<(SocketAddr, u32, Instant)>,
    next: u32,
    swept: Instant,
    buffer: Vec<u8>,
    counts: Handshakes,
    /// Datagrams to be sent.
    pub outgoing: Vec<(SocketAddr, Vec<u8>)>,
    /// Messages that have been received.
    pub messages: Vec<(Endpoint, Vec<u8>)>,
}

struct Handshake {
    server: Box<Dtls>,
    random: [u8; 32],
    named: Option<Named>,
    due: Instant,
}

struct Session {
    server: Box<Dtls>,
    random: [u8; 32],
    number: u32,
    key: Arc<Key>,
    last: Instant,
    answers: u32,
}

impl Sessions {
    /// Creates an empty set. `counts` counts the results of handshakes.
    pub fn new(access: Arc<Access>, counts: Handshakes, now: Instant) -> Result<Sessions, String> {
        let library = Library::new(Arc::clone(&access))?;
        Sessions::with(access, library, counts, now)
    }

    fn with(
        access: Arc<Access>,
        library: Library,
        counts: Handshakes,
        now: Instant,
    ) -> Result<Sessions, String> {
        Ok(Sessions {
            library,
            access,
            cookies: Cookies::new(now)?,
            handshakes: Table::new(HANDSHAKES.0, HANDSHAKES.1),
            sessions: Table::new(SESSIONS.0, SESSIONS.1),
            order: VecDeque::new(),
            next: 0,
            swept: now,
            buffer: vec![0; LONGEST],
            counts,
            outgoing: Vec::new(),
            messages: Vec::new(),
        })
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the key of the session of `endpoint`, if it has not ended.
    pub fn key(&self, endpoint: Endpoint) -> Option<&Arc<Key>> {
        let session = self.sessions.get(endpoint.address)?;
        (session.number == endpoint.session).then_some(&session.key)
    }

    /// Handles a datagram. Returns its kind if it contained no message.
    pub fn datagram(&mut self, bytes: &[u8], from: SocketAddr, now: Instant) -> Option<&'static str> {
        let Some(&[kind, 0xfe, _, epoch @ .., _, _, _, _, _, _, _, _]) = bytes.first_chunk::<13>() else {
            return Some("ignored");
        };
        if bytes.len() > LONGEST {
            return Some("too-large");
        }
        if let Some(hello) = Hello::read(bytes) {
            return Some(self.hello(&hello, bytes, from, now));
        }
        let is_session = self.sessions.get(from).is_some();
        let of_handshake = epoch == [0, 0] || kind == HANDSHAKE || !is_session;
        if of_handshake && self.handshakes.get(from).is_some() {
            self.handshake(from, now, |server| hand(server, bytes, now));
            Some("handshake")
        } else if is_session {
            let before = self.messages.len();
            self.session(from, now, |server| hand(server, bytes, now));
            (self.messages.len() == before).then_some("record")
        } else {
            Some("no-session")
        }
    }

    /// Handles a ClientHello. The client has to return a cookie first.
    fn hello(&mut self, hello: &Hello<'_>, bytes: &[u8], from: SocketAddr, now: Instant) -> &'static str {
        if !hello.can_begin() || !self.cookies.is_good(hello.cookie, from, &hello.random, now) {
            let cookie = self.cookies.make(from, &hello.random, now);
            self.outgoing.push((from, hello.verify_request(&cookie)));
            return "hello";
        }
        // A repeated ClientHello means that the answer was lost. A session continues while its client begins another handshake: only a
        // client with a key replaces it (RFC 6347, 4.2.8).
        if self.sessions.get(from).is_some_and(|session| session.random == hello.random) {
            self.session(from, now, |server| hand(server, bytes, now));
            return "handshake";
        }
        if self.handshakes.get(from).is_none_or(|handshake| handshake.random != hello.random) {
            self.handshakes.remove(from);
            if self.handshakes.is_full() || self.handshakes.is_full_for(from) {
                self.counts.count("full");
                return "handshake";
            }
            let unknown = Error::SecurityError(SecurityError::NoMutuallyAcceptableCipherSuite);
            let begun = if hello.has_suite() { self.library.begin(hello, now) } else { Err(unknown) };
            match begun {
                Ok(server) => {
                    let server = Box::new(server);
                    let handshake = Handshake { server, random: hello.random, named: None, due: now };
                    self.handshakes.insert(from, handshake);
                }
                Err(error) => {
                    self.failed(from, None, &error);
                    return "handshake";
                }
            }
        }
        self.handshake(from, now, |server| hand_over(server, hello, bytes, now));
        "handshake"
    }

    /// Applies `step` to the handshake of `from`, and handles the result.
    fn handshake(
        &mut self,
        from: SocketAddr,
        now: Instant,
        step: impl FnOnce(&mut Dtls) -> Result<(), Error>,
    ) {
        let Some(handshake) = self.handshakes.get_mut(from) else { return };
        let done = step(&mut handshake.server);
        if let Some(named) = self.library.named() {
            handshake.named = Some(named);
        }
        let (events, due) = drain(&mut handshake.server, &mut self.buffer);
        handshake.due = due;
        let connected = events.iter().any(|event| matches!(event, Event::Connected));
        match done {
            Ok(()) if connected => self.connected(from, now),
            Ok(()) => {}
            Err(error) => {
                let named = self.handshakes.remove(from).and_then(|handshake| handshake.named);
                self.failed(from, named, &error);
            }
        }
        self.events(from, events, now);
    }

    /// Turns the completed handshake of `from` into a session, which replaces an earlier one.
    fn connected(&mut self, from: SocketAddr, now: Instant) {
        let Some(Handshake { server, random, named, .. }) = self.handshakes.remove(from) else { return };
        let Some(key) = named.and_then(|named| named.key.ok()) else { return };
        if self.sessions.get(from).is_none() {
            if self.sessions.is_full_for(from) {
                self.counts.count("full");
                return;
            }
            if self.sessions.is_full() {
                self.make_room(now);
            }
        }
        self.counts.count("done");
        self.next = self.next.checked_add(1).unwrap_or(1);
        let session = Session { server, random, number: self.next, key, last: now, answers: 0 };
        self.sessions.insert(from, session);
        self.order.push_back((from, self.next, now));
        if self.order.len() > 2 * self.sessions.len() + 64 {
            let sessions = &self.sessions;
            self.order.retain(|(at, number, _)| sessions.get(*at).is_some_and(|one| one.number == *number));
        }
    }

    /// Handles a failed handshake with `from`. The alert is not encrypted, because there are no keys.
    fn failed(&mut self, from: SocketAddr, named: Option<Named>, error: &Error) {
        let (result, alert) = match error {
            Error::Timeout(_) => ("timeout", None),
            Error::SecurityError(SecurityError::FatalAlert { .. }) => ("left", None),
            _ => match named {
                Some(Named { identity, key }) => {
                    let detail = key.err().unwrap_or("the client has another key for this identity");
                    self.access.refuse_key(&Peer::of_address(from.ip()), &identity, detail);
                    ("key", Some(DECRYPT_ERROR))
                }
                None => ("unsupported", Some(HANDSHAKE_FAILURE)),
            },
        };
        self.counts.count(result);
        tracing::debug!(address = %from, result, %error, "a DTLS handshake failed");
        if let Some(alert) = alert {
            self.outgoing.push((from, record(ALERT, LAST, &[2, alert])));
        }
    }

    /// Applies `step` to the session of `from`, and handles the result.
    fn session(&mut self, from: SocketAddr, now: Instant, step: impl FnOnce(&mut Dtls) -> Result<(), Error>) {
        let Some(session) = self.sessions.get_mut(from) else { return };
        let done = step(&mut session.server);
        let (events, _) = drain(&mut session.server, &mut self.buffer);
        self.events(from, events, now);
        if let Err(error) = done {
            tracing::debug!(address = %from, %error, "a DTLS session ended");
            self.sessions.remove(from);
        }
    }

    fn events(&mut self, from: SocketAddr, events: Vec<Event>, now: Instant) {
        for event in events {
            match event {
                Event::Send(datagram) => self.outgoing.push((from, datagram)),
                Event::Connected => {}
                Event::Message(message) => {
                    // Without a session, the message belongs to a handshake for which there was no room.
                    if let Some(session) = self.sessions.get_mut(from) {
                        session.last = now;
                        self.messages.push((Endpoint { address: from, session: session.number }, message));
                    }
                }
                Event::Closed => drop(self.sessions.remove(from)),
            }
        }
    }

    /// Encrypts `message` for `endpoint`. If the session has ended, the message is dropped; the client asks again in a new session.
    pub fn seal(&mut self, endpoint: Endpoint, message: &[u8], now: Instant) {
        let Some(session) = self.sessions.get_mut(endpoint.address) else { return };
        if session.number != endpoint.session {
            return;
        }
        session.answers += 1;
        let last = session.answers >= ANSWERS;
        self.session(endpoint.address, now, |server| {
            server.handle_timeout(now)?;
            server.send_application_data(message).map(|_| ())
        });
        if last {
            self.close(endpoint.address, now);
        }
    }

    /// Retransmits for handshakes, and ends sessions that are idle or whose keys are gone. Must be called several times per second.
    pub fn look_what_is_due(&mut self, now: Instant) {
        for from in self.handshakes.pick(|handshake| handshake.due <= now) {
            self.handshake(from, now, |server| server.handle_timeout(now));
        }
        if now.saturating_duration_since(self.swept) < SWEEP {
            return;
        }
        self.swept = now;
        let access = Arc::clone(&self.access);
        for from in self.sessions.pick(|session| !access.holds(&session.key)) {
            self.close(from, now);
        }
        while let Some((from, number, at)) = self.order.front().copied() {
            match self.sessions.get(from).filter(|session| session.number == number) {
                Some(session) if session.last > at => self.order.push_back((from, number, session.last)),
                Some(_) if now.saturating_duration_since(at) < IDLE => break,
                Some(_) => self.close(from, now),
                None => {}
            }
            self.order.pop_front();
        }
    }

    /// Ends the session that has been idle for longest.
    fn make_room(&mut self, now: Instant) {
        while let Some((from, number, at)) = self.order.pop_front() {
            match self.sessions.get(from).filter(|session| session.number == number) {
                Some(session) if session.last > at => self.order.push_back((from, number, session.last)),
                Some(_) => return self.close(from, now),
                None => {}
            }
        }
    }

    /// Ends all sessions and notifies their clients, which would otherwise wait for answers in vain.
    pub fn close_all(&mut self, now: Instant) {
        for from in self.sessions.pick(|_| true) {
            self.close(from, now);
        }
    }

    fn close(&mut self, from: SocketAddr, now: Instant) {
        self.session(from, now, |server| {
            server.handle_timeout(now)?;
            server.close()
        });
        self.sessions.remove(from);
    }
}
