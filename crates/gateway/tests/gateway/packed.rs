//! Packed messages: several layouts of a schema at once, and layouts that the gateway must not guess.

use crate::support::{JSON, Running, config, runtime, start, start_in};
use dunnage_formats::{Format, Json, Packed};
use dunnage_gateway::{Config, Error, Gateway};
use dunnage_schema::{Model, bundled_named};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

const PACKED: &str = "application/vnd.dunnage.packed";
const CONTAINER: &str = include_str!("../../../../bench/corpus/container.json");

/// The container message in the container layout.
const CONTAINER_PACKED: &str = "01545fff3e3256edeb7f9da6d9029e20e09863d131d41606db395db927e591c8c593ab6cdbbc6cb3f432987a7f67d035a9811a310b0c0700";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Returns a schema for `slot` with a temperature in steps of `step`.
fn reading(slot: u8, step: f64) -> String {
    json!({
        "title": "Reading",
        "x-dunnage-slot": slot,
        "type": "object",
        "properties": {
            "temperature": {"type": "number", "multipleOf": step, "minimum": -40, "maximum": 85},
            "door": {"enum": ["open", "shut"]}
        },
        "required": ["temperature", "door"],
        "additionalProperties": false
    })
    .to_string()
}

fn codec(schema: &str) -> Packed {
    Packed::new(&Model::compile(schema).unwrap()).unwrap()
}

fn packed(schema: &str, message: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec(schema).encode(&Json.decode(message.as_bytes()).unwrap(), &mut bytes).unwrap();
    bytes
}

