//! A client that sends the bytes of a test, also those that real MQTT clients do not send.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

pub struct Client {
    pub stream: TcpStream,
    version: u8,
}

/// Returns a string with its length in front.
pub fn text(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    [&length[..], text.as_bytes()].concat()
}

/// Returns a packet from its first byte and the bytes after its length.
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
    /// Opens a connection without sending anything.
    pub fn open(address: SocketAddr, version: u8) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Client::over(stream, version)
    }

    /// Returns a client on an open stream. It can act as either side of the protocol.
    pub fn over(stream: TcpStream, version: u8) -> Client {
        Client { stream, version }
    }

    /// Connects. Returns the client and whether the server had its session. `keep_session` lets the session outlive the connection.
    pub fn connect(address: SocketAddr, version: u8, id: &str, keep_session: bool) -> (Client, bool) {
        let mut client = Client::open(address, version);
        client.send(&client.connect_packet(id, keep_session, 60));
        let (first, body) = client.read().unwrap();
        assert_eq!((first, body[1]), (0x20, 0), "{body:?}");
        (client, body[0] == 1)
    }

    /// Returns a CONNECT packet.
    pub fn connect_packet(&self, id: &str, keep_session: bool, keep_alive: u16) -> Vec<u8> {
        let flags = if keep_session { 0 } else { 2 };
        let mut body = text("MQTT");
        body.extend([self.version, flags]);
        body.extend(keep_alive.to_be_bytes());
        if self.version == 5 {
            let properties: &[u8] = if keep_session { &[5, 0x11, 0, 0, 1, 0] } else { &[0] };
            body.extend(properties);
        }
        body.extend(text(id));
        packet(0x10, &body)
    }

    /// Sends a PUBLISH packet.
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

    /// Returns the first byte of the next packet and the bytes after its length, or `None` if the connection has ended.
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
