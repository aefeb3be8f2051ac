//! Small messages that become large when they are decoded or afterwards: in every format, over HTTP, MQTT and CoAP.

mod bodies;

use super::{Outcome, http};
use crate::{Failure, channel::Channel, coap, mqtt};
pub use bodies::write_schemas;
use bodies::{Bomb, Fate};
use dunnage_formats::Id;
use std::{
    io::{
        self,
        ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof},
    },
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::{JoinSet, spawn_blocking},
    time::timeout,
};

/// Concurrent senders.
const SENDERS: usize = 60;
/// Messages of a thousand columns per sender, in one burst.
const COLUMN_MESSAGES_PER_SENDER: usize = 20;
/// Concurrent readers of stored messages.
const READERS: usize = 8;
/// Timeout for sending a body through all its inputs, retries included.
const PATIENCE: Duration = Duration::from_secs(60);
/// Delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Delay between a request for stored messages and the reading of the answer.
const READ_DELAY: Duration = Duration::from_millis(500);
/// Maximum datagram size in bytes.
const MAX_DATAGRAM: usize = 60_000;
/// CoAP's Content-Format of CBOR.
const CBOR: u16 = 60;

/// The gateway's addresses.
#[derive(Clone, Copy)]
pub struct Addresses {
    pub http: SocketAddr,
    pub mqtt: SocketAddr,
    pub coap: SocketAddr,
}

/// Sends with 60 concurrent senders: first each body once, then many messages of a thousand columns. After reading the stored messages, sends
/// 60 copies of one body at a time while `keep_going` returns true.
pub async fn run(
    sources: &[IpAddr],
    addresses: Addresses,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    // Building the bodies takes a while, and this runtime also measures the well-behaved client.
    let bombs = spawn_blocking(|| bodies::all().map_err(|e| e.to_string())).await??;
    let mut outcome = Outcome::default();
    burst(&bombs, sources, addresses, &mut outcome).await?;
    let columns = bombs.iter().filter(|bomb| bomb.name.starts_with("columns")).cloned();
    let columns: Vec<_> = columns.cycle().take(COLUMN_MESSAGES_PER_SENDER * SENDERS).collect();
    burst(&columns, sources, addresses, &mut outcome).await?;
    read(sources, addresses.http, &mut outcome).await?;
    for bomb in bombs.iter().cycle() {
        if !keep_going() {
            break;
        }
        burst(&vec![bomb.clone(); SENDERS], sources, addresses, &mut outcome).await?;
    }
    outcome.description =
        format!("{} bodies of up to 1 MiB, {SENDERS} at a time, of {} kinds", outcome.sent, bombs.len());
    Ok(outcome)
}

/// Sends `bombs`, up to [`SENDERS`] at a time.
async fn burst(
    bombs: &[Bomb],
    sources: &[IpAddr],
    addresses: Addresses,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let mut senders = JoinSet::new();
    for (number, bomb) in bombs.iter().enumerate() {
        let (source, bomb) = (sources[number % sources.len()], bomb.clone());
        while senders.len() >= SENDERS
            && let Some(sent) = senders.join_next().await
        {
            record(sent?, outcome);
        }
        senders.spawn(async move {
            let sent = timeout(PATIENCE, over_all_inputs(source, addresses, number, &bomb)).await;
            sent.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|e| (bomb.name, e))
        });
    }
    while let Some(sent) = senders.join_next().await {
        record(sent?, outcome);
    }
    Ok(())
}

/// The result of a body: how often it was sent and a violation, or its name and the error.
type Sent = Result<(u64, Option<String>), (String, io::Error)>;

fn record(sent: Sent, outcome: &mut Outcome) {
    match sent {
        Ok((count, violation)) => {
            outcome.sent += count;
            violation.into_iter().for_each(|violation| outcome.add_violation(violation));
        }
        Err((name, e)) => outcome.add_violation(format!("{name}: {e}")),
    }
}

