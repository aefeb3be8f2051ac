//! Packets of MQTT 3.1.1 and 5, reduced to what the listener and the client need of them.
//!
//! mqtt-protocol-core parses the bytes. This module finds where a packet ends, and rejects reserved flags and trailing bytes.

use super::reason::{Reason, Refusal};
use bytes::{Bytes, BytesMut};
use mqtt_protocol_core::mqtt::{
    common::Arc,
    packet::{DecodeResult, Properties, Property, Qos, VariableByteInteger, v3_1_1, v5_0},
    result_code::DisconnectReasonCode,
};
use serde::{Deserialize, Serialize};

/// A version of MQTT, in settings `3.1.1` or `5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// 3.1.1
    #[serde(rename = "3.1.1")]
    V3,
    /// 5
    #[serde(rename = "5")]
    V5,
}

/// The CONNECT packet, which a client sends first.
#[derive(Debug)]
pub struct Connect {
    /// Its version.
    pub version: Version,
    /// Its client ID; may be empty.
    pub client_id: String,
    /// Whether the server must discard the session of earlier connections.
    pub clean: bool,
    /// How long the server keeps the session after this connection, in seconds. With 3.1.1 it is 0 or `u32::MAX`, which means without
    /// limit.
    pub expiry: u32,
    /// The keep alive interval, in seconds; 0 for none.
    pub keep_alive: u16,
    /// The message that is stored for the client when its connection ends without DISCONNECT.
    pub will: Option<Publish>,
    /// Its password, which is the token.
    pub password: Option<Vec<u8>>,
    /// Whether it asks for enhanced authentication.
    pub auth: bool,
    /// Largest packet that it accepts, in bytes.
    pub largest: u32,
    /// Whether acknowledgements may have a reason string.
    pub reasons: bool,
}

/// A packet that a client sends after CONNECT.
#[derive(Debug)]
pub enum Packet {
    /// PUBLISH
    Publish(Publish),
    /// PUBREL
    Release(u16),
    /// SUBSCRIBE: the packet identifier, and the number of topic filters.
    Subscribe(u16, usize),
    /// UNSUBSCRIBE: the packet identifier, and the number of topic filters.
    Unsubscribe(u16, usize),
    /// PINGREQ
    Ping,
    /// DISCONNECT
    Disconnect {
        /// The new session expiry interval, in seconds, if it has one.
        expiry: Option<u32>,
        /// Whether the will is to be published nevertheless (MQTT 5).
        with_will: bool,
    },
}

/// A PUBLISH packet.
#[derive(Debug)]
pub struct Publish {
    /// The packet identifier; 0 with QoS 0.
    pub id: u16,
    /// The quality of service.
    pub qos: Qos,
    /// Whether it may be a redelivery.
    pub dup: bool,
    /// The RETAIN flag: from a broker, the message was retained; from a client, it is to be.
    pub retain: bool,
    /// The topic; empty if only the alias is given.
    pub topic: String,
    /// A number that replaces the topic (MQTT 5).
    pub alias: Option<u16>,
    /// The media type of the payload, as the sender says (MQTT 5).
    pub content_type: Option<String>,
    /// User properties (MQTT 5).
    pub user: Vec<(String, String)>,
    /// The payload.
    pub payload: Bytes,
}

/// Splits the next complete packet off `input`. Returns its first byte and its body, or `None` if the packet is incomplete. Rejects a
/// packet of more than `limit` bytes as soon as its length is known.
pub fn frame(input: &mut BytesMut, limit: usize) -> Result<Option<(u8, BytesMut)>, Refusal> {
    let Some((&first, rest)) = input.split_first() else { return Ok(None) };
    let (length, digits) = match VariableByteInteger::decode_stream(rest) {
        DecodeResult::Ok(length, digits) => (length.to_u32() as usize, digits),
        DecodeResult::Incomplete => return Ok(None),
        DecodeResult::Err(why) => return Err(Refusal::new(Reason::Malformed, why)),
    };
    let head = 1 + digits;
    if head + length > limit {
        return Err(Refusal::new(Reason::TooLarge, format!("a packet must not exceed {limit} bytes")));
    }
    if input.len() < head + length {
        return Ok(None);
    }
    let mut packet = input.split_to(head + length);
    Ok(Some((first, packet.split_off(head))))
}

/// The offset of the protocol level in a CONNECT, and its bit that marks a bridge.
const LEVEL: usize = 6;
const BRIDGE: u8 = 0x80;

