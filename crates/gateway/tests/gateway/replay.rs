//! Replays of an output, up to a server that receives.

use crate::support::{
    Answer, JSON, Running, answer,
    scripted::{Reply, Request, Scripted},
    start_in,
    wait::{wait_for, wait_until},
};
use dunnage_gateway::{Config, OutputKind, OutputSettings, Right, tokens};
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tempfile::TempDir;

const PATH: &str = "/api/outputs/archive/replay";

/// A server that fails for messages of `device` while the flag is set.
fn server(device: &'static str) -> (Scripted, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&fails);
    let server = Scripted::start(move |request, _| {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        match now.load(Ordering::Relaxed) && (device.is_empty() || body["device"] == device) {
            true => Reply::Status("500 Internal Server Error"),
            false => Reply::Status("204 No Content"),
        }
    });
    (server, fails)
}

/// A gateway with the output `archive`, and a token that may operate.
struct Operated {
    gateway: Running,
    token: String,
}

fn archive(config: &mut Config, address: SocketAddr) {
    let http = toml::from_str(&format!("url = 'http://{address}/in'")).unwrap();
    config.outputs.push(OutputSettings::new("archive", OutputKind::Http(http)));
}

impl Operated {
    fn start(folder: TempDir, change: impl FnOnce(&mut Config)) -> Operated {
        let mut token = String::new();
        let gateway = start_in(folder, |config| {
            token = tokens::add(&config.tokens(), None, Right::Operate, None).unwrap().1;
            change(config);
        });
        Operated { gateway, token }
    }

    fn send(&self, device: &str, messages: std::ops::Range<usize>) {
        let lines: String = messages.map(|n| format!("{n}\n")).collect();
        let sent = self.gateway.post(&format!("/ingest/{device}"), "application/x-ndjson", lines.as_bytes());
        assert_eq!(sent.status, 204, "{}", sent.text);
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Answer {
        let request = ureq::http::Request::builder().method(method).uri(self.gateway.url(path));
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let body = if method == "DELETE" { String::new() } else { body.to_string() };
        answer(self.gateway.agent.run(request.header("content-type", JSON).body(body).unwrap()).unwrap())
    }

    /// Makes a request that succeeds, and returns the state of the replay.
    fn replay(&self, method: &str, body: &Value) -> Value {
        let done = self.request(method, PATH, body);
        assert_eq!(done.status, 200, "{}", done.text);
        done.json()["replay"].clone()
    }

    fn problem(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let answer = self.request(method, path, body);
        let kind = answer.json()["type"].as_str().unwrap().replace("urn:dunnage:problem:", "");
        (answer.status, kind)
    }

    fn state(&self) -> Value {
        self.gateway.get_json("/api/operations")["outputs"][0]["status"]["replay"].clone()
    }

    fn wait_for_complete(&self) -> Value {
        wait_for(|| {
            let state = self.state();
            if state["state"] == "complete" { Ok(state) } else { Err(state) }
        })
    }

    fn wait_for_delivered(&self) {
        wait_until("all messages are delivered", || self.gateway.gateway.outputs()[0].lag_messages == 0);
    }
}

/// The device, the value and the name of each message.
fn messages(requests: &[Request]) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let message = |request: &Request| {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        (text(&body["device"]), body["value"].as_u64().unwrap(), text(&body["name"]))
    };
    requests.iter().map(message).collect()
}

