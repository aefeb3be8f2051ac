//! Parses datagrams: requests, and messages that RFC 7252 treats in another way.

use coap_lite::{MessageClass, MessageType, Packet};

/// The version of CoAP.
const VERSION: u8 = 1;
/// The byte that begins the payload.
const MARKER: u8 = 0xff;

/// A datagram.
#[derive(Debug, PartialEq)]
pub enum Datagram {
    /// A request, confirmable or not.
    Request(Packet),
    /// The acknowledgement or the rejection of a message that the server sent under this message ID.
    Settled(u16),
    /// A message that gets a Reset: a ping, a confirmable message that cannot be parsed, or a response without a request (4.2).
    Reject(u16),
    /// A message that is silently ignored: another protocol, or a message that needs no answer (3, 4.2, 4.3).
    Ignored,
}

/// Parses a datagram.
pub fn read(bytes: &[u8]) -> Datagram {
    let [first, code, high, low, ..] = *bytes else { return Datagram::Ignored };
    if first >> 6 != VERSION {
        return Datagram::Ignored;
    }
    let id = u16::from_be_bytes([high, low]);
    let confirmable = first & 0x30 == 0;
    let unwanted = if confirmable { Datagram::Reject(id) } else { Datagram::Ignored };
    let Ok(packet) = Packet::from_bytes(bytes) else { return unwanted };
    if ends_in_a_marker(bytes, &packet) {
        return unwanted;
    }
    let is_empty = code == 0 && bytes.len() == 4;
    match (packet.header.get_type(), packet.header.code) {
        (MessageType::Acknowledgement | MessageType::Reset, _) if is_empty => Datagram::Settled(id),
        (MessageType::Acknowledgement | MessageType::Reset, _) => Datagram::Ignored,
        // 0.01 to 0.31 are methods, unknown ones included.
        (_, MessageClass::Request(_)) => Datagram::Request(packet),
        (_, MessageClass::Reserved(0x01..=0x1f)) => Datagram::Request(packet),
        _ => unwanted,
    }
}

/// Returns whether the datagram has a payload marker but no payload, which is a format error (3) that the codec does not report.
fn ends_in_a_marker(bytes: &[u8], packet: &Packet) -> bool {
    let [shorter @ .., MARKER] = bytes else { return false };
    // If the byte ends the value of an option, the packet without it differs.
    packet.payload.is_empty() && Packet::from_bytes(shorter).as_ref() == Ok(packet)
}

/// Returns a message without token, options and payload: an empty acknowledgement, or a Reset.
pub fn empty(kind: MessageType, id: u16) -> Vec<u8> {
    let kind = match kind {
        MessageType::Confirmable => 0,
        MessageType::NonConfirmable => 1,
        MessageType::Acknowledgement => 2,
        MessageType::Reset => 3,
    };
    let [high, low] = id.to_be_bytes();
    vec![VERSION << 6 | kind << 4, 0, high, low]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_rejected_or_ignored() {
        for (bytes, is) in [
            (&b""[..], Datagram::Ignored),
            (b"\x40\x00\x12", Datagram::Ignored),
            (b"{\"t\":1}", Datagram::Ignored),
            // A ping, and one with an extra byte.
            (b"\x40\x00\x12\x34", Datagram::Reject(0x1234)),
            (b"\x40\x00\x12\x34\x00", Datagram::Reject(0x1234)),
            (b"\x50\x00\x12\x34", Datagram::Ignored),
            // Acknowledgement and Reset, and an acknowledgement with a response.
            (b"\x60\x00\x12\x34", Datagram::Settled(0x1234)),
            (b"\x70\x00\x12\x34", Datagram::Settled(0x1234)),
            (b"\x60\x44\x12\x34", Datagram::Ignored),
            // Another version.
            (b"\x80\x02\x12\x34", Datagram::Ignored),
            // A token of 9 bytes.
            (b"\x49\x02\x12\x34123456789", Datagram::Reject(0x1234)),
            (b"\x59\x02\x12\x34123456789", Datagram::Ignored),
            // A truncated option.
            (b"\x40\x02\x12\x34\xb6ingest\x05", Datagram::Reject(0x1234)),
            // A marker without a payload.
            (b"\x40\x02\x12\x34\xff", Datagram::Reject(0x1234)),
            // A response, and codes of reserved classes.
            (b"\x40\x44\x12\x34", Datagram::Reject(0x1234)),
            (b"\x50\x44\x12\x34", Datagram::Ignored),
            (b"\x40\x21\x12\x34", Datagram::Reject(0x1234)),
            (b"\x40\xe1\x12\x34", Datagram::Reject(0x1234)),
        ] {
            assert_eq!(read(bytes), is, "{bytes:02x?}");
        }
    }

    #[test]
    fn requests_are_read_whatever_their_method() {
        for bytes in [
            &b"\x40\x02\x12\x34"[..],
            b"\x50\x01\x12\x34\xb6ingest",
            b"\x40\x1f\x12\x34\xff1",
            // An option whose value ends with the byte of the marker.
            b"\x40\x02\x12\x34\xb1\xff",
        ] {
            assert!(matches!(read(bytes), Datagram::Request(_)), "{bytes:02x?}");
        }
    }

    #[test]
    fn random_bytes_are_read_without_a_panic() {
        let mut random = fastrand::Rng::with_seed(7252);
        for _ in 0..200_000 {
            let mut bytes: Vec<u8> = (0..random.usize(..40)).map(|_| random.u8(..)).collect();
            if let Some(first) = bytes.first_mut() {
                *first = 0x40 | *first & 0x3f;
            }
            if let Datagram::Request(packet) = read(&bytes) {
                assert_eq!(Packet::from_bytes(&packet.to_bytes().unwrap()).as_ref(), Ok(&packet));
            }
        }
    }

    #[test]
    fn empty_messages_are_four_bytes() {
        assert_eq!(empty(MessageType::Reset, 0x1234), b"\x70\x00\x12\x34");
        assert_eq!(empty(MessageType::Acknowledgement, 0x1234), b"\x60\x00\x12\x34");
    }
}