fn fingerprint(schema: &str) -> String {
    codec(schema).layout().fingerprint().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes schemas into the folder `schemas` in `folder`, and removes the previous ones.
fn write(folder: &Path, schemas: &[(&str, &str)]) {
    let folder = folder.join("schemas");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    for (name, text) in schemas {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn with_schemas(config: &mut Config) {
    config.schemas.path = config.buffer.path.with_file_name("schemas");
}

fn start_with_schemas(folder: TempDir, schemas: &[(&str, &str)]) -> Running {
    write(folder.path(), schemas);
    start_in(folder, with_schemas)
}

/// Returns the error with which a gateway fails to start.
fn start_error(folder: &Path, schemas: &[(&str, &str)]) -> Error {
    write(folder, schemas);
    let mut config = config(folder);
    with_schemas(&mut config);
    match runtime().block_on(Gateway::start(config)) {
        Err(error) => error,
        Ok(_) => panic!("the gateway started"),
    }
}

fn last(gateway: &Running, list: &str) -> Value {
    gateway.get_json(&format!("/api/{list}?limit=1"))["messages"][0].clone()
}

#[test]
fn container_message_round_trips_byte_for_byte() {
    let gateway = start();
    let bytes = bytes(CONTAINER_PACKED);
    let answer = gateway.post("/ingest/LMCU1231237?schema=container&link=astrocast", PACKED, &bytes);
    assert_eq!(answer.status, 204, "{}", answer.text);
    let text = gateway.get("/api/messages").text;
    assert!(text.contains(&format!("\"value\":{}", CONTAINER.trim_end())), "{text}");
    let message = last(&gateway, "messages");
    assert_eq!((&message["format"], &message["slot"]), (&json!("packed"), &json!(1)));
    assert_eq!((&message["schema"], &message["bytes"]), (&json!("container"), &json!(bytes.len())));
}

#[test]
fn each_slot_of_a_schema_has_its_layout() {
    let (coarse, fine) = (reading(1, 0.1), reading(2, 0.01));
    let schemas = [("reading.json", coarse.as_str()), ("reading.fine.json", fine.as_str())];
    let gateway = start_with_schemas(TempDir::new().unwrap(), &schemas);
    let messages = [
        (&coarse, 1, r#"{"temperature":21.5,"door":"shut"}"#),
        (&fine, 2, r#"{"temperature":21.57,"door":"open"}"#),
        (&coarse, 1, r#"{"temperature":-39.5,"door":"open"}"#),
    ];
    for (schema, slot, text) in messages {
        let answer = gateway.post("/ingest/d?schema=reading", PACKED, &packed(schema, text));
        assert_eq!(answer.status, 204, "{}", answer.text);
        let message = last(&gateway, "messages");
        assert_eq!((&message["schema"], &message["slot"]), (&json!("reading"), &json!(slot)));
        assert_eq!(message["value"], serde_json::from_str::<Value>(text).unwrap());
    }
    // All other formats use the first version of the schema.
    let fine = br#"{"temperature":21.57,"door":"open"}"#;
    assert_eq!(gateway.post("/ingest/d?schema=reading", JSON, fine).status, 422);
    assert_eq!(gateway.post("/ingest/d?schema=reading", JSON, messages[0].2.as_bytes()).status, 204);
    assert_eq!(last(&gateway, "messages")["slot"], Value::Null);
}

#[test]
fn messages_in_a_slot_without_a_layout_are_quarantined() {
    let gateway = start();
    let mut bytes = packed(bundled_named("container").unwrap(), CONTAINER);
    bytes[0] = 7;
    let answer = gateway.post("/ingest/d?schema=container", PACKED, &bytes);
    let problem = answer.json();
    assert_eq!((answer.status, &problem["type"]), (422, &json!("urn:dunnage:problem:unknown-layout")));
    assert_eq!((&problem["kind"], &problem["offset"]), (&json!("range"), &json!(0)));
    let quarantined = last(&gateway, "quarantine");
    assert_eq!(
        (&quarantined["kind"], &quarantined["schema"]),
        (&json!("unknown-layout"), &json!("container"))
    );
    assert_eq!((&quarantined["bytes"], &quarantined["content_type"]), (&json!(bytes.len()), &json!(PACKED)));
    assert!(quarantined["reason"].as_str().unwrap().contains("slot 7"), "{quarantined}");
    assert!(quarantined["hex"].as_str().unwrap().starts_with("07"));
    assert_eq!(gateway.get_json("/api/messages")["messages"], json!([]));
}

#[test]
fn reserved_modes_and_slot_0_are_malformed() {
    let gateway = start();
    let bytes = packed(bundled_named("container").unwrap(), CONTAINER);
    for first in [0x00, 0x41, 0x81, 0xc1, 0xff] {
        let body = [&[first], &bytes[1..]].concat();
        let answer = gateway.post("/ingest/d?schema=container", PACKED, &body);
        assert_eq!((answer.status, &answer.json()["kind"]), (400, &json!("malformed")), "{first:02x}");
        assert_eq!(last(&gateway, "quarantine")["offset"], 0);
    }
    let answer = gateway.post("/ingest/d?schema=container", PACKED, b"");
    assert_eq!((answer.status, &answer.json()["kind"]), (400, &json!("truncated")));
    let answer = gateway.post("/ingest/d", PACKED, &bytes);
    assert_eq!(answer.status, 415);
    assert!(answer.text.contains("?schema="), "{}", answer.text);
}

#[test]
fn messages_with_another_fingerprint_than_the_slot_are_quarantined() {
    let gateway = start();
    let container = bundled_named("container").unwrap();
    let (bytes, right) = (packed(container, CONTAINER), fingerprint(container));
    let wrong = right.replace(|digit| digit != '0', "0").replacen('0', "1", 1);
    let post = |layout: &str| {
        let content_type = format!("{PACKED}; layout={layout}");
        gateway.post("/ingest/d?schema=container", &content_type, &bytes)
    };
    for layout in [&right[..], &right[..8], &right[..11].to_uppercase(), &format!("\"{}\"", &right[..20])] {
        assert_eq!(post(layout).status, 204, "{layout}");
    }
    for layout in [&wrong[..8], &wrong] {
        let answer = post(layout);
        let problem = answer.json();
        assert_eq!((answer.status, &problem["type"]), (422, &json!("urn:dunnage:problem:unknown-layout")));
        let quarantined = last(&gateway, "quarantine");
        assert_eq!((&quarantined["kind"], &quarantined["offset"]), (&json!("unknown-layout"), &Value::Null));
        assert!(quarantined["reason"].as_str().unwrap().contains(&right[..layout.len()]), "{quarantined}");
        assert!(quarantined["content_type"].as_str().unwrap().ends_with(layout));
    }
    // Too short for the prefix of a fingerprint.
    assert_eq!(post(&right[..7]).status, 415);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined), (4, 3));
}

/// Posts every vector of an invalid message, each with its own schema.
#[test]
fn invalid_messages_are_rejected_with_kind_and_offset_and_quarantined() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../spec/vectors/packed/invalid.json")).unwrap();
    let vectors = vectors["vectors"].as_array().unwrap();
    let files: Vec<_> =
        vectors.iter().enumerate().map(|(n, v)| (format!("v{n}.json"), v["schema"].to_string())).collect();
    let schemas: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let gateway = start_with_schemas(TempDir::new().unwrap(), &schemas);
    let mut sent = 0;
    for (n, vector) in vectors.iter().enumerate() {
        // The gateway always knows the device, and these values are more memory than it allows, which it notices earlier.
        let skipped = ["without-device", "too-many-values-"];
        if skipped.iter().any(|part| vector["name"].as_str().unwrap().contains(part)) {
            continue;
        }
        let (name, body) = (&vector["name"], bytes(vector["hex"].as_str().unwrap()));
        let slot = match &vector["schema"]["x-dunnage-slot-from"] {
            Value::Null => String::new(),
            _ => format!("; slot={}", vector["schema"]["x-dunnage-slot"].as_u64().unwrap_or(1)),
        };
        let answer = gateway.post(&format!("/ingest/d?schema=v{n}"), &format!("{PACKED}{slot}"), &body);
        let problem = answer.json();
        assert_eq!((&problem["kind"], &problem["offset"]), (&vector["kind"], &vector["offset"]), "{name}");
        let is_well_formed = vector["kind"] == "range" || vector["kind"] == "type";
        assert_eq!(answer.status, if is_well_formed { 422 } else { 400 }, "{name}");
        let quarantined = last(&gateway, "quarantine");
        let kind = match problem["type"].as_str() {
            Some("urn:dunnage:problem:unknown-layout") => &json!("unknown-layout"),
            _ => &vector["kind"],
        };
        assert_eq!((&quarantined["kind"], &quarantined["hex"]), (kind, &vector["hex"]), "{name}");
        sent += 1;
    }
    assert!(sent > 30);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined), (0, sent));
}

#[test]
fn two_layouts_in_one_slot_prevent_the_start() {
    let folder = TempDir::new().unwrap();
    let (one, other) = (reading(3, 0.1), reading(3, 0.01));
    let e = start_error(folder.path(), &[("reading.json", &one), ("reading.b.json", &other)]).to_string();
    assert!(e.contains("reading.b.json") && e.contains("slot 3") && e.contains("x-dunnage-slot"), "{e}");
    let e = start_error(folder.path(), &[("reading.b.json", &other)]).to_string();
    assert!(e.contains("reading.b.json") && e.contains("reading.json is missing"), "{e}");
    // Two files may have the same layout, and a bundled schema may have further versions.
    let container: Value = serde_json::from_str(bundled_named("container").unwrap()).unwrap();
    let mut second = container.clone();
    second["x-dunnage-slot"] = json!(2);
    second["properties"]["door"]["enum"] = json!(["D", "O"]);
    let (second, again) = (second.to_string(), one.replace("Reading", "Described"));
    let schemas = [
        ("reading.json", one.as_str()),
        ("reading.b.json", again.as_str()),
        ("container.2.json", second.as_str()),
    ];
    let gateway = start_with_schemas(folder, &schemas);
    let bytes = packed(&second, CONTAINER);
    assert_eq!(gateway.post("/ingest/d?schema=container", PACKED, &bytes).status, 204);
    assert_eq!(last(&gateway, "messages")["slot"], 2);
}

#[test]
fn changed_layout_prevents_the_start_after_messages_of_the_old_one_were_stored() {
    let (old, new) = (reading(1, 0.1), reading(1, 0.05));
    let text = r#"{"temperature":21.5,"door":"shut"}"#;
    let gateway = start_with_schemas(TempDir::new().unwrap(), &[("reading.json", &old)]);
    assert_eq!(gateway.post("/ingest/d?schema=reading", JSON, text.as_bytes()).status, 204);
    let truncated = &packed(&old, text)[..1];
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, truncated).status, 400);
    let (_, folder) = gateway.stop();

    // The gateway has not decoded a packed message yet, so the schema may change.
    let gateway = start_with_schemas(folder, &[("reading.json", &new)]);
    let (_, folder) = gateway.stop();
    let gateway = start_with_schemas(folder, &[("reading.json", &old)]);
    for _ in 0..3 {
        assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&old, text)).status, 204);
    }
    let (_, folder) = gateway.stop();

    let e = start_error(folder.path(), &[("reading.json", &new)]);
    assert!(matches!(&e, Error::ChangedLayout { slot: 1, .. }), "{e}");
    let e = e.to_string();
    for part in [&fingerprint(&old), &fingerprint(&new), "reading.json", "slot 1", "another x-dunnage-slot"] {
        assert!(e.contains(part), "{part}: {e}");
    }

    // `dunnage gateway check` finds it without a start.
    let mut config = config(folder.path());
    with_schemas(&mut config);
    let (buffer, schemas) = (&config.buffer.path, &config.schemas.path);
    let file = folder.path().join("dunnage.toml");
    fs::write(&file, format!("[buffer]\npath = {buffer:?}\n[schemas]\npath = {schemas:?}\n")).unwrap();
    let mistakes = || runtime().block_on(async { dunnage_gateway::check(Some(&file)) });
    let found: Vec<String> = mistakes().iter().map(ToString::to_string).collect();
    assert!(
        matches!(&found[..], [one] if one.contains("reading.json") && one.contains("another x-dunnage-slot")),
        "{found:?}"
    );
    write(folder.path(), &[("reading.json", &old)]);
    assert!(mistakes().is_empty());

    // The new layout has its own slot, with or without the old layout in the folder.
    let second = reading(2, 0.05);
    let schemas = [("reading.json", second.as_str()), ("reading.1.json", old.as_str())];
    let gateway = start_with_schemas(folder, &schemas);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&old, text)).status, 204);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&second, text)).status, 204);
    let (_, folder) = gateway.stop();
    let gateway = start_with_schemas(folder, &[("reading.json", &second)]);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&second, text)).status, 204);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&old, text)).status, 422);
    let (_, folder) = gateway.stop();
    assert!(matches!(start_error(folder.path(), &[("reading.json", &new)]), Error::ChangedLayout { .. }));
}

