//! Clients that count as the gateway's own machine, and therefore need no token.

use super::{MESSAGE, get, post};
use crate::support::{Running, answer, start_with};
use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// Sends `head`, the remaining headers and a message as body. Returns the status code of the answer.
fn raw(gateway: &Running, head: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(gateway.gateway.address()).unwrap();
    let mut request = head.to_vec();
    request.extend_from_slice(
        b"content-type: application/json\r\nconnection: close\r\ncontent-length: 21\r\n\r\n",
    );
    request.extend_from_slice(MESSAGE);
    stream.write_all(&request).unwrap();
    let mut answer = Vec::new();
    // The gateway may refuse a request and close the connection before it has read the whole request.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    text.split(' ').nth(1).unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

#[test]
fn a_loopback_client_needs_no_token_unless_it_is_a_proxy() {
    let gateway = start_with(|_| ());
    assert_eq!(post(&gateway, "d", &[]).status, 204);
    for header in
        [("x-forwarded-for", "10.1.2.3"), ("forwarded", "for=10.1.2.3"), ("host", "telemetry.example.org")]
    {
        let refused = post(&gateway, "d", &[header]);
        assert_eq!(refused.status, 401, "{header:?}: {}", refused.text);
        assert_eq!(refused.json()["type"], "urn:dunnage:problem:unauthorized");
        assert_eq!(get(&gateway, "/api/stats", &[header]).status, 401, "{header:?}");
        assert_eq!(get(&gateway, "/healthz", &[header]).status, 200, "{header:?}");
    }
    // Another site's page in a browser on this machine.
    assert_eq!(get(&gateway, "/api/messages", &[("origin", "https://example.org")]).status, 401);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.refused, summary.quarantined), (1, 3, 0));
}

#[test]
fn only_this_listeners_own_loopback_authority_is_local() {
    let gateway = start_with(|_| ());
    let port = gateway.gateway.address().port();
    let with_host = |host: &[u8]| {
        let head = [b"POST /ingest/d HTTP/1.1\r\nhost: ", host, b"\r\n"].concat();
        raw(&gateway, &head)
    };
    for local in ["127.0.0.1", "127.9.9.9", "localhost", "LocalHost", "[::1]", "[::ffff:127.0.0.1]"] {
        assert_eq!(with_host(format!("{local}:{port}").as_bytes()), 204, "{local}");
    }
    let other = port ^ 1;
    for foreign in [
        "localhost".to_owned(),
        "127.0.0.1".into(),
        "[::1]".into(),
        "localhost:".into(),
        format!("localhost:{other}"),
        format!("127.0.0.1:{other}"),
        format!("203.0.113.7:{port}"),
        format!("0.0.0.0:{port}"),
        format!("[::]:{port}"),
        format!("[::ffff:203.0.113.7]:{port}"),
        format!("localhost.:{port}"),
        format!("localhost.example.org:{port}"),
        format!("telemetry.example.org:{port}"),
        format!("2130706433:{port}"),
        format!("127.1:{port}"),
        String::new(),
    ] {
        assert_eq!(with_host(foreign.as_bytes()), 401, "{foreign}");
    }
    for invalid in [
        &b"t\xe9l\xe9"[..],
        b"\xc3\xa9.example.org",
        b"localhost:80 80",
        b"local host",
        b"a@localhost",
        b"http://localhost",
        b"localhost/",
        b"[::1",
        b"localhost:port",
        b"a, b",
    ] {
        assert_eq!(with_host(invalid), 400, "{}", invalid.escape_ascii());
    }
    // The authority of an absolute target counts like Host. Both must be local.
    let absolute = |target: &str, host: &str| {
        raw(&gateway, format!("POST http://{target}/ingest/d HTTP/1.1\r\nhost: {host}\r\n").as_bytes())
    };
    let here = format!("localhost:{port}");
    assert_eq!(absolute(&here, &here), 204);
    assert_eq!(absolute("telemetry.example.org", &here), 401);
    assert_eq!(absolute(&here, "telemetry.example.org"), 401);
    assert_eq!(absolute(&format!("203.0.113.7:{port}"), &here), 401);
    gateway.stop();
}

