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

    /// Captured on the client's TUN device: the server of a TCP connection accepts it, acknowledges three bytes, sends two, and ends it.
    const CAPTURED: [(&str, Kind, usize); 4] = [
        (
            "4500003c00004000400626200a4d00010a4d00022328e0c00ae25540d443f0c8a012fe884e840000020405b40402080a3de86598e02739830103030a",
            Kind::Handshake,
            0,
        ),
        (
            "450000345b0340004006cb240a4d00010a4d00022328e0c00ae25541d443f0cb801000407b9900000101080a3de86598e0273983",
            Kind::Acknowledgement,
            0,
        ),
        (
            "450000365b0440004006cb210a4d00010a4d00022328e0c00ae25541d443f0cb801800400c2400000101080a3de86598e02739836f6b",
            Kind::Segment,
            2,
        ),
        (
            "450000345b0540004006cb220a4d00010a4d00022328e0c00ae25543d443f0cc801100407b9300000101080a3de8659ae0273983",
            Kind::Handshake,
            0,
        ),
    ];

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
    fn captured_packets_are_told_apart() {
        for (hex, kind, payload) in CAPTURED {
            assert_eq!(parse(&bytes(hex)), Some(Packet { kind, bytes: hex.len() / 2, payload }));
        }
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
