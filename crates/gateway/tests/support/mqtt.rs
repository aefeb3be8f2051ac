//! Bytes of MQTT as a client sends them, for what real clients do not do.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

pub struct Client {
    pub stream: TcpStream,
    version: u8,
}

/// A string with its length.
pub fn text(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    [&length[..], text.as_bytes()].concat()
}

/// A packet of fewer than 128 bytes behind its length, or fewer than 16384.
pub fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let mut length = body.len();
    let mut bytes = vec![first];
    loop {
        let digit = u8::try_from(length % 128).unwrap();
        length /= 128;
        bytes.push(digit | if length > 0 { 0x80 } else { 0 });
        if length == 0 {
            break;
        }
    }
    bytes.extend_from_slice(body);
    bytes
}

impl Client {
    /// A connection on which nothing has been said.
    pub fn open(address: SocketAddr, version: u8) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Client::over(stream, version)
    }

    /// The one or the other end of `stream`.
    pub fn over(stream: TcpStream, version: u8) -> Client {
        Client { stream, version }
    }

    /// A client that is connected, and whether its session was there. With `kept`, its session is kept.
    pub fn connect(address: SocketAddr, version: u8, id: &str, kept: bool) -> (Client, bool) {
        let mut client = Client::open(address, version);
        client.send(&client.hello(id, kept, 60));
        let (first, body) = client.read().unwrap();
        assert_eq!((first, body[1]), (0x20, 0), "{body:?}");
        (client, body[0] == 1)
    }

    /// CONNECT
    pub fn hello(&self, id: &str, kept: bool, keep_alive: u16) -> Vec<u8> {
        let flags = if kept { 0 } else { 2 };
        let mut body = text("MQTT");
        body.extend([self.version, flags]);
        body.extend(keep_alive.to_be_bytes());
        if self.version == 5 {
            let properties: &[u8] = if kept { &[5, 0x11, 0, 0, 1, 0] } else { &[0] };
            body.extend(properties);
        }
        body.extend(text(id));
        packet(0x10, &body)
    }

    /// PUBLISH
    pub fn publish(&mut self, flags: u8, topic: &str, id: u16, payload: &str) {
        let mut body = text(topic);
        if flags & 0b110 != 0 {
            body.extend(id.to_be_bytes());
        }
        if self.version == 5 {
            body.push(0);
        }
        body.extend(payload.as_bytes());
        self.send(&packet(0x30 | flags, &body));
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next packet: its first byte, and what is behind its length. None when the connection ends.
    pub fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut byte = [0];
        if self.stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        let first = byte[0];
        let (mut length, mut shift) = (0, 0);
        loop {
            self.stream.read_exact(&mut byte).ok()?;
            length |= usize::from(byte[0] & 0x7f) << shift;
            shift += 7;
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some((first, body))
    }
}
