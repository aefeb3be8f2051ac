//! The well-behaved client, which measures the latencies of its messages.

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
const MESSAGE_DELAY: Duration = Duration::from_millis(5);
/// Timeout for an answer; with CoAP, for all retransmissions (MAX_TRANSMIT_WAIT of RFC 7252).
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_OF_COAP: Duration = Duration::from_secs(93);

/// The address of the CoAP client. Clients that abort handshakes use another one, because the gateway limits the handshakes per address.
const SOURCE: &str = "127.0.0.2:0";

/// The client's results: the waiting times in microseconds, and the number of failures.
#[derive(Default)]
pub struct Latencies {
    pub micros: Vec<u32>,
    pub failures: u64,
}

/// The client's connection. For UDP and webhooks, it uses HTTP.
enum Connection {
    Http(TcpStream),
    Mqtt(TcpStream),
    Coap(Channel),
}

/// Sends a message every few milliseconds until `end` is true.
pub async fn run(
    input: Input,
    running: &Running,
    key: Option<&Key>,
    end: watch::Receiver<bool>,
) -> Result<Latencies, Failure> {
    let mut connection = Connection::connect(input, running, key).await?;
    let mut latencies = Latencies::default();
    let patience = if let Connection::Coap(_) = connection { PATIENCE_OF_COAP } else { PATIENCE };
    for number in (1..=u16::MAX).cycle() {
        if *end.borrow() {
            break;
        }
        let begun = Instant::now();
        match timeout(patience, connection.send(number)).await {
            Ok(Ok(true)) => latencies.micros.push(begun.elapsed().as_micros() as u32),
            failed => {
                eprintln!("the well-behaved client failed: {failed:?}");
                latencies.failures += 1;
                connection = Connection::connect(input, running, key).await?;
            }
        }
        tokio::time::sleep(MESSAGE_DELAY).await;
    }
    Ok(latencies)
}

impl Connection {
    async fn connect(input: Input, running: &Running, key: Option<&Key>) -> Result<Connection, Failure> {
        Ok(match input {
            Input::Mqtt => {
                let connect = mqtt::connect("well-behaved", Duration::from_secs(60));
                Connection::Mqtt(mqtt::open(running.input("mqtt")?, &connect).await?)
            }
            Input::Coap | Input::Coaps => {
                Connection::Coap(Channel::open(running.input("coap")?, SOURCE, key).await?)
            }
            Input::Udp | Input::Http | Input::Webhook => {
                let stream = TcpStream::connect(running.address).await?;
                stream.set_nodelay(true)?;
                Connection::Http(stream)
            }
        })
    }

    /// Sends the message `number`, and returns whether it was acknowledged.
    async fn send(&mut self, number: u16) -> std::io::Result<bool> {
        let body = format!("{{\"n\":{number}}}");
        match self {
            Connection::Http(stream) => {
                let length = body.len();
                let head = "POST /ingest/well-behaved HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
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
            Connection::Mqtt(stream) => {
                let mut packet = Vec::new();
                mqtt::publish("v1/well-behaved/json", body.as_bytes()).write(number, &mut packet);
                stream.write_all(&packet).await?;
                let mut answer = [0; 4];
                stream.read_exact(&mut answer).await?;
                Ok(mqtt::answer(&answer) == Some((Answer::Acknowledged(number), 4)))
            }
            Connection::Coap(channel) => {
                let mut request =
                    coap::request(coap::POST, &["ingest", "well-behaved"], Some(50), body.as_bytes());
                coap::number(&mut request, number);
                Ok(inputs::exchange(channel, &request, number).await? == Some(2))
            }
        }
    }
}
