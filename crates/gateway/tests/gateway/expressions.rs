//! `when`, `until` and `map` of an output, up to a server that receives.

use crate::{
    outputs::{Received, output, server, wait_for_messages},
    support::{JSON, Running, start_in, start_with, wait::wait_until},
};
use dunnage_gateway::{Expressions, OutputKind, OutputSettings};
use serde_json::{Value, json};
use std::net::SocketAddr;

fn expressions(when: &str, until: Option<&str>, map: Option<&str>) -> Expressions {
    Expressions { when: Some(when.into()), until: until.map(str::to_owned), map: map.map(str::to_owned) }
}

fn selecting(address: SocketAddr, expressions: Expressions) -> OutputSettings {
    OutputSettings { expressions, ..output(address) }
}

fn send(gateway: &Running, device: &str, messages: &[&str]) {
    for message in messages {
        let answer = gateway.post(&format!("/ingest/{device}"), JSON, message.as_bytes());
        assert_eq!(answer.status, 204, "{message}");
    }
}

/// Waits until the output has resolved all messages, and returns its status.
fn settled(gateway: &Running) -> dunnage_gateway::Status {
    wait_until("all messages are resolved", || gateway.gateway.outputs()[0].lag_messages == 0);
    gateway.gateway.outputs().remove(0)
}

#[test]
fn a_message_is_mapped_skipped_or_becomes_a_dead_letter() {
    let received = Received::default();
    let (_runtime, address) = server(&received);
    let map = "{id: .device, t: (60 / .value.t)}";
    let wanted = expressions(".value.t != null", None, Some(map));
    let gateway = start_with(|config| config.outputs.push(selecting(address, wanted)));
    send(&gateway, "a", &[r#"{"t":2}"#, r#"{"x":1}"#, r#"{"t":"warm"}"#, r#"{"t":null}"#, r#"{"t":4}"#]);
    let bodies = wait_for_messages(&received, 2);
    assert_eq!(bodies, [json!({"id": "a", "t": 30.0}), json!({"id": "a", "t": 15.0})]);
    let status = settled(&gateway);
    assert_eq!((status.delivered, status.skipped, status.refused), (2, 2, 1));
    let letters = gateway.runtime.block_on(gateway.gateway.dead_letters("archive", 0, 10)).unwrap();
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].message_id, &*letters[0].reason), (3, r#"map: cannot calculate 60 / "warm""#));
}

/// Each message takes a process with it that evaluates, and the others arrive.
#[test]
fn an_expression_that_never_ends_costs_its_messages_only() {
    let received = Received::default();
    let (_runtime, address) = server(&received);
    let endless = expressions("if .value.bad then def f: f; f else true end", None, Some(".value.n"));
    let gateway = start_with(|config| config.outputs.push(selecting(address, endless)));
    send(&gateway, "a", &[r#"{"n":1}"#, r#"{"bad":true}"#, r#"{"n":2}"#]);
    send(&gateway, "b", &[r#"{"bad":true}"#, r#"{"n":3}"#]);
    let mut bodies = wait_for_messages(&received, 3);
    bodies.sort_by_key(Value::as_u64);
    assert_eq!(bodies, [json!(1), json!(2), json!(3)]);
    let status = settled(&gateway);
    assert_eq!((status.delivered, status.skipped, status.refused), (3, 0, 2));
    let letters = gateway.runtime.block_on(gateway.gateway.dead_letters("archive", 0, 10)).unwrap();
    assert!(
        letters.iter().all(|letter| letter.reason == "an expression: took more than 100 ms"),
        "{letters:?}"
    );
}

/// Above 30 degrees there is one message, and none more until it was below 28, whatever is restarted in between.
#[test]
fn an_alarm_is_delivered_once_until_it_ends() {
    let received = Received::default();
    let (_runtime, address) = server(&received);
    let alarm = |when: &str| expressions(when, Some(".value < 28"), Some("[.device, .value]"));
    let configured = |when: &str| {
        let alarm = alarm(when);
        move |config: &mut dunnage_gateway::Config| config.outputs.push(selecting(address, alarm))
    };
    let gateway = start_with(configured(".value > 30"));
    send(&gateway, "a", &["20", "31", "32", "29", "33"]);
    send(&gateway, "b", &["40"]);
    settled(&gateway);
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, configured(".value > 30"));
    send(&gateway, "a", &["34", "27", "28", "35"]);
    send(&gateway, "b", &["41"]);
    assert_eq!(settled(&gateway).skipped, 4);
    let (_, folder) = gateway.stop();
    // Another condition has alarms of its own.
    let gateway = start_in(folder, configured(".value > 50"));
    send(&gateway, "a", &["51"]);
    settled(&gateway);
    let mut bodies: Vec<_> = received.messages().into_iter().map(|body| body.to_string()).collect();
    bodies.sort();
    assert_eq!(bodies, [r#"["a",31]"#, r#"["a",35]"#, r#"["a",51]"#, r#"["b",40]"#]);
}

/// Files could not take a dead letter later: messages with greater IDs are in them already.
#[test]
fn a_file_has_a_message_on_which_an_expression_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let gateway = start_with(|config| {
        let files = toml::from_str(&format!("path = '{path}'\nkind = 'ndjson'")).unwrap();
        let mut output = OutputSettings::new("archive", OutputKind::Files(files));
        output.expressions = expressions(".value * 2 > 4", None, None);
        config.outputs.push(output);
    });
    send(&gateway, "a", &["1", "3", "\"x\"", "4"]);
    let status = settled(&gateway);
    assert_eq!((status.delivered, status.skipped, status.refused), (3, 1, 0));
    let file = std::fs::read_dir(path).unwrap().next().unwrap().unwrap().path();
    let lines = std::fs::read_to_string(file).unwrap();
    let values = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["value"].clone());
    assert_eq!(values.collect::<Vec<_>>(), [json!(3), json!("x"), json!(4)]);
}
