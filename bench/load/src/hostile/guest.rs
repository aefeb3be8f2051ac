//! The well-behaved client, which measures how long it waits for its answers.

use super::Input;
use crate::{
    Failure,
    channel::Channel,
    coap,
    dtls::Key,
    inputs,
    mqtt::{self, Answer},
    server::Running,
};
use std::time::{Duration, Instant};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    time::timeout,
};

/// Delay between two messages.
const PAUSE: Duration = Duration::from_millis(5);
/// Timeout for an answer; with CoAP, for all retransmissions (MAX_TRANSMIT_WAIT of RFC 7252).
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_OF_COAP: Duration = Duration::from_secs(93);

/// The address of the CoAP client. Clients that abort handshakes use another one, because the gateway limits the handshakes of an address.
const HERE: &str = "127.0.0.2:0";

/// The client's results: the waiting times in microseconds, and the number of failures.
#[derive(Default)]
pub struct Waited {
    pub micros: Vec<u32>,
    pub failures: u64,
}

/// The client's connection. For UDP and webhooks, it uses HTTP.
enum Guest {
    Http(TcpStream),
    Mqtt(TcpStream),
    Coap(Channel),
}

/// Sends a message every few milliseconds until `end` is true.
pub async fn visit(
    input: Input,
    running: &Running,
    key: Option<&Key>,
    end: watch::Receiver<bool>,
) -> Result<Waited, Failure> {
    let mut guest = Guest::connect(input, running, key).await?;
    let mut waited = Waited::default();
    let patience = if let Guest::Coap(_) = guest { PATIENCE_OF_COAP } else { PATIENCE };
    for number in (1..=u16::MAX).cycle() {
        if *end.borrow() {
            break;
        }
        let begun = Instant::now();
        match timeout(patience, guest.send(number)).await {
            Ok(Ok(true)) => waited.micros.push(begun.elapsed().as_micros() as u32),
            failed => {
                eprintln!("the well-behaved client failed: {failed:?}");
                waited.failures += 1;
                guest = Guest::connect(input, running, key).await?;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(waited)
}

impl Guest {
    async fn connect(input: Input, running: &Running, key: Option<&Key>) -> Result<Guest, Failure> {
        Ok(match input {
            Input::Mqtt => {
                let connect = mqtt::connect("guest", Duration::from_secs(60));
                Guest::Mqtt(mqtt::open(running.input("mqtt")?, &connect).await?)
            }
            Input::Coap | Input::Coaps => {
                Guest::Coap(Channel::open(running.input("coap")?, HERE, key).await?)
            }
            Input::Udp | Input::Http | Input::Webhook => {
                let stream = TcpStream::connect(running.address).await?;
                stream.set_nodelay(true)?;
                Guest::Http(stream)
            }
        })
    }

    /// Sends the message `number`, and returns whether it was acknowledged.
    async fn send(&mut self, number: u16) -> std::io::Result<bool> {
        let body = format!("{{\"n\":{number}}}");
        match self {
            Guest::Http(stream) => {
                let length = body.len();
                let head =
                    "POST /ingest/guest HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
                stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).await?;
                let (mut answer, mut length) = ([0; 1024], 0);
                while !answer[..length].ends_with(b"\r\n\r\n") {
                    match stream.read(&mut answer[length..]).await? {
                        0 => return Ok(false),
                        more => length += more,
                    }
                }
                Ok(answer.starts_with(b"HTTP/1.1 204"))
            }
            Guest::Mqtt(stream) => {
                let mut packet = Vec::new();
                mqtt::publish("v1/guest/json", body.as_bytes()).write(number, &mut packet);
                stream.write_all(&packet).await?;
                let mut answer = [0; 4];
                stream.read_exact(&mut answer).await?;
                Ok(mqtt::answer(&answer) == Some((Answer::Acknowledged(number), 4)))
            }
            Guest::Coap(channel) => {
                let mut request = coap::request(coap::POST, &["ingest", "guest"], Some(50), body.as_bytes());
                coap::number(&mut request, number);
                Ok(inputs::exchange(channel, &request, number).await? == Some(2))
            }
        }
    }
}
