//! The packets that the listener sends after a CONNACK.

use bytes::{BufMut, BytesMut};
use dunnage_clients::mqtt::{
    packet::Version,
    reason::{Reason, Refusal, told},
};
use mqtt_protocol_core::mqtt::packet::VariableByteInteger;

/// An acknowledgement. Its value is the first byte of the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Ack {
    /// PUBACK
    Stored = 0x40,
    /// PUBREC
    Received = 0x50,
    /// PUBCOMP
    Complete = 0x70,
}

/// The identifier of the property Reason String (MQTT 5, section 2.2.2.2).
const REASON_STRING: u8 = 0x1f;

/// The form of answers that a client understands.
#[derive(Debug, Clone, Copy)]
pub struct Answers {
    pub version: Version,
    /// The maximum size of a packet that it accepts, in bytes.
    pub largest: u32,
    /// Whether acknowledgements may have a reason string.
    pub reasons: bool,
}

impl Answers {
    /// Writes a PUBACK, PUBREC or PUBCOMP for the packet `id`. In MQTT 3.1.1 it cannot express `refusal`.
    pub fn ack(&self, out: &mut BytesMut, ack: Ack, id: u16, refusal: Option<&Refusal>) {
        let mut body = BytesMut::from(&id.to_be_bytes()[..]);
        if let (Version::V5, Some(refusal)) = (self.version, refusal) {
            self.reason(&mut body, refusal, self.reasons);
        }
        put(out, ack as u8, &body);
    }

    /// Writes a DISCONNECT, except in MQTT 3.1.1, where servers do not send one.
    pub fn disconnect(&self, out: &mut BytesMut, refusal: &Refusal) {
        if self.version == Version::V5 {
            let mut body = BytesMut::new();
            self.reason(&mut body, refusal, true);
            put(out, 0xe0, &body);
        }
    }

    /// Writes a SUBACK that rejects each of `filters`.
    pub fn no_subscription(&self, out: &mut BytesMut, id: u16, filters: usize) {
        let mut body = BytesMut::from(&id.to_be_bytes()[..]);
        let code = match self.version {
            Version::V3 => 0x80,
            Version::V5 => {
                let why = "subscriptions are not supported; clients can only publish";
                self.properties(&mut body, why, self.reasons);
                Reason::NotDone as u8
            }
        };
        body.put_bytes(code, filters);
        put(out, 0x90, &body);
    }

    /// Writes an UNSUBACK with the reason that no subscription existed.
    pub fn unsubscribed(&self, out: &mut BytesMut, id: u16, filters: usize) {
        let mut body = BytesMut::from(&id.to_be_bytes()[..]);
        if self.version == Version::V5 {
            body.put_u8(0);
            body.put_bytes(Reason::NoSubscription as u8, filters);
        }
        put(out, 0xb0, &body);
    }

    /// Writes a PINGRESP.
    pub fn pong(out: &mut BytesMut) {
        put(out, 0xd0, &[]);
    }

    fn reason(&self, body: &mut BytesMut, refusal: &Refusal, tell: bool) {
        body.put_u8(refusal.reason as u8);
        self.properties(body, &refusal.why, tell);
    }

    /// Writes the properties of a packet that begins with `body`: the reason, if the packet is then within the client's maximum size.
    fn properties(&self, body: &mut BytesMut, why: &str, tell: bool) {
        let why = told(why);
        // Identifier and length of the text, the length of the properties, and the fixed header of the packet.
        let size = body.len() + why.len() + 3 + 2 + 5;
        if !tell || why.is_empty() || size > self.largest as usize {
            return body.put_u8(0);
        }
        put_length(body, 3 + why.len());
        body.put_u8(REASON_STRING);
        body.put_u16(u16::try_from(why.len()).unwrap_or_default());
        body.put_slice(why.as_bytes());
    }
}

fn put(out: &mut BytesMut, first: u8, body: &[u8]) {
    out.put_u8(first);
    put_length(out, body.len());
    out.put_slice(body);
}

/// Writes a length as a variable byte integer. No answer comes near the maximum.
fn put_length(out: &mut BytesMut, length: usize) {
    let length = u32::try_from(length).ok().and_then(VariableByteInteger::from_u32);
    out.put_slice(length.as_ref().map_or(&[], VariableByteInteger::as_bytes));
}
