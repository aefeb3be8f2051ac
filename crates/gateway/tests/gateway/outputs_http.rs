//! The HTTP output, also with servers that misbehave.

use crate::support::{
    JSON, Running,
    scripted::{Reply, Request, Scripted},
    start_in,
    wait::wait_for,
};
use dunnage_gateway::{OutputKind, OutputSettings, Status};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DONE: Reply = Reply::Status("204 No Content");

/// Starts a gateway that delivers to `server`. `settings` are further lines of `[output.http]`.
fn gateway_to(server: &Scripted, settings: &str) -> Running {
    gateway_in(tempfile::tempdir().unwrap(), server, settings)
}

/// Like [`gateway_to`], with the buffer in `folder`.
fn gateway_in(folder: tempfile::TempDir, server: &Scripted, settings: &str) -> Running {
    let settings = format!("url = 'http://{}/in?key=hidden'\n{settings}", server.address);
    start_in(folder, |config| {
        let http = toml::from_str(&settings).unwrap();
        config.outputs.push(OutputSettings::new("hook", OutputKind::Http(http)));
    })
}

fn send(gateway: &Running, device: &str, values: std::ops::Range<usize>) {
    for n in values {
        let path = format!("/ingest/{device}");
        assert_eq!(gateway.post(&path, JSON, n.to_string().as_bytes()).status, 204);
    }
}

/// Waits until `condition` holds for the status of the first output. Returns the status.
fn until(gateway: &Running, condition: impl Fn(&Status) -> bool) -> Status {
    wait_for(|| {
        let status = gateway.gateway.outputs().remove(0);
        if condition(&status) { Ok(status) } else { Err(format!("{status:?}")) }
    })
}

fn lines(request: &Request) -> Vec<Value> {
    request.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn reload_reads_the_token_and_the_secret_again() {
    let folder = tempfile::tempdir().unwrap();
    let [token, secret] = ["token", "secret"].map(|name| folder.path().join(name));
    std::fs::write(&token, "first\n").unwrap();
    std::fs::write(&secret, SECRET).unwrap();
    let server = Scripted::start(|_, _| DONE);
    let gateway = gateway_to(&server, &format!("token_file = {token:?}\nsecret_file = {secret:?}"));
    let reload = || gateway.runtime.block_on(gateway.gateway.reload());
    send(&gateway, "d", 0..1);
    server.wait_for(1);
    std::fs::write(&token, "second\n").unwrap();
    std::fs::write(&secret, "whsec_AAAA").unwrap();
    assert!(reload().unwrap_err().to_string().contains("secret_file: must be 24 to 64 bytes"));
    send(&gateway, "d", 1..2);
    server.wait_for(2);
    std::fs::write(&secret, SECRET.replace("MfKQ", "MfKR")).unwrap();
    reload().unwrap();
    send(&gateway, "d", 2..3);
    let requests = server.wait_for(3);
    let tokens: Vec<_> = requests.iter().map(|r| r.headers["authorization"].to_str().unwrap()).collect();
    assert_eq!(tokens, ["Bearer first", "Bearer first", "Bearer second"]);
    let signed = |request: &Request, secret: &str| {
        let webhook = standardwebhooks::Webhook::new(secret).unwrap();
        webhook.verify(request.body.as_bytes(), &request.headers).is_ok()
    };
    assert!(signed(&requests[1], SECRET) && !signed(&requests[2], SECRET));
}

#[test]
fn requests_have_a_standard_webhooks_signature_a_token_and_headers() {
    let server = Scripted::start(|_, _| DONE);
    let folder = tempfile::tempdir().unwrap();
    let [secret, token] = ["secret", "token"].map(|name| folder.path().join(name));
    std::fs::write(&secret, format!("{SECRET}\n")).unwrap();
    std::fs::write(&token, "t0ken\n").unwrap();
    let files = format!("secret_file = {secret:?}\ntoken_file = {token:?}\nheaders.X-Fleet = 'north'");
    let gateway = gateway_to(&server, &files);
    send(&gateway, "d", 0..1);
    let request = &server.wait_for(1)[0];
    let verifier = standardwebhooks::Webhook::new(SECRET).unwrap();
    verifier.verify(request.body.as_bytes(), &request.headers).unwrap();
    assert!(verifier.verify(request.body.replace('0', "1").as_bytes(), &request.headers).is_err());
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(request.headers["webhook-id"], body["name"].as_str().unwrap());
    assert_eq!(request.headers["idempotency-key"], request.headers["webhook-id"]);
    assert_eq!(request.headers["authorization"], "Bearer t0ken");
    assert_eq!(request.headers["x-fleet"], "north");
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.headers["x-request-id"], body["request"].as_str().unwrap());
}

