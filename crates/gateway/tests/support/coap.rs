//! A gateway with CoAP, and its clients: one that sends exactly the packets of a test, and third-party programs.

use super::{Running, start_with, tools::tool};
use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};
use dunnage_gateway::Config;
use serde_json::Value;
use std::{
    net::{SocketAddr, UdpSocket},
    path::Path,
    process::Command,
    time::Duration,
};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

pub const JSON: u16 = 50;

/// Adds a CoAP input on a free port.
pub fn configure(config: &mut Config) {
    let text = "name = 'coap'\n[coap]\nlisten = '127.0.0.1:0'";
    config.inputs.push(toml::from_str(text).unwrap());
}

pub fn gateway() -> (Running, SocketAddr) {
    let gateway = start_with(configure);
    let address = gateway.gateway.input_address("coap").unwrap();
    (gateway, address)
}

/// A client, which is an endpoint of its own.
pub struct Client {
    pub socket: UdpSocket,
    next: u16,
}

impl Client {
    pub fn new(server: SocketAddr) -> Client {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.connect(server).unwrap();
        Client { socket, next: 1 }
    }

    /// Returns a confirmable POST of `payload` to `path?query` with a new message ID.
    pub fn request(&mut self, path: &str, format: u16, payload: &[u8]) -> Packet {
        let mut packet = Packet::new();
        packet.header.set_version(1);
        packet.header.set_type(MessageType::Confirmable);
        packet.header.code = MessageClass::Request(RequestType::Post);
        packet.header.message_id = self.next;
        packet.set_token(self.next.to_be_bytes().to_vec());
        self.next += 1;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        for segment in path.split('/') {
            packet.add_option(CoapOption::UriPath, segment.into());
        }
        for part in query.split('&').filter(|part| !part.is_empty()) {
            packet.add_option(CoapOption::UriQuery, part.into());
        }
        packet.add_option(CoapOption::ContentFormat, format.to_be_bytes().to_vec());
        packet.payload = payload.to_vec();
        packet
    }

    pub fn send(&self, packet: &Packet) {
        self.socket.send(&packet.to_bytes().unwrap()).unwrap();
    }

    pub fn receive(&self) -> Packet {
        let mut buffer = [0; 2048];
        let length = self.socket.recv(&mut buffer).expect("an answer arrives");
        Packet::from_bytes(&buffer[..length]).unwrap()
    }

    /// Sends `packet` and returns the next datagram that arrives.
    pub fn exchange(&self, packet: &Packet) -> Packet {
        self.send(packet);
        self.receive()
    }

    /// Asserts that the server has sent no further datagram: the next one answers a ping.
    pub fn expect_nothing(&mut self) {
        let ping = ping(60_000 + self.next);
        self.next += 1;
        assert_eq!(self.exchange(&ping).header.message_id, ping.header.message_id);
    }

    pub fn post(&mut self, path: &str, format: u16, payload: &[u8]) -> (String, String) {
        let request = self.request(path, format, payload);
        let answer = self.exchange(&request);
        assert_eq!(answer.get_token(), request.get_token());
        code_and_diagnostic(&answer)
    }
}

pub fn ping(id: u16) -> Packet {
    let mut packet = Packet::new();
    packet.header.set_type(MessageType::Confirmable);
    packet.header.code = MessageClass::Empty;
    packet.header.message_id = id;
    packet
}

/// Returns the code and the diagnostic of an answer.
pub fn code_and_diagnostic(answer: &Packet) -> (String, String) {
    (answer.header.get_code(), String::from_utf8(answer.payload.clone()).unwrap())
}

pub fn is_changed(answer: &Packet) -> bool {
    answer.header.code == MessageClass::Response(ResponseType::Changed)
}

/// Runs libcoap's client without DTLS. Returns its output: nothing after a success, else code and diagnostic.
pub fn coap_client(arguments: &[&str], uri: &str) -> String {
    libcoap("coap-client-notls", arguments, uri)
}

/// Runs one of libcoap's clients, which differ in their DTLS library. Returns its output.
pub fn libcoap(program: &str, arguments: &[&str], uri: &str) -> String {
    let output = Command::new(program).args(["-B", "20", "-m", "post"]).args(arguments).arg(uri).output();
    let output =
        output.unwrap_or_else(|e| panic!("{program}: {e}; please run: apt-get install libcoap3-bin"));
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// Runs `clients/aiocoap_post.py`, which prints a line of JSON for each request.
pub fn aiocoap(arguments: &[&str]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/aiocoap_post.py");
    let output = Command::new(tool("venv/bin/python")).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
