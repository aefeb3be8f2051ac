//! The CoAP client of the terminal: confirmable messages (RFC 7252).

use crate::demo::report::Report;
use coap_lite::{
    CoapOption, ContentFormat, MessageClass, MessageType, Packet, RequestType as Method,
    ResponseType as Status,
};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

/// Time to wait for a response before the first retransmission; doubled for each further one (RFC 7252, 4.8).
const ACK_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of retransmissions.
const MAX_RETRANSMIT: u32 = 4;

/// A network of devices behind one address. Each message comes from a new port.
pub struct Coap {
    pub gateway: SocketAddr,
    next: AtomicU16,
}

impl Coap {
    pub fn new(gateway: SocketAddr) -> Coap {
        Coap { gateway, next: AtomicU16::new(0) }
    }

    /// Sends a report as CBOR and waits for the response 2.04.
    pub fn send(&self, report: &Report) -> Result<(), String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let request = request(report, id).to_bytes().map_err(|e| e.to_string())?;
        match self.exchange(id, &request).map_err(|e| e.to_string())? {
            Some(answer) if answer.header.code == MessageClass::Response(Status::Changed) => Ok(()),
            Some(answer) => {
                let detail = String::from_utf8_lossy(&answer.payload);
                Err(format!("the gateway answered {} {detail}", answer.header.get_code()))
            }
            None => Err("no response".into()),
        }
    }

    /// Sends a request, and retransmits it until a response arrives. Returns `None` if all retransmissions remain unanswered.
    fn exchange(&self, id: u16, request: &[u8]) -> io::Result<Option<Packet>> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect(self.gateway)?;
        for attempt in 0..=MAX_RETRANSMIT {
            socket.send(request)?;
            let until = Instant::now() + ACK_TIMEOUT * 2_u32.pow(attempt);
            if let Some(answer) = response(&socket, id, until)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }
}

fn request(report: &Report, id: u16) -> Packet {
    let mut packet = Packet::new();
    packet.header.set_type(MessageType::Confirmable);
    packet.header.code = MessageClass::Request(Method::Post);
    packet.header.message_id = id;
    packet.set_token(id.to_be_bytes().into());
    for segment in ["ingest", &report.device] {
        packet.add_option(CoapOption::UriPath, segment.into());
    }
    packet.add_option(CoapOption::UriQuery, format!("link={}", report.link).into());
    packet.set_content_format(ContentFormat::ApplicationCBOR);
    packet.payload.clone_from(&report.body);
    packet
}

/// Waits until `until` for the response to the request `id`. The response may be a message of its own, after an empty
/// acknowledgement.
fn response(socket: &UdpSocket, id: u16, until: Instant) -> io::Result<Option<Packet>> {
    let mut buffer = [0; 1500];
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        socket.set_read_timeout(Some(left))?;
        let bytes = match socket.recv(&mut buffer) {
            Ok(bytes) => bytes,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => break,
            Err(e) => return Err(e),
        };
        let Ok(packet) = Packet::from_bytes(&buffer[..bytes]) else { continue };
        let answers =
            matches!(packet.header.code, MessageClass::Response(_)) && packet.get_token() == id.to_be_bytes();
        if !answers {
            continue;
        }
        if packet.header.get_type() == MessageType::Confirmable {
            acknowledge(socket, packet.header.message_id)?;
        }
        return Ok(Some(packet));
    }
    Ok(None)
}

fn acknowledge(socket: &UdpSocket, id: u16) -> io::Result<()> {
    let mut packet = Packet::new();
    packet.header.set_type(MessageType::Acknowledgement);
    packet.header.code = MessageClass::Empty;
    packet.header.message_id = id;
    socket.send(&packet.to_bytes().map_err(|e| io::Error::other(e.to_string()))?)?;
    Ok(())
}
