//! Valid frames for each input, from which the mutations start.

use super::Input;
use crate::{Failure, coap, mqtt};
use std::{path::Path, time::Duration};

/// The token that providers send.
const TOKEN: &str = "0123456789abcdef";

/// The configuration of a gateway with `input` and with its files in `folder`.
pub fn config(input: Input, folder: &Path) -> Result<String, Failure> {
    let entry = |name: &str, table: &str, settings: &str| {
        format!("[[input]]\nname = {name:?}\n[input.{table}]\n{settings}\n")
    };
    let listen = "listen = \"127.0.0.1:0\"";
    let inputs = match input {
        Input::Mqtt => entry("mqtt", "mqtt", listen),
        Input::Coap => entry("coap", "coap", listen),
        Input::Coaps => entry("coap", "coap", &format!("{listen}\ndtls = true")),
        Input::Udp => entry("udp", "udp", listen),
        Input::Http => String::new(),
        Input::Webhook => {
            let tokens = folder.join("tokens");
            std::fs::write(&tokens, TOKEN)?;
            let hook = |(provider, format)| {
                let settings = format!(
                    "provider = {provider:?}\nformat = {format:?}\ntoken_file = {tokens:?}\n{DEVICES}"
                );
                entry(provider, "webhook", &settings)
            };
            let signed =
                entry("signed", "webhook", "provider = \"rockblock\"\nformat = \"json\"\ndevices = \"*\"");
            PROVIDERS.map(hook).concat() + &signed
        }
    };
    Ok(format!("[[profile]]\ndevice = \"LMCU*\"\nschema = \"container\"\n{inputs}"))
}

/// The provider's ID of the container.
const DEVICES: &str = "names = { c984ff2b-e4d0-417f-8ea3-11d74a55d251 = \"LMCU1231237\" }";

/// Providers, and the format of their devices.
const PROVIDERS: [(&str, &str); 4] =
    [("astrocast", "packed"), ("chirpstack", "cbor"), ("the-things-stack", "json"), ("rockblock", "json")];

/// A valid frame.
#[derive(Clone)]
pub struct Frame {
    /// The head of an HTTP request up to its Content-Length; empty for frames that are only a body.
    head: Vec<u8>,
    pub body: Vec<u8>,
}

/// The frames that are sent to an input.
pub struct Frames {
    pub valid: Vec<Frame>,
    /// Frames that start a connection. They are not mutated.
    pub first: Vec<Vec<u8>>,
}

impl Frame {
    fn request(head: &str, body: &[u8]) -> Frame {
        Frame { head: head.as_bytes().to_vec(), body: body.to_vec() }
    }

    /// The frame's bytes. Content-Length is that of the body, even after a mutation.
    pub fn bytes(&self) -> Vec<u8> {
        match self.head.is_empty() {
            true => self.body.clone(),
            false => {
                let length = format!("content-length: {}\r\n\r\n", self.body.len());
                [&self.head, length.as_bytes(), &self.body].concat()
            }
        }
    }
}

impl From<Vec<u8>> for Frame {
    fn from(body: Vec<u8>) -> Frame {
        Frame { head: Vec::new(), body }
    }
}

/// The frames for `input`.
pub fn for_input(input: Input) -> Frames {
    let bare = |frames: Vec<Vec<u8>>| frames.into_iter().map(Frame::from).collect();
    let first = if input == Input::Mqtt { mqtt_connects() } else { Vec::new() };
    let valid = match input {
        Input::Mqtt => bare([first.clone(), mqtt_packets()].concat()),
        Input::Coap | Input::Coaps => bare(coap_messages()),
        Input::Udp => bare(datagrams()),
        Input::Http => http_requests(),
        Input::Webhook => callbacks(),
    };
    Frames { valid, first }
}

const JSON: &[u8] = br#"{"t":21.5,"id":"LMCU1231237","door":false,"a":[1,2,3]}"#;
const CBOR: &[u8] = b"\xa3atv\xfb@5\x80\0\0\0\0\0dname\x63abcan\x19\x01\0";
const GZIP: &[u8] = include_bytes!("../../../../fuzz/corpus/compressed/gzip").split_at(1).1;
const ZSTD: &[u8] = include_bytes!("../../../../fuzz/corpus/compressed/zstd").split_at(1).1;
const MSGPACK: &[u8] = b"\x82\xa1t\xcb@5\x80\0\0\0\0\0\xa4name\xa3abc";

