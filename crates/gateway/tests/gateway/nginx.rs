//! nginx in front of the gateway, with the lines that `docs/operate.md` gives for it.

use crate::support::{Answer, JSON, Running, agent, answer, nginx::Nginx, start_with};
use dunnage_gateway::{Right, tokens};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::MetadataExt,
};

/// What nginx buffers of an answer before it hands anything on (`proxy_buffer_size`), at least.
const LUMP: usize = 4096;

/// The lines of the document, for a gateway at another address.
fn documented(gateway: &Running) -> String {
    let document = include_str!("../../../../docs/operate.md");
    let begin = document.find("    location / {\n").unwrap();
    let length = document[begin..].find("\n    }\n").unwrap() + "\n    }\n".len();
    let block = &document[begin..begin + length];
    assert_eq!(block.matches("http://127.0.0.1:8080;").count(), 1, "{block}");
    block.replace("127.0.0.1:8080", &gateway.gateway.address().to_string())
}

/// A gateway as it comes, which lets this machine in; a token that sends as `buoy-*`, and one that reads.
fn gateway() -> (Running, [String; 2]) {
    let mut secrets = Vec::new();
    let gateway = start_with(|config| {
        for (name, right) in [("sends", Right::Send("buoy-*".into())), ("reads", Right::Read)] {
            let (_, secret) = tokens::add(&config.tokens(), Some(name), right, None).unwrap();
            secrets.push(format!("Bearer {secret}"));
        }
    });
    (gateway, secrets.try_into().unwrap())
}

