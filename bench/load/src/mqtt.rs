//! The part of MQTT 3.1.1 that a client needs to publish messages and to count received ones.

use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A PUBLISH packet, and the offset of its packet identifier.
#[derive(Debug, Clone)]
pub struct Publish {
    bytes: Vec<u8>,
    identifier: usize,
}

/// A packet from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// CONNACK with its return code.
    Connected(u8),
    /// PUBACK of a packet identifier.
    Acknowledged(u16),
    /// PUBLISH with QoS 1, and its packet identifier.
    Message(u16),
    /// PINGRESP
    Pong,
    /// Any other packet, by its type.
    Other(u8),
}

/// CONNECT with a clean session (section 3.1).
pub fn connect(client: &str, keep_alive: Duration) -> Vec<u8> {
    let mut rest = vec![0, 4];
    rest.extend(b"MQTT\x04\x02");
    rest.extend(u16::try_from(keep_alive.as_secs()).unwrap_or(u16::MAX).to_be_bytes());
    text(&mut rest, client);
    packet(0x10, &rest)
}

/// PUBLISH with QoS 1 (section 3.3). [`Publish::write`] sets the packet identifier.
pub fn publish(topic: &str, payload: &[u8]) -> Publish {
    let mut rest = Vec::new();
    text(&mut rest, topic);
    let behind = rest.len();
    rest.extend([0, 0]);
    rest.extend(payload);
    let bytes = packet(0x32, &rest);
    Publish { identifier: bytes.len() - rest.len() + behind, bytes }
}

/// SUBSCRIBE to one filter with QoS 1 (section 3.8).
pub fn subscribe(filter: &str) -> Vec<u8> {
    let mut rest = vec![0, 1];
    text(&mut rest, filter);
    rest.push(1);
    packet(0x82, &rest)
}

/// PINGREQ
pub const PING: [u8; 2] = [0xc0, 0];

impl Publish {
    /// Appends the packet to `out`, with the packet identifier `identifier`.
    pub fn write(&self, identifier: u16, out: &mut Vec<u8>) {
        let begin = out.len() + self.identifier;
        out.extend_from_slice(&self.bytes);
        out[begin..begin + 2].copy_from_slice(&identifier.to_be_bytes());
    }
}

/// Parses the packet at the start of `bytes`, and returns it with its length; `None` while it is incomplete.
pub fn answer(bytes: &[u8]) -> Option<(Answer, usize)> {
    let mut length = 0;
    let mut at = 1;
    loop {
        let digit = *bytes.get(at)?;
        length |= usize::from(digit & 0x7f) << (7 * (at - 1));
        at += 1;
        if digit < 0x80 || at > 4 {
            break;
        }
    }
    let body = bytes.get(at..at + length)?;
    let answer = match (bytes[0] >> 4, body) {
        (2, [_, code, ..]) => Answer::Connected(*code),
        (4, [high, low, ..]) => Answer::Acknowledged(u16::from_be_bytes([*high, *low])),
        (3, [high, low, rest @ ..]) if bytes[0] & 0x06 == 0x02 => {
            let topic = usize::from(u16::from_be_bytes([*high, *low]));
            let identifier = rest.get(topic..topic + 2)?;
            Answer::Message(u16::from_be_bytes([identifier[0], identifier[1]]))
        }
        (13, _) => Answer::Pong,
        (other, _) => Answer::Other(other),
    };
    Some((answer, at + length))
}

/// Connects to `address` and logs in.
pub async fn open(address: std::net::SocketAddr, connect: &[u8]) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    log_in(&mut stream, connect).await?;
    Ok(stream)
}

/// Sends `connect` and waits until the server accepts it. Fails if the server refuses.
pub async fn log_in(stream: &mut TcpStream, connect: &[u8]) -> std::io::Result<()> {
    stream.write_all(connect).await?;
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes).await?;
    match answer(&bytes) {
        Some((Answer::Connected(0), 4)) => Ok(()),
        _ => Err(std::io::Error::other(format!("the server answered CONNECT with {bytes:?}"))),
    }
}

/// A packet of the byte `first`, the length, and `rest`.
pub fn packet(first: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    let mut length = rest.len();
    loop {
        let digit = (length & 0x7f) as u8;
        length >>= 7;
        bytes.push(if length > 0 { digit | 0x80 } else { digit });
        if length == 0 {
            break;
        }
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// Appends a string, preceded by its length in two bytes.
pub fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_be_bytes());
    bytes.extend(text.as_bytes());
}
