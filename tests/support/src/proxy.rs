//! A TCP proxy in front of a server, which injects the faults that a test selects.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// Interval in which a connection checks whether the mode has changed.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The answer that a client gets in place of the server's.
const FAILURE: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The treatment of connections, including those that are open already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Forwards all data.
    Pass,
    /// Delays each answer of the server by this time.
    Delay(Duration),
    /// Forwards requests, and closes the connection in place of every n-th answer.
    CutAfterRequest { every: usize },
    /// Forwards requests, and answers 500 and closes the connection in place of every n-th answer.
    FailAfterRequest { every: usize },
    /// Answers 500 to three of ten requests without forwarding them.
    FailThreeOfTen,
    /// Closes open connections, and new ones at once.
    Refuse,
    /// Accepts connections and forwards nothing.
    Stall,
}

pub struct Proxy {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    server: SocketAddr,
    mode: Mutex<Mode>,
    requests: AtomicUsize,
    answers: AtomicUsize,
    cuts: AtomicUsize,
    ended: AtomicBool,
}

impl Proxy {
    /// Starts a proxy on a free port in front of `server`, which need not run yet.
    pub fn start(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            server,
            mode: Mutex::new(Mode::Pass),
            requests: AtomicUsize::new(0),
            answers: AtomicUsize::new(0),
            cuts: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let state = Arc::clone(&shared);
                // If the server is down, the client's connection ends, as it would without the proxy.
                let _ = client.and_then(|client| state.join(client));
            }
        });
        Proxy { address, state }
    }

    pub fn set(&self, mode: Mode) {
        *self.state.mode.lock().unwrap() = mode;
    }

    /// Returns how often the client got a closed connection or an error in place of the answer.
    pub fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::Relaxed)
    }

    /// Returns the number of answers of the server.
    pub fn answers(&self) -> usize {
        self.state.answers.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set(Mode::Refuse);
        self.state.ended.store(true, Ordering::Relaxed);
        // The listener's thread sees `ended` only after a connection.
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap()
    }

    fn join(self: Arc<State>, client: TcpStream) -> std::io::Result<()> {
        if self.mode() == Mode::Refuse {
            return client.shutdown(Shutdown::Both);
        }
        let server = TcpStream::connect(self.server)?;
        let asked = Arc::new(AtomicBool::new(false));
        for (from, to, from_server) in
            [(client.try_clone()?, server.try_clone()?, false), (server, client, true)]
        {
            from.set_nodelay(true)?;
            from.set_read_timeout(Some(POLL_INTERVAL))?;
            let (state, asked) = (Arc::clone(&self), Arc::clone(&asked));
            thread::spawn(move || {
                let _ = state.copy(&from, &to, from_server, &asked);
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        Ok(())
    }

    /// Forwards the data of `from` until either side ends or the mode closes the connection. `asked` is true if the client has
    /// sent data since the server last did; the next data of the server then begins an answer.
    fn copy(
        &self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        from_server: bool,
        asked: &AtomicBool,
    ) -> std::io::Result<()> {
        let mut part = [0; 16 * 1024];
        loop {
            let mode = self.mode();
            if mode == Mode::Refuse {
                return Ok(());
            }
            if mode == Mode::Stall {
                thread::sleep(POLL_INTERVAL);
                continue;
            }
            let length = match from.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(e)
                    if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
                {
                    continue;
                }
                Err(e) => return Err(e),
            };
            if !from_server {
                let begins = !asked.swap(true, Ordering::Relaxed);
                if begins && self.mode() == Mode::FailThreeOfTen {
                    let count = self.requests.fetch_add(1, Ordering::Relaxed);
                    // A hash spreads the failures without a period that could coincide with one of the requests.
                    let spread = (count as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                    if spread % 10 < 3 {
                        self.cuts.fetch_add(1, Ordering::Relaxed);
                        return from.write_all(FAILURE);
                    }
                }
            } else if asked.swap(false, Ordering::Relaxed) {
                let count = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
                match self.mode() {
                    Mode::Delay(wait) => thread::sleep(wait),
                    Mode::CutAfterRequest { every } if count.is_multiple_of(every) => {
                        self.cuts.fetch_add(1, Ordering::Relaxed);
                        return Ok(());
                    }
                    Mode::FailAfterRequest { every } if count.is_multiple_of(every) => {
                        self.cuts.fetch_add(1, Ordering::Relaxed);
                        return to.write_all(FAILURE);
                    }
                    _ => {}
                }
            }
            while self.mode() == Mode::Stall {
                thread::sleep(POLL_INTERVAL);
            }
            to.write_all(&part[..length])?;
        }
    }
}