fn send(url: &str, headers: &[(&str, &str)]) -> Answer {
    let request = agent().post(url).header("content-type", JSON);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    answer(request.send(br#"{"t":17.25}"#).unwrap())
}

#[test]
fn who_comes_through_nginx_needs_a_token_which_nginx_hands_on() {
    let (gateway, [sends, reads]) = gateway();
    let nginx = Nginx::start(&documented(&gateway));
    let (direct, through) = (gateway.url("/ingest/buoy-7"), nginx.url("/ingest/buoy-7"));
    assert_eq!(send(&direct, &[]).status, 204);
    // Nothing that a client says of itself makes it one of this machine.
    for lie in [
        &[][..],
        &[("x-forwarded-for", "127.0.0.1")],
        &[("x-real-ip", "127.0.0.1"), ("forwarded", "for=127.0.0.1")],
        &[("host", "localhost")],
        &[("host", "localhost"), ("x-forwarded-for", "")],
    ] {
        let refused = send(&through, lie);
        assert_eq!(refused.status, 401, "{lie:?}: {}", refused.text);
        assert_eq!(refused.headers.get_all("www-authenticate").iter().count(), 2);
    }
    assert_eq!(send(&through, &[("authorization", &sends)]).status, 204);
    assert_eq!(send(&nginx.url("/ingest/ship-1"), &[("authorization", &sends)]).status, 403);
    let get = |token: &str| {
        let request = agent().get(nginx.url("/api/stats")).header("authorization", token);
        answer(request.call().unwrap())
    };
    assert_eq!((get(&sends).status, get(&reads).json()["stored"].as_u64()), (403, Some(2)));
}

#[test]
fn a_client_cannot_become_local_through_a_proxy_that_says_too_little() {
    let (gateway, _) = gateway();
    let address = gateway.gateway.address();
    // As nginx speaks by itself, and as it is told to for connections that are kept.
    for version in ["", "proxy_http_version 1.1; proxy_set_header Connection \"\";"] {
        let nginx = Nginx::start(&format!(
            "location / {{ proxy_pass http://{address}; {version} proxy_set_header Host $host; }}"
        ));
        for host in ["localhost", "127.0.0.1", "203.0.113.7", "telemetry.example.org", "t\u{e9}l"] {
            for host in [host.to_owned(), format!("{host}:{}", address.port())] {
                let status = raw_post(nginx.address, &host);
                assert!([400, 401].contains(&status), "{version} {host}: {status}");
            }
        }
    }
    // Without any of the lines nginx speaks HTTP/1.0, which is not local either.
    let bare = Nginx::start(&format!("location / {{ proxy_pass http://{address}; }}"));
    assert_eq!(send(&bare.url("/ingest/buoy-7"), &[]).status, 401);
    assert_eq!(gateway.get_json("/api/stats")["stored"], 0);
}

/// The answer through a proxy that says nothing of itself: `refused` for one that runs as another user. Only root can start one; started by
/// anybody else it runs as the user of the tests, and so of the gateway.
fn through_a_silent_proxy<T>(refused: T, taken: T) -> T {
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 { refused } else { taken }
}

#[test]
fn a_proxy_that_says_nothing_is_known_by_its_user() {
    let (gateway, [sends, _]) = gateway();
    let address = gateway.gateway.address();
    // As nginx does by itself from 1.29.7 on: HTTP/1.1, and the gateway's own address as Host.
    let as_by_default = "proxy_http_version 1.1; proxy_set_header Connection \"\";";
    let nginx = Nginx::start_as(
        "www-data",
        &format!("location / {{ proxy_pass http://{address}; {as_by_default} }}"),
    );
    let without_token = send(&nginx.url("/ingest/buoy-7"), &[]);
    assert_eq!(without_token.status, through_a_silent_proxy(401, 204), "{}", without_token.text);
    assert_eq!(send(&nginx.url("/ingest/buoy-7"), &[("authorization", &sends)]).status, 204);
    assert_eq!(send(&gateway.url("/ingest/buoy-7"), &[]).status, 204);
}

#[test]
fn a_proxy_that_passes_connections_on_is_known_by_its_user() {
    let mqtt = start_with(|config| {
        let input = "name = 'yard'\n[mqtt]\nlisten = '127.0.0.1:0'";
        config.inputs.push(toml::from_str(input).unwrap());
    });
    let address = mqtt.gateway.input_address("yard").unwrap();
    let nginx = Nginx::forward_tcp_as("www-data", address);
    let connack = |address: SocketAddr| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a").unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        answer
    };
    assert_eq!(connack(address), [0x20, 2, 0, 0]);
    // 5: not authorized.
    assert_eq!(connack(nginx.address), [0x20, 2, 0, through_a_silent_proxy(5, 0)]);
}

/// The status of the answer to a message for the authority `host`.
fn raw_post(address: SocketAddr, host: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = r#"{"t":17.25}"#;
    let head = "content-type: application/json\r\nconnection: close\r\ncontent-length: 11";
    write!(stream, "POST /ingest/buoy-7 HTTP/1.1\r\nhost: {host}\r\n{head}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// How much of the stream comes through nginx before the message that is sent when its first line is there.
fn bytes_before_a_message(gateway: &Running, locations: &str, token: &str) -> usize {
    let nginx = Nginx::start(locations);
    let stream = agent().get(nginx.url("/api/events")).header("authorization", token).call().unwrap();
    assert_eq!(stream.status().as_u16(), 200);
    let (mut bytes, mut sent) = (0, false);
    for line in BufReader::new(stream.into_body().into_reader()).lines() {
        let line = line.unwrap();
        bytes += line.len() + 1;
        if line == "event: message" {
            return bytes;
        }
        if !std::mem::replace(&mut sent, true) {
            assert_eq!(gateway.post("/ingest/buoy-7", JSON, br#"{"t":17.25}"#).status, 204);
        }
    }
    panic!("the stream has ended");
}

#[test]
fn events_come_through_nginx_as_they_happen() {
    let (gateway, [_, reads]) = gateway();
    let documented = documented(&gateway);
    let bytes = bytes_before_a_message(&gateway, &documented, &reads);
    assert!(bytes < LUMP, "{bytes}");
}
