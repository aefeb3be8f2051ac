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
const TURN: Duration = Duration::from_secs(1);
/// Limit for opening all connections. After it, the attack counts as started even if the gateway has closed some.
const FILLED: Duration = Duration::from_secs(10);

/// Opens `count` connections from `source`, and keeps them open for `time`. Connections that the gateway closes are reopened.
pub async fn connections(
    source: IpAddr,
    address: SocketAddr,
    count: usize,
    time: Duration,
) -> Result<Outcome, Failure> {
    let mut held: Vec<TcpStream> = Vec::with_capacity(count);
    let mut outcome = Outcome::default();
    let begun = Instant::now();
    let mut filled = None;
    while filled.is_none_or(|filled: Instant| filled.elapsed() < time) {
        held.retain(|stream| !is_closed(stream));
        if held.len() >= count || begun.elapsed() > FILLED {
            filled.get_or_insert_with(Instant::now);
        }
        let until = Instant::now() + TURN;
        while held.len() < count && Instant::now() < until {
            let Ok(Ok(stream)) = timeout(PATIENCE, http::connect(source, address)).await else { break };
            held.push(stream);
            outcome.sent += 1;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    outcome.told = format!("{count} connections that send nothing");
    Ok(outcome)
}

/// Keeps `count` event streams from `source` open. The outcome is wrong if another reader cannot open one.
pub async fn event_streams(
    [source, reader]: [IpAddr; 2],
    address: SocketAddr,
    count: usize,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let request = http::head("GET", "/api/events", address, "");
    let mut held: Vec<TcpStream> = Vec::with_capacity(count);
    let mut outcome = Outcome::default();
    while more() {
        held.retain(|stream| !is_closed(stream));
        for _ in held.len()..count {
            let opened = async {
                let mut stream = http::connect(source, address).await?;
                let status = http::exchange(&mut stream, request.as_bytes()).await?;
                Ok::<_, std::io::Error>((stream, status))
            };
            outcome.sent += 1;
            match timeout(PATIENCE, opened).await {
                Ok(Ok((stream, 200))) => held.push(stream),
                _ => break,
            }
        }
        let another = http::once(reader, address, request.as_bytes());
        match timeout(Duration::from_secs(10), another).await {
            Ok(Ok(200)) => {}
            other => outcome.wrong(format!("another reader got no event stream: {other:?}")),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    outcome.told = format!("{count} event streams that nobody reads");
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
