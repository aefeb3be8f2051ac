//! Deltas: packed messages that refer to earlier ones of their device.

use crate::support::{
    Running,
    mqtt::{Client, packet, text},
    start_in,
    wait::wait_until,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_formats::{Format, Json};
use dunnage_packed::{Layout, Reference, Sender, Training, Value};
use dunnage_schema::Model;
use serde_json::json;
use std::{fs, sync::LazyLock};
use tempfile::TempDir;

const PACKED: &str = "application/vnd.dunnage.packed";

/// The message `n`: two counters, and a level that changes little.
pub fn message(n: u32) -> Value {
    let text = json!({"n": 1_000_000 + n, "total": n * 1_234_567, "level": 40_000 + n * 7 % 13}).to_string();
    Json.decode(text.as_bytes()).unwrap()
}

/// Returns the schema of [`message`] in `slot`, with statistics.
pub fn trained(slot: u8) -> String {
    let number = |maximum: u32| json!({"type": "integer", "minimum": 0, "maximum": maximum});
    let mut schema = json!({"title": "R", "x-dunnage-slot": slot, "type": "object", "additionalProperties": false,
        "required": ["n", "total", "level"],
        "properties": {"n": number(4_000_000_000), "total": number(4_000_000_000), "level": number(60_000 + u32::from(slot))}});
    let layout = Layout::untrained(&Model::compile(&schema.to_string()).unwrap());
    let mut training = Training::new(&layout).unwrap();
    let examples: Vec<_> = (0..500).map(|n| training.example(&message(n)).unwrap()).collect();
    for pair in examples.windows(2) {
        training.add(&pair[1]);
        training.add_change(&pair[1], &pair[0]);
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    schema.to_string()
}

static SCHEMAS: LazyLock<[String; 2]> = LazyLock::new(|| [trained(1), trained(2)]);

fn layout(slot: usize) -> Layout {
    Layout::new(&Model::compile(&SCHEMAS[slot - 1]).unwrap()).unwrap()
}

/// Starts a gateway that knows the two layouts of the schema `r`.
fn gateway() -> Running {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    for (name, schema) in ["r.json", "r.2.json"].iter().zip(&*SCHEMAS) {
        fs::write(folder.path().join("schemas").join(name), schema).unwrap();
    }
    again(folder)
}

fn again(folder: TempDir) -> Running {
    start_in(folder, |config| {
        config.schemas.path = config.buffer.path.with_file_name("schemas");
        let mqtt = "name = 'devices'\n[mqtt]\nlisten = '127.0.0.1:0'";
        config.inputs.push(toml::from_str(mqtt).unwrap());
    })
}

/// Publishes a message with QoS 1 as the device `d`, with a version of MQTT. Returns the body of the PUBACK.
fn publish(gateway: &Running, version: u8, bytes: &[u8]) -> Vec<u8> {
    let address = gateway.gateway.input_address("devices").unwrap();
    let (mut client, _) = Client::connect(address, version, "d", false);
    let properties: &[u8] = if version == 5 { &[0] } else { &[] };
    let body = [&text("v1/d/packed/r"), &[0, 1][..], properties, bytes].concat();
    client.send(&packet(0x32, &body));
    let (first, body) = client.read().unwrap();
    assert_eq!(first, 0x40);
    body
}

/// Returns the message `n` as a delta against the message `reference`.
fn delta(layout: &Layout, n: u32, reference: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    layout.encode_delta(&message(n), &layout.reference(&message(reference)).unwrap(), &mut bytes).unwrap();
    bytes
}

fn whole(layout: &Layout, n: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    layout.encode(&message(n), &mut bytes).unwrap();
    bytes
}

/// Sends a message as `device`. Returns the status and the kind of error.
fn post(gateway: &Running, device: &str, bytes: &[u8]) -> (u16, String) {
    let answer = gateway.post(&format!("/ingest/{device}?schema=r"), PACKED, bytes);
    let kind =
        if answer.status == 204 { String::new() } else { answer.json()["kind"].as_str().unwrap().into() };
    (answer.status, kind)
}

fn stored() -> (u16, String) {
    (204, String::new())
}

fn unknown() -> (u16, String) {
    (409, "reference".into())
}

/// Returns the counters of the messages of `device`, newest first.
fn counters(gateway: &Running, device: &str) -> Vec<u64> {
    let page = gateway.get_json(&format!("/api/devices/{device}/messages?limit=1000"));
    let messages = page["messages"].as_array().unwrap().iter();
    messages.map(|message| message["value"]["n"].as_u64().unwrap() - 1_000_000).collect()
}

fn quarantined(gateway: &Running) -> u64 {
    gateway.get_json("/api/stats")["quarantined"].as_u64().unwrap()
}

#[test]
fn a_sender_and_the_gateway_agree_while_messages_and_acknowledgements_are_lost() {
    let (gateway, layout) = (gateway(), layout(1));
    let mut sender = Sender::new(&layout, 1);
    let (mut deltas, mut arrived, mut random) = (0, Vec::new(), 1_u32);
    for n in 0..400 {
        let mut bytes = Vec::new();
        sender.encode(&message(n), &mut bytes).unwrap();
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 30 == 0 {
            continue;
        }
        deltas += usize::from(dunnage_packed::is_delta(&bytes));
        assert_eq!(post(&gateway, "d", &bytes), stored(), "{n}");
        arrived.insert(0, u64::from(n));
        if random >> 28 & 3 != 0 {
            assert!(sender.acknowledged(sender.last().unwrap()));
        }
    }
    assert_eq!(counters(&gateway, "d"), arrived);
    assert!(deltas > 150, "{deltas}");
    assert_eq!(quarantined(&gateway), 0);
}

/// Also if the layout of the delta is not the first, and its reference not the message before it.
#[test]
fn the_parts_of_a_delta_are_explained() {
    let gateway = gateway();
    for slot in [1, 2] {
        let (layout, device) = (layout(slot), format!("d{slot}"));
        for n in [1, 2, 3] {
            assert_eq!(post(&gateway, &device, &whole(&layout, n)), stored());
        }
        let bytes = delta(&layout, 4, 2);
        assert_eq!(post(&gateway, &device, &bytes), stored());
        let id = gateway.get_json("/api/messages?limit=1")["messages"][0]["id"].as_i64().unwrap();
        let explanation = gateway.get_json(&format!("/api/messages/{id}"))["explanation"].clone();
        assert_eq!(explanation["error"], json!(null));
        let parts = explanation["parts"].as_array().unwrap();
        let name = layout.reference(&message(2)).unwrap().name();
        assert!(parts[0]["meaning"].as_str().unwrap().contains(&format!("{name:04x}")), "{parts:?}");
        assert_eq!(parts[2]["bits"].as_f64(), Some(8.0 * (bytes.len() - 3) as f64));
        let values: Vec<_> = parts[3..]
            .iter()
            .map(|part| (part["path"].as_str().unwrap(), part["meaning"].as_str().unwrap()))
            .collect();
        assert_eq!(values, [("/n", "1000004"), ("/total", "4938268"), ("/level", "40002")]);
        // A coder shares its bits between the values; the last byte is not full.
        let shares: f64 = parts[3..].iter().map(|part| part["bits"].as_f64().unwrap()).sum();
        assert!(shares > 4.0 && shares < 8.0 * (bytes.len() - 3) as f64 + 1.0, "{shares}");
    }
}

#[test]
fn only_messages_of_the_device_are_references() {
    let (gateway, layout) = (gateway(), layout(1));
    assert_eq!(post(&gateway, "d", &delta(&layout, 2, 1)), unknown());
    assert_eq!(post(&gateway, "other", &whole(&layout, 1)), stored());
    assert_eq!(post(&gateway, "d", &delta(&layout, 2, 1)), unknown());
    assert_eq!(post(&gateway, "other", &delta(&layout, 2, 1)), stored());
    // The device of another schema has no references.
    let answer = gateway.post("/ingest/d?schema=container", PACKED, &delta(&layout, 2, 1));
    assert_eq!((answer.status, &answer.json()["kind"]), (400, &json!("malformed")));
    assert_eq!(quarantined(&gateway), 3);
}

#[test]
fn references_survive_a_restart_of_the_gateway() {
    let (gateway, layout) = (gateway(), layout(1));
    for n in 0..20 {
        assert_eq!(post(&gateway, "d", &whole(&layout, n)), stored());
    }
    let gateway = again(gateway.stop().1);
    assert_eq!(post(&gateway, "d", &delta(&layout, 20, 4)), stored());
    let gateway = again(gateway.stop().1);
    assert_eq!(post(&gateway, "d", &delta(&layout, 21, 20)), stored());
    assert_eq!(post(&gateway, "d", &delta(&layout, 22, 18)), stored());
    // 16 messages are kept: this one is too old.
    assert_eq!(post(&gateway, "d", &delta(&layout, 23, 5)), unknown());
    assert_eq!(counters(&gateway, "d")[..3], [22, 21, 20]);
}

#[test]
fn a_schema_that_comes_back_has_its_references() {
    let (gateway, layout) = (gateway(), layout(1));
    let schemas = gateway.folder.path().join("schemas");
    fs::write(schemas.join("s.json"), &SCHEMAS[1]).unwrap();
    let gateway = again(gateway.stop().1);
    assert_eq!(post(&gateway, "d", &whole(&layout, 0)), stored());
    // The references of the device are loaded for another schema first.
    let gateway = again(gateway.stop().1);
    let other = gateway.post("/ingest/d?schema=s", PACKED, &delta(&layout, 1, 0));
    assert_eq!(other.status, 409, "{}", other.text);
    assert_eq!(gateway.post("/ingest/d?schema=s", PACKED, &whole(&self::layout(2), 5)).status, 204);
    assert_eq!(gateway.post("/ingest/d?schema=s", PACKED, &delta(&self::layout(2), 6, 5)).status, 204);
    assert_eq!(post(&gateway, "d", &delta(&layout, 1, 0)), stored());
}

#[test]
fn a_message_that_is_repeated_does_not_hide_other_references() {
    let (gateway, layout) = (gateway(), layout(1));
    let tag = |n: u32| layout.reference(&message(n)).unwrap().name() & 0x3f;
    let same = (1..).find(|n| tag(*n) == tag(0)).unwrap();
    assert_eq!(post(&gateway, "d", &whole(&layout, 0)), stored());
    for _ in 0..12 {
        assert_eq!(post(&gateway, "d", &whole(&layout, same)), stored());
    }
    assert_eq!(post(&gateway, "d", &delta(&layout, 1, 0)), stored());
}

#[test]
fn the_layout_of_a_delta_is_the_one_of_its_reference() {
    let (gateway, layouts) = (gateway(), [layout(1), layout(2)]);
    for (n, layout) in (0..).zip(&layouts) {
        assert_eq!(post(&gateway, "d", &whole(layout, n)), stored());
    }
    assert_eq!(post(&gateway, "d", &delta(&layouts[0], 2, 0)), stored());
    assert_eq!(post(&gateway, "d", &delta(&layouts[1], 3, 1)), stored());
    // The other layout has no such message.
    assert_eq!(post(&gateway, "d", &delta(&layouts[1], 4, 0)), unknown());
    let hex = |layout: &Layout| {
        layout.fingerprint()[..4].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let asked = |layout: &Layout| {
        let content_type = format!("{PACKED}; layout={}", hex(layout));
        gateway.post("/ingest/d?schema=r", &content_type, &delta(&layouts[0], 4, 2)).status
    };
    assert_eq!((asked(&layouts[1]), asked(&layouts[0])), (422, 204));
    assert_eq!(counters(&gateway, "d"), [4, 3, 2, 1, 0]);
}

#[test]
fn a_delta_that_overtakes_its_reference_is_stored_when_that_arrives() {
    let (gateway, layout) = (gateway(), layout(1));
    assert_eq!(post(&gateway, "d", &whole(&layout, 0)), stored());
    // A chain: each refers to the one before.
    for n in [4, 3, 2] {
        // A PUBACK of MQTT 3.1.1 does not tell the device that the message is in the quarantine.
        assert_eq!(publish(&gateway, 4, &delta(&layout, n, n - 1)), [0, 1]);
    }
    assert_eq!((counters(&gateway, "d"), quarantined(&gateway)), (vec![0], 3));
    // The quarantine is remembered over a restart.
    let gateway = again(gateway.stop().1);
    assert_eq!(post(&gateway, "d", &delta(&layout, 1, 0)), stored());
    wait_until("the deltas are stored", || counters(&gateway, "d") == [4, 3, 2, 1, 0]);
    assert_eq!(quarantined(&gateway), 0);
    wait_until("they are counted", || {
        gateway.get("/metrics").text.contains("dunnage_requeued_messages_total 3")
    });
}

/// A device that learns it sends the reading again, without a reference. Other messages may have the content of the reference.
#[test]
fn a_delta_whose_sender_was_told_is_not_stored_later() {
    let (gateway, layout) = (gateway(), layout(1));
    assert_eq!(post(&gateway, "d", &delta(&layout, 3, 2)), unknown());
    assert_eq!(publish(&gateway, 5, &delta(&layout, 4, 2))[..3], [0, 1, 0x99]);
    for n in [3, 4] {
        assert_eq!(post(&gateway, "d", &whole(&layout, n)), stored());
    }
    let gateway = again(gateway.stop().1);
    assert_eq!(post(&gateway, "d", &whole(&layout, 2)), stored());
    // A delta of which the device was not told waits for the same message, and shows when the others would have been stored.
    assert_eq!(publish(&gateway, 4, &delta(&layout, 6, 5)), [0, 1]);
    assert_eq!(post(&gateway, "d", &whole(&layout, 5)), stored());
    wait_until("the delta is stored", || counters(&gateway, "d") == [6, 5, 2, 4, 3]);
    assert_eq!(quarantined(&gateway), 2);
}

#[test]
fn a_replayed_delta_gives_the_same_message() {
    let (gateway, layout) = (gateway(), layout(1));
    assert_eq!(post(&gateway, "d", &whole(&layout, 0)), stored());
    let replayed = delta(&layout, 1, 0);
    for n in 2..5 {
        assert_eq!(post(&gateway, "d", &replayed), stored());
        assert_eq!(post(&gateway, "d", &delta(&layout, n, n - 1)), stored());
        assert_eq!(counters(&gateway, "d")[..2], [u64::from(n), 1]);
    }
    // Two messages later, its reference has been left behind.
    for n in [5, 6] {
        assert_eq!(post(&gateway, "d", &delta(&layout, n, n - 1)), stored());
    }
    assert_eq!(post(&gateway, "d", &replayed), unknown());
}

#[test]
fn bytes_that_are_no_delta_of_any_reference_are_refused_with_their_kind() {
    let (gateway, layout) = (gateway(), layout(1));
    for n in 0..12 {
        assert_eq!(post(&gateway, "d", &whole(&layout, n)), stored());
    }
    let references: Vec<Reference> = (0..12).map(|n| layout.reference(&message(n)).unwrap()).collect();
    for length in 1..3 {
        assert_eq!(post(&gateway, "d", &vec![0x80; length]), (400, "truncated".into()));
    }
    for body in [vec![], vec![0x00; 40], vec![0xff; 40], vec![0x55; 2000]] {
        for reference in &references {
            let head = [0x80 | (reference.name() & 0x3f) as u8, 0x12, 0x34];
            assert_eq!(post(&gateway, "d", &[&head[..], &body].concat()), unknown());
        }
    }
    assert_eq!(counters(&gateway, "d").len(), 12);
}
