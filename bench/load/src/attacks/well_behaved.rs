//! The well-behaved client: it sends and reads, with a new connection for each request.

use super::http;
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};
use tokio::{sync::watch, time::timeout};

/// The address of the client. Attackers use other addresses.
const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Delay between two messages.
const MESSAGE_DELAY: Duration = Duration::from_millis(10);
/// The client reads its last stored message after this many messages.
const MESSAGES_PER_READ: u64 = 10;
/// A text that gives the messages a realistic length.
const TEXT: &str = "a message of a client that behaves well during the attack";
/// Timeout for an answer. A later answer counts as a failure.
const PATIENCE: Duration = Duration::from_secs(5);

/// The client's results.
#[derive(Default)]
pub struct Latencies {
    /// For each acknowledged message, the time from the start of the connection, in microseconds.
    pub micros: Vec<u32>,
    /// Messages and reads that were rejected, or not answered in time.
    pub failures: u64,
}

/// Sends and reads until `end` is true.
pub async fn run(address: SocketAddr, end: &watch::Receiver<bool>) -> Latencies {
    let mut latencies = Latencies::default();
    let read = http::head("GET", "/api/devices/well-behaved/messages?limit=1", address, "");
    for number in 1_u64.. {
        if *end.borrow() {
            break;
        }
        let begun = Instant::now();
        let message = http::post("well-behaved", address, &format!("{{\"n\":{number},\"text\":{TEXT:?}}}"));
        match timeout(PATIENCE, http::once(SOURCE, address, &message)).await {
            Ok(Ok(204)) => latencies.micros.push(begun.elapsed().as_micros() as u32),
            failed => latencies.fail("message", &failed),
        }
        if number % MESSAGES_PER_READ == 0 {
            let answer = timeout(PATIENCE, http::once(SOURCE, address, read.as_bytes())).await;
            if !matches!(answer, Ok(Ok(200))) {
                latencies.fail("read", &answer);
            }
        }
        tokio::time::sleep(MESSAGE_DELAY).await;
    }
    latencies
}

impl Latencies {
    fn fail(&mut self, what: &str, answer: &dyn std::fmt::Debug) {
        if self.failures == 0 {
            eprintln!("first failed {what} of the well-behaved client: {answer:?}");
        }
        self.failures += 1;
    }
}
