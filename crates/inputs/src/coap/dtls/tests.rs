use super::*;
use client::{Client, config};
use dunnage_access::{AccessSettings, Keys, Refusals, Tokens, keys::KeyFile};
use std::{collections::HashSet, sync::LazyLock};

const KEYS: &str = "\
[[key]]\nname = 'a'\ndevice = 'a*'\nsecret = 'a-key-of-some-bytes'\n\
[[key]]\nname = 'b'\ndevice = 'b*'\nsecret = 'another-key-of-some'\n";

fn keys(text: &str) -> Keys {
    let (keys, mistakes) = toml::from_str::<KeyFile>(text).unwrap().keys(&mut HashSet::new());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    Keys::new(keys)
}

/// The server side, with a clock that the test sets.
struct Server {
    sessions: Sessions,
    now: Instant,
}

static A: LazyLock<Arc<dimpl::Config>> = LazyLock::new(|| config("a", "a-key-of-some-bytes"));

fn at(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, (port >> 12) as u8], port))
}

impl Server {
    fn new() -> Server {
        let now = Instant::now();
        let access =
            Access::new(&AccessSettings::default(), Tokens::default(), keys(KEYS), Refusals::default());
        let sessions = Sessions::new(Arc::new(access), Handshakes::default(), now).unwrap();
        Server { sessions, now }
    }

    fn exchange(&mut self, client: &mut Client) {
        client.exchange(&mut self.sessions, self.now);
    }

    fn connect(&mut self, client: &mut Client) -> Endpoint {
        client.connect(&mut self.sessions, self.now).unwrap()
    }

    fn connect_new(&mut self, port: u16) -> Endpoint {
        let mut client = self.a(port);
        self.connect(&mut client)
    }

    fn client(&self, port: u16, identity: &str, secret: &'static str) -> Client {
        Client::new(at(port), config(identity, secret), self.now)
    }

    /// A client with the key of `a`.
    fn a(&self, port: u16) -> Client {
        Client::new(at(port), Arc::clone(&A), self.now)
    }

    /// Returns the numbers of handshakes and sessions.
    fn counts(&self) -> (usize, usize) {
        (self.sessions.handshakes.len(), self.sessions.sessions.len())
    }
}

#[test]
fn messages_go_both_ways_and_the_key_is_known() {
    let mut server = Server::new();
    let mut clients: Vec<_> = (1..4).map(|port| server.a(port)).collect();
    let endpoints: Vec<_> = clients.iter_mut().map(|client| server.connect(client)).collect();
    for (client, endpoint) in clients.iter_mut().zip(endpoints) {
        assert_eq!(server.sessions.key(endpoint).unwrap().name, "a");
        server.sessions.seal(endpoint, b"pong", server.now);
        server.exchange(client);
        assert_eq!(client.messages, [b"pong"]);
        // Another session is another endpoint.
        let other = Endpoint { session: endpoint.session + 1, ..endpoint };
        assert!(server.sessions.key(other).is_none());
        server.sessions.seal(other, b"pong", server.now);
        assert!(server.sessions.outgoing.is_empty());
    }
    assert_eq!(server.counts(), (0, 3));
}

#[test]
fn a_wrong_key_and_an_unknown_identity_are_told_the_same() {
    let mut server = Server::new();
    for (identity, secret) in [
        ("a", "another-key-of-some"),
        ("nobody", "another-key-of-some"),
        ("nobody", ""),
        ("", "a-key-of-some-bytes"),
    ] {
        let mut client = server.client(1, identity, secret);
        server.exchange(&mut client);
        assert_eq!((client.connected, client.alert), (false, Some(DECRYPT_ERROR)), "{identity} {secret}");
    }
    assert_eq!(server.counts(), (0, 0));
}

#[test]
fn who_has_not_shown_his_address_costs_nothing() {
    let mut server = Server::new();
    let mut client = server.a(1);
    let hello = client.outgoing().remove(0);
    for port in 1..3000 {
        server.sessions.datagram(&hello, at(port), server.now);
        let (to, answer) = server.sessions.outgoing.pop().unwrap();
        assert!(to == at(port) && answer.len() <= hello.len());
    }
    assert_eq!(server.counts(), (0, 0));
    // A cookie is valid at the address that it was sent to, and nowhere else.
    server.sessions.datagram(&hello, at(1), server.now);
    let (_, request) = server.sessions.outgoing.pop().unwrap();
    client.dtls.handle_packet(&request).unwrap();
    let hello = client.outgoing().remove(0);
    server.sessions.datagram(&hello, at(2), server.now);
    assert_eq!(server.counts(), (0, 0));
    server.sessions.datagram(&hello, at(1), server.now);
    assert_eq!(server.counts(), (1, 0));
}

#[test]
fn handshakes_that_stop_halfway_are_bounded_and_end() {
    let mut server = Server::new();
    let half = |server: &mut Server, port: u16| {
        let mut client = server.a(port);
        server.sessions.datagram(&client.outgoing()[0], client.address, server.now);
        client.dtls.handle_packet(&server.sessions.outgoing.pop().unwrap().1).unwrap();
        server.sessions.datagram(&client.outgoing()[0], client.address, server.now);
        server.sessions.outgoing.clear();
    };
    (0..300).for_each(|port| half(&mut server, port));
    assert_eq!(server.counts(), (HANDSHAKES.1, 0));
    // A client from another network gets in.
    server.connect_new(5000);
    (1..8).for_each(|network| (0..300).for_each(|port| half(&mut server, network << 12 | port)));
    assert_eq!(server.counts(), (HANDSHAKES.0, 1));
    for _ in 0..700 {
        server.now += Duration::from_millis(100);
        server.sessions.look_what_is_due(server.now);
    }
    assert_eq!(server.counts(), (0, 1));
    assert!(server.sessions.outgoing.len() <= HANDSHAKES.0 * 5, "{}", server.sessions.outgoing.len());
    server.sessions.outgoing.clear();
    server.connect_new(1);
}

