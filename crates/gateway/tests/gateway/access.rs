//! Who may send and read over HTTP, with tokens, limits and proxies.

use crate::support::{Answer, JSON, Running, answer, start_with};
use dunnage_gateway::{Config, Right, Who, tokens};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

const MESSAGE: &[u8] = br#"{"temperature":17.25}"#;

/// What a client sends along.
type Headers<'a> = &'a [(&'a str, &'a str)];

fn post(gateway: &Running, device: &str, headers: Headers) -> Answer {
    let url = gateway.url(&format!("/ingest/{device}"));
    let request = gateway.agent.post(url).header("content-type", JSON);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    answer(request.send(MESSAGE).unwrap())
}

fn get(gateway: &Running, path: &str, headers: Headers) -> Answer {
    let request = gateway.agent.get(gateway.url(path));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    answer(request.call().unwrap())
}

fn challenges(answer: &Answer) -> Vec<&str> {
    answer.headers.get_all("www-authenticate").iter().map(|value| value.to_str().unwrap()).collect()
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// A gateway in which everybody needs a token, a token that sends as `buoy-*`, and one that reads.
fn guarded(change: impl FnOnce(&mut Config)) -> (Running, String, String) {
    let mut secrets = Vec::new();
    let gateway = start_with(|config| {
        config.access.who = Who::Tokens;
        for (name, right) in [("sends", Right::Send("buoy-*".into())), ("reads", Right::Read)] {
            secrets.push(tokens::add(&config.tokens(), Some(name), right, None).unwrap().1);
        }
        change(config);
    });
    let reads = secrets.pop().unwrap();
    (gateway, secrets.pop().unwrap(), reads)
}

#[test]
fn the_loopback_address_is_free_until_a_proxy_stands_there() {
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
fn a_token_sends_as_its_devices_and_another_reads() {
    let (gateway, sends, reads) = guarded(|_| ());
    let none = post(&gateway, "buoy-7", &[]);
    assert_eq!(none.status, 401, "{}", none.text);
    assert_eq!(challenges(&none).len(), 2, "{:?}", none.headers);
    assert!(challenges(&none).iter().any(|challenge| challenge.starts_with("Basic realm=\"dunnage\"")));
    assert_eq!(none.headers["x-content-type-options"], "nosniff");
    assert_eq!(none.headers["cache-control"], "no-store");
    let sends = bearer(&sends);
    assert_eq!(post(&gateway, "buoy-7", &[("authorization", &sends)]).status, 204);
    let other = post(&gateway, "ship-1", &[("authorization", &sends)]);
    assert_eq!((other.status, other.json()["type"].as_str()), (403, Some("urn:dunnage:problem:forbidden")));
    assert!(challenges(&other).is_empty());
    let wrong = format!("{}x", &sends[..sends.len() - 1]);
    assert_eq!(post(&gateway, "buoy-7", &[("authorization", &wrong)]).status, 401);
    let open = ["/healthz", "/readyz"];
    let locked = [
        "/",
        "/app.js",
        "/api/devices",
        "/api/devices/buoy-7/messages",
        "/api/messages",
        "/api/quarantine",
        "/api/stats",
        "/api/events",
        "/metrics",
        "/nothing",
    ];
    open.iter().for_each(|path| assert_eq!(get(&gateway, path, &[]).status, 200, "{path}"));
    for path in locked {
        let refused = get(&gateway, path, &[]);
        assert_eq!((refused.status, challenges(&refused).len()), (401, 2), "{path}");
        assert!(refused.headers.contains_key("content-security-policy"), "{path}");
        assert_eq!(get(&gateway, path, &[("authorization", &sends)]).status, 403, "{path}");
    }
    // As curl -u any:TOKEN and browsers send it.
    let basic = base64(&format!("any:{reads}"));
    for header in [bearer(&reads), format!("Basic {basic}")] {
        let devices = get(&gateway, "/api/devices", &[("authorization", &header)]);
        assert_eq!(devices.status, 200, "{}", devices.text);
        assert!(devices.text.contains("buoy-7") && !devices.text.contains("ship-1"), "{}", devices.text);
    }
    let metrics = get(&gateway, "/metrics", &[("authorization", &bearer(&reads))]).text;
    assert!(metrics.contains("dunnage_access_refusals_total{problem=\"forbidden\"} 11"), "{metrics}");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.refused), (4, 1, 3));
}

