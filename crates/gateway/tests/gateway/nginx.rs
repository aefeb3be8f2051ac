//! nginx in front of the gateway, with the configuration that `docs/access.md` gives.

use crate::support::{Answer, JSON, Running, agent, answer, nginx::Nginx, start_with};
use dunnage_gateway::{Right, Scope, tokens};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::MetadataExt,
};

/// The minimum that nginx buffers of a response before it forwards any of it (`proxy_buffer_size`), in bytes.
const PROXY_BUFFER_BYTES: usize = 4096;

/// Returns the document's `location` block with the address of `gateway`.
fn documented(gateway: &Running) -> String {
    let document = include_str!("../../../../docs/access.md");
    let begin = document.find("    location / {\n").unwrap();
    let length = document[begin..].find("\n    }\n").unwrap() + "\n    }\n".len();
    let block = &document[begin..begin + length];
    assert_eq!(block.matches("http://127.0.0.1:8080;").count(), 1, "{block}");
    block.replace("127.0.0.1:8080", &gateway.gateway.address().to_string())
}

/// Starts a gateway with the default access rules, which let this machine in. Returns it with a token that sends as `buoy-*` and one that
/// reads.
fn gateway() -> (Running, [String; 2]) {
    let mut secrets = Vec::new();
    let gateway = start_with(|config| {
        for (name, right) in
            [("sends", Right::Send("buoy-*".into())), ("reads", Right::Read(Scope::EVERYTHING))]
        {
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
fn requests_through_nginx_need_a_token_which_nginx_forwards() {
    let (gateway, [sends, reads]) = gateway();
    let nginx = Nginx::start(&documented(&gateway));
    let (direct, through) = (gateway.url("/ingest/buoy-7"), nginx.url("/ingest/buoy-7"));
    assert_eq!(send(&direct, &[]).status, 204);
    // No header that a client sends makes it local.
    for forged in [
        &[][..],
        &[("x-forwarded-for", "127.0.0.1")],
        &[("x-real-ip", "127.0.0.1"), ("forwarded", "for=127.0.0.1")],
        &[("host", "localhost")],
        &[("host", "localhost"), ("x-forwarded-for", "")],
    ] {
        let refused = send(&through, forged);
        assert_eq!(refused.status, 401, "{forged:?}: {}", refused.text);
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
fn clients_of_a_proxy_without_forwarding_headers_are_not_local() {
    let (gateway, _) = gateway();
    let address = gateway.gateway.address();
    // nginx's default HTTP version, and the settings for keep-alive connections.
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
    // Without any of these settings nginx uses HTTP/1.0; such requests are not local either.
    let bare = Nginx::start(&format!("location / {{ proxy_pass http://{address}; }}"));
    assert_eq!(send(&bare.url("/ingest/buoy-7"), &[]).status, 401);
    assert_eq!(gateway.get_json("/api/stats")["stored"], 0);
}

/// Returns the expected result through a proxy that sends no forwarding headers: `refused` if it runs as another user, else `accepted`. Only
/// root can start it as another user; otherwise it runs as the user of the tests, and so of the gateway.
fn expected_behind_plain_proxy<T>(refused: T, accepted: T) -> T {
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 { refused } else { accepted }
}

#[test]
fn proxy_without_forwarding_headers_is_recognized_by_its_user() {
    let (gateway, [sends, _]) = gateway();
    let address = gateway.gateway.address();
    // The default of nginx since 1.29.7: HTTP/1.1, and the gateway's own address as Host.
    let default_since_1_29_7 = "proxy_http_version 1.1; proxy_set_header Connection \"\";";
    let nginx = Nginx::start_as(
        "www-data",
        &format!("location / {{ proxy_pass http://{address}; {default_since_1_29_7} }}"),
    );
    let without_token = send(&nginx.url("/ingest/buoy-7"), &[]);
    assert_eq!(without_token.status, expected_behind_plain_proxy(401, 204), "{}", without_token.text);
    assert_eq!(send(&nginx.url("/ingest/buoy-7"), &[("authorization", &sends)]).status, 204);
    assert_eq!(send(&gateway.url("/ingest/buoy-7"), &[]).status, 204);
}

#[test]
fn proxy_of_tcp_connections_is_recognized_by_its_user() {
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
    assert_eq!(connack(nginx.address), [0x20, 2, 0, expected_behind_plain_proxy(5, 0)]);
}

/// Sends a message with the Host header `host`. Returns the status of the response.
fn raw_post(address: SocketAddr, host: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = r#"{"t":17.25}"#;
    let head = "content-type: application/json\r\nconnection: close\r\ncontent-length: 11";
    write!(stream, "POST /ingest/buoy-7 HTTP/1.1\r\nhost: {host}\r\n{head}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Returns how many bytes of the event stream arrive through nginx up to the message that is sent after the stream's first line has arrived.
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
    panic!("the stream ended");
}

#[test]
fn nginx_forwards_events_without_delay() {
    let (gateway, [_, reads]) = gateway();
    let documented = documented(&gateway);
    let bytes = bytes_before_a_message(&gateway, &documented, &reads);
    assert!(bytes < PROXY_BUFFER_BYTES, "{bytes}");
}
