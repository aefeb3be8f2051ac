//! Random series of random schemas: round trips in the three modes, and damage.

use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_packed::{Kind, Layout, Reference, Training};
use dunnage_pson::Value;
use dunnage_schema::Model;
use fastrand::Rng;
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

/// A kind of value: its schema, and the value of a reading at a time from 0.
type Part = (fn() -> Json, fn(&mut Rng, u64) -> Json);

const PARTS: [Part; 16] = [
    (
        || json!({"type": "integer", "minimum": -50, "maximum": 999}),
        |rng, at| json!(3 * at % 900 + rng.u64(..5)),
    ),
    (
        || json!({"type": "integer", "minimum": 0, "maximum": 9}),
        |rng, at| json!((at / 3 + rng.u64(..2)) % 10),
    ),
    (
        || json!({"type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 359.9}),
        |_, at| json!(((70 * at) % 3600) as f64 / 10.0),
    ),
    (
        || json!({"enum": ["off", 7, null]}),
        |rng, _| [json!("off"), json!(7), Json::Null][rng.usize(..9) / 4].clone(),
    ),
    (|| json!({"type": "boolean"}), |rng, _| json!(rng.u8(..9) == 0)),
    (
        || json!({"type": ["integer", "null"], "minimum": 0, "maximum": 255}),
        |rng, at| if rng.u8(..4) == 0 { Json::Null } else { json!(at % 256) },
    ),
    (
        || json!({"type": "string", "pattern": "^[0-9]{0,3}-[0-9A-F]{2,9}$"}),
        |rng, at| json!(["-AA".to_owned(), format!("{}-{:06X}", at % 1000, at / 5)][rng.usize(..2)]),
    ),
    (
        || json!({"type": "string", "maxLength": 6}),
        |rng, _| json!(["", "dry", "süd", "wet"][rng.usize(..12) / 3]),
    ),
    (|| json!({"type": "number"}), |rng, _| json!([0.5, 0.1, 0.1f32.into(), 1e-13, 1e300][rng.usize(..5)])),
    (
        || {
            let item = |name| json!({"name": name, "multipleOf": 0.01, "minimum": -16, "maximum": 16});
            json!({"type": "string", "x-dunnage-numbers": {"separator": " ", "items": [item("x"), item("y")]}})
        },
        |rng, _| json!(format!("{}.00 -1.{:02}", rng.u8(..16), rng.u8(1..99))),
    ),
    (
        || json!({"type": "integer", "minimum": 0, "maximum": 100000, "x-dunnage-every": 10}),
        |rng, at| json!(10 * at + rng.u64(..3)),
    ),
    (
        || json!({"type": "string", "x-dunnage-time": {"notation": "YYYY-MM-DDThh:mm:ssZ", "epoch": "2020-01-01T00:00:00Z"}}),
        |_, at| json!(format!("2026-03-{:02}T{:02}:{:02}:00Z", 1 + at / 96 % 28, at / 4 % 24, at % 4 * 15)),
    ),
    (|| json!({"type": "integer"}), |rng, _| json!([0, -1, 1 << 40, i64::MIN][rng.usize(..12) / 3])),
    (
        || json!({"type": "integer", "minimum": 0, "maximum": 99999, "x-dunnage-usual": {"minimum": 10, "maximum": 20}}),
        |rng, at| json!(if rng.u8(..5) == 0 { 70_000 + at } else { rng.u64(10..20) }),
    ),
    (
        || json!({"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 0, "maximum": 9}]}),
        |rng, at| if rng.bool() { json!(true) } else { json!(at % 10) },
    ),
    (
        || json!({"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 0, "maximum": 60}}),
        |rng, at| json!((0..rng.u64(..4)).map(|n| (at + n) % 61).collect::<Vec<_>>()),
    ),
];

/// A random schema with a series, and messages of it.
struct Device {
    rng: Rng,
    /// The parts of a reading, and whether each is required. A single one without a name is a reading itself.
    parts: Vec<(usize, bool)>,
    is_bare: bool,
    at: u64,
}

const MOST: usize = 6;

impl Device {
    fn new(seed: u64) -> Device {
        let mut rng = Rng::with_seed(seed);
        let is_bare = rng.u8(..4) == 0;
        let count = if is_bare { 1 } else { rng.usize(1..6) };
        let parts = (0..count).map(|_| (rng.usize(..PARTS.len()), rng.bool())).collect();
        Device { rng, parts, is_bare, at: 0 }
    }

    fn schema(&self) -> Json {
        let part = |at: usize| PARTS[self.parts[at].0].0();
        let item = if self.is_bare {
            part(0)
        } else {
            let names = |at: &usize| format!("p{at}");
            let all: Vec<usize> = (0..self.parts.len()).collect();
            let properties: Map<String, Json> = all.iter().map(|at| (names(at), part(*at))).collect();
            let required: Vec<String> = all.iter().filter(|at| self.parts[**at].1).map(names).collect();
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
        };
        json!({
            "type": "object",
            "properties": {
                "site": {"type": "integer", "minimum": 0, "maximum": 99},
                "readings": {"type": "array", "maxItems": MOST, "x-dunnage-series": true, "items": item},
                "fault": {"type": "boolean"},
            },
            "required": ["readings", "fault"],
            "additionalProperties": false,
        })
    }

    fn reading(&mut self) -> Json {
        self.at += 1;
        let mut all = Map::new();
        for (at, (part, required)) in self.parts.clone().into_iter().enumerate() {
            let value = PARTS[part].1(&mut self.rng, self.at);
            if self.is_bare {
                return value;
            }
            if required || self.rng.u8(..4) > 0 {
                all.insert(format!("p{at}"), value);
            }
        }
        Json::Object(all)
    }

    fn message(&mut self) -> Value {
        let readings: Vec<Json> = (0..self.rng.usize(..=MOST)).map(|_| self.reading()).collect();
        let mut message = if self.rng.bool() { json!({"site": self.rng.u8(..100)}) } else { json!({}) };
        message["readings"] = json!(readings);
        message["fault"] = json!(self.rng.u8(..9) == 0);
        serde_json::from_value(message).unwrap()
    }
}

/// Returns the layout of a device with statistics of its messages. Some devices never refer to another message.
fn trained(device: &mut Device) -> Layout {
    let mut schema = device.schema();
    let compiled = |schema: &Json| Layout::new(&Model::compile(&schema.to_string()).unwrap()).unwrap();
    let untrained = compiled(&schema);
    let mut training = Training::new(&untrained).unwrap();
    let (refers, mut before) = (device.rng.bool(), None);
    for _ in 0..60 {
        let example = training.example(&device.message()).unwrap();
        training.add(&example);
        if let Some(before) = before.replace(example.clone()).filter(|_| refers) {
            training.add_change(&example, &before);
        }
    }
    let learnt = training.finish();
    assert!(
        learnt.parts.iter().all(|part| part.prior.is_finite() && part.prior >= 0.0),
        "{:?}",
        learnt.parts
    );
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(learnt.statistics));
    let layout = compiled(&schema);
    let expected = layout.expected().unwrap();
    assert!(expected.parts.iter().all(|part| part.prior.mean <= part.prior.max + 1e-9), "{expected:?}");
    layout
}

fn round_trips(layout: &Layout, message: &Value, reference: &Reference) -> [Vec<u8>; 3] {
    let [mut plain, mut short, mut delta] = [Vec::new(), Vec::new(), Vec::new()];
    layout.encode_without_statistics(message, &mut plain).unwrap();
    layout.encode(message, &mut short).unwrap();
    layout.encode_delta(message, reference, &mut delta).unwrap();
    assert_eq!(layout.decode(&plain, None).as_ref(), Ok(message));
    assert_eq!(layout.decode(&short, None).as_ref(), Ok(message));
    let decoded = layout.decode_delta(&delta, [reference], [], None).unwrap();
    assert_eq!(decoded.value, *message);
    // The parts that were read are those that a writer of the message has.
    assert_eq!(format!("{:?}", decoded.reference), format!("{:?}", layout.reference(message).unwrap()));
    [plain, short, delta]
}

/// Cuts and changes each byte: an error, or the one encoding of another message.
fn survives(layout: &Layout, bytes: &[u8], reference: &Reference, rng: &mut Rng) {
    let decode = |bytes: &[u8]| match bytes.first() {
        Some(first) if first >> 6 == 2 => {
            layout.decode_delta(bytes, [reference], [], None).map(|delta| delta.value)
        }
        _ => layout.decode(bytes, None),
    };
    for end in 0..bytes.len() {
        let kind = decode(&bytes[..end]).unwrap_err().kind();
        let is_delta = bytes[0] >> 6 == 2 && end > 2;
        assert_eq!(kind, if is_delta { Kind::Reference } else { Kind::Truncated }, "{end} of {bytes:02x?}");
    }
    for at in 1..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= rng.u8(1..);
        let Ok(other) = decode(&damaged) else { continue };
        let mut again = Vec::new();
        match damaged[0] >> 6 {
            0 => layout.encode_without_statistics(&other, &mut again).unwrap(),
            1 => layout.encode(&other, &mut again).unwrap(),
            _ => layout.encode_delta(&other, reference, &mut again).unwrap(),
        }
        // A writer has another mode for a message that is shorter in it.
        assert!(again == damaged || again[0] >> 6 != damaged[0] >> 6, "{damaged:02x?} and {again:02x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_series_round_trip_and_survive_damage(seed: u64) {
        let mut device = Device::new(seed);
        let layout = trained(&mut device);
        let mut before = device.message();
        for _ in 0..12 {
            let message = device.message();
            let reference = layout.reference(&before).unwrap();
            for bytes in round_trips(&layout, &message, &reference) {
                survives(&layout, &bytes, &reference, &mut device.rng);
            }
            before = message;
        }
    }
}