#[test]
fn batches_are_ndjson_and_a_refused_message_is_isolated() {
    let server = Scripted::start(|request, _| match request.body.contains("\"value\":77}") {
        true => Reply::Status("400 Bad Request"),
        false => DONE,
    });
    let gateway = gateway_to(&server, "batch = 50");
    send(&gateway, "d", 60..100);
    let status = until(&gateway, |status| status.cursor == 40);
    assert_eq!((status.delivered, status.refused), (39, 1));
    let accepted: Vec<_> =
        server.requests().into_iter().filter(|r| !r.body.contains("\"value\":77}")).collect();
    let values: Vec<_> =
        accepted.iter().flat_map(lines).map(|line| line["value"].as_u64().unwrap()).collect();
    assert_eq!(values, (60..100).filter(|n| *n != 77).collect::<Vec<_>>());
    assert!(accepted.iter().all(|request| request.headers["content-type"] == "application/x-ndjson"));
    assert!(accepted.iter().any(|request| lines(request).len() > 1));
    let dead_letters = gateway.runtime.block_on(gateway.gateway.dead_letters("hook", 0, 10)).unwrap();
    assert_eq!((dead_letters.len(), dead_letters[0].message_id), (1, 18));
    // The query of the URL may contain a secret.
    assert!(
        dead_letters[0].reason.contains("/in answered 400") && !dead_letters[0].reason.contains("hidden"),
        "{dead_letters:?}"
    );
    let outcome = |id: i64| gateway.get_json(&format!("/api/messages/{id}"))["outputs"].clone();
    assert_eq!(outcome(17), serde_json::json!([{"output": "hook", "state": "done", "reason": null}]));
    let rejected = outcome(18);
    assert_eq!(
        (&rejected[0]["state"], &rejected[0]["reason"]),
        (&"dead_letter".into(), &dead_letters[0].reason.as_str().into())
    );
}

/// The server is busy, redirects, hangs, fails, and closes the connection before and after it has stored the message. Each delivery is retried
/// until it succeeds, in order and with the same stable ID.
#[test]
fn failed_deliveries_are_retried_with_the_same_stable_id() {
    let server = Scripted::start(|_, before| match before {
        0 => Reply::Status("503 Service Unavailable\r\nretry-after: 1\r\n"),
        1 => Reply::Status("302 Found\r\nlocation: /elsewhere\r\n"),
        2 => Reply::Hang,
        3 => Reply::Drop,
        4 => Reply::Status("500 Internal Server Error"),
        // The response to a stored message is lost; the server recognizes the retry.
        6 => Reply::Drop,
        7 => Reply::Status("409 Conflict"),
        _ => DONE,
    });
    let gateway = gateway_to(&server, "timeout_seconds = 1");
    send(&gateway, "d", 0..4);
    let status = until(&gateway, |status| status.cursor == 4);
    assert_eq!((status.delivered, status.duplicates, status.refused), (4, 1, 0), "{status:?}");
    let retried: BTreeMap<_, _> =
        status.retried.iter().map(|(class, count)| (class.name(), *count)).collect();
    let expected = [("busy", 1), ("connection", 2), ("failing", 1), ("other", 1), ("timeout", 1)];
    assert_eq!(retried, BTreeMap::from(expected));
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path.starts_with("/in")));
    assert!(requests[1].at.duration_since(requests[0].at) >= Duration::from_secs(1));
    let values: Vec<_> =
        requests.iter().map(|request| lines(request)[0]["value"].as_u64().unwrap()).collect();
    assert_eq!(values, [0, 0, 0, 0, 0, 0, 1, 1, 2, 3]);
    let stable_ids: Vec<_> = requests.iter().map(|request| &request.headers["idempotency-key"]).collect();
    assert!(stable_ids[..6].iter().all(|id| *id == stable_ids[0]));
    assert!(stable_ids[6] == stable_ids[7] && stable_ids[0] != stable_ids[6]);
}

