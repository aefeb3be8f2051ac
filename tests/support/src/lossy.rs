//! A UDP proxy between clients and a server, which loses, duplicates and reorders datagrams in both directions.

use std::{
    collections::HashMap,
    io::ErrorKind,
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// Percentages of the datagrams.
const LOST: u32 = 30;
const DUPLICATED: u32 = 10;
const HELD_BACK: u32 = 15;
/// Longest time for which a datagram is held back if none follows.
const HELD: Duration = Duration::from_millis(30);

pub struct Lossy {
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    ended: AtomicBool,
    lost: AtomicUsize,
    duplicated: AtomicUsize,
    reordered: AtomicUsize,
}

/// One direction between a client and the server.
struct Direction {
    random: fastrand::Rng,
    held: Option<Vec<u8>>,
}

impl Direction {
    /// Decides the fate of a datagram, and calls `send` for each datagram that arrives.
    fn pass(&mut self, state: &State, datagram: &[u8], send: impl Fn(&[u8])) {
        let dice = self.random.u32(..100);
        if dice < LOST {
            state.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if dice < LOST + HELD_BACK && self.held.is_none() {
            self.held = Some(datagram.to_vec());
            return;
        }
        send(datagram);
        if dice >= 100 - DUPLICATED {
            state.duplicated.fetch_add(1, Ordering::Relaxed);
            send(datagram);
        }
        if let Some(held) = self.held.take() {
            state.reordered.fetch_add(1, Ordering::Relaxed);
            send(&held);
        }
    }
}

impl Lossy {
    /// Starts a proxy to `server` on a free port. `seed` determines the random numbers.
    pub fn start(server: SocketAddr, seed: u64) -> Lossy {
        let front = UdpSocket::bind("127.0.0.1:0").unwrap();
        front.set_read_timeout(Some(HELD)).unwrap();
        let address = front.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || serve(&front, server, seed, &shared));
        Lossy { address, state }
    }

    /// Returns how many datagrams were lost, duplicated and reordered.
    pub fn counts(&self) -> [usize; 3] {
        [&self.state.lost, &self.state.duplicated, &self.state.reordered]
            .map(|count| count.load(Ordering::Relaxed))
    }
}

impl Drop for Lossy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
    }
}

fn serve(front: &UdpSocket, server: SocketAddr, seed: u64, state: &Arc<State>) {
    let mut clients: HashMap<SocketAddr, (UdpSocket, Direction)> = HashMap::new();
    let mut buffer = [0; 65_536];
    while !state.ended.load(Ordering::Relaxed) {
        match front.recv_from(&mut buffer) {
            Ok((length, client)) => {
                let number = clients.len() as u64;
                let (back, direction) = clients.entry(client).or_insert_with(|| {
                    let back = UdpSocket::bind("127.0.0.1:0").unwrap();
                    back.set_read_timeout(Some(HELD)).unwrap();
                    back.connect(server).unwrap();
                    let (from, to) = (back.try_clone().unwrap(), front.try_clone().unwrap());
                    let direction = |n| Direction { random: fastrand::Rng::with_seed(seed + n), held: None };
                    let (state, mut other) = (Arc::clone(state), direction(2 * number + 1));
                    thread::spawn(move || answer(&from, &to, client, &mut other, &state));
                    (back, direction(2 * number))
                });
                direction.pass(state, &buffer[..length], |datagram| drop(back.send(datagram)));
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                for (back, direction) in clients.values_mut() {
                    direction.held.take().into_iter().for_each(|held| drop(back.send(&held)));
                }
            }
            Err(_) => {}
        }
    }
}

/// Forwards the answers of the server to `client`.
fn answer(from: &UdpSocket, to: &UdpSocket, client: SocketAddr, direction: &mut Direction, state: &State) {
    let mut buffer = [0; 65_536];
    while !state.ended.load(Ordering::Relaxed) {
        match from.recv(&mut buffer) {
            Ok(length) => {
                direction.pass(state, &buffer[..length], |datagram| drop(to.send_to(datagram, client)));
            }
            // The server is down, or it does not answer.
            Err(_) => direction.held.take().into_iter().for_each(|held| drop(to.send_to(&held, client))),
        }
    }
}