/// Sends `bomb` over HTTP, and also over CoAP if it is CBOR, or over MQTT if it is MessagePack.
async fn over_all_inputs(
    source: IpAddr,
    addresses: Addresses,
    number: usize,
    bomb: &Bomb,
) -> io::Result<(u64, Option<String>)> {
    let mut sent = 1;
    if bomb.format == Id::Cbor {
        let end = bomb.body.len().min(MAX_DATAGRAM);
        over_coap(source, addresses.coap, number, &bomb.body[..end]).await?;
        sent += 1;
    }
    if bomb.format == Id::Msgpack {
        over_mqtt(source, addresses.mqtt, number, bomb).await?;
        sent += 1;
    }
    let status = over_http(source, addresses.http, number, bomb).await?;
    let fate = if status == 204 { Fate::Stored } else { Fate::Rejected };
    let is_unexpected = fate != bomb.fate || !matches!(status, 204 | 400 | 422);
    Ok((
        sent,
        is_unexpected.then(|| format!("{} was answered {status}, expected {:?}", bomb.name, bomb.fate)),
    ))
}

/// Sends `bomb`, and retries while the gateway answers 503. Returns the final status.
async fn over_http(source: IpAddr, address: SocketAddr, number: usize, bomb: &Bomb) -> io::Result<u16> {
    let query = bomb.schema.map_or(String::new(), |schema| format!("?schema={schema}"));
    let coding = if bomb.is_compressed { "content-encoding: gzip\r\n" } else { "" };
    let (media, length) = (bomb.format.media_type(), bomb.body.len());
    let headers = format!("content-type: {media}\r\n{coding}content-length: {length}\r\n");
    let target = format!("/ingest/bomb-{number}{query}");
    let mut request = http::head("POST", &target, address, &headers).into_bytes();
    request.extend(&bomb.body);
    loop {
        match http::once(source, address, &request).await? {
            503 => tokio::time::sleep(RETRY_DELAY).await,
            status => return Ok(status),
        }
    }
}

/// Publishes `bomb`, and retries when the gateway disconnects for lack of memory. The gateway acknowledges the message after storing or
/// quarantining it.
async fn over_mqtt(source: IpAddr, address: SocketAddr, number: usize, bomb: &Bomb) -> io::Result<()> {
    let connect = mqtt::connect(&format!("bomb-{number}"), Duration::from_secs(60));
    let mut publish = Vec::new();
    mqtt::publish(&format!("v1/bomb-{number}/{}", bomb.format), &bomb.body).write(1, &mut publish);
    loop {
        let mut stream = http::connect(source, address).await?;
        mqtt::log_in(&mut stream, &connect).await?;
        match acknowledged(&mut stream, &publish).await {
            Err(e) if matches!(e.kind(), UnexpectedEof | ConnectionReset | BrokenPipe) => {
                tokio::time::sleep(RETRY_DELAY).await;
            }
            result => return result,
        }
    }
}

async fn acknowledged(stream: &mut TcpStream, publish: &[u8]) -> io::Result<()> {
    stream.write_all(publish).await?;
    stream.read_exact(&mut [0; 4]).await.map(drop)
}

/// Sends the beginning of a body in a datagram: a decoder creates values from it before it detects the truncation.
async fn over_coap(source: IpAddr, address: SocketAddr, number: usize, body: &[u8]) -> io::Result<()> {
    let mut channel = Channel::open(address, &SocketAddr::new(source, 0).to_string(), None).await?;
    let mut request = coap::request(coap::POST, &["ingest", &format!("bomb-{number}")], Some(CBOR), body);
    coap::number(&mut request, number as u16);
    channel.send(&request).await?;
    channel.receive().await.map(drop)
}

/// Reads stored and quarantined messages in pages of the API's maximum size.
async fn read(sources: &[IpAddr], address: SocketAddr, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        let source = sources[number % sources.len()];
        let list = if number % 2 == 0 { "messages" } else { "quarantine" };
        let request = http::head("GET", &format!("/api/{list}?limit=1000"), address, "connection: close\r\n");
        readers.spawn(async move {
            let mut stream = http::connect(source, address).await?;
            stream.write_all(request.as_bytes()).await?;
            // The delay keeps the answer in the gateway's memory.
            tokio::time::sleep(READ_DELAY).await;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            Ok::<_, io::Error>(answer.starts_with(b"HTTP/1.1 200") || answer.starts_with(b"HTTP/1.1 503"))
        });
    }
    while let Some(answered) = readers.join_next().await {
        outcome.sent += 1;
        if !answered?? {
            outcome.add_violation("a list request failed".into());
        }
    }
    Ok(())
}
