//! A UDP echo over the link: delay, loss, order and counts. Skipped where this process may not make TUN devices.

#![allow(clippy::unwrap_used)]

use dunnage_bench_middleware::{
    count::Sum,
    link::Link,
    network::{CLIENT, Network, SERVER},
};
use nix::sched::{CloneFlags, setns, unshare};
use std::{
    fs::File,
    net::UdpSocket,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

const PORT: u16 = 7;
/// Bytes of a datagram of these tests, and of its IP packet.
const PAYLOAD: usize = 72;
const PACKET: u64 = 100;

/// The client's socket, the link, and an echo server behind it. `None` if this process may not make them.
fn echo() -> Option<(UdpSocket, Arc<Link>)> {
    if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
        eprintln!("skipped: needs CAP_SYS_ADMIN for network namespaces: {error}");
        return None;
    }
    let network = match Network::start() {
        Ok(network) => network,
        Err(error) => {
            eprintln!("skipped: needs CAP_NET_ADMIN and /dev/net/tun: {error}");
            return None;
        }
    };
    let namespace = network.server.clone();
    let server = thread::spawn(move || {
        setns(File::open(namespace).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
        UdpSocket::bind((SERVER, PORT)).unwrap()
    });
    let server = server.join().unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 1500];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            server.send_to(&buffer[..length], from).unwrap();
        }
    });
    let client = UdpSocket::bind((CLIENT, 0)).unwrap();
    client.connect((SERVER, PORT)).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    network.link.settle(Duration::from_millis(50), Duration::from_secs(5));
    network.link.count();
    Some((client, network.link))
}

fn datagram(number: u32) -> [u8; PAYLOAD] {
    let mut datagram = [0; PAYLOAD];
    datagram[..4].copy_from_slice(&number.to_be_bytes());
    datagram
}

#[test]
fn the_delay_counts_twice_for_a_round_trip() {
    let Some((client, link)) = echo() else { return };
    let mut buffer = [0; 1500];
    for milliseconds in [0, 20, 100] {
        link.set(Duration::from_millis(milliseconds), 0.0, 1);
        let begin = Instant::now();
        client.send(&datagram(0)).unwrap();
        client.recv(&mut buffer).unwrap();
        let (took, delay) = (begin.elapsed(), Duration::from_millis(2 * milliseconds));
        assert!(took >= delay, "{took:?} for {delay:?}");
        // Other programs may keep both processors for a while.
        assert!(took < delay + Duration::from_millis(100), "{took:?} for {delay:?}");
    }
}

#[test]
fn every_packet_is_counted_and_keeps_its_place() {
    let Some((client, link)) = echo() else { return };
    link.set(Duration::from_millis(30), 0.0, 1);
    for number in 0..100 {
        client.send(&datagram(number)).unwrap();
    }
    let mut buffer = [0; 1500];
    for number in 0..100 {
        assert_eq!(client.recv(&mut buffer).unwrap(), PAYLOAD);
        assert_eq!(buffer[..PAYLOAD], datagram(number));
    }
    let (up, down) = link.count();
    for sent in [up, down] {
        assert_eq!((sent.all, sent.datagram), (Sum { packets: 100, bytes: 100 * PACKET }, sent.all));
        assert_eq!((sent.lost, sent.payload), (Sum::default(), 100 * PAYLOAD as u64));
    }
}

#[test]
fn the_seed_decides_what_is_lost() {
    let Some((client, link)) = echo() else { return };
    let mut lost = Vec::new();
    for seed in [5, 5, 6] {
        link.set(Duration::ZERO, 0.1, seed);
        let mut buffer = [0; 1500];
        let mut arrived = Vec::new();
        // One after the other: the answers draw from the same numbers.
        client.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        for number in 0..200 {
            client.send(&datagram(number)).unwrap();
            if client.recv(&mut buffer).is_ok() {
                arrived.push(buffer[..4].to_vec());
            }
        }
        link.settle(Duration::from_millis(20), Duration::from_secs(1));
        let (up, down) = link.count();
        assert_eq!(up.all.packets, 200);
        assert_eq!(down.all.packets, 200 - up.lost.packets);
        assert_eq!(arrived.len() as u64, down.all.packets - down.lost.packets);
        assert!((5..=40).contains(&up.lost.packets), "{} of 200 are lost", up.lost.packets);
        lost.push(arrived);
    }
    assert_eq!(lost[0], lost[1]);
    assert_ne!(lost[0], lost[2]);
}
