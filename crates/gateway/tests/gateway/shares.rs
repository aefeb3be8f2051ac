//! Incomplete messages occupy at most a share of the memory for messages, and do not delay other senders.

use crate::support::{JSON, Running, block_commits, coap, mqtt, start_with, wait::wait_until};
use coap_lite::CoapOption;
use dunnage_gateway::Who;
use socket2::{Domain, Socket, Type};
use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket},
    path::Path,
    time::{Duration, Instant},
};

/// The memory for messages, and the limit of a body, in bytes.
const MEMORY: usize = 1 << 20;
const BODY: usize = 64 << 10;
/// The number of incomplete messages: four times as many as fit into the memory.
const INCOMPLETE: usize = 64;

fn gateway() -> Running {
    start_with(|config| {
        config.buffer.queue_bytes = MEMORY;
        config.http.body_limit_bytes = BODY;
        // Requests here do not name the port in Host.
        config.access.who = Who::Anyone;
        coap::configure(config);
        let mqtt = "name = 'mqtt'\n[mqtt]\nlisten = '127.0.0.1:0'";
        config.inputs.push(toml::from_str(mqtt).unwrap());
        let key = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/webhooks/signer.pub.pem");
        let hook =
            format!("name = 'hook'\n[webhook]\nprovider = 'rockblock'\nkey_file = {key:?}\nformat = 'json'");
        config.inputs.push(toml::from_str(&hook).unwrap());
    })
}

