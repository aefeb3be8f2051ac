//! Clients that send confirmable messages one at a time (NSTART 1), and retransmit unanswered ones.

use super::load::ClientResult;
use crate::{
    channel::Channel,
    coap::{self, Answer},
    dtls::Key,
};
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{task::JoinSet, time::timeout};

/// RFC 7252, 4.8: the timeout of the first transmission, and the number of retransmissions.
const ACK_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_RETRANSMIT: u32 = 4;

/// Starts `clients` clients, each on its own port, which send `requests` in turn for `length`. With a key they use DTLS, and the time starts
/// after all handshakes.
pub async fn load(
    address: SocketAddr,
    key: Option<&Key>,
    requests: Vec<Vec<u8>>,
    clients: usize,
    length: Duration,
) -> std::io::Result<Vec<ClientResult>> {
    let requests = Arc::new(requests);
    let mut channels = Vec::with_capacity(clients);
    for _ in 0..clients {
        channels.push(Channel::open(address, "127.0.0.1:0", key).await?);
    }
    let end = Instant::now() + length;
    let mut running = JoinSet::new();
    for (client, channel) in channels.into_iter().enumerate() {
        let requests = Arc::clone(&requests);
        running.spawn(async move { run(channel, &requests, client * requests.len() / clients, end).await });
    }
    Ok(running.join_all().await)
}

async fn run(mut channel: Channel, requests: &[Vec<u8>], first: usize, end: Instant) -> ClientResult {
    let mut result = ClientResult::default();
    let mut request = Vec::new();
    for (number, next) in (1..=u16::MAX).cycle().zip(requests.iter().cycle().skip(first)) {
        request.clone_from(next);
        coap::number(&mut request, number);
        let begun = Instant::now();
        if begun >= end {
            break;
        }
        match exchange(&mut channel, &request, number).await {
            Ok(Some(2)) if Instant::now() >= end => result.late += 1,
            Ok(Some(2)) => result.micros.push(begun.elapsed().as_micros() as u32),
            Ok(Some(class)) => {
                result.failures += 1;
                result.error.get_or_insert(format!("a message was answered with class {class}"));
            }
            Ok(None) => return result.fail(1, &"a message was not answered"),
            Err(e) => return result.fail(1, &e),
        }
    }
    result
}

/// Sends a request, with retransmissions, until it is answered. Returns the class of the answer's code, 0 for a reset, and `None` without an
/// answer.
pub async fn exchange(channel: &mut Channel, request: &[u8], number: u16) -> std::io::Result<Option<u8>> {
    let mut patience = ACK_TIMEOUT;
    for _ in 0..=MAX_RETRANSMIT {
        channel.send(request).await?;
        let answer = timeout(patience, async {
            loop {
                match coap::answer(channel.receive().await?, number) {
                    Some(Answer::Code { class, to_acknowledge, .. }) => {
                        if let Some(id) = to_acknowledge {
                            channel.send(&coap::acknowledgement(id)).await?;
                        }
                        return Ok(class);
                    }
                    Some(Answer::Reset) => return Ok(0),
                    Some(Answer::Later) | None => {}
                }
            }
        });
        match answer.await {
            Ok(answer) => return answer.map(Some),
            Err(_) => patience *= 2,
        }
    }
    Ok(None)
}
