//! Counts of packets by direction and purpose.

use crate::packet::{Kind, Packet};
use serde::Serialize;

/// Packets and their bytes, with all headers from IP on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// The number of packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Sum {
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.bytes as u64;
    }
}

/// What one side has sent, lost packets included: a radio spends bytes on those, too.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// All IPv4 packets.
    pub all: Sum,
    /// Packets that open or close TCP connections.
    pub handshake: Sum,
    /// TCP packets without data.
    pub acknowledgement: Sum,
    /// TCP packets with data.
    pub segment: Sum,
    /// UDP datagrams.
    pub datagram: Sum,
    /// Other protocols over IPv4.
    pub other: Sum,
    /// Those of all packets that the link lost.
    pub lost: Sum,
    /// Bytes that TCP and UDP carried.
    pub payload: u64,
}

impl Sent {
    /// Counts a packet.
    pub fn add(&mut self, packet: &Packet, lost: bool) {
        let sum = match packet.kind {
            Kind::Handshake => &mut self.handshake,
            Kind::Acknowledgement => &mut self.acknowledgement,
            Kind::Segment => &mut self.segment,
            Kind::Datagram => &mut self.datagram,
            Kind::Other => &mut self.other,
        };
        sum.add(packet);
        self.all.add(packet);
        self.payload += packet.payload as u64;
        if lost {
            self.lost.add(packet);
        }
    }
}
