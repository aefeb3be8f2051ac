//! Overload: full queues, slow clients, many connections.

use crate::support::{JSON, agent, block_commits, post, start, start_with, wait::wait_until};
use socket2::{Domain, Socket, Type};
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

/// Returns the head of a request up to the value of `Content-Length`, with the gateway's own address as `Host`.
fn post_head(gateway: &crate::support::Running) -> String {
    let host = gateway.gateway.address();
    format!("POST /ingest/d HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: ")
}

fn connect(gateway: &crate::support::Running) -> TcpStream {
    let stream = TcpStream::connect(gateway.gateway.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Reads until the gateway closes the connection. Returns the text and the duration.
fn read_to_end(mut stream: TcpStream) -> (String, Duration) {
    let begun = Instant::now();
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::ConnectionReset => {}
        Err(e) => panic!("{e}"),
    }
    (String::from_utf8_lossy(&bytes).into_owned(), begun.elapsed())
}

#[test]
fn a_full_queue_is_503_with_retry_after_and_nothing_is_lost() {
    let gateway = start_with(|config| {
        config.buffer.queue_messages = 2;
        config.buffer.batch_messages = 1;
    });
    let url = gateway.url("/ingest/d");
    let (stored, full) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                let agent = agent();
                for _ in 0..40 {
                    let answer = post(&agent, &url, JSON, b"1");
                    match answer.status {
                        204 => stored.fetch_add(1, Ordering::Relaxed),
                        503 => {
                            assert_eq!(answer.headers["retry-after"], "1");
                            assert_eq!(answer.json()["type"], "urn:dunnage:problem:queue-full");
                            full.fetch_add(1, Ordering::Relaxed)
                        }
                        other => panic!("{other}: {}", answer.text),
                    };
                }
            });
        }
    });
    let (stored, full) = (stored.into_inner() as u64, full.into_inner() as u64);
    assert!(full > 0 && stored > 0, "{stored} stored, {full} refused");
    assert_eq!(gateway.get_json("/api/stats")["stored"], stored);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.refused), (24 * 40, stored, full));
}

#[test]
fn all_bodies_in_memory_have_a_common_limit() {
    let gateway = start_with(|config| {
        config.http.body_limit_bytes = 60_000;
        config.buffer.queue_bytes = 100_000;
        config.http.body_timeout_seconds = 2;
    });
    // Two senders leave their bodies unfinished. The queue has room for one of them.
    let unfinished: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = connect(&gateway);
            write!(stream, "{}50000\r\n\r\n", post_head(&gateway)).unwrap();
            stream.write_all(&[b' '; 49_000]).unwrap();
            // The bodies arrive one after the other: interleaved, both could be rejected.
            std::thread::sleep(Duration::from_millis(300));
            stream
        })
        .collect();
    let body = format!("\"{}\"", "x".repeat(5_000));
    let answer = gateway.post("/ingest/d", JSON, body.as_bytes());
    assert_eq!(answer.status, 204, "{}", answer.text);
    // A large body is rejected until the unfinished one has timed out.
    let large = [body.as_bytes(), &[b' '; 50_000]].concat();
    let answer = gateway.post("/ingest/d", JSON, &large);
    assert_eq!((answer.status, answer.headers["retry-after"].to_str().unwrap()), (503, "1"));
    for stream in unfinished {
        let (text, _) = read_to_end(stream);
        assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    }
    assert_eq!(gateway.post("/ingest/d", JSON, &large).status, 204);
}

#[test]
fn a_slow_head_and_an_idle_connection_are_closed() {
    let gateway = start_with(|config| config.http.header_timeout_seconds = 1);
    let mut slow = connect(&gateway);
    slow.write_all(b"POST /ingest/d HTTP/1.1\r\nhost").unwrap();
    let idle = connect(&gateway);
    let (_, slow) = read_to_end(slow);
    let (text, idle) = read_to_end(idle);
    assert!(slow < Duration::from_secs(5) && idle < Duration::from_secs(5), "{slow:?} {idle:?}");
    assert!(!text.contains("200"), "{text}");
}

