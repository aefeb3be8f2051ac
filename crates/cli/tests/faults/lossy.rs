//! A network that loses, duplicates and reorders datagrams.

use std::{
    collections::HashMap,
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// Percentages, in either direction: `LOST` of all datagrams, and `DUPLICATED` and `LATE` of the others.
const LOST: u64 = 30;
const DUPLICATED: u64 = 20;
const LATE: u64 = 30;
/// Maximum delay of a late datagram, in milliseconds.
const MAX_DELAY_MS: u64 = 60;
/// How often threads check whether to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A UDP proxy in front of a server.
pub struct Lossy {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    random: Mutex<fastrand::Rng>,
    lost: AtomicU64,
    duplicated: AtomicU64,
    late: AtomicU64,
    ended: AtomicBool,
}

impl Lossy {
    /// Starts a proxy on a free port. Each client also gets its own port towards the server.
    pub fn start(server: SocketAddr) -> std::io::Result<Lossy> {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0")?);
        let address = socket.local_addr()?;
        let state = Arc::new(State {
            random: Mutex::new(fastrand::Rng::with_seed(0)),
            lost: AtomicU64::new(0),
            duplicated: AtomicU64::new(0),
            late: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        socket.set_read_timeout(Some(POLL_INTERVAL))?;
        thread::spawn(move || {
            let mut clients: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
            let mut bytes = [0; 2048];
            while !shared.ended.load(Relaxed) {
                let Ok((length, client)) = socket.recv_from(&mut bytes) else { continue };
                let upstream = clients.entry(client).or_insert_with(|| {
                    let upstream = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
                    upstream.connect(server).unwrap();
                    let (back, state) = (Arc::clone(&socket), Arc::clone(&shared));
                    let from = Arc::clone(&upstream);
                    thread::spawn(move || state.answers(&from, &back, client));
                    upstream
                });
                let upstream = Arc::clone(upstream);
                shared.pass(bytes[..length].to_vec(), move |bytes| drop(upstream.send(bytes)));
            }
        });
        Ok(Lossy { address, state })
    }

    /// The numbers of lost, duplicated and late datagrams.
    pub fn counts(&self) -> (u64, u64, u64) {
        let State { lost, duplicated, late, .. } = &*self.state;
        (lost.load(Relaxed), duplicated.load(Relaxed), late.load(Relaxed))
    }
}

impl Drop for Lossy {
    fn drop(&mut self) {
        self.state.ended.store(true, Relaxed);
    }
}

impl State {
    /// Forwards the server's datagrams to one client.
    fn answers(&self, from: &UdpSocket, back: &Arc<UdpSocket>, client: SocketAddr) {
        let mut bytes = [0; 2048];
        from.set_read_timeout(Some(POLL_INTERVAL)).unwrap();
        while !self.ended.load(Relaxed) {
            // While the server is down after a kill, `recv` returns errors.
            let Ok(length) = from.recv(&mut bytes) else { continue };
            let back = Arc::clone(back);
            self.pass(bytes[..length].to_vec(), move |bytes| drop(back.send_to(bytes, client)));
        }
    }

    fn pass(&self, bytes: Vec<u8>, send: impl Fn(&[u8]) + Send + 'static) {
        if self.draws(LOST) {
            self.lost.fetch_add(1, Relaxed);
            return;
        }
        if self.draws(DUPLICATED) {
            self.duplicated.fetch_add(1, Relaxed);
            send(&bytes);
        }
        if self.draws(LATE) {
            self.late.fetch_add(1, Relaxed);
            let delay = Duration::from_millis(self.random_below(MAX_DELAY_MS));
            thread::spawn(move || {
                thread::sleep(delay);
                send(&bytes);
            });
        } else {
            send(&bytes);
        }
    }

    fn draws(&self, percent: u64) -> bool {
        self.random_below(100) < percent
    }

    fn random_below(&self, limit: u64) -> u64 {
        self.random.lock().unwrap().u64(..limit)
    }
}