#[test]
fn the_messages_of_a_time_and_of_some_devices_are_delivered_again() {
    let (server, _) = server("");
    let all = Operated::start(TempDir::new().unwrap(), |config| archive(config, server.address));
    for device in ["pump-1", "hive", "pump-2"] {
        all.send(device, 0..3);
    }
    let mut first = messages(&server.wait_for(9));
    all.wait_for_delivered();
    assert_eq!(all.state(), Value::Null);
    let pumps = json!({"from": "2020-01-01T00:00:00Z", "device": "pump-*"});
    let mut planned = pumps.clone();
    planned["dry_run"] = true.into();
    let planned = all.replay("POST", &planned);
    assert_eq!((&planned["state"], &planned["messages"]), (&json!("planned"), &json!(6)));
    assert_eq!(all.state(), Value::Null);
    let begun = all.replay("POST", &pumps);
    assert_eq!((&begun["from"], &begun["messages"]), (&json!("2020-01-01T00:00:00.000Z"), &json!(6)));
    let done = all.wait_for_complete();
    assert_eq!((&done["done"], &done["device"]), (&json!(6), &json!("pump-*")));
    // New messages arrive as before.
    all.send("hive", 3..4);
    let mut again = messages(&server.wait_for(16)[9..]);
    let new = again.pop().unwrap();
    assert_eq!((&*new.0, new.1), ("hive", 3));
    for device in ["pump-1", "pump-2"] {
        let of = |messages: &[(String, u64, String)]| -> Vec<_> {
            messages.iter().filter(|message| message.0 == device).cloned().collect()
        };
        assert_eq!(of(&again), of(&first));
    }
    first.retain(|message| message.0 == "pump-1");
    // One device, without a pattern; and a time at which nothing was received.
    all.replay("POST", &json!({"from": "2020-01-01T00:00:00Z", "device": "pump-1"}));
    assert_eq!(messages(&server.wait_for(19)[16..]), first);
    all.wait_for_complete();
    let none = all.replay("POST", &json!({"from": "2020-01-01T00:00:00Z", "until": "2021-01-01T00:00:00Z"}));
    assert_eq!((&none["state"], &none["messages"]), (&json!("complete"), &json!(0)));
    assert_eq!(all.gateway.gateway.outputs()[0].delivered, 19);
}

#[test]
fn a_replay_pauses_continues_after_a_restart_and_is_cancelled() {
    let (server, fails) = server("");
    let all = Operated::start(TempDir::new().unwrap(), |config| archive(config, server.address));
    for device in ["a", "b"] {
        all.send(device, 0..3);
    }
    server.wait_for(6);
    all.wait_for_delivered();
    fails.store(true, Ordering::Relaxed);
    let everything = json!({"from": "2020-01-01T00:00:00Z"});
    all.replay("POST", &everything);
    server.wait_for(7);
    assert_eq!(all.problem("POST", PATH, &everything), (409, "replay-not-complete".into()));
    let paused = all.replay("PATCH", &json!({"paused": true}));
    assert_eq!((&paused["state"], &paused["done"]), (&json!("paused"), &json!(0)));
    let (_, folder) = all.gateway.stop();
    let all = Operated::start(folder, |config| archive(config, server.address));
    wait_until("the replay is known", || all.state() == paused);
    fails.store(false, Ordering::Relaxed);
    let before = server.requests().len();
    assert_ne!(all.replay("PATCH", &json!({"paused": false}))["state"], "paused");
    server.wait_for(before + 6);
    assert_eq!(all.wait_for_complete()["done"], 6);
    for (method, body) in [("PATCH", json!({"paused": true})), ("DELETE", Value::Null)] {
        assert_eq!(all.problem(method, PATH, &body), (409, "no-replay".into()));
    }
    // What is cancelled is not delivered when the receiver works again.
    fails.store(true, Ordering::Relaxed);
    all.replay("POST", &everything);
    let count = server.requests().len();
    server.wait_for(count + 2);
    assert_eq!(all.replay("DELETE", &Value::Null), Value::Null);
    assert_eq!(all.state(), Value::Null);
    fails.store(false, Ordering::Relaxed);
    let delivered = all.gateway.gateway.outputs()[0].delivered;
    all.send("a", 7..8);
    all.wait_for_delivered();
    assert!(all.gateway.gateway.outputs()[0].delivered <= delivered + 2, "one may have been in a call");
    let (_, folder) = all.gateway.stop();
    let all = Operated::start(folder, |config| archive(config, server.address));
    all.send("a", 8..9);
    all.wait_for_delivered();
    assert_eq!((all.state(), all.gateway.gateway.outputs()[0].delivered), (Value::Null, 1));
}

/// It would write messages into files once more, and could not tell an alarm.
#[test]
fn a_replay_ends_when_its_output_becomes_one_that_cannot_have_any() {
    let (server, fails) = server("");
    let all = Operated::start(TempDir::new().unwrap(), |config| archive(config, server.address));
    all.send("a", 0..3);
    all.wait_for_delivered();
    fails.store(true, Ordering::Relaxed);
    all.replay("POST", &json!({"from": "2020-01-01T00:00:00Z"}));
    let (_, folder) = all.gateway.stop();
    fails.store(false, Ordering::Relaxed);
    let all = Operated::start(folder, |config| {
        archive(config, server.address);
        config.outputs[0].expressions.when = Some(".value > 3".into());
        config.outputs[0].expressions.until = Some(".value < 2".into());
    });
    all.send("a", 4..5);
    wait_until("the alarm is delivered", || all.gateway.gateway.outputs()[0].delivered == 1);
    all.wait_for_delivered();
    assert_eq!((all.state(), all.gateway.gateway.outputs()[0].can_replay), (Value::Null, false));
    let (_, folder) = all.gateway.stop();
    let all = Operated::start(folder, |config| archive(config, server.address));
    all.send("a", 5..6);
    all.wait_for_delivered();
    assert_eq!((all.state(), all.gateway.gateway.outputs()[0].delivered), (Value::Null, 1));
}