#[test]
fn a_slow_body_is_408_and_counts_as_refused() {
    let gateway = start_with(|config| config.http.body_timeout_seconds = 1);
    let mut stream = connect(&gateway);
    write!(stream, "{}5\r\n\r\n12", post_head(&gateway)).unwrap();
    let (text, took) = read_to_end(stream);
    assert!(text.starts_with("HTTP/1.1 408") && text.contains("urn:dunnage:problem:body-timeout"), "{text}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.refused), (1, 1));
}

#[test]
fn a_request_that_ends_early_counts_as_refused() {
    let gateway = start();
    let mut stream = connect(&gateway);
    write!(stream, "{}5\r\n\r\n12", post_head(&gateway)).unwrap();
    let in_memory = || !gateway.get("/metrics").text.contains("\ndunnage_queue_bytes 0\n");
    wait_until("a part of the body is in memory", in_memory);
    drop(stream);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.refused), (1, 0, 1));
}

#[test]
fn new_connections_wait_for_those_with_requests_in_progress() {
    let gateway = start_with(|config| config.http.connections = 1);
    let held = block_commits(gateway.folder.path());
    let mut first = connect(&gateway);
    write!(first, "{}2\r\n\r\n{{}}", post_head(&gateway)).unwrap();
    // Longer than the gateway takes to read the request. A second connection cannot ask whether it did.
    std::thread::sleep(Duration::from_millis(200));
    let mut second = connect(&gateway);
    second.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    second.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(second.read(&mut [0; 1]).is_err(), "the second connection was served beside the first");
    drop(held);
    second.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(read_to_end(second).0.starts_with("HTTP/1.1 200"));
    // The first request was answered before its connection gave way.
    assert!(read_to_end(first).0.starts_with("HTTP/1.1 204"));
}

/// Opens `count` connections that send only `bytes`.
fn open_connections(gateway: &crate::support::Running, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let open = || {
        let mut stream = connect(gateway);
        stream.write_all(bytes).unwrap();
        stream
    };
    (0..count).map(|_| open()).collect()
}

#[test]
fn idle_connections_give_way_to_active_ones() {
    let gateway = start_with(|config| config.http.connections = 64);
    let body = format!("{}9\r\n\r\n{{", post_head(&gateway));
    for bytes in [&b""[..], b"POST /ingest/d HTTP/1.1\r\nhost", body.as_bytes()] {
        let silent = open_connections(&gateway, 64, bytes);
        let begun = Instant::now();
        // A new agent has no open connection that it could use.
        assert_eq!(post(&agent(), &gateway.url("/ingest/d"), JSON, b"{}").status, 204);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        drop(silent);
    }
    let metrics = gateway.get("/metrics").text;
    let gave_way = "dunnage_closed_connections_total{input=\"http\",reason=\"idle\"} ";
    let count = metrics.lines().find_map(|line| line.strip_prefix(gave_way)).unwrap();
    assert!(count.parse::<u64>().unwrap() >= 3, "{count}");
    gateway.stop();
}

#[test]
fn mqtt_connections_without_connect_packets_give_way_to_clients() {
    let gateway = start_with(|config| {
        let input = "name = 'm'\n[mqtt]\nlisten = '127.0.0.1:0'\nconnections = 8";
        config.inputs.push(toml::from_str(input).unwrap());
    });
    let address = gateway.gateway.input_address("m").unwrap();
    // MQTT 3.1.1, a clean session, no keep alive, the client's id.
    let connect = |id: u8| [0x10, 13, 0, 4, b'M', b'Q', b'T', b'T', 4, 2, 0, 0, 0, 1, id];
    let mut all = Vec::new();
    for id in b'a'..b'h' {
        let mut client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.write_all(&connect(id)).unwrap();
        let mut answer = [0; 4];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0x20, 2, 0, 0]);
        // A silent connection for each client: together they exceed the limit of connections.
        all.push((client, TcpStream::connect(address).unwrap()));
    }
    for (client, _) in &mut all {
        client.write_all(&[0xc0, 0]).unwrap();
        let mut answer = [0; 2];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0xd0, 0]);
    }
    gateway.stop();
}

