//! Idle connections, and event streams that nobody reads.

use super::{Outcome, http};
use crate::Failure;
use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};
use tokio::{net::TcpStream, time::timeout};

/// Timeout for a connection, and for the head of an event stream.
const PATIENCE: Duration = Duration::from_millis(200);

/// Interval between two checks for closed connections.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Limit for opening all connections. After it, the attack counts as started even if the gateway has closed some.
const MAX_FILL_TIME: Duration = Duration::from_secs(10);

/// Opens `count` connections from `source`, and keeps them open for `time`. Connections that the gateway closes are reopened.
pub async fn connections(
    source: IpAddr,
    address: SocketAddr,
    count: usize,
    time: Duration,
) -> Result<Outcome, Failure> {
    let mut open: Vec<TcpStream> = Vec::with_capacity(count);
    let mut outcome = Outcome::default();
    let begun = Instant::now();
    let mut filled = None;
    while filled.is_none_or(|filled: Instant| filled.elapsed() < time) {
        open.retain(|stream| !is_closed(stream));
        if open.len() >= count || begun.elapsed() > MAX_FILL_TIME {
            filled.get_or_insert_with(Instant::now);
        }
        let until = Instant::now() + CHECK_INTERVAL;
        while open.len() < count && Instant::now() < until {
            let Ok(Ok(stream)) = timeout(PATIENCE, http::connect(source, address)).await else { break };
            open.push(stream);
            outcome.sent += 1;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    outcome.description = format!("{count} connections that send nothing");
    Ok(outcome)
}

/// Keeps `count` event streams from `source` open. It is a violation if another reader cannot open one.
pub async fn event_streams(
    [source, reader]: [IpAddr; 2],
    address: SocketAddr,
    count: usize,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let request = http::head("GET", "/api/events", address, "");
    let mut open: Vec<TcpStream> = Vec::with_capacity(count);
    let mut outcome = Outcome::default();
    while keep_going() {
        open.retain(|stream| !is_closed(stream));
        for _ in open.len()..count {
            let opened = async {
                let mut stream = http::connect(source, address).await?;
                let status = http::exchange(&mut stream, request.as_bytes()).await?;
                Ok::<_, std::io::Error>((stream, status))
            };
            outcome.sent += 1;
            match timeout(PATIENCE, opened).await {
                Ok(Ok((stream, 200))) => open.push(stream),
                _ => break,
            }
        }
        let another = http::once(reader, address, request.as_bytes());
        match timeout(Duration::from_secs(10), another).await {
            Ok(Ok(200)) => {}
            other => outcome.add_violation(format!("another reader got no event stream: {other:?}")),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    outcome.description = format!("{count} event streams that nobody reads");
    Ok(outcome)
}

/// Whether the gateway has closed the connection. Discards received bytes.
fn is_closed(stream: &TcpStream) -> bool {
    match stream.try_read(&mut [0; 4096]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(e) => e.kind() != std::io::ErrorKind::WouldBlock,
    }
}
