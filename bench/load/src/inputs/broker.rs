//! Messages that wait at a broker: how fast the gateway receives them, compared with a subscriber that acknowledges each one immediately.

use super::{mqtt::load, peers::Peer, udp::stored};
use crate::{
    Failure,
    mqtt::{self, Answer, publish},
    payload::Payload,
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use rusqlite::Connection;
use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// The measured formats.
const FORMATS: [&str; 2] = ["cbor", "packed"];
/// How the broker is filled before the measurement: duration, number of publishers, and unacknowledged messages of each.
const FILL: (Duration, usize, u16) = (Duration::from_secs(1), 16, 64);
/// The limit of messages that a subscriber has received and not acknowledged. It is the gateway's default.
const IN_FLIGHT: u16 = 256;
/// The client ID of the session that the broker keeps.
const CLIENT: &str = "subscriber";
/// Timeout for receiving all messages.
const PATIENCE: Duration = Duration::from_secs(30);

/// The rate at which messages were received, and their number.
struct Received {
    rps: f64,
    messages: u64,
}

/// Prints a row for each format.
pub async fn measure(
    payloads: &[Payload],
    results: &mut Results,
    report: &mut Report,
) -> Result<(), Failure> {
    report.line(&format!(
        "\n**From a broker**: messages per second that mosquitto delivers to a subscriber with QoS 1, {IN_FLIGHT} of them in flight; all \
         were published before. The subscriber acknowledges at once and does nothing else.\n"
    ));
    report.line("| format | messages | gateway | cpu | messages | subscriber | of the subscriber |");
    report.line("|---|--:|--:|--:|--:|--:|--:|");
    for name in FORMATS {
        let payload = payloads.iter().find(|payload| payload.name == name).ok_or("no such format")?;
        let (ours, cpu_us) = gateway(payload).await?;
        let other = subscriber(payload).await?;
        report.line(&format!(
            "| {name} | {} | {:.0} | {cpu_us:.1} | {} | {:.0} | {:.2} |",
            ours.messages,
            ours.rps,
            other.messages,
            other.rps,
            ours.rps / other.rps
        ));
        for (library, received) in [(Server::Dunnage.name(), &ours), ("subscriber", &other)] {
            let about = About { target: "from a broker", format: name, library };
            results.add(&about, "rps", received.rps.round(), "1/s");
        }
        let about = About { target: "from a broker", format: name, library: Server::Dunnage.name() };
        results.add(&about, "cpu_us", (cpu_us * 10.0).round() / 10.0, "µs");
    }
    Ok(())
}

/// Starts a broker and fills it with messages for [`CLIENT`], which is disconnected. Returns the broker and the number of messages.
async fn start_filled(payload: &Payload, folder: &Path) -> Result<(Peer, u64), Failure> {
    let broker = Peer::mosquitto(folder)?;
    Subscriber::connect(broker.address).await?.disconnect().await?;
    let message =
        |(device, body): &(String, Vec<u8>)| publish(&format!("v1/{device}/{}", payload.name), body);
    let (length, clients, window) = FILL;
    let messages = payload.bodies.iter().map(message).collect();
    let results = load(broker.address, messages, clients, window, length).await?;
    let totals = super::load::total(&results, length);
    match totals.failures {
        0 => Ok((broker, totals.acknowledged)),
        failures => Err(format!("{failures} messages could not be published").into()),
    }
}

/// Measures the gateway, and its processor time per message in µs.
async fn gateway(payload: &Payload) -> Result<(Received, f64), Failure> {
    let (folder, brokers) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (broker, messages) = start_filled(payload, brokers.path()).await?;
    let config = format!(
        "[[input]]\nname = \"broker\"\n[input.broker]\nurl = \"mqtt://{}\"\nclient_id = {CLIENT:?}\n\
         topics = [\"v1/{{device}}/{{format}}\"]\n",
        broker.address
    );
    let running = Running::start_with(Server::Dunnage, folder.path(), &config)?;
    let begun = Instant::now();
    while running.counts()?.stored < messages {
        if begun.elapsed() > PATIENCE {
            return Err(format!("of {messages} messages: {:?}", running.counts()?).into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let processor_seconds = running.processor_seconds()?;
    running.stop()?;
    let stored = stored(folder.path())?;
    if stored != messages {
        return Err(format!("{messages} published, {stored} stored").into());
    }
    let connection = Connection::open(folder.path().join("buffer.sqlite3"))?;
    let micros: u64 =
        connection
            .query_row("SELECT max(received_at) - min(received_at) FROM messages", [], |row| row.get(0))?;
    let received = Received { rps: messages as f64 / (micros as f64 / 1e6), messages };
    Ok((received, 1e6 * processor_seconds / messages as f64))
}

/// Measures a subscriber that only acknowledges.
async fn subscriber(payload: &Payload) -> Result<Received, Failure> {
    let brokers = tempfile::tempdir()?;
    let (broker, messages) = start_filled(payload, brokers.path()).await?;
    let mut subscriber = Subscriber::connect(broker.address).await?;
    let seconds = timeout(PATIENCE, subscriber.receive_all(messages)).await??;
    Ok(Received { rps: messages as f64 / seconds, messages })
}

/// An MQTT 5 client with a persistent session, like the gateway's.
struct Subscriber {
    stream: TcpStream,
    /// Received bytes that are not parsed yet.
    bytes: Vec<u8>,
}

impl Subscriber {
    async fn connect(broker: SocketAddr) -> Result<Subscriber, Failure> {
        let stream = TcpStream::connect(broker).await?;
        stream.set_nodelay(true)?;
        let mut subscriber = Subscriber { stream, bytes: Vec::new() };
        // CONNECT (3.1): Session Expiry Interval (0x11), Receive Maximum (0x21).
        let mut connect = b"\0\x04MQTT\x05\0\x02\x58\x08\x11\0\0\x0e\x10\x21".to_vec();
        connect.extend(IN_FLIGHT.to_be_bytes());
        mqtt::text(&mut connect, CLIENT);
        // SUBSCRIBE (3.8) without properties, QoS 1.
        let mut subscribe = vec![0, 1, 0];
        mqtt::text(&mut subscribe, "v1/+/+");
        subscribe.push(1);
        let both = [mqtt::packet(0x10, &connect), mqtt::packet(0x82, &subscribe)].concat();
        subscriber.stream.write_all(&both).await?;
        // Wait for CONNACK. If the session existed before, messages may arrive before SUBACK.
        while subscriber.bytes.is_empty() || mqtt::answer(&subscriber.bytes).is_none() {
            subscriber.read().await?;
        }
        match mqtt::answer(&subscriber.bytes) {
            Some((Answer::Connected(0), length)) => subscriber.bytes.drain(..length),
            other => return Err(format!("the broker answered CONNECT with {other:?}").into()),
        };
        Ok(subscriber)
    }

    async fn read(&mut self) -> std::io::Result<()> {
        match self.stream.read_buf(&mut self.bytes).await? {
            0 => Err(std::io::Error::other("the broker closed the connection")),
            _ => Ok(()),
        }
    }

    /// Receives and acknowledges this number of messages. Returns the seconds from the first to the last.
    async fn receive_all(&mut self, messages: u64) -> std::io::Result<f64> {
        let (mut received, mut begun, mut out) = (0, None, Vec::new());
        loop {
            let mut at = 0;
            while let Some((answer, length)) = mqtt::answer(&self.bytes[at..]) {
                at += length;
                if let Answer::Message(id) = answer {
                    begun.get_or_insert_with(Instant::now);
                    received += 1;
                    out.extend(mqtt::packet(0x40, &id.to_be_bytes()));
                }
            }
            self.bytes.drain(..at);
            self.stream.write_all(&out).await?;
            out.clear();
            if let Some(begun) = begun.filter(|_| received >= messages) {
                return Ok(begun.elapsed().as_secs_f64());
            }
            self.read().await?;
        }
    }

    /// Waits for SUBACK and sends DISCONNECT.
    async fn disconnect(mut self) -> Result<(), Failure> {
        loop {
            if let Some((Answer::Other(9), _)) = mqtt::answer(&self.bytes) {
                break;
            }
            self.read().await?;
        }
        Ok(self.stream.write_all(&[0xe0, 0]).await?)
    }
}
