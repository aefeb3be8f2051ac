//! A network between UDP clients and a server that loses, doubles and reorders datagrams, in both directions.

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

/// Of a hundred datagrams.
const LOST: u32 = 30;
const DOUBLED: u32 = 10;
const HELD_BACK: u32 = 15;
/// How long one is held back when none follows.
const HELD: Duration = Duration::from_millis(30);

pub struct Lossy {
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    ended: AtomicBool,
    lost: AtomicUsize,
    doubled: AtomicUsize,
    reordered: AtomicUsize,
}

/// One direction of a way.
struct Way {
    random: fastrand::Rng,
    held: Option<Vec<u8>>,
}

impl Way {
    /// What becomes of a datagram: it is passed to `send` as often as it arrives.
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
        if dice >= 100 - DOUBLED {
            state.doubled.fetch_add(1, Ordering::Relaxed);
            send(datagram);
        }
        if let Some(held) = self.held.take() {
            state.reordered.fetch_add(1, Ordering::Relaxed);
            send(&held);
        }
    }
}

impl Lossy {
    /// A way to `server` from a free port. The same `seed` throws the same dice.
    pub fn start(server: SocketAddr, seed: u64) -> Lossy {
        let front = UdpSocket::bind("127.0.0.1:0").unwrap();
        front.set_read_timeout(Some(HELD)).unwrap();
        let address = front.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || serve(&front, server, seed, &shared));
        Lossy { address, state }
    }

    /// How many datagrams were lost, doubled and reordered.
    pub fn counts(&self) -> [usize; 3] {
        [&self.state.lost, &self.state.doubled, &self.state.reordered]
            .map(|count| count.load(Ordering::Relaxed))
    }
}

impl Drop for Lossy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
    }
}

fn serve(front: &UdpSocket, server: SocketAddr, seed: u64, state: &Arc<State>) {
    let mut clients: HashMap<SocketAddr, (UdpSocket, Way)> = HashMap::new();
    let mut buffer = [0; 65_536];
    while !state.ended.load(Ordering::Relaxed) {
        match front.recv_from(&mut buffer) {
            Ok((length, client)) => {
                let number = clients.len() as u64;
                let (back, way) = clients.entry(client).or_insert_with(|| {
                    let back = UdpSocket::bind("127.0.0.1:0").unwrap();
                    back.set_read_timeout(Some(HELD)).unwrap();
                    back.connect(server).unwrap();
                    let (from, to) = (back.try_clone().unwrap(), front.try_clone().unwrap());
                    let way = |n| Way { random: fastrand::Rng::with_seed(seed + n), held: None };
                    let (state, mut other) = (Arc::clone(state), way(2 * number + 1));
                    thread::spawn(move || answer(&from, &to, client, &mut other, &state));
                    (back, way(2 * number))
                });
                way.pass(state, &buffer[..length], |datagram| drop(back.send(datagram)));
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                for (back, way) in clients.values_mut() {
                    way.held.take().into_iter().for_each(|held| drop(back.send(&held)));
                }
            }
            Err(_) => {}
        }
    }
}

/// Hands on what the server answers to `client`.
fn answer(from: &UdpSocket, to: &UdpSocket, client: SocketAddr, way: &mut Way, state: &State) {
    let mut buffer = [0; 65_536];
    while !state.ended.load(Ordering::Relaxed) {
        match from.recv(&mut buffer) {
            Ok(length) => way.pass(state, &buffer[..length], |datagram| drop(to.send_to(datagram, client))),
            // A server that is being started again, or none that answers.
            Err(_) => way.held.take().into_iter().for_each(|held| drop(to.send_to(&held, client))),
        }
    }
}
