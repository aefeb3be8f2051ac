//! CoAP over DTLS with pre-shared keys, with libcoap's clients, which use the DTLS of OpenSSL and GnuTLS.

use crate::support::{Running, child, coap::libcoap, lossy::Lossy, start_with};
use dimpl::{Dtls, Output, PskResolver, crypto::Dtls12CipherSuite};
use dunnage_gateway::{Config, keys};
use rusqlite::Connection;
use std::{
    net::{SocketAddr, UdpSocket},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

const CLIENTS: [&str; 2] = ["coap-client-openssl", "coap-client-gnutls"];

/// Adds an input for CoAP over DTLS on a free port.
fn configure(config: &mut Config) {
    let text = "name = 'coaps'\n[coap]\nlisten = '127.0.0.1:0'\ndtls = true";
    config.inputs.push(toml::from_str(text).unwrap());
}

/// Returns a gateway, its address, and the key with which `buoys` may send as `buoy-*`.
fn gateway() -> (Running, SocketAddr, String) {
    let mut key = String::new();
    let gateway = start_with(|config| {
        configure(config);
        key = keys::add(&config.keys(), Some("buoys"), "buoy-*", None).unwrap().1;
    });
    let address = gateway.gateway.input_address("coaps").unwrap();
    (gateway, address, key)
}

fn stored(folder: &Path) -> Vec<String> {
    let connection = Connection::open(folder.join("buffer.sqlite3")).unwrap();
    let mut statement = connection.prepare("SELECT json FROM messages ORDER BY json").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Returns the value of a metric, or 0 if it does not exist. `name` includes the labels.
fn metric(gateway: &Running, name: &str) -> u64 {
    let text = gateway.get("/metrics").text;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map_or(0, |value| value.parse().unwrap())
}

fn uri(address: SocketAddr, device: &str) -> String {
    format!("coaps://{address}/ingest/{device}")
}

/// Sends `message` with `program`. Returns its output, which is empty after a success.
fn send(program: &str, (identity, key): (&str, &str), message: &str, uri: &str) -> String {
    libcoap(program, &["-u", identity, "-k", key, "-t", "50", "-e", message], uri)
}

#[test]
fn libcoap_sends_small_and_large_messages() {
    let (gateway, address, key) = gateway();
    let large = format!("\"{}\"", "y".repeat(9000));
    let file = gateway.folder.path().join("large.json");
    std::fs::write(&file, &large).unwrap();
    for (n, program) in CLIENTS.iter().enumerate() {
        let uri = uri(address, &format!("buoy-{n}"));
        assert_eq!(send(program, ("buoys", &key), &n.to_string(), &uri).trim(), "");
        let large = ["-u", "buoys", "-k", &key, "-t", "50", "-b", "512", "-f", file.to_str().unwrap()];
        assert_eq!(libcoap(program, &large, &uri).trim(), "");
        let output = send(program, ("buoys", &key), "[1,", &uri);
        assert!(output.contains("4.00 malformed kind=truncated offset=3"), "{output}");
        let message = &gateway.get_json(&format!("/api/devices/buoy-{n}/messages"))["messages"][1];
        assert_eq!(message["origin"]["identity"], "buoys");
        assert_eq!(message["origin"]["input"], "coaps");
    }
    assert_eq!(stored(gateway.folder.path()), [&large, &large, "0", "1"]);
    assert_eq!(metric(&gateway, "dunnage_dtls_handshakes_total{result=\"done\"}"), 6);
    assert_eq!(metric(&gateway, "dunnage_received_messages_total{input=\"coaps\",format=\"json\"}"), 6);
}

#[test]
fn unknown_keys_and_keys_of_other_devices_are_refused() {
    let (gateway, address, key) = gateway();
    let begun = Instant::now();
    for program in CLIENTS {
        let wrong = send(program, ("buoys", "0123456789abcdef"), "1", &uri(address, "buoy-1"));
        let unknown = send(program, ("nobody", "0123456789abcdef"), "1", &uri(address, "buoy-1"));
        // Without the time and the addresses at the beginning of the lines.
        let errors = |text: &str| {
            let parts = text.lines().filter_map(|line| line.split_once("DTLS: "));
            parts.map(|(_, error)| error.to_lowercase()).collect::<Vec<_>>()
        };
        assert!(errors(&wrong).iter().any(|line| line.contains("decrypt error")), "{wrong}");
        assert_eq!(errors(&wrong), errors(&unknown));
        let other = send(program, ("buoys", &key), "1", &uri(address, "ship-1"));
        assert!(other.contains("4.03 forbidden: this key may not send as \"ship-1\""), "{other}");
    }
    // The clients get an alert, so they end without waiting for a timeout.
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert!(stored(gateway.folder.path()).is_empty());
    assert_eq!(metric(&gateway, "dunnage_dtls_handshakes_total{result=\"key\"}"), 4);
    assert_eq!(metric(&gateway, "dunnage_access_refusals_total{problem=\"unauthorized\"}"), 4);
    assert_eq!(metric(&gateway, "dunnage_access_refusals_total{problem=\"forbidden\"}"), 2);
    assert!(!gateway.get("/metrics").text.contains(&key));
}

#[test]
fn two_keys_work_at_once_until_one_is_revoked() {
    let (gateway, address, old) = gateway();
    let path = gateway.folder.path().join("keys.toml");
    let new = keys::add(&path, Some("buoys-2"), "buoy-*", None).unwrap().1;
    let uri = uri(address, "buoy-1");
    let reload = || gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert_eq!(reload().keys, 2);
    for (n, (name, key)) in [("buoys", &old), ("buoys-2", &new)].into_iter().enumerate() {
        assert_eq!(send(CLIENTS[n], (name, key), &n.to_string(), &uri).trim(), "");
    }
    keys::revoke(&path, "buoys", None).unwrap();
    reload();
    assert_ne!(send(CLIENTS[0], ("buoys", &old), "2", &uri).trim(), "");
    assert_eq!(send(CLIENTS[1], ("buoys-2", &new), "3", &uri).trim(), "");
    assert_eq!(stored(gateway.folder.path()), ["0", "1", "3"]);
}

/// The network loses 30 % of the datagrams in each direction, and duplicates and reorders others, also during the handshake. A client
/// that gives up tries again in another session, with the same idempotency key.
#[test]
fn a_handshake_succeeds_on_a_lossy_network() {
    const DEVICES: usize = 6;
    let (gateway, address, key) = gateway();
    let lossy = Lossy::start(address, 11);
    let folder = gateway.folder.path();
    let tries: Vec<_> = thread::scope(|scope| {
        let device = |n: usize| {
            let (uri, key) = (uri(lossy.address, &format!("buoy-{n}?key=m")), &key);
            let message = n.to_string();
            let is_stored = move |_: &usize| {
                send(CLIENTS[n % 2], ("buoys", key), &message, &uri);
                stored(folder).contains(&message)
            };
            scope.spawn(move || (1..20).find(is_stored))
        };
        let devices: Vec<_> = (0..DEVICES).map(device).collect();
        devices.into_iter().map(|device| device.join().unwrap()).collect()
    });
    let [lost, duplicated, reordered] = lossy.counts();
    println!("tries: {tries:?}; {lost} lost, {duplicated} duplicated, {reordered} reordered");
    assert!(lost > DEVICES && duplicated > 0 && reordered > 0);
    assert_eq!(stored(folder), ["0", "1", "2", "3", "4", "5"]);
}

/// The gateway answers a ClientHello without a valid cookie, and keeps no state for it.
#[test]
fn a_flood_of_client_hellos_does_not_lock_out_clients() {
    let (gateway, address, key) = gateway();
    let mut hello = vec![22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 54, 1, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0, 42];
    hello.extend([0xfe, 0xfd].into_iter().chain([7; 32]).chain([0, 0, 0, 2, 0xc0, 0xa8, 1, 0]));
    // At another address, so that none of them gets the port of a gateway that another test has killed and starts again.
    let sockets: Vec<_> = (0..64).map(|_| UdpSocket::bind("127.0.0.2:0").unwrap()).collect();
    let mut buffer = [0; 128];
    for socket in &sockets {
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        for n in 0..100 {
            hello[27] = n;
            socket.send_to(&hello, address).unwrap();
            let (length, _) = socket.recv_from(&mut buffer).unwrap();
            assert!(length <= hello.len() && buffer[13] == 3, "{:?}", &buffer[..length]);
        }
    }
    for message in ["1", "2"] {
        assert_eq!(send(CLIENTS[0], ("buoys", &key), message, &uri(address, "buoy-1")).trim(), "");
    }
    assert_eq!(stored(gateway.folder.path()), ["1", "2"]);
    assert_eq!(metric(&gateway, "dunnage_datagrams_total{input=\"coaps\",outcome=\"hello\"}"), 6402);
    assert_eq!(metric(&gateway, "dunnage_dtls_handshakes_total{result=\"done\"}"), 2);
}

/// A killed gateway loses its sessions. The clients establish new ones, and a message with a key is stored once.
#[test]
fn clients_repeat_the_handshake_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    child::configure(
        folder.path(),
        &format!("[[input]]\nname = 'coaps'\n[input.coap]\nlisten = '127.0.0.1:{port}'\ndtls = true"),
    );
    let (_, key) = keys::add(&folder.path().join("keys.toml"), Some("buoys"), "buoy-*", None).unwrap();
    let uri = format!("{}?key=m-1", uri(([127, 0, 0, 1], port).into(), "buoy-1"));
    let mut process = child::start(folder.path(), "");
    for program in [CLIENTS[0], CLIENTS[1], CLIENTS[0]] {
        assert_eq!(send(program, ("buoys", &key), "1", &uri).trim(), "");
        process.kill();
        process = child::start(folder.path(), "");
    }
    assert_eq!(send(CLIENTS[0], ("buoys", &key), "2", &uri.replace("m-1", "m-2")).trim(), "");
    process.stop();
    assert_eq!(stored(folder.path()), ["1", "2"]);
}

struct Secret(String);

impl PskResolver for Secret {
    fn resolve(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.clone().into())
    }
}

