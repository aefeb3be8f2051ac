//! `[input.udp]`: receives messages as bare datagrams from trusted networks. Datagrams are not answered, because UDP has no
//! acknowledgements; devices that need them use CoAP.

use crate::{Environment, Input, datagrams, device_at};
use bytes::Bytes;
use dunnage_access::Peer;
use dunnage_base::{clock, name::is_device};
use dunnage_buffer::Provenance;
use dunnage_formats::Id;
use dunnage_ingest::{Code, Meter, RawMessage, Rejected};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::UdpSocket;

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# Bare datagrams: a JSON object that names its device, or a format byte, the device ID and a message. They are not answered.
# [[input]]
# name = \"udp\"
# [input.udp]
# Address and port. Port 0 selects a free port.
# listen = \"127.0.0.1:5685\"
# The networks that may send. Default: only this machine.
# from = [\"127.0.0.0/8\", \"::1/128\"]
# Where a JSON object has the device ID, as a JSON pointer.
# device = \"/containerID\"
";

/// The input's name in metrics.
const METRIC: &str = "udp";
/// The device ID of messages without a valid one.
const NO_DEVICE: &str = "unknown";
/// Size of the receive buffer in bytes. No datagram is longer.
const DATAGRAM: usize = 64 << 10;
/// How many datagrams are read in a row before other tasks get their turn.
const IN_A_ROW: usize = 32;
/// How many messages may wait for room or for the disk, and how many bytes they may have. UDP cannot tell senders to slow down.
const MAX_PENDING_MESSAGES: usize = 4096;
const MAX_PENDING_BYTES: usize = 16 << 20;
/// The interval between log messages about dropped datagrams.
const LOG: Duration = Duration::from_secs(10);

/// `[input.udp]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Address and port; port 0 selects a free port.
    pub listen: SocketAddr,
    /// The networks that may send; by default only this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Vec<IpNet>>,
    /// Where a JSON object has the device's ID, as a JSON pointer (RFC 6901).
    #[serde(default = "device")]
    pub device: String,
}

fn loopback() -> Vec<IpNet> {
    let whole = |address: [u8; 4], bits| IpNet::new_assert(address.into(), bits);
    vec![whole([127, 0, 0, 0], 8), IpNet::new_assert(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]), 128)]
}

fn device() -> String {
    "/containerID".into()
}

/// The UDP input.
pub struct Udp {
    name: String,
    settings: Settings,
    from: Vec<IpNet>,
    socket: Option<UdpSocket>,
}

impl Udp {
    /// Creates the input `name`. An error says which setting is wrong.
    pub fn new(name: &str, settings: &Settings) -> Result<Udp, String> {
        if settings.listen.ip().is_multicast() {
            return Err("listen: must not be a multicast address".into());
        }
        let from = match &settings.from {
            Some(networks) if networks.is_empty() => {
                return Err("from: must have at least one network, or no device may send".into());
            }
            Some(networks) => networks.clone(),
            // The loopback networks would not be a safe default here: behind a proxy on this machine, every sender appears to be local.
            None if !settings.listen.ip().to_canonical().is_loopback() => {
                return Err(
                    "from: must list the networks that may send, as other machines reach this listener"
                        .into(),
                );
            }
            None => loopback(),
        };
        if !settings.device.starts_with('/') {
            return Err("device: must be a JSON pointer with a leading slash, like \"/containerID\"".into());
        }
        Ok(Udp { name: name.into(), settings: settings.clone(), from, socket: None })
    }
}

#[async_trait::async_trait]
impl Input for Udp {
    async fn listen(&mut self) -> io::Result<Option<SocketAddr>> {
        let (socket, address) = datagrams::bind(self.settings.listen).await?;
        self.socket = Some(socket);
        Ok(Some(address))
    }

    async fn run(self: Box<Self>, env: Arc<Environment>) {
        if let Some(socket) = self.socket {
            let receiver = Receiver {
                meter: env.ingest.metrics.inputs.of(&self.name),
                name: self.name,
                settings: self.settings,
                from: self.from,
                env,
                taking: FuturesUnordered::new(),
                bytes: 0,
                logged: None,
            };
            receiver.run(&socket).await;
        }
    }
}

/// The running input. One task holds all pending messages, so they reach the writer in the order of their arrival.
struct Receiver {
    name: String,
    meter: Arc<Meter>,
    settings: Settings,
    from: Vec<IpNet>,
    env: Arc<Environment>,
    /// The pending messages. Each yields the length of its datagram, and whether the message is on disk.
    taking: FuturesUnordered<BoxFuture<'static, (usize, bool)>>,
    /// The bytes of the pending messages.
    bytes: usize,
    /// When dropped datagrams were last logged.
    logged: Option<Instant>,
}

