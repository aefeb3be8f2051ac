//! Clients that send invalid datagrams and streams, and the start of all clients.

use super::{
    Input,
    client::{Attack, Client},
    sessions,
};
use crate::{Failure, mqtt};
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    task::JoinSet,
    time::timeout,
};

/// Concurrent clients.
const CLIENTS: u64 = 512;
/// Maximum number of frames per connection, and per UDP port.
const MAX_FRAMES_PER_CONNECTION: usize = 4;
const MAX_FRAMES_PER_PORT: usize = 1024;
/// How long the client waits for an answer before it shuts down its side of the connection, and how long the server may then take to
/// close it.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(30);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends all frames of `attack`.
pub async fn run(attack: Arc<Attack>) -> Result<(), Failure> {
    let mut clients = JoinSet::new();
    for (number, client) in (0..).zip(Client::all(&attack, CLIENTS)) {
        clients.spawn(async move {
            match client.attack.input {
                Input::Coap | Input::Udp => client.datagrams().await,
                Input::Coaps => sessions::run(client, number).await,
                Input::Mqtt | Input::Http | Input::Webhook => client.streams().await,
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(())
}

impl Client {
    async fn datagrams(mut self) -> std::io::Result<()> {
        loop {
            let socket = UdpSocket::bind("127.0.0.1:0").await?;
            socket.connect(self.attack.address).await?;
            for _ in 0..MAX_FRAMES_PER_PORT {
                let Some(mut frame) = self.frame().await else { return Ok(()) };
                frame.truncate(65_000);
                // An error belongs to an earlier datagram, or the server has ended, which other checks detect.
                let _ = socket.send(&frame).await;
                let mut answer = [0; 2048];
                while socket.try_recv(&mut answer).is_ok() {}
            }
        }
    }

    async fn streams(mut self) -> std::io::Result<()> {
        loop {
            let mut bytes = Vec::new();
            if self.attack.input == Input::Mqtt && self.random.below(8) > 0 {
                bytes.extend(self.random.pick(&self.attack.frames.first));
            }
            for _ in 0..=self.random.below(MAX_FRAMES_PER_CONNECTION) {
                match self.frame().await {
                    Some(frame) => bytes.extend(frame),
                    None if bytes.is_empty() => return Ok(()),
                    None => break,
                }
            }
            if self.attack.input == Input::Mqtt {
                bytes.extend(mqtt::PING);
            }
            let mut stream = TcpStream::connect(self.attack.address).await?;
            if !closes_after(&mut stream, &bytes).await {
                self.attack.not_closed.fetch_add(1, Relaxed);
            }
            if self.attack.sent.load(Relaxed) >= self.attack.count {
                return Ok(());
            }
        }
    }
}

/// Sends `bytes`, reads the server's answers, and shuts down the writing side. Returns whether the server then closes the connection in time.
async fn closes_after(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    let (mut input, mut output) = stream.split();
    let mut answer = vec![0; 16 << 10];
    let exchange = async {
        let write = async {
            // The server may close or reset the connection while the client writes.
            let _ = output.write_all(bytes).await;
        };
        let read =
            async { while let Ok(Ok(1..)) = timeout(ANSWER_TIMEOUT, input.read(&mut answer)).await {} };
        tokio::join!(write, read);
        let _ = output.shutdown().await;
        while let Ok(1..) = input.read(&mut answer).await {}
    };
    timeout(CLOSE_TIMEOUT, exchange).await.is_ok()
}