#[test]
fn annotations_of_a_schema_may_change() {
    let described = |text: &str| reading(1, 0.1).replace("\"Reading\"", text);
    let text = r#"{"temperature":21.5,"door":"shut"}"#;
    let before = described("\"Reading\"");
    let gateway = start_with_schemas(TempDir::new().unwrap(), &[("reading.json", &before)]);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&before, text)).status, 204);
    let (_, folder) = gateway.stop();
    let after = described("\"Reading\",\"description\":\"Of the air inside\"");
    let gateway = start_with_schemas(folder, &[("reading.json", &after)]);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&before, text)).status, 204);
}

#[test]
fn known_field_is_the_device_of_the_path() {
    let schema = json!({
        "title": "Known", "type": "object", "required": ["id", "n"], "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "x-dunnage-known": "device"},
            "n": {"type": "integer", "minimum": 0, "maximum": 255}
        }
    })
    .to_string();
    let gateway = start_with_schemas(TempDir::new().unwrap(), &[("known.json", &schema)]);
    let bytes = packed(&schema, r#"{"id":"LMCU1231237","n":7}"#);
    assert_eq!(bytes.len(), 2);
    for device in ["LMCU1231237", "urn:imei:356938035643809"] {
        let answer = gateway.post(&format!("/ingest/{device}?schema=known"), PACKED, &bytes);
        assert_eq!(answer.status, 204, "{}", answer.text);
        assert_eq!(last(&gateway, "messages")["value"], json!({"id": device, "n": 7}));
    }
}

