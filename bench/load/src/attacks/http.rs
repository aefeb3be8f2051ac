//! HTTP/1.1 requests, byte for byte, from a given source address.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

/// Opens a connection from `source` to `address`.
pub async fn connect(source: IpAddr, address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(source, 0))?;
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The head of a request to `address`, as a program on this machine sends it. Each of `headers` must end in `\r\n`.
pub fn head(method: &str, target: &str, address: SocketAddr, headers: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n")
}

/// The request that sends the JSON message `body` of `device`.
pub fn post(device: &str, address: SocketAddr, body: &str) -> Vec<u8> {
    let headers = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    (head("POST", &format!("/ingest/{device}"), address, &headers) + body).into_bytes()
}

/// Sends `request` over `stream`, reads the head of the answer and returns its status.
pub async fn exchange(stream: &mut TcpStream, request: &[u8]) -> io::Result<u16> {
    stream.write_all(request).await?;
    status(stream).await
}

/// Reads the head of an answer from `stream` and returns its status. Fails if the connection ends first, or if the head has no status.
pub async fn status(stream: &mut TcpStream) -> io::Result<u16> {
    let mut head = Vec::with_capacity(1024);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let digits = head.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sends `request` over a new connection from `source` and returns the answer's status.
pub async fn once(source: IpAddr, address: SocketAddr, request: &[u8]) -> io::Result<u16> {
    exchange(&mut connect(source, address).await?, request).await
}
