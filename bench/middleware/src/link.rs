//! A link with a constant delay and random loss that counts what it carries.

use crate::{
    count::Sent,
    packet::{self, Packet},
};
use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};
use tun_rs::SyncDevice;

/// The way of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

/// The delay, the loss and the counts of a link.
pub struct Link {
    state: Mutex<State>,
}

struct State {
    /// From one end to the other.
    delay: Duration,
    /// The probability that a packet is lost, from 0 to 1.
    loss: f64,
    random: fastrand::Rng,
    /// When the last packet leaves or left the link.
    last: Instant,
    up: Sent,
    down: Sent,
}

impl Default for Link {
    fn default() -> Link {
        let random = fastrand::Rng::with_seed(0);
        let (up, down) = <(Sent, Sent)>::default();
        let state = State { delay: Duration::ZERO, loss: 0.0, random, last: Instant::now(), up, down };
        Link { state: Mutex::new(state) }
    }
}

impl Link {
    /// Sets the conditions: the time from one end to the other, and the probability that a packet is lost. The same `seed` loses the same
    /// packets of the same sequence. Call it while the link is quiet: a shorter delay lets later packets overtake earlier ones.
    pub fn set(&self, delay: Duration, loss: f64, seed: u64) {
        let mut state = self.state();
        (state.delay, state.loss, state.random) = (delay, loss, fastrand::Rng::with_seed(seed));
    }

    /// What both sides have sent since the last call: up, down.
    pub fn count(&self) -> (Sent, Sent) {
        let mut state = self.state();
        (std::mem::take(&mut state.up), std::mem::take(&mut state.down))
    }

    /// Waits until no packet has left the link for `quiet`, which begins with this call at the earliest, or for `limit` at most. Returns whether
    /// the link became quiet.
    pub fn settle(&self, quiet: Duration, limit: Duration) -> bool {
        let begin = Instant::now();
        let end = begin + limit;
        loop {
            let due = self.state().last.max(begin) + quiet;
            let now = Instant::now();
            if due <= now || end <= now {
                return due <= now;
            }
            thread::sleep(due.min(end) - now);
        }
    }

    /// Forwards packets from a device to another until this process ends.
    pub fn forward(self: &Arc<Link>, direction: Direction, from: Arc<SyncDevice>, to: Arc<SyncDevice>) {
        let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
        let writer = to.clone();
        thread::spawn(move || {
            for (due, packet) in receiver {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                deliver(&writer, &packet);
            }
        });
        let link = self.clone();
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            while let Ok(length) = receive(&from, &mut buffer) {
                let bytes = &buffer[..length];
                let Some(packet) = packet::parse(bytes) else { continue };
                let Some((delay, due)) = link.take(direction, &packet) else { continue };
                // Without a delay, a second thread would take more time than the link does.
                if delay.is_zero() {
                    deliver(&to, bytes);
                } else if sender.send((due, bytes.to_vec())).is_err() {
                    return;
                }
            }
        });
    }

    /// Counts a packet. Returns the delay and the time when it leaves, or `None` if it is lost.
    fn take(&self, direction: Direction, packet: &Packet) -> Option<(Duration, Instant)> {
        let state = &mut *self.state();
        let lost = state.random.f64() < state.loss;
        match direction {
            Direction::Up => state.up.add(packet, lost),
            Direction::Down => state.down.add(packet, lost),
        }
        let due = Instant::now() + state.delay;
        state.last = due;
        (!lost).then_some((state.delay, due))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn receive(device: &SyncDevice, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match device.recv(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A device whose queue is full loses the packet, as a router does.
fn deliver(device: &SyncDevice, packet: &[u8]) {
    if let Err(error) = device.send(packet) {
        eprintln!("link: a packet of {} bytes is lost: {error}", packet.len());
    }
}
