//! An HTTP proxy in front of a server, with a script that decides what goes wrong with each request. Bodies are bytes with a
//! `content-length`.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is forwarded, and so is the answer.
    None,
    /// It is not forwarded, and gets this answer: a status line after `HTTP/1.1`, and a body.
    Answer(&'static str, &'static str),
    /// The connection is closed; the server gets nothing.
    Lost,
    /// The server gets half of the body, and then both connections are closed.
    Half,
    /// It is forwarded, and the connection is closed in place of the answer.
    Unanswered,
    /// It is forwarded, and the answer gets this header in place of its own with that name.
    Header(&'static str, &'static str),
    /// It is forwarded, and the client gets its answer without the last bytes, after which the connection is closed.
    Truncated,
    /// It is neither forwarded nor answered.
    Hang,
    /// The connection is closed, and the server gets the request when [`Faulty::release`] is called.
    Late,
}

/// The first line of a request, such as `PUT /bucket/key HTTP/1.1`, and how many requests were before it.
type Script = dyn Fn(&str, usize) -> Fault + Send + Sync;

pub struct Faulty {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    server: SocketAddr,
    script: Mutex<Arc<Script>>,
    requests: AtomicUsize,
    ended: AtomicBool,
    /// Whether late requests are released, and how many have been executed.
    late: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Faulty {
    pub fn start(server: SocketAddr) -> Faulty {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            server,
            script: Mutex::new(Arc::new(|_: &str, _| Fault::None)),
            requests: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            late: Mutex::default(),
            changed: Condvar::new(),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let state = Arc::clone(&shared);
                thread::spawn(move || client.and_then(|client| state.serve(client)));
            }
        });
        Faulty { address, state }
    }

    /// Sets the script, which counts requests from 0 on.
    pub fn set(&self, script: impl Fn(&str, usize) -> Fault + Send + Sync + 'static) {
        let mut current = self.state.script.lock().unwrap();
        self.state.requests.store(0, Ordering::Relaxed);
        *current = Arc::new(script);
    }

    /// Returns the number of requests since the script was set.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::Relaxed)
    }

    /// Gives the server the late requests, and waits until it has answered `count` of them.
    pub fn release(&self, count: usize) {
        let mut late = self.state.late.lock().unwrap();
        late.0 = true;
        self.state.changed.notify_all();
        drop(self.state.changed.wait_while(late, |late| late.1 < count).unwrap());
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        // The listener's thread sees `ended` only after a connection.
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    /// Serves one request.
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        let Some((head, body)) = request(&mut client)? else { return Ok(()) };
        let line = head.split("\r\n").next().unwrap_or_default().to_owned();
        let fault = {
            let script = self.script.lock().unwrap();
            let (script, before) = (Arc::clone(&script), self.requests.fetch_add(1, Ordering::Relaxed));
            script(&line, before)
        };
        match fault {
            Fault::Lost => {}
            Fault::Hang => {
                // Until the client gives up.
                let _ = client.read(&mut [0]);
            }
            Fault::Answer(status, body) => {
                let length = if line.starts_with("HEAD") { 0 } else { body.len() };
                let head =
                    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
                client.write_all(&[head.as_bytes(), &body.as_bytes()[..length]].concat())?;
            }
            Fault::Half => {
                let mut server = TcpStream::connect(self.server)?;
                server.write_all(&[head.as_bytes(), &body[..body.len() / 2]].concat())?;
                // The rest is never sent, so the server sees the end in the middle.
                server.shutdown(Shutdown::Both)?;
            }
            Fault::Late => {
                client.shutdown(Shutdown::Both)?;
                drop(self.changed.wait_while(self.late.lock().unwrap(), |late| !late.0).unwrap());
                self.ask(&head, &body)?;
                self.late.lock().unwrap().1 += 1;
                self.changed.notify_all();
            }
            Fault::None | Fault::Unanswered | Fault::Header(..) | Fault::Truncated => {
                let answer = self.ask(&head, &body)?;
                match fault {
                    Fault::Unanswered => {}
                    Fault::Truncated => client.write_all(&answer[..answer.len() - answer.len().min(3)])?,
                    Fault::Header(name, value) => client.write_all(&with_header(&answer, name, value))?,
                    _ => client.write_all(&answer)?,
                }
            }
        }
        client.shutdown(Shutdown::Both)
    }

    /// Sends a request to the server, and returns its answer.
    fn ask(&self, head: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut server = TcpStream::connect(self.server)?;
        let head = head.strip_suffix("\r\n").unwrap_or(head);
        server.write_all(&[format!("{head}connection: close\r\n\r\n").as_bytes(), body].concat())?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        Ok(answer)
    }
}

/// Reads a request: its head, and its body. Returns `None` if the client sends none.
fn request(client: &mut TcpStream) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let (mut bytes, mut part) = (Vec::new(), [0; 64 << 10]);
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
        match client.read(&mut part)? {
            0 => return Ok(None),
            length => bytes.extend_from_slice(&part[..length]),
        }
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8(bytes).unwrap();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    while body.len() < length.unwrap_or(0) {
        match client.read(&mut part)? {
            0 => return Ok(None),
            length => body.extend_from_slice(&part[..length]),
        }
    }
    Ok(Some((head, body)))
}

fn with_header(answer: &[u8], name: &str, value: &str) -> Vec<u8> {
    let end = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let is_other = |line: &&str| !line.to_lowercase().starts_with(&format!("{name}: "));
    let lines: Vec<_> = head.split("\r\n").filter(is_other).collect();
    [format!("{}\r\n{name}: {value}", lines.join("\r\n")).as_bytes(), &answer[end..]].concat()
}
