//! Operations over HTTP: the view of operators, their rights, and each operation from end to end.

use crate::support::{
    Answer, JSON, Running, answer,
    scripted::{Reply, Scripted},
    start_in, start_with,
    wait::wait_for,
};
use dunnage_gateway::{Config, OutputKind, OutputSettings, Right, Scope, keys, tokens};
use serde_json::{Value, json};
use std::{
    fs,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

const QUARANTINE: [&str; 2] = ["/api/quarantine/retry", "/api/quarantine/discard"];
const DEAD_LETTERS: [&str; 2] =
    ["/api/outputs/archive/dead-letters/retry", "/api/outputs/archive/dead-letters/discard"];
const READS: [&str; 7] = [
    "/api/operations",
    "/api/outputs/archive/dead-letters",
    "/api/quarantine/devices",
    "/api/tokens",
    "/api/keys",
    "/api/schemas",
    "/api/rates",
];

/// A gateway with a token of each right.
struct Operated {
    gateway: Running,
    operates: String,
    reads: String,
    sends: String,
}

/// Adds the output `archive`, which delivers to `address`.
fn archive(config: &mut Config, address: SocketAddr) {
    let http = toml::from_str(&format!("url = 'http://{address}/in'")).unwrap();
    config.outputs.push(OutputSettings::new("archive", OutputKind::Http(http)));
}

fn operated(change: impl FnOnce(&mut Config)) -> Operated {
    let mut made = Vec::new();
    let gateway = start_with(|config| {
        let rights = [
            ("olga", Right::Operate),
            ("reads", Right::Read(Scope::EVERYTHING)),
            ("sends", Right::Send("*".into())),
        ];
        for (name, right) in rights {
            made.push(tokens::add(&config.tokens(), Some(name), right, None).unwrap().1);
        }
        change(config);
    });
    let [operates, reads, sends] = made.try_into().unwrap();
    Operated { gateway, operates, reads, sends }
}

impl Operated {
    fn send(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let request = self.gateway.agent.post(self.gateway.url(path));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        answer(request.send(body).unwrap())
    }

    /// Sends an operation with the credential `authorization`.
    fn with(&self, path: &str, authorization: Option<&str>, body: &Value) -> Answer {
        let json = ("content-type", JSON);
        let mut headers = vec![json];
        headers.extend(authorization.map(|value| ("authorization", value)));
        self.send(path, &headers, &body.to_string())
    }

    /// Sends an operation with the token that may operate. It has to succeed.
    fn operate(&self, path: &str, body: &Value) -> Value {
        let done = self.with(path, Some(&bearer(&self.operates)), body);
        assert_eq!(done.status, 200, "{path} {body}: {}", done.text);
        done.json()
    }

    fn reload(&self) {
        self.gateway.runtime.block_on(self.gateway.gateway.reload()).unwrap();
    }

    fn quarantined(&self) -> u64 {
        self.gateway.get_json("/api/operations")["quarantine"]["messages"].as_u64().unwrap()
    }

    fn dead_letters(&self) -> Vec<i64> {
        let listed = self.gateway.get_json("/api/outputs/archive/dead-letters");
        listed["messages"].as_array().unwrap().iter().map(|m| m["id"].as_i64().unwrap()).collect()
    }
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn kind(answer: &Answer) -> (u16, String) {
    let problem = answer.json()["type"].as_str().unwrap_or_default().to_owned();
    (answer.status, problem.trim_start_matches("urn:dunnage:problem:").to_owned())
}

fn problem(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// A receiver that rejects every message until the flag is set.
fn receiver() -> (Scripted, Arc<AtomicBool>) {
    let accepts = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&accepts);
    let server = Scripted::start(move |_, _| match now.load(Ordering::Relaxed) {
        true => Reply::Status("204 No Content"),
        false => Reply::Status("422 Unprocessable Content"),
    });
    (server, accepts)
}

#[test]
fn an_operation_needs_a_token_that_may_operate_on_this_machine_too() {
    let (server, _) = receiver();
    for who in ["loopback", "anyone", "tokens"] {
        let all = operated(|config| {
            config.access.who = serde_json::from_value(json!(who)).unwrap();
            archive(config, server.address);
        });
        let selection = json!({"up_to": 0});
        for path in QUARANTINE.iter().chain(&DEAD_LETTERS) {
            let without = all.with(path, None, &selection);
            assert_eq!(kind(&without), problem(401, "unauthorized"), "{who} {path}");
            // Without Basic, for which a browser would ask.
            assert_eq!(
                without.headers.get_all("www-authenticate").iter().collect::<Vec<_>>(),
                ["Bearer realm=\"dunnage\""]
            );
            for (token, expected) in [
                (&all.reads, problem(403, "forbidden")),
                (&all.sends, problem(403, "forbidden")),
                (&"wrong".to_owned(), problem(401, "unauthorized")),
            ] {
                assert_eq!(kind(&all.with(path, Some(&bearer(token)), &selection)), expected, "{who} {path}");
            }
            // A password, which a browser sends automatically, does not count as a token.
            let password = base64(&format!("any:{}", all.operates));
            let with = all.with(path, Some(&format!("Basic {password}")), &selection);
            assert_eq!(kind(&with), problem(401, "unauthorized"), "{who} {path}");
            all.operate(path, &selection);
            let get = all.gateway.agent.get(all.gateway.url(path)).call().unwrap();
            assert!([401, 403, 405, 415].contains(&get.status().as_u16()), "{path}: {}", get.status());
        }
        for path in READS {
            let get = |token: &str| {
                let request =
                    all.gateway.agent.get(all.gateway.url(path)).header("authorization", bearer(token));
                request.call().unwrap().status().as_u16()
            };
            assert_eq!(
                (get(&all.reads), get(&all.operates), get(&all.sends)),
                (200, 200, 403),
                "{who} {path}"
            );
            assert_eq!(all.gateway.get(path).status, if who == "tokens" { 401 } else { 200 }, "{who} {path}");
        }
        all.gateway.stop();
    }
}

#[test]
fn a_token_that_expired_or_was_revoked_no_longer_operates() {
    let all = operated(|_| ());
    let path = all.gateway.folder.path().join("tokens.toml");
    let operate = || {
        let answer = all.with(QUARANTINE[0], Some(&bearer(&all.operates)), &json!({"up_to": 0}));
        (answer.status, answer.json()["detail"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(operate().0, 200);
    tokens::revoke(&path, "olga", Some("2020-01-01".parse().unwrap())).unwrap();
    assert_eq!(operate().0, 200, "before the reload");
    all.reload();
    assert_eq!(operate(), (401, "the token has expired".into()));
    tokens::revoke(&path, "olga", None).unwrap();
    all.reload();
    assert_eq!(operate(), (401, "the token is unknown".into()));
    // Guesses are limited as everywhere.
    let statuses: Vec<_> = (0..31).map(|_| operate().0).collect();
    assert_eq!(statuses[30], 429, "{statuses:?}");
    all.gateway.stop();
}

#[test]
fn pages_of_other_sites_cannot_operate_even_with_a_token() {
    let all = operated(|_| ());
    assert_eq!(all.gateway.post("/ingest/a?schema=later", JSON, b"1").status, 404);
    let token = bearer(&all.operates);
    let port = all.gateway.gateway.address().port();
    let own = format!("http://127.0.0.1:{port}");
    let everything = r#"{"up_to": 9}"#;
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let headers = [("content-type", JSON), ("authorization", &*token), (name, value)];
        let refused = all.send(QUARANTINE[1], &headers, everything);
        assert_eq!(kind(&refused), problem(403, "cross-site"), "{name}: {value}");
    }
    // Content types that a form or a script of another site can send without the consent of the gateway.
    for content_type in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
    {
        let headers = [("content-type", content_type), ("authorization", &*token)];
        let refused = all.send(QUARANTINE[1], &headers, everything);
        assert_eq!(kind(&refused), problem(415, "not-json"), "{content_type}");
    }
    // A name that was made to resolve to this machine: for the browser it is the same site, but the page has no token.
    let rebound = format!("evil.example:{port}");
    let origin = format!("http://{rebound}");
    let headers = [
        ("content-type", JSON),
        ("host", &*rebound),
        ("origin", &*origin),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(kind(&all.send(QUARANTINE[1], &headers, everything)), problem(401, "unauthorized"));
    // A browser asks before it sends JSON and a token to another site, and is not allowed to.
    let asked = all.gateway.agent.options(all.gateway.url(QUARANTINE[1]));
    let asked = answer(asked.header("origin", "https://evil.example").call().unwrap());
    assert!(asked.headers.keys().all(|name| !name.as_str().starts_with("access-control-")), "{asked:?}");
    assert_eq!(all.quarantined(), 1);
    let headers = [
        ("content-type", JSON),
        ("authorization", &*token),
        ("origin", &*own),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(all.send(QUARANTINE[1], &headers, everything).json()["dropped"], 1);
    all.gateway.stop();
}

#[test]
fn quarantined_messages_are_stored_after_their_schema_was_added() {
    let all = operated(|config| {
        config.schemas.path = config.buffer.path.with_file_name("schemas");
        fs::create_dir(&config.schemas.path).unwrap();
    });
    let schemas = all.gateway.folder.path().join("schemas");
    assert_eq!(all.gateway.post("/ingest/a1?schema=later", JSON, b"{\"n\":1}").status, 404);
    assert_eq!(all.gateway.post("/ingest/b1?schema=later", JSON, b"{\"n\":2}").status, 404);
    assert_eq!(all.gateway.post("/ingest/b1", JSON, b"{\"n\":").status, 400);
    let devices = all.gateway.get_json("/api/quarantine/devices");
    assert_eq!(
        devices["devices"][0],
        json!({"device": "b1", "messages": 2, "bytes": 12, "kind": "truncated"})
    );
    assert_eq!(
        all.gateway.get_json("/api/quarantine/devices?device=a1")["devices"].as_array().unwrap().len(),
        1
    );
    let last = devices["last_quarantine_id"].clone();
    let retried = all.operate(QUARANTINE[0], &json!({"up_to": last}));
    assert_eq!((&retried["stored"], &retried["failed"]), (&json!(0), &json!(3)));
    fs::write(schemas.join("later.json"), r#"{"title":"L","type":"object"}"#).unwrap();
    all.reload();
    // All of one device, then one by its ID, and each again, which changes nothing.
    for (selection, expected) in [
        (json!({"device": "b1", "up_to": last}), [1, 1]),
        (json!({"device": "b1", "up_to": last}), [0, 1]),
        (json!({"ids": [1]}), [1, 0]),
        (json!({"ids": [1]}), [0, 0]),
    ] {
        let retried = all.operate(QUARANTINE[0], &selection);
        assert_eq!(json!([retried["stored"], retried["failed"]]), json!(expected), "{selection}");
    }
    let messages = all.gateway.get_json("/api/messages")["messages"].clone();
    let values: Vec<_> = messages.as_array().unwrap().iter().map(|m| (&m["device"], &m["value"])).collect();
    assert_eq!(values, [(&json!("a1"), &json!({"n": 1})), (&json!("b1"), &json!({"n": 2}))]);
    // A message that arrived later is not discarded.
    assert_eq!(all.gateway.post("/ingest/b1", JSON, b"[").status, 400);
    assert_eq!(all.operate(QUARANTINE[1], &json!({"up_to": last}))["dropped"], 1);
    assert_eq!(all.quarantined(), 1);
    all.gateway.stop();
}

#[test]
fn selections_are_checked_and_operations_end_after_a_thousand_messages() {
    let all = operated(|_| ());
    let token = bearer(&all.operates);
    for body in [
        "",
        "x",
        "[]",
        "{}",
        r#"{"ids": []}"#,
        r#"{"ids": [1], "up_to": 1}"#,
        r#"{"after": 1}"#,
        r#"{"all": true}"#,
        r#"{"up_to": 1, "device": "a\n"}"#,
        r#"{"ids": ["1"]}"#,
        r#"{"up_to": 1e99}"#,
        &json!({"ids": vec![1; 1001]}).to_string(),
    ] {
        let refused = all.send(QUARANTINE[1], &[("content-type", JSON), ("authorization", &*token)], body);
        assert_eq!(kind(&refused), problem(400, "selection"), "{body}");
    }
    let long = json!({"device": "x".repeat(70_000), "up_to": 1});
    assert_eq!(kind(&all.with(QUARANTINE[1], Some(&token), &long)), problem(413, "too-large"));
    let query = format!("{}?up_to=1", QUARANTINE[1]);
    assert_eq!(kind(&all.with(&query, Some(&token), &json!({"up_to": 1}))), problem(400, "query"));
    assert_eq!(all.operate(QUARANTINE[1], &json!({"up_to": i64::MAX, "after": i64::MIN}))["dropped"], 0);

    let lines = "{\"n\":\n".repeat(1000);
    for _ in 0..2 {
        all.gateway.post("/ingest/d", "application/x-ndjson", lines.as_bytes());
    }
    assert_eq!(all.quarantined(), 2000);
    let first = all.operate(QUARANTINE[0], &json!({"up_to": 1500}));
    assert_eq!((&first["failed"], &first["next"]), (&json!(1000), &json!(1000)));
    let second = all.operate(QUARANTINE[0], &json!({"up_to": 1500, "after": first["next"]}));
    assert_eq!((&second["failed"], &second["next"]), (&json!(500), &Value::Null));
    // Two operators at once: each message is discarded by one of them.
    let dropped: u64 = std::thread::scope(|scope| {
        let discard = || all.operate(QUARANTINE[1], &json!({"up_to": 1000}))["dropped"].as_u64().unwrap();
        let both = [scope.spawn(discard), scope.spawn(discard)];
        both.map(|one| one.join().unwrap()).iter().sum()
    });
    assert_eq!((dropped, all.quarantined()), (1000, 1000));
    // A token that is revoked between two parts ends the operation.
    let lines = all.gateway.post("/ingest/d", "application/x-ndjson", lines.as_bytes());
    assert_eq!((lines.status, all.quarantined()), (207, 2000));
    let first = all.operate(QUARANTINE[1], &json!({"up_to": 3000}));
    assert_eq!((&first["dropped"], &first["next"]), (&json!(1000), &json!(2000)));
    tokens::revoke(&all.gateway.folder.path().join("tokens.toml"), "olga", None).unwrap();
    all.reload();
    let second = all.with(QUARANTINE[1], Some(&token), &json!({"up_to": 3000, "after": 2000}));
    assert_eq!((kind(&second), all.quarantined()), (problem(401, "unauthorized"), 1000));
    all.gateway.stop();
}

#[test]
fn dead_letters_are_listed_retried_and_discarded() {
    let (server, accepts) = receiver();
    let all = operated(|config| archive(config, server.address));
    for n in 1..=4 {
        assert_eq!(all.gateway.post("/ingest/d", JSON, n.to_string().as_bytes()).status, 204);
    }
    wait_for(|| if all.dead_letters() == [1, 2, 3, 4] { Ok(()) } else { Err(all.dead_letters()) });
    let listed = all.gateway.get_json("/api/outputs/archive/dead-letters?limit=1&after=1");
    assert_eq!((&listed["count"], &listed["more"]), (&json!(4), &json!(true)));
    let letter = &listed["messages"][0];
    assert_eq!((&letter["id"], &letter["device"], &letter["bytes"]), (&json!(2), &json!("d"), &json!(1)));
    assert!(letter["reason"].as_str().unwrap().contains("422"), "{letter}");
    let output = all.gateway.get_json("/api/operations")["outputs"][0].clone();
    assert_eq!(
        (&output["name"], &output["kind"], &output["dead_letters"]),
        (&json!("archive"), &json!("http"), &json!(4))
    );
    assert_eq!(output["status"]["last_failure"]["reason"], letter["reason"]);
    // One message is retried, rejected again, and stays.
    let asked = server.requests().len();
    assert_eq!(all.operate(DEAD_LETTERS[0], &json!({"ids": [1, 99]}))["messages"], 1);
    server.wait_for(asked + 1);
    wait_for(|| if all.dead_letters() == [1, 2, 3, 4] { Ok(()) } else { Err(()) });
    accepts.store(true, Ordering::Relaxed);
    assert_eq!(all.operate(DEAD_LETTERS[0], &json!({"ids": [1]}))["messages"], 1);
    wait_for(|| if all.dead_letters() == [2, 3, 4] { Ok(()) } else { Err(all.dead_letters()) });
    assert_eq!(all.operate(DEAD_LETTERS[1], &json!({"ids": [2]}))["messages"], 1);
    assert_eq!(all.operate(DEAD_LETTERS[1], &json!({"ids": [2]}))["messages"], 0);
    assert_eq!(all.dead_letters(), [3, 4]);
    // A discarded one stays in the buffer.
    assert_eq!(all.gateway.get_json("/api/messages/2")["value"], 2);
    assert_eq!(all.operate(DEAD_LETTERS[0], &json!({"up_to": 3}))["messages"], 1);
    wait_for(|| if all.dead_letters() == [4] { Ok(()) } else { Err(all.dead_letters()) });
    let unknown = "/api/outputs/nothing/dead-letters";
    assert_eq!(all.gateway.get(unknown).status, 404);
    for action in ["retry", "discard"] {
        let path = format!("{unknown}/{action}");
        let refused = all.with(&path, Some(&bearer(&all.operates)), &json!({"up_to": 9}));
        assert_eq!(kind(&refused), problem(404, "not-found"));
    }
    // The output was removed from the configuration; its undelivered messages are still there.
    let Operated { gateway, operates, reads, sends } = all;
    let (_, folder) = gateway.stop();
    let all = Operated { gateway: start_in(folder, |_| ()), operates, reads, sends };
    let output = all.gateway.get_json("/api/operations")["outputs"][0].clone();
    assert_eq!(
        (&output["state"], &output["status"], &output["kind"]),
        (&json!("not running"), &Value::Null, &Value::Null)
    );
    assert_eq!(all.dead_letters(), [4]);
    let refused = all.with(DEAD_LETTERS[0], Some(&bearer(&all.operates)), &json!({"up_to": 9}));
    assert_eq!(kind(&refused), problem(409, "not-running"));
    assert_eq!(all.operate(DEAD_LETTERS[1], &json!({"up_to": 9}))["messages"], 1);
    assert_eq!(all.gateway.get_json("/api/operations")["outputs"], json!([]));
    all.gateway.stop();
}

#[test]
fn the_state_has_inputs_schemas_storage_and_rates() {
    let all = operated(|config| {
        let udp = toml::from_str("name = 'field'\n[udp]\nlisten = '127.0.0.1:0'").unwrap();
        config.inputs.push(udp);
        let profile = toml::from_str("device = 'box-*'\nschema = 'container'").unwrap();
        config.profiles.push(profile);
    });
    assert_eq!(all.gateway.post("/ingest/d", JSON, b"{\"n\":1}").status, 204);
    assert_eq!(all.gateway.post("/ingest/d", JSON, b"{\"n\":").status, 400);
    assert_eq!(all.gateway.post("/ingest/%00", JSON, b"1").status, 400);
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"{\"device\":", all.gateway.gateway.input_address("field").unwrap()).unwrap();
    let inputs = wait_for(|| {
        let inputs = all.gateway.get_json("/api/operations")["inputs"].clone();
        if inputs[1]["rejected"] == 1 { Ok(inputs) } else { Err(inputs) }
    });
    let http = &inputs[0];
    assert_eq!((&http["name"], &http["received"], &http["rejected"]), (&json!("http"), &json!(2), &json!(2)));
    assert_eq!(http["address"], all.gateway.gateway.address().to_string());
    assert!(http["connections"].as_i64().unwrap() >= 1);
    assert!(http["last_failure"]["reason"].as_str().unwrap().contains("device ID"), "{http}");
    let udp = &inputs[1];
    assert_eq!(
        (&udp["name"], &udp["kind"], &udp["connections"]),
        (&json!("field"), &json!("udp"), &Value::Null)
    );
    let state = all.gateway.get_json("/api/operations");
    let [free, bytes, log] =
        ["free_bytes", "bytes", "log_bytes"].map(|key| state["buffer"][key].as_u64().unwrap());
    assert!(free > 0 && bytes > log && log > 0, "{state}");
    assert_eq!(state["queue"]["limit_messages"], 8192);
    let schemas = all.gateway.get_json("/api/schemas")["schemas"].clone();
    let container = schemas.as_array().unwrap().iter().find(|schema| schema["name"] == "container").unwrap();
    assert_eq!((&container["profiles"], &container["slots"][0]["slot"]), (&json!(["box-*"]), &json!(1)));
    assert_eq!(container["slots"][0]["fingerprint"].as_str().unwrap().len(), 64);
    assert_eq!(
        (&container["slots"][0]["stored"], &container["slots"][0]["file"]),
        (&json!(false), &Value::Null)
    );
    let rates = wait_for(|| {
        let rates = all.gateway.get_json("/api/rates");
        if rates["points"][0].is_object() { Ok(rates) } else { Err(rates) }
    });
    assert!(rates["points"][0]["messages"].as_f64().unwrap() > 0.0, "{rates}");
    assert!(rates["points"][0]["rejected"].as_f64().unwrap() > 0.0, "{rates}");
    all.gateway.stop();
}

#[test]
fn tokens_and_keys_are_listed_by_name_and_no_answer_has_a_secret() {
    let mut key = String::new();
    let all = operated(|config| {
        key = keys::add(&config.keys(), Some("buoy-7"), "buoy-*", None).unwrap().1;
        let file = config.buffer.path.with_file_name("yard.token");
        fs::write(&file, "0123456789abcdef-hook").unwrap();
        let hook = format!(
            "name = 'yard'\n[webhook]\nprovider = 'chirpstack'\ntoken_file = {file:?}\nformat = 'json'"
        );
        config.inputs.push(toml::from_str(&hook).unwrap());
        archive(config, "127.0.0.1:9".parse().unwrap());
    });
    all.operate(QUARANTINE[0], &json!({"up_to": 0}));
    let tokens = all.gateway.get_json("/api/tokens");
    let names: Vec<_> =
        tokens["entries"].as_array().unwrap().iter().map(|t| (&t["name"], &t["right"])).collect();
    let expected =
        [("olga", "operate"), ("reads", "read"), ("sends", "send")].map(|(n, r)| (json!(n), json!(r)));
    assert_eq!(names, expected.iter().map(|(name, right)| (name, right)).collect::<Vec<_>>());
    assert!(tokens["entries"][0]["last_used"].is_string() && tokens["entries"][1]["last_used"].is_null());
    assert_eq!(tokens["entries"][2]["devices"], "*");
    // The last use survives a reload.
    all.reload();
    assert!(all.gateway.get_json("/api/tokens")["entries"][0]["last_used"].is_string());
    let page = all.gateway.get_json("/api/tokens?limit=1&after=olga");
    assert_eq!(
        (&page["entries"][0]["name"], &page["total"], &page["more"]),
        (&json!("reads"), &json!(3), &json!(true))
    );
    let keys = all.gateway.get_json("/api/keys");
    assert_eq!(
        (&keys["entries"][0]["name"], &keys["entries"][0]["devices"]),
        (&json!("buoy-7"), &json!("buoy-*"))
    );

    let file = fs::read_to_string(all.gateway.folder.path().join("tokens.toml")).unwrap();
    let hashes: Vec<_> =
        file.lines().filter_map(|line| line.strip_prefix("hash = \"")).map(|hash| &hash[..16]).collect();
    assert_eq!(hashes.len(), 3);
    let secrets = [&*all.operates, &all.reads, &all.sends, &key, "0123456789abcdef-hook"];
    let answers = READS.iter().map(|path| all.gateway.get(path).text);
    let operations = QUARANTINE.iter().map(|path| all.operate(path, &json!({"up_to": 9})).to_string());
    let more = ["/api/stats", "/metrics", "/api/openapi.json", "/"].map(|path| all.gateway.get(path).text);
    for text in answers.chain(operations).chain(more) {
        for secret in secrets.iter().chain(&hashes) {
            assert!(!text.contains(secret), "{text}");
        }
    }
    all.gateway.stop();
}

/// RFC 4648, 4.
fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[test]
fn an_operator_tries_expressions_on_stored_messages() {
    let (server, accepts) = receiver();
    accepts.store(true, Ordering::Relaxed);
    let all = operated(|config| {
        archive(config, server.address);
        config.outputs[0].expressions.when = Some(".value > 1".into());
    });
    for value in ["1", "2", "\"x\"", "3"] {
        assert_eq!(all.gateway.post("/ingest/d", JSON, value.as_bytes()).status, 204);
    }
    let path = "/api/outputs/archive/try";
    let tried = |body: Value| {
        let answer = all.operate(path, &body);
        let shown = |message: &Value| {
            json!([message["id"], message["result"], message["payload"], message["reason"]])
        };
        answer["messages"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>()
    };
    // Any text is above any number.
    let own = [
        json!([1, "skipped", null, null]),
        json!([2, "delivered", null, null]),
        json!([3, "delivered", null, null]),
        json!([4, "delivered", null, null]),
    ];
    assert_eq!(tried(json!({})), own);
    let mapped = [
        json!([3, "dead_letter", null, "map: cannot calculate \"x\" * 2.5"]),
        json!([4, "delivered", {"v": 7.5}, null]),
    ];
    assert_eq!(tried(json!({"map": "{v: (.value * 2.5)}", "last": 2})), mapped);
    let alarms: Vec<_> =
        tried(json!({"when": ".value > 1", "until": ".value < 2"})).iter().map(|m| m[1].clone()).collect();
    assert_eq!(alarms, ["skipped", "delivered", "skipped", "skipped"]);
    for (body, expected) in [
        (json!({"when": ".value >"}), problem(400, "expression")),
        (json!({"until": "true"}), problem(400, "expression")),
        (json!({"last": 101}), problem(400, "selection")),
        (json!({"last": 0}), problem(400, "selection")),
        (json!({"what": 1}), problem(400, "selection")),
    ] {
        let answer = all.with(path, Some(&bearer(&all.operates)), &body);
        assert_eq!(kind(&answer), expected, "{body}: {}", answer.text);
    }
    let of = |path: &str, token: Option<&str>| kind(&all.with(path, token, &json!({})));
    assert_eq!(of(path, None), problem(401, "unauthorized"));
    assert_eq!(of(path, Some(&bearer(&all.reads))), problem(403, "forbidden"));
    assert_eq!(of("/api/outputs/other/try", Some(&bearer(&all.operates))), problem(404, "not-found"));
}
