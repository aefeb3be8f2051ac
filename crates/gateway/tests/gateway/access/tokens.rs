//! The rights of tokens, their change by a reload, and limits on wrong tokens and on devices.

use super::{get, post};
use crate::support::{Answer, Running, start_with};
use dunnage_gateway::{Config, Right, Scope, Who, tokens};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

fn challenges(answer: &Answer) -> Vec<&str> {
    answer.headers.get_all("www-authenticate").iter().map(|value| value.to_str().unwrap()).collect()
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn base64(text: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(text)
}

/// A gateway where every client needs a token, a token that may send as `buoy-*`, and one that may read.
fn guarded(change: impl FnOnce(&mut Config)) -> (Running, String, String) {
    let mut secrets = Vec::new();
    let gateway = start_with(|config| {
        config.access.who = Who::Tokens;
        for (name, right) in
            [("sends", Right::Send("buoy-*".into())), ("reads", Right::Read(Scope::EVERYTHING))]
        {
            secrets.push(tokens::add(&config.tokens(), Some(name), right, None).unwrap().1);
        }
        change(config);
    });
    let reads = secrets.pop().unwrap();
    (gateway, secrets.pop().unwrap(), reads)
}

#[test]
fn one_token_sends_as_its_devices_and_another_reads() {
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
fn a_token_is_checked_even_where_none_is_needed() {
    for who in [Who::Loopback, Who::Anyone] {
        let mut secrets = Vec::new();
        let gateway = start_with(|config| {
            config.access.who = who;
            for (name, right) in
                [("sends", Right::Send("buoy-*".into())), ("reads", Right::Read(Scope::EVERYTHING))]
            {
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
fn a_reload_changes_tokens_unless_their_file_is_invalid() {
    let (gateway, sends, _) = guarded(|_| ());
    let path = gateway.folder.path().join("tokens.toml");
    let sends = bearer(&sends);
    let send = |token: &str| post(&gateway, "buoy-7", &[("authorization", token)]).status;
    let reload = || gateway.runtime.block_on(gateway.gateway.reload());
    // Both tokens are valid for a time, then only the new one.
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
fn revoking_a_token_ends_the_event_stream_that_it_opened() {
    let (gateway, _, reads) = guarded(|_| ());
    let path = gateway.folder.path().join("tokens.toml");
    let other = tokens::add(&path, Some("other"), Right::Read(Scope::EVERYTHING), None).unwrap().1;
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
    // An open stream has a comment every 15 s.
    let (begun, mut bytes) = (Instant::now(), [0; 4096]);
    while revoked.read(&mut bytes).unwrap() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the stream goes on");
    }
    // The stream of a token that is still valid stays open.
    kept.set_nonblocking(true).unwrap();
    let ended = std::io::copy(&mut &kept, &mut std::io::sink()).map_err(|e| e.kind());
    assert_eq!(ended.unwrap_err(), std::io::ErrorKind::WouldBlock);
    gateway.stop();
}

#[test]
fn wrong_tokens_are_rate_limited() {
    let (gateway, sends, _) = guarded(|_| ());
    let wrong = |n: usize| bearer(&format!("dn_{n:043}"));
    let statuses: Vec<_> =
        (0..40).map(|n| post(&gateway, "buoy-7", &[("authorization", &wrong(n))]).status).collect();
    assert!(statuses[..30].iter().all(|status| *status == 401), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    // Clients at the same address with a valid token are still accepted.
    assert_eq!(post(&gateway, "buoy-7", &[("authorization", &bearer(&sends))]).status, 204);
    gateway.stop();
}

#[test]
fn a_device_over_its_rate_is_429_with_retry_after() {
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
