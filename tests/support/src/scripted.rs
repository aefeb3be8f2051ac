//! An HTTP server with a script that decides how it treats each request.

use crate::wait::wait_for;
use std::{
    io::Read,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Instant,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

/// A complete request.
#[derive(Debug, Clone)]
pub struct Request {
    pub at: Instant,
    pub method: String,
    pub path: String,
    pub headers: ureq::http::HeaderMap,
    /// The content, unpacked. Bytes that are not UTF-8 are replaced.
    pub body: String,
}

/// The server's answer to a request.
pub enum Reply {
    /// Answers with this status line after `HTTP/1.1` and further headers, each with its end of line.
    Status(&'static str),
    /// Answers with this status and this text.
    Text(&'static str, &'static str),
    /// Closes the connection.
    Drop,
    /// Never answers.
    Hang,
}

pub struct Scripted {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    _runtime: Runtime,
}

impl Scripted {
    /// Starts a server; `script` gets each request and the number of requests before it.
    pub fn start(script: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Scripted {
        let runtime = crate::runtime();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&requests));
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                tokio::spawn(async move { serve(stream, &*script, &log).await });
            }
        });
        Scripted { address, requests, _runtime: runtime }
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until there are `count` requests, and returns all requests.
    pub fn wait_for(&self, count: usize) -> Vec<Request> {
        wait_for(|| {
            let requests = self.requests();
            if requests.len() >= count { Ok(requests) } else { Err(requests) }
        })
    }
}

/// Serves a connection until either side ends it.
async fn serve(
    mut stream: TcpStream,
    script: &(dyn Fn(&Request, usize) -> Reply + Send + Sync),
    log: &Mutex<Vec<Request>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    loop {
        let head = loop {
            if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
                break at + 4;
            }
            (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
        };
        let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
        let mut lines = text.trim_end().split("\r\n");
        let (method, rest) = lines.next()?.split_once(' ')?;
        let (method, path) = (method.to_owned(), rest.split(' ').next()?.to_owned());
        let headers: ureq::http::HeaderMap = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| {
                (
                    name.parse::<ureq::http::HeaderName>().unwrap(),
                    value.parse::<ureq::http::HeaderValue>().unwrap(),
                )
            })
            .collect();
        let length = headers.get("content-length").map_or("0", |length| length.to_str().unwrap());
        let length: usize = length.parse().unwrap();
        while bytes.len() < head + length {
            (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
        }
        let body: Vec<u8> = bytes.drain(..head + length).skip(head).collect();
        let is_gzip = headers.get("content-encoding").is_some_and(|encoding| encoding == "gzip");
        let body = if is_gzip { unzip(&body) } else { String::from_utf8_lossy(&body).into_owned() };
        let request = Request { at: Instant::now(), method, path, headers, body };
        let before = {
            let mut log = log.lock().unwrap();
            log.push(request.clone());
            log.len() - 1
        };
        match script(&request, before) {
            Reply::Status(status) => {
                let end = if status.contains("\r\n") { "" } else { "\r\n" };
                let answer = format!("HTTP/1.1 {status}{end}content-length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.ok()?;
            }
            Reply::Text(status, text) => {
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{text}", text.len());
                stream.write_all(answer.as_bytes()).await.ok()?;
            }
            Reply::Drop => return None,
            Reply::Hang => std::future::pending().await,
        }
    }
}

fn unzip(body: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(body).read_to_string(&mut text).unwrap();
    text
}
