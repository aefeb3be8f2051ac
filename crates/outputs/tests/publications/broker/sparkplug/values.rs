//! Metrics: names, types, properties, nulls, new fields and late values.

use super::{NODE, Seen, assert_numbered, at, deliver, titles, wait};
use crate::broker::{Bench, refused};
use dunnage_outputs::{Catalog, Message};
use dunnage_register::Record;
use dunnage_schema::Model;
use dunnage_test_support::subscriber::Subscriber;
use serde_json::{Value, json};
use std::sync::Arc;

const ROOM: &str = r#"{"type": "object", "properties": {
    "t": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 85, "x-dunnage-unit": "°C"},
    "fan": {"type": "object", "properties": {"rpm/1": {"type": ["integer", "null"], "minimum": 0, "maximum": 5000, "x-dunnage-unit": "1/min"}}},
    "state": {"enum": ["on", "off"]}, "open": {"type": "boolean"}, "at": {"type": "string", "format": "date-time"},
    "levels": {"type": "array", "items": {"type": "integer", "minimum": -100, "maximum": 100}}}}"#;

/// One schema, named `room`.
struct OneSchema {
    model: Model,
    units: Vec<(String, String)>,
}

impl Catalog for OneSchema {
    fn path(&self, _: &str, _: Option<&str>) -> Arc<str> {
        "".into()
    }

    fn record(&self, _: &str) -> Option<Arc<Record>> {
        None
    }

