//! Invariants of a CoAP port, for any datagrams.

use super::{
    datagram::{self, Datagram},
    request::{self, Post, Refused},
    transfers::{Part, Step, Transfers},
};
use coap_lite::Packet;
use dunnage_base::name::{is_device, is_name};
use dunnage_buffer::{Queue, Shares};
use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

/// The maximum size of a message in bytes.
const LIMIT: usize = 512;

/// Handles the datagrams of one sender, each of which has its length in a byte before it, and checks that all memory is released.
pub fn check(mut bytes: &[u8]) {
    let (queue, _receiver) = Queue::new(16, Shares::of(1 << 20, LIMIT));
    let mut transfers = Transfers::new(LIMIT);
    let (mut sent, now) = (0, Instant::now());
    while let Some((length, rest)) = bytes.split_first() {
        let (datagram, rest) = rest.split_at(rest.len().min((*length).into()));
        bytes = rest;
        sent += datagram.len();
        let Datagram::Request(packet) = datagram::read(datagram) else { continue };
        let again = packet.to_bytes().map(|bytes| Packet::from_bytes(&bytes));
        assert!(again.is_ok_and(|again| again.as_ref() == Ok(&packet)));
        match request::read(&packet, true) {
            Ok(post) => {
                assert!(
                    post.device.as_deref().is_none_or(is_device)
                        && post.schema.as_deref().is_none_or(is_name)
                );
                take(&mut transfers, &post, &packet, &queue, now);
            }
            Err(Refused::Message(_) | Refused::Reply(_) | Refused::Reset) => {}
        }
        assert!(queue.bytes() <= sent, "{} bytes are held of {sent}", queue.bytes());
    }
    transfers.remove_expired(now + Duration::from_secs(3600));
    assert_eq!(queue.bytes(), 0);
}

fn take(transfers: &mut Transfers, post: &Post, packet: &Packet, queue: &Queue, now: Instant) {
    let Some(block) = post.block.filter(|block| block.more || block.number > 0) else { return };
    let part = Part {
        endpoint: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)).into(),
        identity: request::identity(packet),
        device: post.device.as_deref().unwrap_or("\0"),
        block,
        size: post.size,
        bytes: &packet.payload,
    };
    if let Ok(Step::Whole(whole, _room)) = transfers.take(&part, queue, now) {
        assert!(whole.len() <= LIMIT && whole.ends_with(&packet.payload));
    }
}