/// A client with an established session.
struct Session {
    dtls: Dtls,
    socket: UdpSocket,
    connected: bool,
    /// Whether the client waits for an answer.
    waiting: bool,
}

impl Session {
    fn open(config: &Arc<dimpl::Config>, server: SocketAddr) -> Session {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let mut dtls = Dtls::new_12_psk(Arc::clone(config), Instant::now());
        dtls.set_active(true);
        let mut session = Session { dtls, socket, connected: false, waiting: false };
        let begun = Instant::now();
        while !session.connected {
            session.step();
            assert!(begun.elapsed() < Duration::from_secs(60), "no handshake");
        }
        session
    }

    /// Sends the pending datagrams and receives one. Returns a message if there is one.
    fn step(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; 2048];
        self.dtls.handle_timeout(Instant::now()).unwrap();
        loop {
            match self.dtls.poll_output(&mut buffer) {
                Output::Packet(datagram) => drop(self.socket.send(datagram)),
                Output::Connected => self.connected = true,
                Output::ApplicationData(message) => return Some(message.to_vec()),
                Output::Timeout(_) => break,
                _ => {}
            }
        }
        if self.connected && !self.waiting {
            return None;
        }
        if let Ok(length) = self.socket.recv(&mut buffer) {
            self.dtls.handle_packet(&buffer[..length]).unwrap();
        }
        None
    }

    fn exchange(&mut self, message: &[u8]) -> Vec<u8> {
        self.dtls.send_application_data(message).unwrap();
        self.waiting = true;
        let begun = Instant::now();
        loop {
            if let Some(answer) = self.step() {
                return answer;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no answer");
        }
    }
}