/// CONNECT in version 3.1.1, and in version 5 with properties: a session expiry of 10 s, and a receive maximum of 20.
fn mqtt_connects() -> Vec<Vec<u8>> {
    let mut new = b"\0\x04MQTT\x05\x02\0\x3c\x08\x11\0\0\0\x0a\x21\0\x14".to_vec();
    mqtt::text(&mut new, "attack5");
    vec![mqtt::connect("attack", Duration::from_secs(60)), mqtt::packet(0x10, &new)]
}

/// CONNECT with a will, a user name and a password.
fn mqtt_connect_with_all() -> Vec<u8> {
    let mut all = b"\0\x04MQTT\x04\xc6\0\x3c".to_vec();
    for part in ["attack", "v1/will/json", "{}", "device", "token"] {
        mqtt::text(&mut all, part);
    }
    mqtt::packet(0x10, &all)
}

/// PUBLISH in every QoS, without and with the properties of version 5; PUBREL, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, AUTH, DISCONNECT.
fn mqtt_packets() -> Vec<Vec<u8>> {
    let mut packets = vec![
        mqtt_connect_with_all(),
        mqtt::subscribe("v1/#"),
        b"\x62\x02\0\x07".to_vec(),
        b"\x62\x04\0\x07\0\0".to_vec(),
        b"\xa2\x08\0\x09\0\x04v1/#".to_vec(),
        mqtt::PING.to_vec(),
        b"\xe0\0".to_vec(),
        b"\xe0\x02\0\0".to_vec(),
        b"\xf0\x02\x18\0".to_vec(),
    ];
    for (format, body) in [("json", JSON), ("cbor", CBOR), ("msgpack", MSGPACK), ("packed", b"\x01abcdefgh")]
    {
        for qos in 0..3 {
            for properties in
                [&b""[..], b"\0", b"\x13\x03\0\x10application/json", b"\x0d\x01\x01\x26\0\x03key\0\x03v-1"]
            {
                let mut rest = Vec::new();
                mqtt::text(&mut rest, &format!("v1/device{qos}/{format}"));
                if qos > 0 {
                    rest.extend([0, 7]);
                }
                rest.extend(properties);
                rest.extend(body);
                packets.push(mqtt::packet(0x30 | qos << 1, &rest));
            }
        }
    }
    packets
}

/// POST in several formats, with queries, and in blocks; other methods, pings and unsolicited answers.
fn coap_messages() -> Vec<Vec<u8>> {
    let mut messages = vec![
        b"\x40\0\x12\x34".to_vec(),
        b"\x70\0\x12\x34".to_vec(),
        b"\x60\x44\x12\x34".to_vec(),
        coap::request(coap::GET, &[".well-known", "core"], None, b"x"),
        coap::request(coap::PUT, &["ingest", "d1"], Some(50), JSON),
    ];
    for (format, body) in
        [(50, JSON), (60, CBOR), (65_002, MSGPACK), (65_001, b"\x01abcdefgh"), (42, b"\x80")]
    {
        let confirmable = coap::request(coap::POST, &["ingest", "d2"], Some(format), body);
        let mut other = confirmable.clone();
        other[0] |= 0x10;
        messages.extend([confirmable, other]);
        for (number, more) in [(0_u8, true), (1, true), (2, true), (3, false)] {
            messages.push(block(format, number, more));
        }
    }
    for (at, message) in (0_u16..).zip(&mut messages) {
        // Messages that consist only of a header have no token.
        if message.len() > 8 {
            coap::number(message, at);
        }
    }
    messages
}

/// A block of 16 bytes: Uri-Path, Content-Format, Uri-Query, Block1 (RFC 7959).
fn block(format: u16, number: u8, more: bool) -> Vec<u8> {
    let mut bytes = b"\x44\x02\0\0\0\0\0\0".to_vec();
    coap::option(&mut bytes, 11, b"ingest");
    coap::option(&mut bytes, 0, b"d3");
    coap::option(&mut bytes, 1, &format.to_be_bytes());
    coap::option(&mut bytes, 3, b"key=abc-1");
    coap::option(&mut bytes, 12, &[number << 4 | u8::from(more) << 3]);
    bytes.push(0xff);
    bytes.extend_from_slice(&JSON[..16]);
    bytes
}

