//! What an IP packet is for, from its headers.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// TCP with SYN, FIN or RST: it opens or closes a connection.
    Handshake,
    /// TCP without data: it acknowledges data, probes the peer or opens the window.
    Acknowledgement,
    /// TCP with data.
    Segment,
    /// A UDP datagram.
    Datagram,
    /// IPv4 of another protocol, such as ICMP.
    Other,
}

/// The purpose and the size of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// What the packet is for.
    pub kind: Kind,
    /// Bytes of the whole IP packet.
    pub bytes: usize,
    /// Bytes that TCP or UDP carries.
    pub payload: usize,
}

/// Reads the headers of an IPv4 packet. `None` for IPv6, which the network does not use, and for a packet that is cut off.
pub fn parse(bytes: &[u8]) -> Option<Packet> {
    let sliced = SlicedPacket::from_ip(bytes).ok()?;
    if !matches!(sliced.net, Some(NetSlice::Ipv4(_))) {
        return None;
    }
    let (kind, payload) = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            let payload = tcp.payload().len();
            let kind = match () {
                () if tcp.syn() || tcp.fin() || tcp.rst() => Kind::Handshake,
                () if payload == 0 => Kind::Acknowledgement,
                () => Kind::Segment,
            };
            (kind, payload)
        }
        Some(TransportSlice::Udp(udp)) => (Kind::Datagram, udp.payload().len()),
        _ => (Kind::Other, 0),
    };
    Some(Packet { kind, bytes: bytes.len(), payload })
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    /// A SYN as Linux sends it, with 20 bytes of options: captured on the emulator's TUN device, 10.77.0.2 to 10.77.0.1.
    const SYN: &str = "4500003c1f5d40004006073a0a4d00020a4d0001a0be1f90d5c1e8a300000000a002faf0fbcc0000020405b40402080a1c0c9b4f0000000001030307";

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    fn tcp(payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ipv4([10, 77, 0, 2], [10, 77, 0, 1], 64).tcp(40000, 80, 1, 1000).ack(1);
        let mut packet = Vec::new();
        builder.write(&mut packet, payload).unwrap();
        packet
    }

    #[test]
    fn a_captured_syn_is_part_of_a_handshake() {
        assert_eq!(parse(&bytes(SYN)), Some(Packet { kind: Kind::Handshake, bytes: 60, payload: 0 }));
    }

    #[test]
    fn data_and_acknowledgements_differ() {
        assert_eq!(parse(&tcp(b"abc")), Some(Packet { kind: Kind::Segment, bytes: 43, payload: 3 }));
        assert_eq!(parse(&tcp(b"")), Some(Packet { kind: Kind::Acknowledgement, bytes: 40, payload: 0 }));
    }

    #[test]
    fn a_datagram_has_28_bytes_of_headers() {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 77, 0, 2], [10, 77, 0, 1], 64).udp(40000, 5683);
        builder.write(&mut packet, &[0; 70]).unwrap();
        assert_eq!(parse(&packet), Some(Packet { kind: Kind::Datagram, bytes: 98, payload: 70 }));
    }

    #[test]
    fn other_packets_are_not_ipv4() {
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&tcp(b"abc")[..30]), None);
        let mut packet = Vec::new();
        PacketBuilder::ipv6([0; 16], [1; 16], 64).udp(1, 2).write(&mut packet, b"x").unwrap();
        assert_eq!(parse(&packet), None);
    }
}