    fn media_type(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn versions<'a>(&'a self, schema: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a> {
        let is_known = schema == "room";
        Box::new(std::iter::once(&self.model).filter(move |_| is_known))
    }

    fn units(&self, schema: &str) -> &[(String, String)] {
        if schema == "room" { &self.units } else { &[] }
    }
}

pub fn catalog(schema: &str) -> Arc<dyn Catalog> {
    Arc::new(OneSchema { model: Model::compile(schema).unwrap(), units: dunnage_schema::units(schema) })
}

/// Delivers messages, and returns what the node sends after its NBIRTH.
fn sent(schema: &str, messages: &[Message], count: usize) -> Vec<Seen> {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(NODE);
    output.learn(catalog(schema));
    for message in messages {
        assert_eq!(deliver(&bench, &output, message), Ok(()), "{}", message.json);
    }
    // One more message ends the count, because all come in order.
    assert_eq!(deliver(&bench, &output, &at(0, "end", "1")), Ok(()));
    let mut all = wait(&subscriber, count + 2);
    assert_numbered(&all);
    assert_eq!(
        (all.len(), all.pop().unwrap().title().as_str()),
        (count + 2, "DBIRTH end"),
        "{:?}",
        titles(&all)
    );
    all.remove(0);
    all
}

fn room(seconds: i64, json: &str) -> Message {
    let mut message = at(seconds, "r", json);
    message.stored.schema = Some("room".into());
    message
}

#[test]
fn types_and_properties_are_those_of_the_schema() {
    let first = r#"{"t":21.5,"fan":{"rpm/1":1200},"state":"on","open":true,"at":"2026-01-01T00:00:01.5+01:00","levels":[-1,7]}"#;
    let second = r#"{"t":-3,"fan":{"rpm/1":null},"levels":[]}"#;
    let all = sent(ROOM, &[room(0, first), room(1, second)], 2);
    assert_eq!(titles(&all), ["DBIRTH r", "DDATA r"]);
    let captured = 1_767_225_600_000_u64;
    let property = |kind: u32, key: &str, value: Value| json!({"type": kind, (key): value});
    assert_eq!(
        all[0].metric("t"),
        json!({"name": "t", "timestamp": captured, "datatype": 10, "double_value": 21.5, "properties": {
            "keys": ["engUnit", "engLow", "engHigh"],
            "values": [property(12, "string_value", json!("°C")), property(10, "double_value", json!(-40.0)),
                property(10, "double_value", json!(85.0))]}})
    );
    let fan = all[0].metric("fan/rpm%2F1");
    assert_eq!((&fan["datatype"], &fan["int_value"]), (&json!(6), &json!(1200)));
    assert_eq!(fan["properties"]["keys"], json!(["engUnit", "engLow", "engHigh"]));
    assert_eq!(
        all[0].metric("state"),
        json!({"name": "state", "timestamp": captured, "datatype": 12, "string_value": "on"})
    );
    assert_eq!(all[0].metric("open")["boolean_value"], true);
    let time = all[0].metric("at");
    assert_eq!((&time["datatype"], &time["long_value"]), (&json!(13), &json!(captured - 3_600_000 + 1500)));
    // prost-reflect writes bytes in base64.
    let levels = all[0].metric("levels");
    assert_eq!((&levels["datatype"], &levels["bytes_value"]), (&json!(22), &json!("/wc=")));
    let later = captured + 1000;
    let expected = json!([
        {"name": "fan/rpm%2F1", "timestamp": later, "is_null": true},
        {"name": "levels", "timestamp": later, "bytes_value": ""},
        {"name": "t", "timestamp": later, "double_value": -3.0},
    ]);
    assert_eq!(sorted(&all[1]), expected);
}

/// Returns the metrics in the order of their names.
fn sorted(seen: &Seen) -> Value {
    let mut metrics = seen.payload["metrics"].as_array().unwrap().clone();
    metrics.sort_by_key(|metric| metric["name"].to_string());
    metrics.into()
}

#[test]
fn a_new_field_or_another_type_makes_a_new_birth_with_all_fields() {
    let messages = [
        at(0, "d", "{\"a\":1,\"b\":null}"),
        at(1, "d", "{\"b\":7}"),
        at(2, "d", "{\"c\":true}"),
        // An integer that a Double has, too, keeps the type.
        at(3, "d", "{\"a\":1.5}"),
        at(4, "d", "{\"a\":2}"),
        at(5, "d", "{\"a\":null,\"b\":8}"),
        at(6, "d", "{\"a\":\"off\"}"),
    ];
    let all = sent("{}", &messages, 7);
    let kinds: Vec<_> = all.iter().map(|seen| seen.kind.as_str()).collect();
    assert_eq!(kinds, ["DBIRTH", "DBIRTH", "DBIRTH", "DBIRTH", "DDATA", "DDATA", "DBIRTH"]);
    assert_eq!(all[0].metric("b")["is_null"], true);
    let captured = 1_767_225_600_000_u64;
    let expected = json!([
        {"name": "a", "timestamp": captured, "datatype": 4, "long_value": 1},
        {"name": "b", "timestamp": captured + 1000, "datatype": 4, "long_value": 7},
        {"name": "c", "timestamp": captured + 2000, "datatype": 11, "boolean_value": true},
    ]);
    assert_eq!(sorted(&all[2]), expected);
    assert_eq!(all[4].metric("a")["double_value"], 2.0);
    assert_eq!(
        (&all[5].metric("a")["is_null"], &all[5].metric("b")["long_value"]),
        (&json!(true), &json!(8))
    );
    assert_eq!(
        (&all[6].metric("a")["datatype"], &all[6].metric("a")["string_value"]),
        (&json!(12), &json!("off"))
    );
    assert_eq!(all[6].payload["metrics"].as_array().unwrap().len(), 3);
}

#[test]
fn a_late_value_is_historical_and_replaces_no_later_one() {
    let messages = [
        at(10, "d", "{\"a\":10}"),
        at(5, "d", "{\"a\":5}"),
        // A new field makes a birth, in which the other has its current value.
        at(6, "d", "{\"a\":\"six\",\"b\":6}"),
        at(10, "d", "{\"a\":11}"),
    ];
    let all = sent("{}", &messages, 5);
    let kinds: Vec<_> = all.iter().map(|seen| seen.kind.as_str()).collect();
    assert_eq!(kinds, ["DBIRTH", "DDATA", "DBIRTH", "DDATA", "DDATA"]);
    let captured = 1_767_225_600_000_u64;
    let late = json!([{"name": "a", "timestamp": captured + 5000, "is_historical": true, "long_value": 5}]);
    assert_eq!(all[1].payload["metrics"], late);
    assert_eq!(all[2].metric("a")["long_value"], 10);
    assert_eq!(all[2].metric("b")["timestamp"], captured + 6000);
    let late = json!([{"name": "a", "timestamp": captured + 6000, "datatype": 12, "is_historical": true, "string_value": "six"}]);
    assert_eq!(all[3].payload["metrics"], late);
    assert!(all[4].metric("a").get("is_historical").is_none());
}

#[test]
fn no_device_leaves_its_level_and_no_two_share_one() {
    let long = "/".repeat(128);
    let ids =
        ["", "%", "a/b", "a%2Fb", "+", "#", "..", "$SYS", "nul\0", "\u{ffff}", "Käse 1", "NBIRTH", &long];
    let messages: Vec<_> = ids.iter().map(|id| at(0, id, "7")).collect();
    let all = sent("{}", &messages, ids.len());
    let mut devices: Vec<_> = all.iter().map(|seen| seen.device.clone().unwrap()).collect();
    assert_eq!(devices[2], "a%2Fb");
    assert!(all.iter().all(|seen| seen.kind == "DBIRTH" && seen.metric("value")["long_value"] == 7));
    devices.sort();
    devices.dedup();
    assert_eq!(devices.len(), ids.len());
}

#[test]
fn a_message_of_too_many_fields_is_refused_and_metrics_do_not_add_up() {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(NODE);
    let fields = |from: usize, to: usize| {
        let all: Vec<_> = (from..to).map(|field| format!("\"f{field}\":1")).collect();
        format!("{{{}}}", all.join(","))
    };
    assert!(
        refused(deliver(&bench, &output, &at(0, "d", &fields(0, 1001)))).contains("more than 1000 fields")
    );
    let deep = format!("{{\"{}\":1}}", "k".repeat(300));
    assert!(refused(deliver(&bench, &output, &at(0, "d", &deep))).contains("256 bytes"));
    for (seconds, (from, to)) in [(0, 600), (600, 1000), (1000, 1600)].into_iter().enumerate() {
        assert_eq!(deliver(&bench, &output, &at(seconds as i64, "d", &fields(from, to))), Ok(()));
    }
    let all = wait(&subscriber, 4);
    let sizes: Vec<_> =
        all[1..].iter().map(|seen| seen.payload["metrics"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [600, 1000, 600]);
}