impl Receiver {
    async fn run(mut self, socket: &UdpSocket) {
        let mut buffer = vec![0; DATAGRAM];
        let stopping = self.env.stopping.clone();
        loop {
            tokio::select! {
                received = socket.recv_from(&mut buffer) => match received {
                    Ok((length, from)) => {
                        self.datagram(&buffer[..length], from);
                        for _ in 1..IN_A_ROW {
                            let Ok((length, from)) = socket.try_recv_from(&mut buffer) else { break };
                            self.datagram(&buffer[..length], from);
                        }
                    }
                    Err(e) => {
                        self.meter.failed(&format!("cannot receive a datagram: {e}"));
                        tracing::warn!(input = self.name, error = %e, "cannot receive a datagram");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
                Some(done) = self.taking.next() => self.finish(done),
                () = stopping.cancelled() => break,
            }
        }
        while let Some(done) = self.taking.next().await {
            self.finish(done);
        }
    }

    fn datagram(&mut self, bytes: &[u8], from: SocketAddr) {
        let address = from.ip().to_canonical();
        if !self.from.iter().any(|network| network.contains(&address)) {
            self.env.metrics.datagram(METRIC, "foreign");
            tracing::debug!(input = self.name, %from, "ignored a datagram: its network may not send");
            return;
        }
        let message = self.read(bytes, from);
        if let Err(denied) =
            self.env.ingest.limits.admit(&Peer::of_address(address), &message.provenance.device)
        {
            self.drop(Rejected::from(denied).code);
        } else if self.taking.len() >= MAX_PENDING_MESSAGES || self.bytes + bytes.len() > MAX_PENDING_BYTES {
            self.drop(Code::QueueFull);
        } else {
            let env = Arc::clone(&self.env);
            let length = bytes.len();
            self.bytes += length;
            self.taking.push(Box::pin(async move {
                let stored = env.ingest.store_retrying(message, &env.stopping).await;
                (length, !stored.is_err_and(|rejected| rejected.is_temporary()))
            }));
            self.env.metrics.datagram(METRIC, "taken");
        }
    }

    fn finish(&mut self, (length, durable): (usize, bool)) {
        self.bytes -= length;
        if !durable {
            // The gateway is stopping. The message was counted as refused when `store` failed.
            self.env.metrics.datagram(METRIC, "dropped");
        }
    }

    /// Counts and logs a message that is dropped. The sender gets no answer.
    fn drop(&mut self, code: Code) {
        drop(self.env.ingest.receive());
        self.env.metrics.datagram(METRIC, "dropped");
        self.env.ingest.metrics.rejected(code);
        self.meter.rejected(&format!("a datagram was dropped: {}", code.as_str()));
        if self.logged.is_none_or(|at| at.elapsed() >= LOG) {
            self.logged = Some(Instant::now());
            tracing::warn!(input = self.name, problem = code.as_str(), "datagrams are dropped");
        }
    }

    /// Parses a datagram. If that fails, the whole datagram goes into the quarantine.
    fn read(&self, bytes: &[u8], from: SocketAddr) -> RawMessage<'static> {
        let (message, mut bad) = match parse(bytes, &self.settings.device) {
            Ok(message) => (message, None),
            Err(rejected) => (Message { device: None, format: Id::Json, raw: bytes }, Some(rejected)),
        };
        let content_type = if bad.is_some() { "" } else { message.format.media_type() };
        if message.raw.len() > self.env.ingest.message_limit_bytes() {
            bad = Some(Rejected::too_large(self.env.ingest.message_limit_bytes()));
        }
        let origin = serde_json::json!({"input": self.name, "endpoint": from}).to_string();
        let provenance = Provenance {
            origin: Some(origin.into()),
            ..Provenance::new(
                message.device.unwrap_or_else(|| NO_DEVICE.into()),
                clock::now(),
                self.env.ingest.request_ids.next(),
            )
        };
        let raw = Bytes::copy_from_slice(message.raw);
        let meter = Arc::clone(&self.meter);
        RawMessage::new((METRIC, meter), provenance, content_type.into(), raw, bad)
    }
}

/// The contents of a datagram.
#[derive(Debug, PartialEq)]
struct Message<'a> {
    device: Option<String>,
    format: Id,
    raw: &'a [u8],
}

/// Parses a datagram: a JSON object, before which a byte order mark may stand, or a prefix and a message in any format.
fn parse<'a>(bytes: &'a [u8], pointer: &str) -> Result<Message<'a>, Rejected> {
    match bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) {
        [b'{', ..] => object(bytes, pointer),
        _ => prefixed(bytes),
    }
}

/// Parses a JSON object that has the device's ID at `pointer`.
fn object<'a>(bytes: &'a [u8], pointer: &str) -> Result<Message<'a>, Rejected> {
    let device = match device_at::find(bytes, pointer) {
        Ok(Some(device)) => Some(device),
        Ok(None) => {
            return Err(device_at::missing(pointer));
        }
        // The decoder will report the error.
        Err(_) => None,
    };
    Ok(Message { device, format: Id::Json, raw: bytes })
}