/// Several parts are necessary, and one device fails all the time.
#[test]
fn a_device_that_fails_holds_up_neither_the_replay_nor_new_messages() {
    let (server, fails) = server("bad");
    let all = Operated::start(TempDir::new().unwrap(), |config| archive(config, server.address));
    for device in ["bad", "a", "b", "c"] {
        all.send(device, 0..400);
    }
    all.wait_for_delivered();
    fails.store(true, Ordering::Relaxed);
    all.replay("POST", &json!({"from": "2020-01-01T00:00:00Z"}));
    wait_until("the others are done", || all.state()["done"] == 1200);
    all.send("new", 0..3);
    wait_until("new messages are delivered", || all.gateway.gateway.outputs()[0].lag_messages == 0);
    assert_eq!(all.state()["state"], "running");
    fails.store(false, Ordering::Relaxed);
    let done = all.wait_for_complete();
    assert_eq!((&done["done"], &done["messages"]), (&json!(1600), &json!(1600)));
}

/// A receiver may take later what it has rejected.
#[test]
fn a_dead_letter_that_a_replay_delivers_leaves_the_list() {
    let rejects = Arc::new(AtomicBool::new(true));
    let now = Arc::clone(&rejects);
    let server = Scripted::start(move |_, _| match now.load(Ordering::Relaxed) {
        true => Reply::Status("422 Unprocessable Content"),
        false => Reply::Status("204 No Content"),
    });
    let all = Operated::start(TempDir::new().unwrap(), |config| archive(config, server.address));
    all.send("a", 0..3);
    all.wait_for_delivered();
    let letters = || all.gateway.get_json("/api/operations")["outputs"][0]["dead_letters"].clone();
    assert_eq!(letters(), 3);
    rejects.store(false, Ordering::Relaxed);
    all.replay("POST", &json!({"from": "2020-01-01T00:00:00Z"}));
    assert_eq!(all.wait_for_complete()["done"], 3);
    assert_eq!(letters(), 0);
}

#[test]
fn a_replay_that_cannot_be_is_refused() {
    let (server, _) = server("");
    let folder = TempDir::new().unwrap();
    let files = folder.path().join("files").to_str().unwrap().to_owned();
    let all = Operated::start(TempDir::new().unwrap(), |config| {
        archive(config, server.address);
        archive(config, server.address);
        config.outputs[1].name = "alarms".into();
        config.outputs[1].expressions.when = Some(".value > 3".into());
        config.outputs[1].expressions.until = Some(".value < 2".into());
        let files = toml::from_str(&format!("path = '{files}'\nkind = 'ndjson'")).unwrap();
        config.outputs.push(OutputSettings::new("files", OutputKind::Files(files)));
    });
    let from = "2020-01-01T00:00:00Z";
    for (path, body, status, kind) in [
        ("/api/outputs/files/replay", json!({"from": from}), 409, "not-replayable"),
        ("/api/outputs/alarms/replay", json!({"from": from}), 409, "not-replayable"),
        ("/api/outputs/none/replay", json!({"from": from}), 404, "not-found"),
        (PATH, json!({}), 400, "selection"),
        (PATH, json!({"from": "yesterday"}), 400, "selection"),
        (PATH, json!({"from": from, "until": from}), 400, "selection"),
        (PATH, json!({"from": from, "device": ""}), 400, "selection"),
        (PATH, json!({"from": from, "devices": "a"}), 400, "selection"),
    ] {
        assert_eq!(all.problem("POST", path, &body), (status, kind.into()), "{path} {body}");
    }
    let stranger = Operated { token: "wrong".into(), ..all };
    for method in ["POST", "PATCH", "DELETE"] {
        let problem = stranger.problem(method, PATH, &json!({"from": from}));
        assert_eq!(problem, (401, "unauthorized".into()), "{method}");
    }
}