#[test]
fn a_few_bytes_of_a_modelled_body_can_hold_many_values() {
    let schema = r#"{"title":"Open","type":"array"}"#;
    let gateway = start_with_schemas(TempDir::new().unwrap(), &[("open.json", schema)]);
    let text = format!("[{}0]", "0,".repeat(19_999));
    let bytes = packed(schema, &text);
    assert!(bytes.len() < 40, "{}", bytes.len());
    assert_eq!(gateway.post("/ingest/d?schema=open", PACKED, &bytes).status, 204);
    let message = last(&gateway, "messages");
    assert_eq!((&message["json_bytes"], &message["slot"]), (&json!(text.len()), &json!(1)));
    assert_eq!(message["value"], serde_json::from_str::<Value>(&text).unwrap());
    let answer = gateway.post("/ingest/d?schema=open", PACKED, &bytes[..bytes.len() / 2]);
    assert!(matches!(answer.status, 400 | 422), "{}", answer.text);
}

#[test]
fn buffer_of_version_1_is_upgraded() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/d", JSON, b"1").status, 204);
    let first = gateway.get_json("/api/devices/d")["first_seen"].clone();
    assert!(first.is_string());
    let (_, folder) = gateway.stop();
    let connection = Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    connection
        .execute_batch(
            "DROP TABLE layouts; DROP TABLE cursors; DROP TABLE undelivered;
             ALTER TABLE messages DROP COLUMN key; ALTER TABLE messages DROP COLUMN request;
             ALTER TABLE quarantine DROP COLUMN key; ALTER TABLE quarantine DROP COLUMN request;
             ALTER TABLE totals DROP COLUMN name; ALTER TABLE totals DROP COLUMN duplicates;
             DROP TABLE gaps; ALTER TABLE messages DROP COLUMN \"check\";
             ALTER TABLE totals DROP COLUMN dropped; ALTER TABLE totals DROP COLUMN dropped_to;
             ALTER TABLE totals DROP COLUMN lost; ALTER TABLE totals DROP COLUMN damages;
             ALTER TABLE messages DROP COLUMN name; ALTER TABLE messages DROP COLUMN place;
             ALTER TABLE messages DROP COLUMN origin; ALTER TABLE quarantine DROP COLUMN origin; DROP TABLE waypoints; DROP TABLE behind;
             DROP TABLE register; DROP TABLE alarms; DROP TABLE replays; ALTER TABLE devices DROP COLUMN first_at;
             ALTER TABLE quarantine DROP COLUMN answered;
             PRAGMA user_version = 1",
        )
        .unwrap();
    drop(connection);
    let gateway = start_in(folder, |_| ());
    let bytes = packed(bundled_named("container").unwrap(), CONTAINER);
    assert_eq!(gateway.post("/ingest/d?schema=container", PACKED, &bytes).status, 204);
    assert_eq!(gateway.get_json("/api/stats")["stored"], 2);
    assert_eq!(gateway.get_json("/api/devices/d")["first_seen"], first);
    // The gateway upgraded the buffer instead of treating it as damaged.
    assert!(gateway.get("/metrics").text.contains("\ndunnage_buffer_damages_total 0\n"));
}