/// Parses a CONNECT. An error has the version in which to answer, or `None` if the client does not send an MQTT CONNECT.
pub fn connect(first: u8, body: &[u8]) -> Result<Connect, (Option<Version>, Refusal)> {
    // mosquitto and EMQX set the highest bit of the level of a bridge. A client of an unknown level gets the CONNACK of the nearest one.
    let (version, level) = match body {
        [0, 4, b'M', b'Q', b'T', b'T', level, ..] => match level & !BRIDGE {
            level @ 0..5 => (Version::V3, level == 4),
            level => (Version::V5, level == 5),
        },
        [0, 6, b'M', b'Q', b'I', b's', b'd', b'p', ..] => (Version::V3, false),
        _ => return Err((None, Refusal::new(Reason::Protocol, "the first packet is not an MQTT CONNECT"))),
    };
    let refused = |refusal: Refusal| (Some(version), refusal);
    if !level {
        return Err(refused(Refusal::new(Reason::Version, "the server supports MQTT 3.1.1 and 5")));
    }
    // The lowest connect flag is reserved, the flags of a will need a will, and there is no QoS 3.
    let flags = body.get(7).copied().unwrap_or_default();
    let will = if flags & 0b100 == 0 { flags & 0b11_1000 == 0 } else { flags & 0b1_1000 != 0b1_1000 };
    if first != 0x10 || flags & 1 != 0 || !will {
        return Err(refused(Refusal::new(Reason::Malformed, "reserved flags are set")));
    }
    let mut body = body.to_vec();
    body[LEVEL] &= !BRIDGE;
    let read = match version {
        Version::V3 => connect_3(&body),
        Version::V5 => connect_5(&body),
    };
    read.map_err(refused)
}

fn connect_3(body: &[u8]) -> Result<Connect, Refusal> {
    let (packet, read) = v3_1_1::Connect::parse(body)?;
    whole(read, body)?;
    Ok(Connect {
        version: Version::V3,
        client_id: packet.client_id().to_owned(),
        clean: packet.clean_session(),
        expiry: if packet.clean_session() { 0 } else { u32::MAX },
        keep_alive: packet.keep_alive(),
        will: packet.will_topic().zip(packet.will_payload()).map(|(topic, payload)| will(topic, payload)),
        password: packet.password().map(<[u8]>::to_vec),
        auth: false,
        largest: u32::MAX,
        reasons: false,
    })
}

fn connect_5(body: &[u8]) -> Result<Connect, Refusal> {
    let (packet, read) = v5_0::Connect::parse(body)?;
    whole(read, body)?;
    let mut connect = Connect {
        version: Version::V5,
        client_id: packet.client_id().to_owned(),
        clean: packet.clean_start(),
        expiry: 0,
        keep_alive: packet.keep_alive(),
        will: packet.will_topic().zip(packet.will_payload()).map(|(topic, payload)| {
            let mut will = will(topic, payload);
            describe(&mut will, &packet.will_props);
            will
        }),
        password: packet.password().map(<[u8]>::to_vec),
        auth: false,
        largest: u32::MAX,
        reasons: true,
    };
    for property in packet.props() {
        match property {
            Property::SessionExpiryInterval(seconds) => connect.expiry = seconds.val(),
            Property::AuthenticationMethod(_) => connect.auth = true,
            Property::MaximumPacketSize(bytes) => connect.largest = bytes.val(),
            Property::RequestProblemInformation(wanted) => connect.reasons = wanted.val() != 0,
            _ => {}
        }
    }
    Ok(connect)
}

/// A will as the message that it becomes. Its QoS and RETAIN flag concern subscribers alone.
fn will(topic: &str, payload: &[u8]) -> Publish {
    Publish {
        id: 0,
        qos: Qos::AtMostOnce,
        dup: false,
        retain: false,
        topic: topic.to_owned(),
        alias: None,
        content_type: None,
        user: Vec::new(),
        payload: Bytes::copy_from_slice(payload),
    }
}