#[test]
fn tokens_change_with_a_reload_and_a_mistake_leaves_them() {
    let (gateway, sends, _) = guarded(|_| ());
    let path = gateway.folder.path().join("tokens.toml");
    let sends = bearer(&sends);
    let send = |token: &str| post(&gateway, "buoy-7", &[("authorization", token)]).status;
    let reload = || gateway.runtime.block_on(gateway.gateway.reload());
    // Both at once, and then the new one alone.
    let new = bearer(&tokens::add(&path, Some("new"), Right::Send("buoy-*".into()), None).unwrap().1);
    assert_eq!((send(&sends), send(&new)), (204, 401));
    assert_eq!(reload().unwrap().tokens, 3);
    assert_eq!((send(&sends), send(&new)), (204, 204));
    tokens::revoke(&path, "sends", Some("2020-01-01".parse().unwrap())).unwrap();
    reload().unwrap();
    assert_eq!((send(&sends), send(&new)), (401, 204));
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replace("until", "untill")).unwrap();
    let error = reload().unwrap_err().to_string();
    assert!(error.contains("tokens.toml:") && error.contains("token[1].untill"), "{error}");
    assert_eq!(send(&new), 204);
    tokens::revoke(&path, "new", None).unwrap_err();
    fs::write(&path, good).unwrap();
    tokens::revoke(&path, "new", None).unwrap();
    reload().unwrap();
    assert_eq!(send(&new), 401);
    gateway.stop();
}

#[test]
fn a_token_that_is_taken_away_ends_the_event_stream_that_it_opened() {
    let (gateway, _, reads) = guarded(|_| ());
    let path = gateway.folder.path().join("tokens.toml");
    let other = tokens::add(&path, Some("other"), Right::Read, None).unwrap().1;
    let reload = || gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    reload();
    let open = |token: &str| {
        let mut stream = TcpStream::connect(gateway.gateway.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "GET /api/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        stream
    };
    let (mut revoked, kept) = (open(&reads), open(&other));
    tokens::revoke(&path, "reads", None).unwrap();
    reload();
    // A stream that goes on has a comment every 15 s.
    let (begun, mut bytes) = (Instant::now(), [0; 4096]);
    while revoked.read(&mut bytes).unwrap() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the stream goes on");
    }
    // One whose token stays goes on.
    kept.set_nonblocking(true).unwrap();
    let ended = std::io::copy(&mut &kept, &mut std::io::sink()).map_err(|e| e.kind());
    assert_eq!(ended.unwrap_err(), std::io::ErrorKind::WouldBlock);
    gateway.stop();
}

#[test]
fn a_device_that_sends_too_often_is_told_when_to_come_again() {
    let gateway = start_with(|config| config.access.device_messages_per_minute = 3);
    assert!((0..3).all(|_| post(&gateway, "d", &[]).status == 204));
    let refused = post(&gateway, "d", &[]);
    assert_eq!(
        (refused.status, refused.json()["type"].as_str()),
        (429, Some("urn:dunnage:problem:too-many"))
    );
    let seconds: u32 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=20).contains(&seconds), "{seconds}");
    assert_eq!(post(&gateway, "e", &[]).status, 204);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_access_refusals_total{problem=\"too-many\"} 1"), "{metrics}");
    assert!(metrics.contains("dunnage_problem_messages_total{problem=\"too-many\"} 1"), "{metrics}");
    gateway.stop();
}