#[test]
fn device_that_is_not_found_does_not_block_others() {
    let server = Scripted::start(|request, _| match request.body.contains("\"device\":\"lost\"") {
        true => Reply::Status("404 Not Found"),
        false => DONE,
    });
    let gateway = gateway_to(&server, "");
    send(&gateway, "lost", 0..3);
    send(&gateway, "found", 0..20);
    let status = until(&gateway, |status| status.delivered == 20 && status.lag_messages == 3);
    assert_eq!((status.cursor, status.refused), (0, 0));
    let found = server.requests().into_iter().filter(|request| request.body.contains("found"));
    let values: Vec<_> = found.map(|request| lines(&request)[0]["value"].as_u64().unwrap()).collect();
    assert_eq!(values, (0..20).collect::<Vec<_>>());
}

#[test]
fn errors_in_settings_name_their_key() {
    for (settings, key) in [
        ("url = 'ftp://x/'", "url"),
        ("url = 'x'", "url"),
        ("url = 'http://x/'\nbatch = 0", "batch"),
        ("url = 'http://x/'\ntimeout_seconds = 0", "timeout_seconds"),
        ("url = 'http://x/'\nsecret_file = '/nowhere'", "secret_file"),
        ("url = 'http://x/'\nsecret_variable = 'NOT_THERE'", "secret_variable"),
        ("url = 'http://x/'\nheaders.a = \"b\\nc\"", "headers"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut config = crate::support::config(folder.path());
        let http = toml::from_str(settings).unwrap();
        config.outputs.push(OutputSettings::new("hook", OutputKind::Http(http)));
        let error =
            crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config)).err().unwrap();
        assert!(error.to_string().contains(key), "{settings}: {error}");
    }
}

/// A receiver that has an internal error for one device works for the others, also in batches, and also after a restart of the gateway.
#[test]
fn device_that_always_fails_costs_only_itself_and_can_be_discarded() {
    for settings in ["", "batch = 50"] {
        let server = Scripted::start(|request, _| match request.body.contains("\"device\":\"bad\"") {
            true => Reply::Status("500 Internal Server Error"),
            false => DONE,
        });
        let gateway = gateway_to(&server, settings);
        send(&gateway, "bad", 0..3);
        for device in ["a", "b", "c"] {
            send(&gateway, device, 0..20);
        }
        let status = until(&gateway, |status| status.delivered == 60 && status.failing == 1);
        assert_eq!((status.cursor, status.lag_messages), (0, 3));
        let path = "/api/outputs/hook/dead-letters";
        let retried = wait_for(|| {
            let list = gateway.get_json(path);
            let retried = list["retried"][0].clone();
            if retried.is_object() { Ok(retried) } else { Err(list) }
        });
        assert_eq!((&retried["id"], &retried["device"]), (&1.into(), &"bad".into()));
        assert!(retried["reason"].as_str().unwrap().contains("500"), "{retried}");
        let delivered = |server: &Scripted| {
            let accepted = server.requests().into_iter().filter(|request| !request.body.contains("\"bad\""));
            accepted.map(|request| request.body.lines().count()).sum::<usize>()
        };
        assert_eq!(delivered(&server), 60);
        let (_, folder) = gateway.stop();
        let gateway = gateway_in(folder, &server, settings);
        send(&gateway, "a", 20..30);
        until(&gateway, |status| status.delivered == 10);
        assert_eq!(delivered(&server), 70, "something was delivered twice");
        for id in 1..=3 {
            wait_for(|| {
                let which = dunnage_gateway::Which::Ids(vec![id]);
                let discard = gateway.gateway.discard("hook", which);
                let discarded = gateway.runtime.block_on(discard).unwrap();
                if discarded == 1 { Ok(()) } else { Err(discarded) }
            });
        }
        until(&gateway, |status| status.cursor == 73 && status.failing == 0 && status.dropped == 3);
    }
}
