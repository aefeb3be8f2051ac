//! Clients that publish with QoS 1, each with a window of unacknowledged messages.

use super::load::ClientResult;
use crate::mqtt::{self, Answer, Publish};
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

/// Timeout for the next acknowledgement.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connects `clients` clients, each of which publishes `messages` in turn for `length`, with `window` unacknowledged messages.
pub async fn load(
    address: SocketAddr,
    messages: Vec<Publish>,
    clients: usize,
    window: u16,
    length: Duration,
) -> std::io::Result<Vec<ClientResult>> {
    let messages = Arc::new(messages);
    let mut open = Vec::new();
    for client in 0..clients {
        let connect = mqtt::connect(&format!("load-{client}"), Duration::from_secs(600));
        open.push(mqtt::open(address, &connect).await?);
    }
    let end = Instant::now() + length;
    let mut running = JoinSet::new();
    for (client, stream) in open.into_iter().enumerate() {
        let messages = Arc::clone(&messages);
        let first = client * messages.len() / clients;
        running.spawn(async move { Client { messages, next: first, end }.run(stream, window).await });
    }
    Ok(running.join_all().await)
}

struct Client {
    messages: Arc<Vec<Publish>>,
    next: usize,
    end: Instant,
}

impl Client {
    async fn run(mut self, mut stream: TcpStream, window: u16) -> ClientResult {
        let mut result = ClientResult::default();
        // Indexed by the packet identifier, which starts at 1.
        let mut sent_at = vec![Instant::now(); usize::from(window) + 1];
        let (mut out, mut bytes) = (Vec::new(), Vec::with_capacity(4096));
        (1..=window).for_each(|identifier| self.write_next(identifier, &mut out));
        let mut in_flight = u64::from(window);
        while in_flight > 0 {
            if let Err(e) = stream.write_all(&out).await {
                return result.fail(in_flight, &e);
            }
            out.clear();
            match timeout(PATIENCE, stream.read_buf(&mut bytes)).await {
                Err(_) => return result.fail(in_flight, &"no acknowledgement within 10 s"),
                Ok(Ok(0)) => return result.fail(in_flight, &"the server closed the connection"),
                Ok(Err(e)) => return result.fail(in_flight, &e),
                Ok(Ok(_)) => {}
            }
            let now = Instant::now();
            let mut parsed = 0;
            while let Some((answer, length)) = mqtt::answer(&bytes[parsed..]) {
                parsed += length;
                let Answer::Acknowledged(identifier @ 1..) = answer else { continue };
                let Some(sent_at) = sent_at.get_mut(usize::from(identifier)) else { continue };
                if now >= self.end {
                    result.late += 1;
                    in_flight -= 1;
                    continue;
                }
                result.micros.push((now - *sent_at).as_micros() as u32);
                *sent_at = now;
                self.write_next(identifier, &mut out);
            }
            bytes.drain(..parsed);
        }
        result
    }

    fn write_next(&mut self, identifier: u16, out: &mut Vec<u8>) {
        self.messages[self.next].write(identifier, out);
        self.next = (self.next + 1) % self.messages.len();
    }
}