#[test]
fn wrong_tokens_are_slowed_down() {
    let (gateway, sends, _) = guarded(|_| ());
    let wrong = |n: usize| bearer(&format!("dn_{n:043}"));
    let statuses: Vec<_> =
        (0..40).map(|n| post(&gateway, "buoy-7", &[("authorization", &wrong(n))]).status).collect();
    assert!(statuses[..30].iter().all(|status| *status == 401), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    // Others behind the same address are not shut out.
    assert_eq!(post(&gateway, "buoy-7", &[("authorization", &bearer(&sends))]).status, 204);
    gateway.stop();
}

/// The status line's number of the answer to `head`, whose end is added here, with a message as body.
fn raw(gateway: &Running, head: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(gateway.gateway.address()).unwrap();
    let mut request = head.to_vec();
    request.extend_from_slice(
        b"content-type: application/json\r\nconnection: close\r\ncontent-length: 21\r\n\r\n",
    );
    request.extend_from_slice(MESSAGE);
    stream.write_all(&request).unwrap();
    let mut answer = Vec::new();
    // The gateway may close a connection whose request it refuses before it has read all of it.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    text.split(' ').nth(1).unwrap_or_else(|| panic!("{text}")).parse().unwrap()
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
    // The authority of an absolute target counts as Host does, and both have to be local.
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
fn a_request_of_http_1_1_has_one_host() {
    let gateway = start_with(|_| ());
    let port = gateway.gateway.address().port();
    let post = |lines: &str| raw(&gateway, format!("POST /ingest/d {lines}").as_bytes());
    assert_eq!(post("HTTP/1.1\r\n"), 400);
    assert_eq!(post(&format!("HTTP/1.1\r\nhost: localhost:{port}\r\nhost: localhost:{port}\r\n")), 400);
    assert_eq!(post(&format!("HTTP/1.1\r\nhost: localhost:{port}\r\n")), 204);
    // HTTP/1.0 needs none. It is what proxies speak that are not told otherwise, so it is not local.
    assert_eq!(post("HTTP/1.0\r\n"), 401);
    assert_eq!(post(&format!("HTTP/1.0\r\nhost: localhost:{port}\r\n")), 401);
    let health = |line: &str| raw(&gateway, format!("GET /healthz {line}\r\n").as_bytes());
    assert_eq!((health("HTTP/1.0"), health("HTTP/1.1")), (200, 400));
    gateway.stop();
}

#[test]
fn a_header_of_any_proxy_ends_the_rights_of_this_machine() {
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
        // Even an empty one says that there is a proxy.
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
fn a_browser_that_asks_for_another_site_needs_a_token() {
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
fn a_listener_that_others_reach_lets_nobody_in_without_a_token() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let gateway = start_with(|config| config.http.listen = listen.parse().unwrap());
        let url = format!("http://127.0.0.1:{}/api/stats", gateway.gateway.address().port());
        let refused = answer(gateway.agent.get(url).call().unwrap());
        assert_eq!(refused.status, 401, "{listen}");
        assert!(refused.json()["detail"].as_str().unwrap().contains("other machines"), "{}", refused.text);
        gateway.stop();
    }
}

#[test]
fn a_token_that_is_brought_is_looked_at_where_none_is_needed() {
    for who in [Who::Loopback, Who::Anyone] {
        let mut secrets = Vec::new();
        let gateway = start_with(|config| {
            config.access.who = who;
            for (name, right) in [("sends", Right::Send("buoy-*".into())), ("reads", Right::Read)] {
                secrets.push(bearer(&tokens::add(&config.tokens(), Some(name), right, None).unwrap().1));
            }
        });
        let (sends, reads) = (&secrets[0], &secrets[1]);
        let send = |device: &str, value: &str| post(&gateway, device, &[("authorization", value)]).status;
        assert_eq!((send("buoy-7", sends), send("ship-1", sends), send("buoy-7", reads)), (204, 403, 403));
        for wrong in ["Bearer wrong", "Bearer", "", "Digest x", "Basic ????", "wrong"] {
            assert_eq!(send("buoy-7", wrong), 401, "{wrong}");
            assert_eq!(get(&gateway, "/api/stats", &[("authorization", wrong)]).status, 401, "{wrong}");
        }
        assert_eq!(get(&gateway, "/api/stats", &[("authorization", reads)]).status, 200);
        assert_eq!(post(&gateway, "buoy-7", &[]).status, 204);
        gateway.stop();
    }
}

#[test]
fn a_parameter_that_is_not_known_is_refused_with_the_ones_that_are() {
    let gateway = start_with(|_| ());
    let refused = |answer: Answer, says: &str| {
        assert_eq!((answer.status, &answer.json()["type"]), (400, &"urn:dunnage:problem:query".into()));
        assert!(answer.json()["detail"].as_str().unwrap().contains(says), "{}", answer.text);
    };
    refused(
        post(&gateway, "d?schma=weather", &[]),
        "did you mean \"schema\"? (the known parameters are schema, link)",
    );
    refused(post(&gateway, "d?schema=weather&schema=weather", &[]), "schema is given twice");
    refused(get(&gateway, "/api/messages?limt=1", &[]), "did you mean \"limit\"?");
    refused(get(&gateway, "/api/messages?limit=x", &[]), "limit must be a whole number");
    refused(get(&gateway, "/api/devices?device=d", &[]), "the known parameters are limit, before");
    for path in
        ["/api/quarantine", "/api/devices/d/messages", "/api/stats", "/api/events", "/api/openapi.json"]
    {
        refused(get(&gateway, &format!("{path}?devic=d"), &[]), "there is no parameter \"devic\"");
    }
    assert_eq!(get(&gateway, "/api/stats", &[]).json()["received"], 2);
    gateway.stop();
}

#[test]
fn messages_can_be_asked_for_by_device() {
    let gateway = start_with(|_| ());
    for device in ["a", "b", "a", "b", "a"] {
        assert_eq!(post(&gateway, device, &[]).status, 204);
    }
    let ids = |query: &str| {
        let messages = get(&gateway, &format!("/api/messages?{query}"), &[]).json()["messages"].clone();
        let all = messages.as_array().unwrap().iter();
        all.map(|message| message["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("device=a"), [5, 3, 1]);
    assert_eq!(ids("device=b&limit=1"), [4]);
    assert_eq!(ids("device=a&before=5"), [3, 1]);
    assert!(ids("device=nobody").is_empty());
    gateway.stop();
}

#[test]
fn a_type_that_is_not_known_is_answered_with_those_that_are() {
    let gateway = start_with(|_| ());
    let types = ["application/json", "application/vnd.dunnage.packed", "application/x-ndjson"];
    for given in ["text/plain", "application/x-www-form-urlencoded", &"x".repeat(4000)] {
        let refused = gateway.post("/ingest/d", given, MESSAGE);
        assert_eq!(refused.status, 415);
        let (detail, accept) =
            (refused.json()["detail"].clone(), refused.headers["accept"].to_str().unwrap());
        for known in types {
            assert!(detail.as_str().unwrap().contains(known) && accept.contains(known), "{}", refused.text);
        }
        assert!(refused.text.len() < 1500, "{}", refused.text);
    }
    let batch = gateway.post("/ingest/d", "application/vnd.dunnage.batch", MESSAGE);
    assert!(batch.status == 415 && batch.text.contains("packed"), "{}", batch.text);
    gateway.stop();
}

fn base64(text: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(text)
}
