//! Runs the vectors of modes 1 and 2, `coded.json` and `deltas.json`. `BLESS=1` writes them again with the statistics that
//! they have, and `BLESS=training` trains first: other statistics than before are then intended.

use crate::vectors::notation::{folder, hex, message, value, vectors};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_packed::{Layout, Receiver, Reference, Sender, Step, Training};
use dunnage_pson::Value;
use dunnage_schema::Model;
use serde_json::{Value as Json, json};
use std::{env, fs};

/// A schema with the parts that statistics are about.
const PARTS: &str = include_str!("trained.schema.json");

/// Floats of all forms: decimals, binary32, binary64, and a decimal of too many places.
const FLOATS: [&str; 5] = ["0.5", "0.1", "0.10000000149011612", "1e-13", "0.30000000000000004"];

/// Numbers below a limit, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Returns messages of one device: most parts change little, some are absent at times.
fn messages(count: usize, seed: u64) -> Vec<Json> {
    let mut random = Numbers(seed);
    let mut temperature = 2150i64;
    let mut all = Vec::new();
    for nth in 0..count {
        temperature += random.below(21) as i64 - 10;
        let cell = ["222-10-1A2B", "222-10-1A2C", "208-01-7"][random.below(20) as usize / 9];
        let state = ["off", "on", "fault"][random.below(30) as usize / 14];
        let name = ["north", "süd"][random.below(2) as usize];
        let level = FLOATS[random.below(5) as usize];
        let mut one = json!({
            "time": format!("2026-01-{:02}T{:02}:{:02}:{:02}Z", 1 + nth / 96 % 28, nth / 4 % 24, nth % 4 * 15, random.below(30)),
            "counter": {"int": (9_000_000_000_000_000u64 + nth as u64 * 3).to_string()},
            "temperature": {"float": format!("{:?}", temperature as f64 / 100.0)},
            "state": state,
            "cell": cell,
            "samples": {"array": (0..random.below(4)).map(|_| json!({"int": random.below(50).to_string()})).collect::<Vec<_>>()},
        });
        if random.below(5) > 0 {
            one["level"] = json!({"float": level});
        }
        if random.below(4) > 0 {
            one["error"] =
                if random.below(2) == 0 { Json::Null } else { json!({"int": random.below(256).to_string()}) };
        }
        if random.below(3) == 0 {
            one["name"] = json!(name);
        }
        let keys = ["time", "counter", "temperature", "state", "error", "cell", "name", "level", "samples"];
        let entries = keys.iter().filter_map(|key| one.get(key).map(|value| json!([key, value])));
        all.push(json!({"map": entries.collect::<Vec<_>>()}));
    }
    all
}

