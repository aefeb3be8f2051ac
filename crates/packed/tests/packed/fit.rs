//! Messages that fit. `BLESS=1` writes the vectors of `fit.json` again.

use crate::exported::export;
use crate::vectors::notation::{folder, hex, message, value, vectors};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_packed::{Fit, Kind, Layout, Sender, Training, Value};
use dunnage_schema::Model;
use fastrand::Rng;
use serde_json::{Value as Json, json};
use std::{env, fs};

/// Limits in bytes.
const LIMITS: [usize; 10] = [5, 8, 11, 19, 24, 30, 51, 80, 115, 160];

fn int(n: i64) -> Json {
    json!({"int": n.to_string()})
}

/// Readings that are objects, and properties that may be left out on every level.
fn readings() -> Json {
    let count = |most: u64| json!({"type": "integer", "minimum": 0, "maximum": most});
    let drop = |most: u64, rank: u8| json!({"type": "integer", "minimum": 0, "maximum": most, "x-dunnage-drop": rank});
    json!({
        "title": "Readings",
        "x-dunnage-slot": 12,
        "type": "object",
        "properties": {
            "battery": drop(100, 3),
            "position": {
                "type": ["object", "null"],
                "properties": {"latitude": count(17_999_999), "longitude": count(35_999_999), "hdop": drop(9999, 7), "satellites": drop(31, 7)},
                "required": ["latitude", "longitude"],
                "additionalProperties": false
            },
            "readings": {
                "type": "array",
                "minItems": 1,
                "maxItems": 24,
                "x-dunnage-series": true,
                "items": {
                    "type": "object",
                    "properties": {"t": count(9999), "h": drop(1000, 5), "spectrum": {"type": "array", "maxItems": 4, "items": count(255), "x-dunnage-drop": 9}},
                    "required": ["t"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["readings"],
        "additionalProperties": false
    })
}

fn reading(rng: &mut Rng, at: i64) -> Json {
    let mut entries = vec![json!(["t", int(2000 + 5 * at + rng.i64(0..4))])];
    if rng.u8(..4) > 0 {
        entries.push(json!(["h", int(500 + rng.i64(-20..20))]));
    }
    if rng.u8(..3) == 0 {
        let spectrum: Vec<Json> = (0..rng.usize(..5)).map(|_| int(rng.i64(0..256))).collect();
        entries.push(json!(["spectrum", {"array": spectrum}]));
    }
    json!({"map": entries})
}

fn some_readings(rng: &mut Rng) -> Json {
    let mut entries = Vec::new();
    if rng.bool() {
        entries.push(json!(["battery", int(rng.i64(0..101))]));
    }
    let mut position = vec![
        json!(["latitude", int(rng.i64(0..18_000_000))]),
        json!(["longitude", int(rng.i64(0..36_000_000))]),
    ];
    if rng.u8(..4) > 0 {
        position.push(json!(["hdop", int(rng.i64(0..10_000))]));
        position.push(json!(["satellites", int(rng.i64(0..32))]));
    }
    entries.extend(
        [json!(["position", {"map": position}]), json!(["position", null])].into_iter().nth(rng.usize(..3)),
    );
    let first = rng.i64(0..100);
    let readings: Vec<Json> = (0..rng.i64(1..25)).map(|at| reading(rng, first + at)).collect();
    entries.push(json!(["readings", {"array": readings}]));
    json!({"map": entries})
}

/// Readings by column: two series that have their own lengths.
fn columns() -> Json {
    let column = |least: u32| json!({"type": "array", "minItems": least, "maxItems": 100, "x-dunnage-series": true, "items": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 85}});
    json!({
        "title": "Columns",
        "x-dunnage-slot": 13,
        "x-dunnage-check": 2,
        "type": "object",
        "properties": {"inside": column(0), "outside": column(3)},
        "required": ["inside", "outside"],
        "additionalProperties": false
    })
}

fn some_columns(rng: &mut Rng) -> Json {
    let mut column = |least: usize| {
        let numbers = (0..rng.usize(least..101))
            .map(|_| json!({"float": format!("{:?}", f64::from(rng.i32(-400..851)) / 10.0)}));
        json!({"array": numbers.collect::<Vec<_>>()})
    };
    json!({"map": [["inside", column(0)], ["outside", column(3)]]})
}

/// Texts, which may be left out, beside an alternative, in which nothing is left out.
fn texts() -> Json {
    let object = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "note": {"type": "string", "maxLength": 30, "x-dunnage-drop": 200}}, "required": ["kind"], "additionalProperties": false});
    json!({
        "title": "Texts",
        "x-dunnage-slot": 14,
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0, "maximum": 65535},
            "name": {"type": "string", "maxLength": 40, "x-dunnage-drop": 1},
            "cells": {"type": "array", "prefixItems": [object("a"), {"type": "boolean"}], "minItems": 2, "maxItems": 2},
            "other": {"anyOf": [object("b"), object("c")]},
            "comment": {"type": "string", "maxLength": 60, "x-dunnage-drop": 2}
        },
        "required": ["id", "cells", "other"],
        "additionalProperties": false
    })
}