/// A JSON object with its device's ID; and datagrams of a format byte, the length of the ID, the ID, and the message.
fn datagrams() -> Vec<Vec<u8>> {
    let object = br#"{"containerID":"LMCU1231237","t":21.5}"#.to_vec();
    let prefixed = (1..=14_u8).map(|format| [&[format, 4], &b"d100"[..], CBOR].concat());
    [object, [&[1, 4], &b"d101"[..], JSON].concat()].into_iter().chain(prefixed).collect()
}

/// Requests with one message, with several, compressed and in chunks; and requests to the API.
fn http_requests() -> Vec<Frame> {
    let post = |path: &str, headers: &str, body: &[u8]| {
        Frame::request(&format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}"), body)
    };
    let chunked = "POST /ingest/d4 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
                   7\r\n{\"t\":21\r\n3\r\n.5}\r\n0\r\n\r\n";
    let json = "content-type: application/json\r\n";
    let packed = "content-type: application/vnd.dunnage.packed; layout=01234567\r\n";
    let mut requests = vec![
        Frame::from(chunked.as_bytes().to_vec()),
        post("/ingest/d5?schema=container&link=l1", json, JSON),
        post("/ingest/d6", &format!("{json}idempotency-key: \"k-1\"\r\nx-request-id: r-1\r\n"), JSON),
        post("/ingest/d7?schema=weather", packed, b"\x01abcdefgh"),
    ];
    let bodies: [(&str, &[u8]); 9] = [
        ("x-ndjson", b"{\"t\":1}\n{\"t\":2}\n"),
        ("cbor-seq", b"\xa1at\x01\xa1at\x02"),
        ("vnd.dunnage.batch; format=json", b"\x07{\"t\":1}\x07{\"t\":2}"),
        ("json", JSON),
        ("cbor", CBOR),
        ("msgpack", MSGPACK),
        ("x-protobuf", b"\x08\x96\x01"),
        ("xml", b"<m><t>1</t></m>"),
        ("yaml", b"t: 1\n"),
    ];
    for (media, body) in bodies {
        requests.push(post("/ingest/d8", &format!("content-type: application/{media}\r\n"), body));
    }
    for (coding, body) in [("gzip", GZIP), ("zstd", ZSTD)] {
        requests.push(post("/ingest/d9", &format!("{json}content-encoding: {coding}\r\n"), body));
    }
    let paths = [
        "/api/messages?limit=10&device=d8",
        "/api/devices",
        "/api/quarantine?limit=5",
        "/api/stats",
        "/metrics",
    ];
    for path in paths {
        requests.push(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes().into());
    }
    requests
}

/// Webhook requests of providers.
fn callbacks() -> Vec<Frame> {
    let json = "application/json";
    let bodies: [(&str, &str, &[u8]); 6] = [
        ("astrocast", json, include_bytes!("../../../../crates/gateway/tests/webhooks/astrocast.json")),
        ("chirpstack", json, include_bytes!("../../../../crates/gateway/tests/webhooks/chirpstack-up.json")),
        (
            "chirpstack",
            json,
            include_bytes!("../../../../crates/gateway/tests/webhooks/chirpstack-join.json"),
        ),
        (
            "the-things-stack",
            json,
            include_bytes!("../../../../crates/gateway/tests/webhooks/the-things-stack-up.json"),
        ),
        ("rockblock", FORM, include_bytes!("../../../../crates/gateway/tests/webhooks/rockblock.form")),
        ("signed", FORM, SIGNED.as_bytes()),
    ];
    let post = |(name, media, body): (&str, &str, &[u8])| {
        let head = format!(
            "POST /hooks/{name} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: {media}\r\n"
        );
        Frame::request(&head, body)
    };
    bodies.into_iter().map(post).collect()
}

const FORM: &str = "application/x-www-form-urlencoded";
/// An example of the provider's documentation.
const SIGNED: &str = concat!("JWT=", include_str!("../../../../crates/gateway/tests/webhooks/rock7.jwt"));