/// Returns the schema with statistics of such messages.
fn trained_schema() -> Json {
    let mut schema: Json = serde_json::from_str(PARTS).unwrap();
    let layout = layout(&schema);
    let mut training = Training::new(&layout).unwrap();
    let mut before = None;
    for message in messages(1000, 7) {
        let example = training.example(&value(&message)).unwrap();
        training.add(&example);
        if let Some(before) = &before {
            training.add_change(&example, before);
        }
        before = Some(example);
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    schema
}

fn layout(schema: &Json) -> Layout {
    Layout::new(&Model::compile(&schema.to_string()).unwrap()).unwrap()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the kind and the offset of decoding damaged bytes, as members of a vector.
fn error_of(layout: &Layout, references: &[Reference], bytes: &[u8]) -> Option<Json> {
    let error = match bytes.first() {
        Some(first) if first >> 6 == 2 => layout.decode_delta(bytes, references, [], None).err(),
        _ => layout.decode(bytes, None).err(),
    };
    error.map(|error| json!({"kind": error.kind().as_str(), "offset": error.offset()}))
}

/// Returns each of the ways to damage `bytes` that the vectors have.
fn damages(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut damaged = bytes.to_vec();
        change(&mut damaged);
        damaged
    };
    vec![
        ("cut", with(&|bytes| bytes.truncate(bytes.len() - 1))),
        ("longer", with(&|bytes| bytes.push(0))),
        ("ones", with(&|bytes| bytes[1..].fill(0xff))),
        ("zeros", with(&|bytes| bytes[1..].fill(0))),
        ("flipped", with(&|bytes| bytes[4] ^= 0x10)),
    ]
}

fn bless_coded(schema: &Json) -> Vec<Json> {
    let layout = layout(schema);
    let mut all = Vec::new();
    for (nth, given) in messages(12, 99).iter().enumerate() {
        let mut bytes = Vec::new();
        layout.encode(&value(given), &mut bytes).unwrap();
        all.push(json!({"name": format!("packed-coded-{nth}"), "schema": schema, "value": given, "hex": to_hex(&bytes)}));
        for (how, damaged) in damages(&bytes).into_iter().filter(|_| nth < 4) {
            let Some(error) = error_of(&layout, &[], &damaged) else { continue };
            let name = format!("packed-coded-{nth}-{how}");
            all.push(json!({"name": name, "schema": schema, "hex": to_hex(&damaged), "kind": error["kind"], "offset": error["offset"]}));
        }
    }
    all
}

fn bless_deltas(schema: &Json) -> Vec<Json> {
    let layout = layout(schema);
    let mut all = Vec::new();
    for (name, depth, lost, acknowledged) in
        [("lossless", 1, 0, 100), ("lossy", 1, 30, 70), ("late", 3, 30, 60), ("never", 1, 0, 4)]
    {
        let (mut sender, mut random, mut steps) =
            (Sender::new(&layout, depth), Numbers(depth as u64), Vec::new());
        let mut received: Vec<u16> = Vec::new();
        for given in messages(24, 5) {
            let mut bytes = Vec::new();
            sender.encode(&value(&given), &mut bytes).unwrap();
            let is_lost = random.below(100) < lost;
            let name = sender.last().unwrap();
            steps.push(
                json!({"send": given, "hex": to_hex(&bytes), "name": format!("{name:04x}"), "lost": is_lost}),
            );
            received.extend(Some(name).filter(|_| !is_lost));
            if !received.is_empty() && random.below(100) < acknowledged {
                let late = random.below(depth as u64).min(received.len() as u64 - 1) as usize;
                let name = received[received.len() - 1 - late];
                let news = sender.acknowledged(name);
                steps.push(json!({"acknowledge": format!("{name:04x}"), "news": news}));
            }
            if steps.len() == 20 {
                sender.forget();
                steps.push(json!({"forget": true}));
            }
        }
        all.push(json!({"name": format!("packed-deltas-{name}"), "schema": schema, "pending": depth, "steps": steps}));
    }
    let given = messages(3, 5);
    let references: Vec<Reference> =
        given[..2].iter().map(|message| layout.reference(&value(message)).unwrap()).collect();
    let mut bytes = Vec::new();
    layout.encode_delta(&value(&given[2]), &references[0], &mut bytes).unwrap();
    let plain: Vec<String> = references.iter().map(|reference| to_hex(reference.plain())).collect();
    let mut damaged = damages(&bytes);
    damaged.push(("of-another", [&[bytes[0] ^ 1], &bytes[1..]].concat()));
    damaged.push(("short", bytes[..2].to_vec()));
    for (how, damaged) in damaged {
        let error = error_of(&layout, &references, &damaged).unwrap();
        let name = format!("packed-deltas-{how}");
        all.push(json!({"name": name, "schema": schema, "references": plain, "hex": to_hex(&damaged), "kind": error["kind"], "offset": error["offset"]}));
    }
    all
}

/// Returns the vectors of a file, after writing them if they are to be blessed.
fn load(file: &str, description: &str, bless: fn(&Json) -> Vec<Json>) -> Vec<Json> {
    let path = folder().join("packed").join(file);
    if let Some(what) = env::var_os("BLESS") {
        let schema = match what == "training" {
            true => trained_schema(),
            false => vectors(&fs::read_to_string(&path).unwrap())[0]["schema"].clone(),
        };
        let lines: Vec<String> = bless(&schema).iter().map(|vector| format!("    {vector}")).collect();
        let text = format!(
            "{{\n  \"description\": {},\n  \"vectors\": [\n{}\n  ]\n}}\n",
            json!(description),
            lines.join(",\n")
        );
        fs::write(&path, text).unwrap();
    }
    vectors(&fs::read_to_string(path).unwrap())
}

#[test]
fn coded_messages_encode_to_their_bytes_and_back_and_damaged_ones_are_rejected() {
    let all = load("coded.json", "Messages in mode 1, and damaged ones.", bless_coded);
    assert!(all.len() > 20);
    for vector in all {
        let (name, layout, bytes) = (&vector["name"], layout(&vector["schema"]), message(&vector));
        if let Some(kind) = vector["kind"].as_str() {
            let error = layout.decode(&bytes, None).unwrap_err();
            assert_eq!(
                (error.kind().as_str(), error.offset().unwrap() as u64),
                (kind, vector["offset"].as_u64().unwrap()),
                "{name}"
            );
            assert_eq!(layout.trace(&bytes, None, &mut |_| ()), Err(error), "{name}");
            continue;
        }
        let mut out = Vec::new();
        layout.encode(&value(&vector["value"]), &mut out).unwrap();
        assert_eq!(out, bytes, "{name}");
        assert_eq!(bytes[0] >> 6, 1, "{name}");
        assert_eq!(layout.decode(&bytes, None).as_ref(), Ok(&value(&vector["value"])), "{name}");
        shares_add_up(&layout, &bytes);
    }
}

/// The end of a body takes less than two bytes.
fn shares_add_up(layout: &Layout, bytes: &[u8]) {
    let mut sum = 8.0;
    let message = layout.trace(bytes, None, &mut |step| {
        if let Step::Share { bits, .. } = step {
            assert!(bits >= 0.0);
            sum += bits;
        }
    });
    assert_eq!(message, layout.decode(bytes, None));
    let check = layout.check().map_or(0, |check| check.bytes());
    let all = 8.0 * (bytes.len() - check) as f64;
    assert!(sum <= all + 0.01 && sum > all - 16.0, "{sum} of {all}");
}

#[test]
fn deltas_over_losses_are_those_of_the_vectors_and_damaged_ones_are_rejected() {
    let all = load(
        "deltas.json",
        "Sequences of messages with losses and acknowledgements in mode 2, and damaged deltas.",
        bless_deltas,
    );
    assert!(all.len() > 8);
    for vector in all {
        let layout = layout(&vector["schema"]);
        match vector["kind"].as_str() {
            Some(kind) => rejected(&layout, &vector, kind),
            None => replay(&layout, &vector),
        }
    }
}

fn rejected(layout: &Layout, vector: &Json, kind: &str) {
    let plain = vector["references"].as_array().unwrap().iter();
    let references: Vec<Reference> =
        plain.map(|plain| layout.reference_from(&hex(plain.as_str().unwrap()), None).unwrap()).collect();
    let error = layout.decode_delta(&message(vector), &references, [], None).unwrap_err();
    let offset = vector["offset"].as_u64().unwrap();
    assert_eq!((error.kind().as_str(), error.offset().unwrap() as u64), (kind, offset), "{}", vector["name"]);
}

/// Repeats the steps of a sequence at both ends.
fn replay(layout: &Layout, vector: &Json) {
    let name = &vector["name"];
    let mut sender = Sender::new(layout, vector["pending"].as_u64().unwrap() as usize);
    let mut receiver = Receiver::new(layout, 16);
    let mut modes = [0; 3];
    for step in vector["steps"].as_array().unwrap() {
        if let Some(acknowledged) = step["acknowledge"].as_str() {
            let news = sender.acknowledged(u16::from_str_radix(acknowledged, 16).unwrap());
            assert_eq!(news, step["news"], "{name}");
        } else if step["forget"] == true {
            sender.forget();
        } else {
            let (given, bytes): (Value, _) = (value(&step["send"]), message(step));
            let mut sent = Vec::new();
            sender.encode(&given, &mut sent).unwrap();
            assert_eq!(sent, bytes, "{name}");
            assert_eq!(
                sender.last().map(|name| format!("{name:04x}")).as_deref(),
                step["name"].as_str(),
                "{name}"
            );
            modes[usize::from(sent[0] >> 6)] += 1;
            if step["lost"] == false {
                let decoded = receiver.decode(&sent, None).unwrap();
                assert_eq!(decoded, given, "{name}");
                // The parts that were read are those that a writer of the message has.
                let written = layout.reference(&decoded).unwrap();
                assert_eq!(format!("{:?}", receiver.last()), format!("{:?}", Some(written)), "{name}");
            }
        }
    }
    assert!(modes[1] > 0 && modes[2] > 0, "{name}: {modes:?}");
}
