//! Invariants of MQTT packets, for any bytes of a client.

use super::message::{address, content_type};
use bytes::BytesMut;
use dunnage_base::name::is_device;
use dunnage_clients::mqtt::packet::{self, Packet, Version, frame};
use mqtt_protocol_core::mqtt::packet::Qos;

/// The maximum size of a packet in bytes.
const LIMIT: usize = 8 << 10;

/// Parses packets and checks them. The first byte of `bytes` selects the version, and the size of the pieces in which the rest arrives.
pub fn check(bytes: &[u8]) {
    let Some((selector, bytes)) = bytes.split_first() else { return };
    let version = if selector & 1 == 0 { Version::V3 } else { Version::V5 };
    let packets = split(bytes, bytes.len().max(1));
    assert_eq!(packets, split(bytes, 1 + usize::from(selector >> 1)));
    for (first, body) in packets {
        assert!(body.len() <= LIMIT);
        if let Ok(connect) = packet::connect(first, &body) {
            assert!(connect.client_id.len() <= body.len() && first == 0x10);
        }
        let Ok(Packet::Publish(publish)) = packet::read(version, first, &body) else { continue };
        assert!(publish.topic.len() + publish.payload.len() <= body.len());
        assert_eq!(publish.id == 0, publish.qos == Qos::AtMostOnce);
        let Ok(address) = address(&publish.topic) else { continue };
        assert!(is_device(&address.device));
        if let Ok(media_type) = content_type(address.format, publish.content_type.as_deref()) {
            assert!(address.format.is_none() || !media_type.is_empty());
        }
    }
}

/// Returns the packets of `bytes`, which arrive `piece` bytes at a time, up to the first that is rejected.
fn split(bytes: &[u8], piece: usize) -> Vec<(u8, Vec<u8>)> {
    let (mut input, mut packets) = (BytesMut::new(), Vec::new());
    for piece in bytes.chunks(piece) {
        input.extend_from_slice(piece);
        loop {
            match frame(&mut input, LIMIT) {
                Ok(Some((first, body))) => packets.push((first, body.to_vec())),
                Ok(None) => break,
                Err(_) => return packets,
            }
        }
    }
    packets
}
