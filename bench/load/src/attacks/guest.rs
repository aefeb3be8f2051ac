//! The well-behaved client: it sends and reads, with a new connection for each request.

use super::http;
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};
use tokio::{sync::watch, time::timeout};

/// Its address. Attackers use other addresses.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Delay between two messages.
const PAUSE: Duration = Duration::from_millis(10);
/// The number of messages after which it reads its last stored message.
const READS: u64 = 10;
/// Text that gives its messages a realistic length.
const OF: &str = "the client that does nothing wrong, beside those that do";
/// Timeout for an answer. A later answer counts as a failure.
const PATIENCE: Duration = Duration::from_secs(5);

/// The client's results.
#[derive(Default)]
pub struct Waited {
    /// For each acknowledged message, the time from the start of the connection, in microseconds.
    pub micros: Vec<u32>,
    /// Messages and reads that were refused, or not answered in time.
    pub failures: u64,
    /// When the last message was acknowledged.
    pub last: Option<Instant>,
}

/// Sends and reads until `end` is true.
pub async fn visit(address: SocketAddr, end: &watch::Receiver<bool>) -> Waited {
    let mut waited = Waited::default();
    let read = http::head("GET", "/api/devices/guest/messages?limit=1", address, "");
    for number in 1_u64.. {
        if *end.borrow() {
            break;
        }
        let begun = Instant::now();
        let message = http::post("guest", address, &format!("{{\"n\":{number},\"of\":{OF:?}}}"));
        match timeout(PATIENCE, http::once(HERE, address, &message)).await {
            Ok(Ok(204)) => {
                waited.micros.push(begun.elapsed().as_micros() as u32);
                waited.last = Some(Instant::now());
            }
            failed => waited.fail("message", &failed),
        }
        if number % READS == 0 {
            let answer = timeout(PATIENCE, http::once(HERE, address, read.as_bytes())).await;
            if !matches!(answer, Ok(Ok(200))) {
                waited.fail("read", &answer);
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    waited
}

impl Waited {
    fn fail(&mut self, what: &str, answer: &dyn std::fmt::Debug) {
        if self.failures == 0 {
            eprintln!("first failed {what} of the well-behaved client: {answer:?}");
        }
        self.failures += 1;
    }
}