/// Parses a format byte, the length of the device's ID, the ID, and the message.
fn prefixed(bytes: &[u8]) -> Result<Message<'_>, Rejected> {
    let [number, length, rest @ ..] = bytes else {
        return Err(malformed("truncated", bytes.len(), "the datagram ends before the device ID"));
    };
    let Some(format) = Id::from_number(*number) else {
        return Err(malformed("range", 0, format!("{number} is not the number of a format")));
    };
    let Some((device, raw)) = rest.split_at_checked(usize::from(*length)) else {
        return Err(malformed("truncated", bytes.len(), "the datagram ends within the device ID"));
    };
    match std::str::from_utf8(device) {
        Ok(device) if is_device(device) => Ok(Message { device: Some(device.into()), format, raw }),
        _ => Err(Rejected::bad_device("the device ID")),
    }
}

/// Checks the invariants of parsing, for any datagram.
#[cfg(any(test, feature = "fuzzing"))]
pub fn check(bytes: &[u8]) {
    let Ok(message) = parse(bytes, &device()) else { return };
    assert!(message.device.as_deref().is_none_or(is_device));
    assert!(bytes.ends_with(message.raw));
}

fn malformed(kind: &'static str, offset: usize, detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::Malformed, detail).at(kind, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_says_format_and_device() {
        let read = |bytes: &'static [u8]| {
            prefixed(bytes)
                .map(|m| (m.device.unwrap(), m.format, m.raw))
                .map_err(|p| (p.code.as_str(), p.offset))
        };
        assert_eq!(read(b"\x01\x01d1"), Ok(("d".into(), Id::Json, &b"1"[..])));
        assert_eq!(read(b"\x0e\x02d2"), Ok(("d2".into(), Id::Packed, &b""[..])));
        for (bytes, rejected) in [
            (&b""[..], ("malformed", Some(0))),
            (b"\x01", ("malformed", Some(1))),
            (b"\x00\x01d1", ("malformed", Some(0))),
            (b"\x0f\x01d1", ("malformed", Some(0))),
            (b"\x01\x03d1", ("malformed", Some(4))),
            (b"\x01\x00", ("name", None)),
            (b"\x01\x02d\n1", ("name", None)),
            (b"\x01\x01\xff1", ("name", None)),
        ] {
            assert_eq!(read(bytes), Err(rejected), "{bytes:02x?}");
        }
    }

    #[test]
    fn the_first_byte_is_the_number_of_the_format() {
        for number in 0..=u8::MAX {
            let format = prefixed(&[number, 1, b'd', b'x']).map(|message| message.format);
            assert_eq!(format.ok(), Id::from_number(number), "{number}");
        }
    }

    #[test]
    fn an_object_names_its_device() {
        let of = |json: &'static str, pointer| {
            parse(json.as_bytes(), pointer)
                .map(|message| message.device)
                .map_err(|rejected| rejected.code.as_str())
        };
        assert_eq!(of("{\"containerID\":\"LMCU1\"}", "/containerID"), Ok(Some("LMCU1".into())));
        assert_eq!(of("{\"a\":{\"b\":\"x\"}}", "/a/b"), Ok(Some("x".into())));
        assert_eq!(of("{\"IMEI\":356938035643809}", "/IMEI"), Ok(Some("356938035643809".into())));
        // As the decoder accepts it, or the profile of the device may.
        for json in [
            "\u{feff}{\"containerID\":\"LMCU1\"}",
            "{\"t\":nan,\"x\":0.10000000000000000001,\"containerID\":\"LMCU1\"}",
        ] {
            assert_eq!(of(json, "/containerID"), Ok(Some("LMCU1".into())), "{json}");
        }
        for json in ["{\"containerID\":1.5}", "{\"containerID\":-1}", "{\"containerID\":\"a\\n\"}", "{}"] {
            assert_eq!(of(json, "/containerID"), Err("name"), "{json}");
        }
        assert_eq!(of("{\"containerID\":\"LMCU1\"", "/containerID"), Ok(None));
    }

    #[test]
    fn settings_that_cannot_work_say_which() {
        let rejected = |text: &str| {
            let settings = toml::from_str::<Settings>(text).map_err(|e| e.to_string());
            settings.and_then(|settings| Udp::new("u", &settings)).err()
        };
        assert_eq!(rejected("listen = '127.0.0.1:0'"), None);
        assert_eq!(rejected("listen = '[::]:1'\nfrom = ['10.0.0.0/8', 'fd00::/8']\ndevice = '/a/b'"), None);
        for (text, begins) in [
            ("listen = '224.0.1.187:1'", "listen: "),
            ("listen = '127.0.0.1:0'\nfrom = []", "from: "),
            ("listen = '0.0.0.0:0'", "from: "),
            ("listen = '[::ffff:192.0.2.1]:0'", "from: "),
            ("listen = '127.0.0.1:0'\ndevice = 'id'", "device: "),
        ] {
            assert!(rejected(text).unwrap().starts_with(begins), "{text}");
        }
    }
}