/// Parses a packet that follows the CONNECT.
pub fn read(version: Version, first: u8, body: &[u8]) -> Result<Packet, Refusal> {
    let (kind, flags) = (first >> 4, first & 0x0f);
    let reserved = match kind {
        3 => flags,
        6 | 8 | 10 => 0b0010,
        _ => 0,
    };
    if flags != reserved {
        return Err(Refusal::new(Reason::Malformed, "reserved flags are set"));
    }
    let (packet, length) = match (kind, version) {
        (3, Version::V3) => publish_3(flags, body)?,
        (3, Version::V5) => publish_5(flags, body)?,
        (6, Version::V3) => {
            let (packet, length) = v3_1_1::Pubrel::parse(body)?;
            (Packet::Release(packet.packet_id()), length)
        }
        (6, Version::V5) => {
            let (packet, length) = v5_0::Pubrel::parse(body)?;
            (Packet::Release(packet.packet_id()), length)
        }
        (8, Version::V3) => {
            let (packet, length) = v3_1_1::Subscribe::parse(body)?;
            (Packet::Subscribe(packet.packet_id(), packet.entries().len()), length)
        }
        (8, Version::V5) => {
            let (packet, length) = v5_0::Subscribe::parse(body)?;
            (Packet::Subscribe(packet.packet_id(), packet.entries().len()), length)
        }
        (10, Version::V3) => {
            let (packet, length) = v3_1_1::Unsubscribe::parse(body)?;
            (Packet::Unsubscribe(packet.packet_id(), packet.entries().len()), length)
        }
        (10, Version::V5) => {
            let (packet, length) = v5_0::Unsubscribe::parse(body)?;
            (Packet::Unsubscribe(packet.packet_id(), packet.entries().len()), length)
        }
        (12, _) => (Packet::Ping, 0),
        (14, Version::V3) => (Packet::Disconnect { expiry: None, with_will: false }, 0),
        (14, Version::V5) => {
            let (packet, length) = v5_0::Disconnect::parse(body)?;
            let expiry = packet.props.iter().flatten().find_map(|property| match property {
                Property::SessionExpiryInterval(seconds) => Some(seconds.val()),
                _ => None,
            });
            let with_will = packet.reason_code() == Some(DisconnectReasonCode::DisconnectWithWillMessage);
            (Packet::Disconnect { expiry, with_will }, length)
        }
        _ => {
            let why = format!("a publisher must not send packets of type {kind}");
            return Err(Refusal::new(Reason::Protocol, why));
        }
    };
    whole(length, body)?;
    Ok(packet)
}

fn publish_3(flags: u8, body: &[u8]) -> Result<(Packet, usize), Refusal> {
    let (packet, length) = v3_1_1::Publish::parse(flags, Arc::from(body))?;
    let publish = Publish {
        id: packet.packet_id().unwrap_or_default(),
        qos: packet.qos(),
        dup: packet.dup(),
        retain: packet.retain(),
        topic: packet.topic_name().to_owned(),
        alias: None,
        content_type: None,
        user: Vec::new(),
        payload: Bytes::copy_from_slice(packet.payload().as_slice()),
    };
    Ok((checked(publish)?, length))
}

fn publish_5(flags: u8, body: &[u8]) -> Result<(Packet, usize), Refusal> {
    let (packet, length) = v5_0::Publish::parse(flags, Arc::from(body))?;
    let mut publish = Publish {
        id: packet.packet_id().unwrap_or_default(),
        qos: packet.qos(),
        dup: packet.dup(),
        retain: packet.retain(),
        topic: packet.topic_name().to_owned(),
        alias: None,
        content_type: None,
        user: Vec::new(),
        payload: Bytes::copy_from_slice(packet.payload().as_slice()),
    };
    describe(&mut publish, packet.props());
    Ok((checked(publish)?, length))
}

fn describe(publish: &mut Publish, properties: &Properties) {
    for property in properties {
        match property {
            Property::TopicAlias(alias) => publish.alias = Some(alias.val()),
            Property::ContentType(text) => publish.content_type = Some(text.val().to_owned()),
            Property::UserProperty(pair) => publish.user.push((pair.key().to_owned(), pair.val().to_owned())),
            _ => {}
        }
    }
}

fn checked(publish: Publish) -> Result<Packet, Refusal> {
    if publish.qos != Qos::AtMostOnce && publish.id == 0 {
        return Err(Refusal::new(Reason::Malformed, "the packet identifier must not be 0"));
    }
    if publish.qos == Qos::AtMostOnce && publish.dup {
        return Err(Refusal::new(Reason::Malformed, "a message with QoS 0 must not have DUP set"));
    }
    Ok(Packet::Publish(publish))
}

/// Rejects a packet with trailing bytes.
fn whole(read: usize, body: &[u8]) -> Result<(), Refusal> {
    match read == body.len() {
        true => Ok(()),
        false => Err(Refusal::new(Reason::Malformed, "there are bytes after the end of the packet")),
    }
}
