//! Clients that send what is not valid.

use super::{
    Door,
    frames::Frames,
    mutate::{Random, mutate},
    sessions,
};
use crate::{Failure, dtls::Key, mqtt};
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    task::JoinSet,
    time::timeout,
};

/// Clients at a time.
const CLIENTS: u64 = 512;
/// Most frames of a connection, and of a UDP port.
const FRAMES_OF_A_CONNECTION: usize = 4;
const FRAMES_OF_A_PORT: usize = 1024;
/// How long an answer is waited for before the client says that nothing more comes, and how long the server may then take
/// to close.
const IDLE: Duration = Duration::from_millis(30);
const CLOSE: Duration = Duration::from_secs(20);
/// How much of the time that the server kept the clients waiting they make up for.
const BURST: Duration = Duration::from_millis(10);
/// How long clients wait when there is no room for what they send.
const HELD_BACK: Duration = Duration::from_millis(5);

/// What is sent, where and how fast.
pub struct Attack {
    pub door: Door,
    pub address: SocketAddr,
    pub frames: Frames,
    /// Keys of clients of DTLS, that of the gateway and another.
    pub keys: Vec<Key>,
    /// Whether frames are changed; if not, they are sent as they are.
    pub mutated: bool,
    pub count: u64,
    /// Frames a second.
    pub rate: u64,
    /// What the mutations begin with.
    pub seed: u64,
    pub sent: AtomicU64,
    /// Whether the server has no room for more.
    pub full: AtomicBool,
    /// Connections that the server did not close after its client had.
    pub hung: AtomicU64,
}

/// Sends them all.
pub async fn run(attack: Arc<Attack>) -> Result<(), Failure> {
    let pace = Arc::new(Pace(Mutex::new(Instant::now())));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client {
            attack: Arc::clone(&attack),
            random: Random::new(attack.seed * CLIENTS + number + 1),
            pace: Arc::clone(&pace),
        };
        clients.spawn(async move {
            match client.attack.door {
                Door::Coap | Door::Udp => client.datagrams().await,
                Door::Coaps => sessions::run(client, number).await,
                Door::Mqtt | Door::Http | Door::Webhook => client.streams().await,
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(())
}

/// When the next frame is due.
struct Pace(Mutex<Instant>);

impl Pace {
    /// Takes a place among so many frames a second.
    fn next(&self, rate: u64) -> Instant {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = (*next).max(Instant::now() - BURST);
        *next = due + Duration::from_nanos(1_000_000_000 / rate);
        due
    }
}

/// One of the clients.
pub struct Client {
    pub attack: Arc<Attack>,
    pub random: Random,
    pace: Arc<Pace>,
}

impl Client {
    /// Waits until the next frame is due; `None` after the last one.
    pub async fn turn(&self) -> Option<()> {
        let number = self.attack.sent.fetch_add(1, Relaxed);
        if number >= self.attack.count {
            self.attack.sent.fetch_sub(1, Relaxed);
            return None;
        }
        tokio::time::sleep_until(self.pace.next(self.attack.rate).into()).await;
        while self.attack.full.load(Relaxed) {
            tokio::time::sleep(HELD_BACK).await;
        }
        Some(())
    }

    /// The next frame when it is due; `None` after the last one.
    pub async fn frame(&mut self) -> Option<Vec<u8>> {
        self.turn().await?;
        let valid = &self.attack.frames.valid;
        let mut frame = self.random.pick(valid).clone();
        if !self.attack.mutated {
            return Some(frame.bytes());
        }
        // Half of them are whole requests to HTTP, so that it is not only HTTP that is tried.
        if self.random.below(2) == 0 {
            mutate(&mut frame.body, valid, &mut self.random);
            return Some(frame.bytes());
        }
        let mut frame = frame.bytes();
        mutate(&mut frame, valid, &mut self.random);
        Some(frame)
    }

    async fn datagrams(mut self) -> std::io::Result<()> {
        loop {
            let socket = UdpSocket::bind("127.0.0.1:0").await?;
            socket.connect(self.attack.address).await?;
            for _ in 0..FRAMES_OF_A_PORT {
                let Some(mut frame) = self.frame().await else { return Ok(()) };
                frame.truncate(65_000);
                // An error is that of an earlier datagram, or that of a server that is gone, which is seen elsewhere.
                let _ = socket.send(&frame).await;
                let mut answer = [0; 2048];
                while socket.try_recv(&mut answer).is_ok() {}
            }
        }
    }

    async fn streams(mut self) -> std::io::Result<()> {
        loop {
            let mut bytes = Vec::new();
            if self.attack.door == Door::Mqtt && self.random.below(8) > 0 {
                bytes.extend(self.random.pick(&self.attack.frames.first));
            }
            for _ in 0..=self.random.below(FRAMES_OF_A_CONNECTION) {
                match self.frame().await {
                    Some(frame) => bytes.extend(frame),
                    None if bytes.is_empty() => return Ok(()),
                    None => break,
                }
            }
            if self.attack.door == Door::Mqtt {
                bytes.extend(mqtt::PING);
            }
            let mut stream = TcpStream::connect(self.attack.address).await?;
            if !ends(&mut stream, &bytes).await {
                self.attack.hung.fetch_add(1, Relaxed);
            }
            if self.attack.sent.load(Relaxed) >= self.attack.count {
                return Ok(());
            }
        }
    }
}

/// Sends `bytes`, lets the server answer, and then says that nothing more comes. Whether the server closes then.
async fn ends(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    let (mut input, mut output) = stream.split();
    let mut answer = vec![0; 16 << 10];
    let talk = async {
        let write = async {
            // It may close, or reset, in the midst of it.
            let _ = output.write_all(bytes).await;
        };
        let read = async { while let Ok(Ok(1..)) = timeout(IDLE, input.read(&mut answer)).await {} };
        tokio::join!(write, read);
        let _ = output.shutdown().await;
        while let Ok(1..) = input.read(&mut answer).await {}
    };
    timeout(CLOSE, talk).await.is_ok()
}
