//! Clients that post over persistent connections, each one request at a time.

use super::load::ClientResult;
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

/// The placeholder for a request's number, which has the same length.
pub const NUMBER: &str = "##########";
/// The size of a client's range of request numbers. The ranges of the clients are consecutive.
const NUMBERS_PER_CLIENT: usize = 1_000_000;
/// Timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request, and the offset of its number if it has one.
pub struct Request {
    bytes: Vec<u8>,
    number: Option<usize>,
}

impl Request {
    /// A POST of `body` to `target`. Each of `headers` must end in `\r\n`.
    pub fn post(target: &str, headers: &str, body: &[u8]) -> Request {
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        let number = body.windows(NUMBER.len()).position(|part| part == NUMBER.as_bytes());
        Request { number: number.map(|at| head.len() + at), bytes: [head.as_bytes(), body].concat() }
    }

    fn write(&self, number: usize, out: &mut Vec<u8>) {
        out.clone_from(&self.bytes);
        if let Some(at) = self.number {
            let digits = format!("{number:0width$}", width = NUMBER.len());
            out[at..at + NUMBER.len()].copy_from_slice(digits.as_bytes());
        }
    }
}

/// Connects `clients` clients, each of which posts `requests` in turn for `length`.
pub async fn load(
    address: SocketAddr,
    requests: Vec<Request>,
    clients: usize,
    length: Duration,
) -> std::io::Result<Vec<ClientResult>> {
    let requests = Arc::new(requests);
    let mut open = Vec::new();
    for _ in 0..clients {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        open.push(stream);
    }
    let end = Instant::now() + length;
    let mut running = JoinSet::new();
    for (client, stream) in open.into_iter().enumerate() {
        let requests = Arc::clone(&requests);
        let first = client * requests.len() / clients;
        running.spawn(async move { run(stream, &requests, (client * NUMBERS_PER_CLIENT, first), end).await });
    }
    Ok(running.join_all().await)
}

async fn run(
    mut stream: TcpStream,
    requests: &[Request],
    (number, first): (usize, usize),
    end: Instant,
) -> ClientResult {
    let mut result = ClientResult::default();
    let (mut out, mut bytes) = (Vec::new(), Vec::with_capacity(4096));
    for (number, request) in (number..).zip(requests.iter().cycle().skip(first)) {
        let begun = Instant::now();
        if begun >= end {
            break;
        }
        request.write(number, &mut out);
        match timeout(PATIENCE, exchange(&mut stream, &out, &mut bytes)).await {
            Ok(Ok(200 | 204)) if Instant::now() >= end => result.late += 1,
            Ok(Ok(200 | 204)) => result.micros.push(begun.elapsed().as_micros() as u32),
            Ok(Ok(status)) => {
                result.failures += 1;
                result.error.get_or_insert(format!("a request was answered with {status}"));
            }
            Ok(Err(e)) => return result.fail(1, &e),
            Err(_) => return result.fail(1, &"a request was not answered within 10 s"),
        }
    }
    result
}

/// Sends a request and returns the status of its answer. An answer without Content-Length is taken to have no body.
async fn exchange(stream: &mut TcpStream, request: &[u8], bytes: &mut Vec<u8>) -> std::io::Result<u16> {
    stream.write_all(request).await?;
    bytes.clear();
    loop {
        if stream.read_buf(bytes).await? == 0 {
            return Err(std::io::Error::other("the server closed the connection"));
        }
        if let Some((status, length)) = answer(bytes)?
            && bytes.len() >= length
        {
            return Ok(status);
        }
    }
}

/// The status of an answer, and the length of its head and body; `None` while the head is incomplete.
fn answer(bytes: &[u8]) -> std::io::Result<Option<(u16, usize)>> {
    let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { return Ok(None) };
    let foreign = || std::io::Error::other("the answer is not HTTP");
    let text = std::str::from_utf8(&bytes[..head]).map_err(|_| foreign())?;
    let (first, headers) = text.split_once("\r\n").unwrap_or((text, ""));
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(foreign)?;
    let mut headers = headers.split("\r\n").filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(Ok(0), |(_, value)| value.trim().parse()).map_err(|_| foreign())?;
    Ok(Some((status, head + 4 + length)))
}