/// Opens a connection from `from` to `to`.
fn connect(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Sends [`INCOMPLETE`] messages without their last byte, each to the path and from the address that `path` and `from` return.
fn send_incomplete(
    gateway: &Running,
    path: impl Fn(usize) -> String,
    from: impl Fn(usize) -> Ipv4Addr,
) -> Vec<TcpStream> {
    let incomplete = (0..INCOMPLETE).map(|n| {
        let mut stream = connect(from(n), gateway.gateway.address());
        let before = held(gateway);
        // The gateway refuses some while they are sent, and closes their connections.
        let _ = stream.write_all(&[head(&path(n), BODY).as_bytes(), &vec![b' '; BODY - 1]].concat());
        wait_until_received(gateway, &stream, before);
        stream
    });
    incomplete.collect()
}

/// Waits until the gateway has read or refused a message, at most for a moment: it may also have made room for it. Messages that are read at
/// the same time compete for the share, and on a slow machine each may be refused before the memory of another is released.
fn wait_until_received(gateway: &Running, stream: &TcpStream, before: usize) {
    stream.set_nonblocking(true).unwrap();
    let is_open = || stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    let begun = Instant::now();
    while is_open() && held(gateway) < before + BODY - 1 && begun.elapsed() < Duration::from_millis(250) {
        std::thread::sleep(Duration::from_millis(5));
    }
    stream.set_nonblocking(false).unwrap();
}

/// Returns the bytes of messages that the gateway holds.
fn held(gateway: &Running) -> usize {
    let metrics = gateway.get("/metrics").text;
    let line = metrics.lines().find(|line| line.starts_with("dunnage_queue_bytes ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Waits until the gateway holds at least half of `share` and at most `share`, several times in a row. Bytes that are read and then refused
/// count for a moment, too, and a refused body releases its memory.
#[track_caller]
fn assert_held(gateway: &Running, share: usize) {
    let expected = share / 2..=share;
    let (mut bytes, mut in_range) = (0, 0);
    for _ in 0..100 {
        bytes = held(gateway);
        in_range = if expected.contains(&bytes) { in_range + 1 } else { 0 };
        if in_range == 5 {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{bytes} bytes are held");
}

/// Checks that messages of other senders are stored: small ones, one of half the limit, and one that arrives in parts.
fn assert_others_are_served(gateway: &Running) {
    for n in 0..20 {
        let answer = gateway.post(&format!("/ingest/other{n}"), JSON, b"1");
        assert_eq!(answer.status, 204, "{}", answer.text);
    }
    let large = [vec![b' '; BODY / 2], vec![b'1']].concat();
    assert_eq!(gateway.post("/ingest/large", JSON, &large).status, 204);
    let mut stream = connect([127, 0, 0, 9].into(), gateway.gateway.address());
    stream.write_all(head("/ingest/slow", 3).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    stream.write_all(b"1").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    stream.write_all(b"23").unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 204");
}

#[test]
fn incomplete_bodies_of_one_address_occupy_its_share() {
    let gateway = gateway();
    let _incomplete = send_incomplete(&gateway, |n| format!("/ingest/d{n}"), |_| [127, 0, 0, 2].into());
    assert_held(&gateway, MEMORY / 4);
    assert_others_are_served(&gateway);
}

#[test]
fn incomplete_bodies_of_one_device_occupy_its_share() {
    let gateway = gateway();
    let _incomplete = send_incomplete(&gateway, |_| "/ingest/d".into(), |n| [127, 0, 1, n as u8].into());
    assert_held(&gateway, MEMORY / 8);
    assert_others_are_served(&gateway);
}

#[test]
fn incomplete_bodies_of_many_senders_occupy_half_the_memory_and_give_way() {
    let gateway = gateway();
    let _incomplete = send_incomplete(&gateway, |n| format!("/ingest/d{n}"), |n| [127, 0, 1, n as u8].into());
    assert_held(&gateway, MEMORY / 2);
    // Small messages never wait. Messages that arrive in parts need the memory of a stalled one.
    assert_eq!(gateway.post("/ingest/small", JSON, b"1").status, 204);
    std::thread::sleep(Duration::from_secs(3));
    assert_others_are_served(&gateway);
}

#[test]
fn requests_authenticated_only_by_a_signature_have_a_smaller_limit() {
    let gateway = gateway();
    let body = format!("JWT={}", "x".repeat(BODY));
    let form = "application/x-www-form-urlencoded";
    let answer = gateway.post("/hooks/hook", form, body.as_bytes());
    assert_eq!(answer.status, 413, "{}", answer.text);
    let _incomplete = send_incomplete(&gateway, |_| "/hooks/hook".into(), |n| [127, 0, 1, n as u8].into());
    assert_held(&gateway, MEMORY / 8);
    assert_others_are_served(&gateway);
}

#[test]
fn stalled_block_transfers_occupy_their_share() {
    let gateway = gateway();
    let coap = gateway.gateway.input_address("coap").unwrap();
    let block = |client: &mut coap::Client, number: u32, more: bool| {
        let mut request = client.request(
            &format!("ingest/d{}", client.socket.local_addr().unwrap().port()),
            coap::JSON,
            &[b' '; 1024],
        );
        let value = (number << 4 | u32::from(more) << 3 | 6).to_be_bytes();
        request.add_option(CoapOption::Block1, value[2..].to_vec());
        coap::code_and_diagnostic(&client.exchange(&request)).0
    };
    let mut incomplete = Vec::new();
    for n in 0..40_u8 {
        let mut client = coap::Client::new(coap);
        client.socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 2, n / 20), 0)).unwrap();
        client.socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.socket.connect(coap).unwrap();
        for number in 0..40 {
            if block(&mut client, number, true) != "2.31" {
                break;
            }
        }
        incomplete.push(client);
    }
    assert_held(&gateway, MEMORY / 2);
    assert_eq!(gateway.post("/ingest/small", JSON, b"1").status, 204);
    std::thread::sleep(Duration::from_secs(3));
    assert_others_are_served(&gateway);
    // Another address can begin a transfer while the others are stalled.
    let mut other = coap::Client::new(coap);
    assert_eq!(block(&mut other, 0, true), "2.31");
    for number in 1..30 {
        assert_eq!(block(&mut other, number, true), "2.31", "block {number}");
    }
}

#[test]
fn incomplete_packets_of_one_address_occupy_its_share() {
    let gateway = gateway();
    let address = gateway.gateway.input_address("mqtt").unwrap();
    let payload = " ".repeat(BODY - 1) + "1";
    let incomplete: Vec<_> = (0..INCOMPLETE)
        .map(|n| {
            let stream = connect([127, 0, 0, 2].into(), address);
            let mut client = mqtt::Client::over(stream, 4);
            let hello = client.connect_packet(&format!("c{n}"), false, 60);
            client.send(&hello);
            assert_eq!(client.read().unwrap().0, 0x20);
            let body = [mqtt::text("v1/d/json"), vec![0, 1], payload.clone().into_bytes()].concat();
            let whole = mqtt::packet(0x32, &body);
            client.send(&whole[..whole.len() - 1]);
            client
        })
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    let (mut other, _) = mqtt::Client::connect(address, 4, "other", false);
    other.publish(0x32, "v1/other/json", 7, &payload);
    assert_eq!(other.read(), Some((0x40, vec![0, 7])));
    drop(incomplete);
}

#[test]
fn undecodable_messages_wait_for_memory_too() {
    const SIZE: usize = 60_000;
    let gateway = gateway();
    let address = gateway.gateway.input_address("mqtt").unwrap();
    let held = block_commits(gateway.folder.path());
    let sender = std::thread::spawn(move || {
        let (mut client, _) = mqtt::Client::connect(address, 5, "c", true);
        let payload = "x".repeat(SIZE);
        for id in 1..=40 {
            client.publish(2, "v1/d/no-such-format", id, &payload);
        }
        (0..40).filter(|_| client.read().is_some_and(|(first, _)| first == 0x40)).count()
    });
    let received = || {
        let metrics = gateway.get("/metrics").text;
        let line = metrics.lines().find(|line| line.starts_with("dunnage_received_messages_total{"));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
    };
    wait_until("a message is received", || received() > 0);
    std::thread::sleep(Duration::from_secs(1));
    assert!(received() <= MEMORY / SIZE, "{} messages are in memory", received());
    drop(held);
    assert_eq!(sender.join().unwrap(), 40);
    assert_eq!(gateway.get_json("/api/stats")["quarantined"], 40);
}