#[test]
fn one_address_cannot_use_all_event_streams() {
    let gateway = start();
    let port = gateway.gateway.address().port();
    let stream = |from: [u8; 4]| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
        socket.connect(&gateway.gateway.address().into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "GET /api/events HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, String::from_utf8_lossy(&status[9..]).into_owned())
    };
    let mut open: Vec<_> = (0..64).map(|_| stream([127, 0, 0, 1])).collect();
    assert!(open.iter().all(|(_, status)| status == "200"));
    assert_eq!(stream([127, 0, 0, 1]).1, "503");
    assert_eq!(stream([127, 0, 0, 2]).1, "200");
    // The place of a closed stream becomes free.
    open.pop();
    wait_until("a place is free", || {
        // The gateway notices the end when it sends the next event.
        gateway.post("/ingest/d", JSON, b"{}");
        stream([127, 0, 0, 1]).1 == "200"
    });
    gateway.stop();
}

/// Stores two messages of which an answer has some megabytes: MessagePack texts whose characters take six bytes in JSON.
fn store_large(gateway: &crate::support::Running) {
    let length = 500_000_u32;
    let message = [&[0xdb][..], &length.to_be_bytes(), &vec![1; length as usize]].concat();
    for _ in 0..2 {
        assert_eq!(gateway.post("/ingest/d", "application/msgpack", &message).status, 204);
    }
}

/// Requests an answer of some megabytes from the address `from`, and reads only the status.
fn request_large(gateway: &crate::support::Running, from: [u8; 4]) -> (TcpStream, String) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket.connect(&gateway.gateway.address().into()).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let port = gateway.gateway.address().port();
    write!(stream, "GET /api/messages?limit=1000 HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n").unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    (stream, String::from_utf8_lossy(&status[9..]).into_owned())
}

#[test]
fn unread_answers_leave_memory_to_other_clients() {
    let gateway = start();
    store_large(&gateway);
    let unread: Vec<_> = (0..40).map(|_| request_large(&gateway, [127, 0, 0, 1])).collect();
    let answered = unread.iter().filter(|(_, status)| status == "200").count();
    // The answers to one address may take 32 MiB.
    assert!((8..=13).contains(&answered), "{answered}");
    assert!(unread.iter().all(|(_, status)| status == "200" || status == "503"));
    // Other addresses and messages still get memory, and the memory is free again after the clients have disconnected.
    assert_eq!(request_large(&gateway, [127, 0, 0, 2]).1, "200");
    assert_eq!(gateway.post("/ingest/d", JSON, b"1").status, 204);
    drop(unread);
    wait_until("the memory is free", || gateway.get("/api/messages?limit=1000").status == 200);
    gateway.stop();
}

#[test]
fn the_connection_of_a_client_that_does_not_read_ends() {
    let gateway = start_with(|config| config.http.write_timeout_seconds = 1);
    store_large(&gateway);
    let (stream, status) = request_large(&gateway, [127, 0, 0, 1]);
    assert_eq!(status, "200");
    std::thread::sleep(Duration::from_secs(3));
    let (answer, _) = read_to_end(stream);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let length = head.split_once("content-length: ").unwrap().1.lines().next().unwrap();
    assert!(body.len() < length.parse().unwrap(), "{} of {length}", body.len());
    gateway.stop();
}

#[test]
fn heads_over_the_limit_are_431() {
    let gateway = start();
    let mut stream = connect(&gateway);
    let head = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nlong: {}\r\n\r\n", "x".repeat(20 << 10));
    let _ = stream.write_all(head.as_bytes());
    assert!(read_to_end(stream).0.starts_with("HTTP/1.1 431"));
    let mut stream = connect(&gateway);
    stream.write_all(format!("GET /healthz HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(100)).as_bytes()).unwrap();
    assert!(read_to_end(stream).0.starts_with("HTTP/1.1 431"));
}

#[test]
fn a_connection_stays_open_after_a_request_is_rejected_by_its_head() {
    let gateway = start();
    let mut stream = TcpStream::connect(gateway.gateway.address()).unwrap();
    for _ in 0..20 {
        stream
            .write_all(b"POST /ingest/%00 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n")
            .unwrap();
        // The gateway has read the head long before the body arrives.
        std::thread::sleep(Duration::from_millis(5));
        stream.write_all(b"1").unwrap();
        let mut answer = [0; 4096];
        let length = stream.read(&mut answer).unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 400"), "{:?}", answer[..length].escape_ascii());
    }
}