#[test]
fn an_http_1_1_request_must_have_exactly_one_host() {
    let gateway = start_with(|_| ());
    let port = gateway.gateway.address().port();
    let post = |lines: &str| raw(&gateway, format!("POST /ingest/d {lines}").as_bytes());
    assert_eq!(post("HTTP/1.1\r\n"), 400);
    assert_eq!(post(&format!("HTTP/1.1\r\nhost: localhost:{port}\r\nhost: localhost:{port}\r\n")), 400);
    assert_eq!(post(&format!("HTTP/1.1\r\nhost: localhost:{port}\r\n")), 204);
    // HTTP/1.0 needs no Host. Proxies use it by default, so such a request is not local.
    assert_eq!(post("HTTP/1.0\r\n"), 401);
    assert_eq!(post(&format!("HTTP/1.0\r\nhost: localhost:{port}\r\n")), 401);
    let health = |line: &str| raw(&gateway, format!("GET /healthz {line}\r\n").as_bytes());
    assert_eq!((health("HTTP/1.0"), health("HTTP/1.1")), (200, 400));
    gateway.stop();
}

#[test]
fn a_request_with_a_proxy_header_is_not_local() {
    let gateway = start_with(|_| ());
    for name in [
        "Forwarded",
        "Via",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Anything",
        "X-Original-Forwarded-For",
        "X-Real-IP",
        "CF-Connecting-IP",
        "CF-Connecting-IPv6",
        "CF-Ray",
        "CDN-Loop",
        "True-Client-IP",
        "Fly-Client-IP",
        "Fastly-Client-IP",
        "X-Client-IP",
        "X-Cluster-Client-IP",
        "X-Azure-ClientIP",
        "X-Envoy-External-Address",
        "X-Original-Host",
        "X-Amzn-Trace-Id",
        "X-Appengine-User-IP",
        "Proxy-Connection",
    ] {
        // Even an empty header shows that there is a proxy.
        for value in ["127.0.0.1", ""] {
            assert_eq!(get(&gateway, "/api/stats", &[(name, value)]).status, 401, "{name}: {value}");
        }
    }
    for name in ["X-Request-Id", "Idempotency-Key", "User-Agent", "X-Requested-With", "Traceparent"] {
        assert_eq!(get(&gateway, "/api/stats", &[(name, "a")]).status, 200, "{name}");
    }
    gateway.stop();
}

#[test]
fn a_cross_site_request_of_a_browser_needs_a_token() {
    let gateway = start_with(|_| ());
    let walk = "/api/devices/d/messages?before=0";
    assert_eq!(post(&gateway, "d", &[]).status, 204);
    for site in ["cross-site", "same-site", "anything", ""] {
        let refused = get(&gateway, walk, &[("sec-fetch-site", site), ("sec-fetch-mode", "no-cors")]);
        assert_eq!(refused.status, 401, "{site}: {}", refused.text);
        assert_eq!(post(&gateway, "d", &[("sec-fetch-site", site)]).status, 401, "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(get(&gateway, walk, &[("sec-fetch-site", site)]).status, 200, "{site}");
    }
    // The page of another listener of this machine is another origin.
    let origin = format!("http://127.0.0.1:{}", gateway.gateway.address().port() ^ 1);
    assert_eq!(get(&gateway, walk, &[("origin", &origin)]).status, 401);
    assert_eq!(get(&gateway, walk, &[("origin", &gateway.url(""))]).status, 200);
    gateway.stop();
}

#[test]
fn a_listener_that_others_reach_requires_a_token() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let gateway = start_with(|config| config.http.listen = listen.parse().unwrap());
        let url = format!("http://127.0.0.1:{}/api/stats", gateway.gateway.address().port());
        let refused = answer(gateway.agent.get(url).call().unwrap());
        assert_eq!(refused.status, 401, "{listen}");
        assert!(refused.json()["detail"].as_str().unwrap().contains("other machines"), "{}", refused.text);
        gateway.stop();
    }
}