#[test]
fn packed_messages_without_a_required_check_are_rejected() {
    let unchecked = reading(1, 0.5);
    let checked = unchecked.replacen('{', r#"{"x-dunnage-check":2,"#, 1);
    let text = r#"{"temperature":17.5,"door":"open"}"#;
    let folder = TempDir::new().unwrap();
    write(folder.path(), &[("old.json", &unchecked), ("reading.json", &checked)]);
    let gateway = start_in(folder, |config| {
        with_schemas(config);
        config.schemas.require_check = true;
    });
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&checked, text)).status, 204);
    let rejected = gateway.post("/ingest/d?schema=old", PACKED, &packed(&unchecked, text));
    assert_eq!(rejected.status, 422);
    assert!(last(&gateway, "quarantine")["reason"].as_str().unwrap().contains("x-dunnage-check"));
    // A message of another layout in the same slot.
    let other = reading(1, 0.25).replacen('{', r#"{"x-dunnage-check":2,"#, 1);
    assert_eq!(gateway.post("/ingest/d?schema=reading", PACKED, &packed(&other, text)).status, 400);
}

#[test]
fn schemas_refer_to_files_in_their_folder_and_can_assert_formats() {
    let main = r#"{"type":"object","properties":{"id":{"$ref":"part.json"}}}"#;
    let folder = TempDir::new().unwrap();
    write(folder.path(), &[("main.json", main), ("part.json", r#"{"type":"string","format":"uuid"}"#)]);
    let gateway = start_in(folder, |config| {
        with_schemas(config);
        config.schemas.assert_formats = true;
    });
    let post =
        |id: &str| gateway.post("/ingest/d?schema=main", JSON, json!({ "id": id }).to_string().as_bytes());
    assert_eq!(post("9f4d8a70-3c1b-4e8e-9d0a-5f2b6c7d8e9f").status, 204);
    assert_eq!(post("none").status, 422);
}