/// SECURITY.md documents the memory of a session.
#[test]
fn a_session_takes_less_than_16_kibibytes() {
    const SESSIONS: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    child::configure(
        folder.path(),
        &format!("[[input]]\nname = 'coaps'\n[input.coap]\nlisten = '127.0.0.1:{port}'\ndtls = true"),
    );
    let (_, key) = keys::add(&folder.path().join("keys.toml"), Some("buoys"), "buoy-*", None).unwrap();
    let config = dimpl::Config::builder()
        .with_psk_client(b"buoys".to_vec(), Arc::new(Secret(key)))
        .dtls12_cipher_suites(&[Dtls12CipherSuite::PSK_AES128_CCM_8])
        .dtls13_cipher_suites(&[]);
    let config = Arc::new(config.build().unwrap());
    let process = child::start(folder.path(), "");
    let server = ([127, 0, 0, 1], port).into();
    let kibibytes = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
    };
    // POST ingest/buoy-1, JSON: the message ID is bytes 2 and 3.
    let mut request = b"\x40\x02\x00\x00\xb6ingest\x06buoy-1\x11\x32\xff1".to_vec();
    let mut post = |session: &mut Session, n: usize| {
        request[2..4].copy_from_slice(&(n as u16).to_be_bytes());
        let answer = session.exchange(&request);
        assert_eq!(answer, [&[0x60, 0x44], &request[2..4]].concat());
    };
    let open = |n: usize| (0..n).map(|_| Session::open(&config, server)).collect::<Vec<_>>();
    let mut first = open(50);
    first.iter_mut().enumerate().for_each(|(n, session)| post(session, n));
    let before = kibibytes();
    let mut sessions = open(SESSIONS);
    sessions.iter_mut().enumerate().for_each(|(n, session)| post(session, n));
    let per_session = (kibibytes() - before) as f64 / SESSIONS as f64;
    println!("{per_session:.1} KiB a session");
    assert!(per_session < 16.0, "{per_session}");
    // The first sessions are still established.
    first.iter_mut().enumerate().for_each(|(n, session)| post(session, 1000 + n));
    assert_eq!(stored(folder.path()).len(), 2 * 50 + SESSIONS);
    process.stop();
}