fn some_texts(rng: &mut Rng) -> Json {
    let mut text =
        |most: usize| -> Json { (0..rng.usize(..=most)).map(|_| rng.lowercase()).collect::<String>().into() };
    let (name, comment, notes) = (text(40), text(60), [text(30), text(30)]);
    let mut entries = vec![json!(["id", int(rng.i64(0..65_536))])];
    if rng.u8(..4) > 0 {
        entries.push(json!(["name", name]));
    }
    let [cell, other] = notes;
    entries.push(json!(["cells", {"array": [{"map": [["kind", "a"], ["note", cell]]}, true]}]));
    entries.push(json!(["other", {"map": [["kind", if rng.bool() { "b" } else { "c" }], ["note", other]]}]));
    if rng.u8(..4) > 0 {
        entries.push(json!(["comment", comment]));
    }
    json!({"map": entries})
}

fn layout(schema: &Json) -> Layout {
    Layout::new(&Model::compile(&schema.to_string()).unwrap()).unwrap()
}

/// Returns the schema with statistics of messages.
fn trained(mut schema: Json, mut messages: impl FnMut(&mut Rng) -> Json) -> Json {
    let (untrained, mut rng) = (layout(&schema), Rng::with_seed(1));
    let mut training = Training::new(&untrained).unwrap();
    let mut before = None;
    for _ in 0..300 {
        let example = training.example(&value(&messages(&mut rng))).unwrap();
        training.add(&example);
        if let Some(before) = before.replace(example.clone()) {
            training.add_change(&example, &before);
        }
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    schema
}

/// A schema and its messages.
type Case = (&'static str, Json, fn(&mut Rng) -> Json);

fn kinds() -> [Case; 4] {
    [
        ("readings", readings(), some_readings),
        ("trained", trained(readings(), some_readings), some_readings),
        ("columns", columns(), some_columns),
        ("texts", texts(), some_texts),
    ]
}

/// Returns the messages with `n` readings, and without the properties of `rank` and above, as the specification has it.
fn part(message: &Value, n: usize, rank: u8) -> Value {
    let series = ["readings", "inside", "outside"];
    let least = |name: &str| if name == "outside" { 3 } else { 1 };
    let rank_of = |name: &str| match name {
        "battery" => 3,
        "hdop" | "satellites" => 7,
        "h" => 5,
        "spectrum" => 9,
        "name" => 1,
        "comment" => 2,
        "note" => 200,
        _ => 0,
    };
    match message {
        Value::Map(entries) if entries.iter().any(|(name, kind)| name == "kind" && *kind != "a".into()) => {
            message.clone()
        }
        Value::Map(entries) => {
            let kept = entries.iter().filter(|(name, _)| rank == 0 || rank_of(name) < rank);
            let cut = |(name, value): &(String, Value)| {
                let mut value = part(value, n, rank);
                if let Value::Array(items) = &mut value
                    && series.contains(&name.as_str())
                {
                    items.truncate(n.max(least(name)));
                }
                (name.clone(), value)
            };
            Value::Map(kept.map(cut).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| part(item, n, rank)).collect()),
        other => other.clone(),
    }
}

/// Returns the largest part of a message that fits, found by trying all.
fn best(layout: &Layout, message: &Value, limit: usize) -> Option<(Value, Vec<u8>)> {
    for rank in [0, 200, 9, 7, 5, 3, 2, 1] {
        for n in (1..=100).rev() {
            let (part, mut bytes) = (part(message, n, rank), Vec::new());
            layout.encode(&part, &mut bytes).unwrap();
            if bytes.len() <= limit {
                return Some((part, bytes));
            }
        }
    }
    None
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bless() -> Vec<String> {
    let mut lines = Vec::new();
    for (name, schema, messages) in kinds() {
        let (layout, mut rng) = (layout(&schema), Rng::with_seed(2));
        for (nth, limit) in LIMITS.into_iter().enumerate() {
            let given = messages(&mut rng);
            let mut one = json!({"name": format!("packed-fit-{name}-{nth}"), "schema": schema, "exported": export(&layout), "value": given, "limit": limit});
            let mut bytes = Vec::new();
            match layout.encode_fit(&value(&given), limit, &mut bytes) {
                Ok(fit) => {
                    one["hex"] = json!(to_hex(&bytes));
                    one["readings"] = json!(fit.readings);
                    one["left_out"] = json!(fit.left_out);
                }
                Err(error) => one["kind"] = json!(error.kind().as_str()),
            }
            lines.push(format!("    {one}"));
        }
    }
    lines
}

#[test]
fn parts_have_the_bytes_of_the_vectors() {
    let path = folder().join("packed/fit.json");
    if env::var_os("BLESS").is_some() {
        let description =
            json!("As much of a message as fits, for libraries with schemas and with exported layouts.");
        let text = format!(
            "{{\n  \"description\": {description},\n  \"vectors\": [\n{}\n  ]\n}}\n",
            bless().join(",\n")
        );
        fs::write(&path, text).unwrap();
    }
    let mut refused = 0;
    for vector in vectors(&fs::read_to_string(path).unwrap()) {
        let (name, layout, mut bytes) = (&vector["name"], layout(&vector["schema"]), Vec::new());
        let limit = vector["limit"].as_u64().unwrap() as usize;
        let fit = layout.encode_fit(&value(&vector["value"]), limit, &mut bytes);
        if vector["kind"].is_string() {
            assert_eq!(
                (fit.unwrap_err().kind().as_str(), &bytes),
                (vector["kind"].as_str().unwrap(), &vec![]),
                "{name}"
            );
            refused += 1;
            continue;
        }
        let fit = fit.unwrap();
        assert_eq!(bytes, message(&vector), "{name}");
        assert_eq!(
            (json!(fit.readings), json!(fit.left_out)),
            (vector["readings"].clone(), vector["left_out"].clone()),
            "{name}"
        );
        assert_eq!(hex(vector["hex"].as_str().unwrap()), bytes);
    }
    assert!(refused > 0);
}

/// No message exceeds its limit, and none has fewer readings, or lacks more, than the limit demands.
#[test]
fn as_much_as_possible_is_written() {
    for (name, schema, messages) in kinds() {
        let (layout, mut rng) = (layout(&schema), Rng::with_seed(3));
        for _ in 0..60 {
            let given = value(&messages(&mut rng));
            let limit = rng.usize(4..170);
            let mut bytes = vec![0xAA];
            match (layout.encode_fit(&given, limit, &mut bytes), best(&layout, &given, limit)) {
                (Ok(fit), Some((part, expected))) => {
                    assert_eq!(bytes[1..], expected, "{name} {limit}");
                    let decoded = layout.decode(&bytes[1..], None).unwrap();
                    assert_eq!(decoded, part, "{name} {limit}");
                    let missing = layout.left_out(&decoded);
                    assert!(fit.left_out.iter().all(|path| missing.contains(path)), "{name} {limit}");
                    assert!(bytes.len() - 1 <= limit);
                }
                (Err(error), None) => {
                    assert_eq!((error.kind(), &bytes[..]), (Kind::Limit, &[0xAA][..]), "{name} {limit}");
                }
                (fit, expected) => panic!("{name} {limit}: {fit:?}, {expected:?}"),
            }
        }
    }
}

#[test]
fn what_is_left_out_is_named() {
    let layout = layout(&readings());
    let given = value(&json!({"map": [
        ["battery", int(90)],
        ["position", {"map": [["latitude", int(1)], ["longitude", int(2)], ["hdop", int(3)]]}],
        ["readings", {"array": [{"map": [["t", int(1)], ["h", int(2)], ["spectrum", {"array": []}]]}, {"map": [["t", int(1)]]}]}]
    ]}));
    let fit = |limit| layout.encode_fit(&given, limit, &mut Vec::new());
    let paths = |fit: Result<Fit, _>| fit.map(|fit: Fit| (fit.readings, fit.left_out.join(" "))).unwrap();
    assert_eq!(paths(fit(100)), (2, String::new()));
    // The satellites were not in the message. The second reading has no spectrum either.
    assert_eq!(layout.left_out(&given), ["position.satellites", "readings[].h", "readings[].spectrum"]);
    let mut steps = Vec::new();
    for limit in (0..=20).rev() {
        let Ok(fit) = fit(limit) else { break };
        if steps.last() != Some(&paths(Ok(fit.clone()))) {
            steps.push(paths(Ok(fit)));
        }
    }
    let steps: Vec<_> = steps.iter().map(|(readings, paths)| (*readings, paths.as_str())).collect();
    assert_eq!(
        steps,
        [
            (2, ""),
            (1, ""),
            (1, "position.hdop readings[].spectrum"),
            (1, "position.hdop readings[].h readings[].spectrum"),
            (1, "battery position.hdop readings[].h readings[].spectrum")
        ]
    );
    let error = fit(8).unwrap_err();
    assert_eq!(
        error.to_string(),
        "limit: the smallest form of the message has 11 bytes, and 8 are available"
    );
}

/// A message with an error is no smaller message.
#[test]
fn values_that_the_schema_does_not_allow_are_rejected_at_any_limit() {
    let layout = layout(&readings());
    let given = value(
        &json!({"map": [["readings", {"array": [{"map": [["t", int(1)]]}, {"map": [["t", int(10_000)]]}]}]]}),
    );
    for limit in [0, 3, 5, 100] {
        assert_eq!(
            layout.encode_fit(&given, limit, &mut Vec::new()).unwrap_err().kind(),
            Kind::Range,
            "{limit}"
        );
    }
}

/// Returns the messages of a device that moves, now and then far.
fn moving() -> impl FnMut(&mut Rng) -> Json {
    let mut place = [4_700_000, 800_000];
    move |rng| {
        let is_far = rng.u8(..8) == 0;
        let step = if is_far { 9_000_000 } else { 50 };
        place.iter_mut().for_each(|degrees| *degrees = (*degrees + rng.i64(0..step)) % 17_000_000);
        let [latitude, longitude] = place.map(int);
        let position =
            [json!(["latitude", latitude]), json!(["longitude", longitude]), json!(["hdop", int(90)])];
        let readings: Vec<Json> = (0..rng.i64(1..25)).map(|at| reading(rng, at)).collect();
        json!({"map": [["battery", int(80)], ["position", {"map": position}], ["readings", {"array": readings}]]})
    }
}

/// The receiver has the part that was sent as the reference.
#[test]
fn deltas_fit_and_refer_to_what_was_sent() {
    let layout = layout(&trained(readings(), moving()));
    let (mut sender, mut rng, mut messages) = (Sender::new(&layout, 1), Rng::with_seed(4), moving());
    let mut reference = None;
    let mut deltas = 0;
    for _ in 0..50 {
        let given = value(&messages(&mut rng));
        let mut bytes = Vec::new();
        let fit = sender.encode_fit(&given, 40, &mut bytes).unwrap();
        assert!(bytes.len() <= 40 && fit.readings > 0);
        let decoded = match (&reference, dunnage_packed::is_delta(&bytes)) {
            (Some(reference), true) => layout.decode_delta(&bytes, [reference], [], None).unwrap().value,
            _ => layout.decode(&bytes, None).unwrap(),
        };
        deltas += usize::from(dunnage_packed::is_delta(&bytes));
        assert_eq!(decoded, part_of(&given, &fit), "{fit:?}");
        reference = Some(layout.reference(&decoded).unwrap());
        assert!(sender.acknowledged(sender.last().unwrap()));
    }
    assert!(deltas > 5, "{deltas} deltas");
    let untrained = self::layout(&readings());
    let given = value(&some_readings(&mut rng));
    let error = Sender::new(&untrained, 1).encode_fit(&given, 400, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), Kind::Malformed);
}

/// Returns the part of a message that `fit` describes.
fn part_of(message: &Value, fit: &Fit) -> Value {
    let ranks = [
        ("readings[].spectrum", 9),
        ("position.hdop", 7),
        ("position.satellites", 7),
        ("readings[].h", 5),
        ("battery", 3),
    ];
    let lowest = ranks
        .iter()
        .filter(|(path, _)| fit.left_out.iter().any(|left| left == path))
        .map(|(_, rank)| *rank)
        .min();
    part(message, fit.readings, lowest.unwrap_or(0))
}
