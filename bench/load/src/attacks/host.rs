//! Requests that a proxy or a browser on this machine forwards for somebody else. The gateway must refuse all of them without a token.

use super::{Outcome, http};
use crate::Failure;
use std::net::{IpAddr, SocketAddr};

/// Headers that proxies add.
const FORWARDING: [&str; 13] = [
    "Forwarded: for=203.0.113.9",
    "X-Forwarded-For: 203.0.113.9",
    "X-Forwarded-Host: telemetry.example.org",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Port: 443",
    "X-Forwarded-Server: edge",
    "X-Original-Forwarded-For: 203.0.113.9",
    "Via: 1.1 edge",
    "X-Real-IP: 203.0.113.9",
    "CF-Connecting-IP: 203.0.113.9",
    "True-Client-IP: 203.0.113.9",
    "Fly-Client-IP: 203.0.113.9",
    "Sec-Fetch-Site: cross-site",
];

/// Sends the requests repeatedly while `keep_going` returns true.
pub async fn run(
    source: IpAddr,
    address: SocketAddr,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let requests = requests(address);
    let mut outcome = Outcome::default();
    while keep_going() {
        for (name, request) in &requests {
            outcome.sent += 1;
            // A connection that is closed without an answer is a refusal, too.
            let status = http::once(source, address, request).await.unwrap_or_default();
            if (200..300).contains(&status) {
                outcome.add_violation(format!("{name} was accepted"));
            }
        }
    }
    outcome.description = format!("{} spoofed requests, repeated", requests.len());
    Ok(outcome)
}

/// The requests: a description and the bytes of each.
fn requests(address: SocketAddr) -> Vec<(String, Vec<u8>)> {
    let port = address.port();
    let body = "{\"n\":0}";
    let bytes = |version: &str, target: &str, headers: &[u8]| {
        let length =
            format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        [format!("POST {target} HTTP/{version}\r\n").as_bytes(), headers, length.as_bytes()].concat()
    };
    let path = "/ingest/spoofed";
    let mut requests = Vec::new();
    for host in [
        "localhost".to_owned(),
        "localhost:1".to_owned(),
        "203.0.113.7".to_owned(),
        format!("203.0.113.7:{port}"),
        "[2001:db8::7]".to_owned(),
        format!("[::ffff:203.0.113.7]:{port}"),
        "telemetry.example.org".to_owned(),
        format!("telemetry.example.org:{port}"),
        format!("localhost.example.org:{port}"),
        format!("127.0.0.1.example.org:{port}"),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ] {
        let header = format!("Host: {host}\r\n");
        requests.push((format!("Host {host:?}"), bytes("1.1", path, header.as_bytes())));
        requests.push((format!("Host {host:?} in HTTP/1.0"), bytes("1.0", path, header.as_bytes())));
    }
    requests.push(("a non-ASCII Host".into(), bytes("1.1", path, b"Host: caf\xe9\r\n")));
    requests.push(("no Host".into(), bytes("1.1", path, b"")));
    let matching_host = format!("Host: {address}\r\n");
    let two_hosts = format!("{matching_host}Host: telemetry.example.org\r\n");
    requests.push(("two Hosts".into(), bytes("1.1", path, two_hosts.as_bytes())));
    let foreign = format!("http://telemetry.example.org{path}");
    requests.push(("a foreign target".into(), bytes("1.1", &foreign, matching_host.as_bytes())));
    for header in FORWARDING {
        let headers = format!("{matching_host}{header}\r\n");
        requests.push((header.into(), bytes("1.1", path, headers.as_bytes())));
    }
    requests
}