#[test]
fn a_device_that_begins_anew_replaces_its_session_once_it_has_shown_the_key() {
    let mut server = Server::new();
    let mut client = server.a(1);
    let first = server.connect(&mut client);
    // Somebody else at its address, without the key.
    server.exchange(&mut server.client(1, "a", "another-key-of-some"));
    assert!(server.sessions.key(first).is_some());
    client.dtls.send_application_data(b"still here").unwrap();
    server.exchange(&mut client);
    assert_eq!(server.sessions.messages.pop(), Some((first, b"still here".to_vec())));
    let second = server.connect_new(1);
    assert_ne!(first.session, second.session);
    assert!(server.sessions.key(first).is_none() && server.sessions.key(second).is_some());
    assert_eq!(server.counts(), (0, 1));
}

#[test]
fn sessions_end_with_their_key_with_their_client_and_by_being_idle() {
    let mut server = Server::new();
    let (mut a, mut b) = (server.a(1), server.client(2, "b", "another-key-of-some"));
    let (of_a, of_b) = (server.connect(&mut a), server.connect(&mut b));
    // Another key of the same name is a different key.
    let changed = KEYS.replace("a-key-of-some-bytes", "a-key-of-other-bytes");
    server.sessions.access.replace(Tokens::default(), keys(&changed));
    server.now += SWEEP;
    server.sessions.look_what_is_due(server.now);
    assert!(server.sessions.key(of_a).is_none() && server.sessions.key(of_b).is_some());
    // Its client is notified.
    assert_eq!(server.sessions.outgoing.len(), 1);
    server.sessions.outgoing.clear();
    b.dtls.close().unwrap();
    server.exchange(&mut b);
    assert_eq!(server.counts(), (0, 0));
    let mut b = server.client(2, "b", "another-key-of-some");
    server.connect(&mut b);
    server.now += IDLE - SWEEP;
    b.dtls.send_application_data(b"awake").unwrap();
    server.exchange(&mut b);
    server.now += 2 * SWEEP;
    server.sessions.look_what_is_due(server.now);
    assert_eq!(server.counts(), (0, 1));
    server.now += IDLE;
    server.sessions.look_what_is_due(server.now);
    assert_eq!((server.counts(), server.sessions.order.len()), ((0, 0), 0));
}

#[test]
fn the_session_that_was_idle_longest_makes_room() {
    let mut server = Server::new();
    server.sessions.sessions = Table::new(3, 2);
    let mut clients: Vec<_> = [1, 5000, 9000].map(|port| server.a(port)).into();
    for client in &mut clients {
        server.now += Duration::from_secs(1);
        server.connect(client);
    }
    clients[0].dtls.send_application_data(b"busy").unwrap();
    server.exchange(&mut clients[0]);
    server.connect_new(13_000);
    let left: Vec<_> =
        clients.iter().map(|client| server.sessions.sessions.get(client.address).is_some()).collect();
    assert_eq!(left, [true, false, true]);
    // A network has at most two sessions.
    server.connect_new(2);
    let mut third = server.a(3);
    server.exchange(&mut third);
    assert!(server.sessions.sessions.get(third.address).is_none());
    // A client that connects again and again leaves nothing behind.
    for _ in 0..300 {
        server.connect_new(1);
    }
    assert!(server.sessions.order.len() <= 2 * 3 + 64, "{}", server.sessions.order.len());
}

#[test]
fn what_was_recorded_is_not_taken_again() {
    let mut server = Server::new();
    let mut client = server.a(1);
    server.connect(&mut client);
    client.dtls.send_application_data(b"once").unwrap();
    let sent = client.outgoing();
    for _ in 0..3 {
        for datagram in &sent {
            server.sessions.datagram(datagram, client.address, server.now);
            server.sessions.datagram(datagram, at(2), server.now);
        }
    }
    assert_eq!(server.sessions.messages.len(), 1);
    // A record that is not encrypted, and a datagram that is too long.
    let mut plain = record(23, 9, b"once");
    assert_eq!(server.sessions.datagram(&plain, client.address, server.now), Some("record"));
    plain.resize(LONGEST + 1, 0);
    assert_eq!(server.sessions.datagram(&plain, client.address, server.now), Some("too-large"));
    assert_eq!((server.sessions.messages.len(), server.counts()), (1, (0, 1)));
}

#[test]
fn a_client_without_the_suite_is_told() {
    let mut server = Server::new();
    let mut client = server.a(1);
    let without = |bytes: Vec<u8>| {
        let mut bytes = bytes;
        let suite = bytes.windows(2).rposition(|pair| pair == [0xc0, 0xa8]).unwrap();
        bytes[suite + 1] = 0xa9;
        bytes
    };
    let hello = without(client.outgoing().remove(0));
    server.sessions.datagram(&hello, client.address, server.now);
    client.dtls.handle_packet(&server.sessions.outgoing.pop().unwrap().1).unwrap();
    let hello = without(client.outgoing().remove(0));
    server.sessions.datagram(&hello, client.address, server.now);
    let (_, alert) = server.sessions.outgoing.pop().unwrap();
    assert_eq!((alert[0], alert[14], server.counts()), (ALERT, HANDSHAKE_FAILURE, (0, 0)));
}
