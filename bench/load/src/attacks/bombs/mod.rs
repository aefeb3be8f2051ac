//! Small messages that are large once they are decoded, or later: in every format, over HTTP, MQTT and CoAP.

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

/// Senders at a time.
const SENDERS: usize = 60;
/// Messages of a thousand columns that each of them sends in a turn.
const WIDE: usize = 20;
/// Readers of what is stored, at a time.
const READERS: usize = 8;
/// Longest wait for an answer that is not "later".
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// The most bytes of a datagram.
const DATAGRAM: usize = 60_000;
/// CoAP's number of CBOR.
const CBOR: u16 = 60;

/// The gateway's addresses.
#[derive(Clone, Copy)]
pub struct Addresses {
    pub http: SocketAddr,
    pub mqtt: SocketAddr,
    pub coap: SocketAddr,
}

/// Has 60 senders send at a time: all bombs at once, and then, as long as `more` says, each of them sixty times.
pub async fn run(
    sources: &[IpAddr],
    addresses: Addresses,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    // It takes a while, and the other client is measured here, too.
    let bombs = spawn_blocking(|| bodies::all().map_err(|e| e.to_string())).await??;
    let mut outcome = Outcome::default();
    burst(&bombs, sources, addresses, &mut outcome).await?;
    let columns = bombs.iter().filter(|bomb| bomb.name.starts_with("columns")).cloned();
    let columns: Vec<_> = columns.cycle().take(WIDE * SENDERS).collect();
    burst(&columns, sources, addresses, &mut outcome).await?;
    read(sources, addresses.http, &mut outcome).await?;
    for bomb in bombs.iter().cycle() {
        if !more() {
            break;
        }
        burst(&vec![bomb.clone(); SENDERS], sources, addresses, &mut outcome).await?;
    }
    outcome.told =
        format!("{} bodies of up to 1 MiB, {SENDERS} at a time, of {} kinds", outcome.sent, bombs.len());
    Ok(outcome)
}

/// Sends `bombs`, as many at a time as there are senders.
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
            note(sent?, outcome);
        }
        senders.spawn(async move {
            let sent = timeout(PATIENCE, over_all(source, addresses, number, &bomb)).await;
            sent.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|e| (bomb.name, e))
        });
    }
    while let Some(sent) = senders.join_next().await {
        note(sent?, outcome);
    }
    Ok(())
}

/// What became of a bomb: how often it was sent, and what was wrong.
type Sent = Result<(u64, Option<String>), (String, io::Error)>;

fn note(sent: Sent, outcome: &mut Outcome) {
    match sent {
        Ok((count, wrong)) => {
            outcome.sent += count;
            wrong.into_iter().for_each(|wrong| outcome.wrong(wrong));
        }
        Err((name, e)) => outcome.wrong(format!("{name}: {e}")),
    }
}

/// Sends `bomb` over HTTP, and over CoAP and MQTT as well if it is one of those that fit there.
async fn over_all(
    source: IpAddr,
    addresses: Addresses,
    number: usize,
    bomb: &Bomb,
) -> io::Result<(u64, Option<String>)> {
    let mut sent = 1;
    if bomb.format == Id::Cbor {
        let end = bomb.body.len().min(DATAGRAM);
        over_coap(source, addresses.coap, number, &bomb.body[..end]).await?;
        sent += 1;
    }
    if bomb.format == Id::Msgpack {
        over_mqtt(source, addresses.mqtt, number, bomb).await?;
        sent += 1;
    }
    let status = over_http(source, addresses.http, number, bomb).await?;
    let fate = if status == 204 { Fate::Stored } else { Fate::Refused };
    let wrong = fate != bomb.fate || !matches!(status, 204 | 400 | 422);
    Ok((sent, wrong.then(|| format!("{} is answered {status}, and should be {:?}", bomb.name, bomb.fate))))
}

/// Sends `bomb` until the gateway has room for it. Answers the status.
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
            503 => tokio::time::sleep(PAUSE).await,
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
                tokio::time::sleep(PAUSE).await;
            }
            result => return result,
        }
    }
}

async fn acknowledged(stream: &mut TcpStream, publish: &[u8]) -> io::Result<()> {
    stream.write_all(publish).await?;
    stream.read_exact(&mut [0; 4]).await.map(drop)
}

/// Sends the beginning of a body in a datagram: a decoder makes values of what there is before it finds out that there is no more.
async fn over_coap(source: IpAddr, address: SocketAddr, number: usize, body: &[u8]) -> io::Result<()> {
    let mut channel = Channel::open(address, &SocketAddr::new(source, 0).to_string(), None).await?;
    let mut request = coap::request(coap::POST, &["ingest", &format!("bomb-{number}")], Some(CBOR), body);
    coap::number(&mut request, number as u16);
    channel.send(&request).await?;
    channel.receive().await.map(drop)
}

/// Reads as much of what is stored as the API gives at a time.
async fn read(sources: &[IpAddr], address: SocketAddr, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        let source = sources[number % sources.len()];
        let list = if number % 2 == 0 { "messages" } else { "quarantine" };
        let request = http::head("GET", &format!("/api/{list}?limit=1000"), address, "connection: close\r\n");
        readers.spawn(async move {
            let mut stream = http::connect(source, address).await?;
            stream.write_all(request.as_bytes()).await?;
            // Slowly: the answer stays in the gateway's memory meanwhile.
            tokio::time::sleep(PAUSE * 5).await;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            Ok::<_, io::Error>(answer.starts_with(b"HTTP/1.1 200") || answer.starts_with(b"HTTP/1.1 503"))
        });
    }
    while let Some(answered) = readers.join_next().await {
        outcome.sent += 1;
        if !answered?? {
            outcome.wrong("a list is not answered".into());
        }
    }
    Ok(())
}
