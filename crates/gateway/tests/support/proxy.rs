//! A TCP proxy in front of a server, which fails in the way that a test asks for.

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

/// How often a held connection looks whether the mode has changed.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// What a client is told in place of the answer.
const FAILURE: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// What the proxy does with connections, those that are open too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Hands on what either side sends.
    Pass,
    /// Holds what the server sends for so long.
    Delay(Duration),
    /// Hands on what the client sends; when the server answers, every n-th time, it cuts the connection instead.
    CutAfterRequest { every: usize },
    /// The same, but the client is told 500 before.
    FailAfterRequest { every: usize },
    /// Tells the client 500 in place of handing on its request, three times of ten.
    FailThreeOfTen,
    /// Cuts connections, and new ones as soon as they are made.
    Refuse,
    /// Takes connections and hands nothing on.
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
    /// A proxy on a free port in front of `server`, which need not be there yet.
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
                // A server that is not there ends the client's connection, as it would without us.
                let _ = client.and_then(|client| state.join(client));
            }
        });
        Proxy { address, state }
    }

    pub fn set(&self, mode: Mode) {
        *self.state.mode.lock().unwrap() = mode;
    }

    /// How many connections were cut in place of an answer.
    pub fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::Relaxed)
    }

    /// How often the server has answered.
    pub fn answers(&self) -> usize {
        self.state.answers.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set(Mode::Refuse);
        self.state.ended.store(true, Ordering::Relaxed);
        // The listener's thread waits for a connection.
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
        for (from, to, answers) in [(client.try_clone()?, server.try_clone()?, false), (server, client, true)]
        {
            from.set_nodelay(true)?;
            from.set_read_timeout(Some(POLL_INTERVAL))?;
            let (state, asked) = (Arc::clone(&self), Arc::clone(&asked));
            thread::spawn(move || {
                let _ = state.copy(&from, &to, answers, &asked);
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        Ok(())
    }

    /// Hands on what `from` sends until either side ends, or the mode says so. `asked` is whether the client has sent
    /// something since the server last did: what the server sends then begins an answer.
    fn copy(
        &self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        answers: bool,
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
            if !answers {
                let begins = !asked.swap(true, Ordering::Relaxed);
                if begins && self.mode() == Mode::FailThreeOfTen {
                    let count = self.requests.fetch_add(1, Ordering::Relaxed);
                    // Spread without a period that requests could fall in with.
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
