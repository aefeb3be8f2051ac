//! Series. `BLESS=1` writes the vectors of `series.json` again, with statistics of a new training.

mod random;

use crate::vectors::notation::{folder, hex, message, value, vectors};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_packed::{Layout, Place, Predictor, Reference, Training};
use dunnage_schema::Model;
use fastrand::Rng;
use serde_json::{Value as Json, json};
use std::{env, fs};

/// Readings that are objects.
const READINGS: &str = include_str!("readings.schema.json");

/// Readings that are numbers.
fn numbers() -> Json {
    json!({
        "title": "Numbers",
        "x-dunnage-slot": 11,
        "type": "array",
        "maxItems": 200,
        "items": {"type": "integer", "minimum": 0, "maximum": 4294967295u32},
        "x-dunnage-series": true
    })
}

/// A thing that moves and measures.
struct Thing {
    rng: Rng,
    at: i64,
    east: i64,
    speed: i64,
}

/// Returns one of the texts, an earlier one more often.
fn often_first<'t>(rng: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[rng.usize(..texts.len()).min(rng.usize(..texts.len()))]
}

fn int(n: i64) -> Json {
    json!({"int": n.to_string()})
}

impl Thing {
    fn new(seed: u64) -> Thing {
        Thing { rng: Rng::with_seed(seed), at: 0, east: 500, speed: 30 }
    }

    /// Returns the next reading in the notation of vectors.
    fn reading(&mut self) -> Json {
        let rng = &mut self.rng;
        self.at += 1;
        self.speed += rng.i64(-2..=2);
        self.east = (self.east + self.speed).rem_euclid(36_000);
        let (minutes, seconds) = (15 * self.at, rng.i64(0..3));
        let time = format!(
            "2026-02-{:02}T{:02}:{:02}:{seconds:02}Z",
            1 + minutes / 1440 % 28,
            minutes / 60 % 24,
            minutes % 60
        );
        let mut entries = vec![
            json!(["time", time]),
            json!(["count", int(10 * self.at + rng.i64(0..2))]),
            json!(["east", {"float": format!("{:?}", self.east as f64 / 100.0)}]),
            json!(["state", often_first(rng, &["off", "on", "fault"])]),
            json!(["cell", often_first(rng, &["222-10-1A2B", "208-1-7"])]),
            json!(["note", often_first(rng, &["", "dry", "süd"])]),
            json!(["level", {"float": often_first(rng, &["0.5", "0.1", "0.10000000149011612", "1e-13"])}]),
        ];
        if rng.u8(..5) > 0 {
            let error = if rng.bool() { Json::Null } else { int(rng.i64(100..130)) };
            entries.push(json!(["error", error]));
        }
        json!({"map": entries})
    }

    /// Returns a message of some readings.
    fn readings(&mut self) -> Json {
        let count = [6, 6, 6, 6, 5, 1, 0][self.rng.usize(..7)];
        let readings: Vec<Json> = (0..count).map(|_| self.reading()).collect();
        json!({"map": [["battery", int(self.rng.i64(80..90))], ["readings", {"array": readings}]]})
    }

    /// Returns a message of some numbers, which grow by 100 each, at times from 0 again.
    fn numbers(&mut self) -> Json {
        let mut one = || {
            self.east = if self.rng.u8(..40) == 0 { 0 } else { self.east + 100 };
            int(self.east)
        };
        json!({"array": (0..12).map(|_| one()).collect::<Vec<_>>()})
    }
}

fn layout(schema: &Json) -> Layout {
    Layout::new(&Model::compile(&schema.to_string()).unwrap()).unwrap()
}

/// Returns the schema with statistics of messages that refer to the one before.
fn trained(mut schema: Json, messages: impl Fn(&mut Thing) -> Json) -> Json {
    let (untrained, mut thing) = (layout(&schema), Thing::new(1));
    let mut training = Training::new(&untrained).unwrap();
    let mut before = None;
    for _ in 0..600 {
        let example = training.example(&value(&messages(&mut thing))).unwrap();
        training.add(&example);
        if let Some(before) = before.replace(example.clone()) {
            training.add_change(&example, &before);
        }
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    schema
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the error of damaged bytes, as members of a vector.
fn error_of(layout: &Layout, reference: Option<&Reference>, bytes: &[u8]) -> Option<Json> {
    let error = match reference {
        Some(reference) => layout.decode_delta(bytes, [reference], [], None).err(),
        None => layout.decode(bytes, None).err(),
    };
    error.map(|error| json!({"kind": error.kind().as_str(), "offset": error.offset()}))
}

/// Returns messages in modes 0, 1 and 2, and damaged ones.
fn bless(name: &str, schema: &Json, messages: impl Fn(&mut Thing) -> Json) -> Vec<Json> {
    let (layout, mut thing) = (layout(schema), Thing::new(2));
    let mut all = Vec::new();
    let mut before: Option<Reference> = None;
    for nth in 0..5 {
        let given = messages(&mut thing);
        let reference = before.replace(layout.reference(&value(&given)).unwrap());
        let (mut bytes, mut delta) = (Vec::new(), Vec::new());
        layout.encode(&value(&given), &mut bytes).unwrap();
        let plain = to_hex(before.as_ref().unwrap().plain());
        let name = format!("packed-series-{name}-{nth}");
        all.push(
            json!({"name": name, "schema": schema, "value": given, "plain": plain, "hex": to_hex(&bytes)}),
        );
        let mut sent = vec![(name.clone(), bytes, None)];
        if let Some(reference) = reference {
            layout.encode_delta(&value(&given), &reference, &mut delta).unwrap();
            let name = format!("{name}-delta");
            all.push(json!({"name": name, "schema": schema, "reference": to_hex(reference.plain()), "value": given, "hex": to_hex(&delta)}));
            sent.push((name, delta, Some(reference)));
        }
        for (name, bytes, reference) in sent.into_iter().filter(|_| nth == 1) {
            for (how, at, xor) in
                [("cut", bytes.len() - 1, 0), ("flipped", 4, 0x10), ("ended", bytes.len() - 1, 1)]
            {
                let mut damaged = bytes.clone();
                damaged[at.min(bytes.len() - 1)] ^= xor;
                damaged.truncate(if xor == 0 { at } else { bytes.len() });
                let Some(error) = error_of(&layout, reference.as_ref(), &damaged) else { continue };
                let mut one = json!({"name": format!("{name}-{how}"), "schema": schema, "hex": to_hex(&damaged), "kind": error["kind"], "offset": error["offset"]});
                if let Some(reference) = &reference {
                    one["reference"] = json!(to_hex(reference.plain()));
                }
                all.push(one);
            }
        }
    }
    all
}

fn load() -> Vec<Json> {
    let path = folder().join("packed/series.json");
    if env::var_os("BLESS").is_some() {
        let readings = trained(serde_json::from_str(READINGS).unwrap(), Thing::readings);
        let numbers = trained(numbers(), Thing::numbers);
        let all = [bless("readings", &readings, Thing::readings), bless("numbers", &numbers, Thing::numbers)]
            .concat();
        let lines: Vec<String> = all.iter().map(|vector| format!("    {vector}")).collect();
        let description = "Messages with series in the three modes, and damaged ones.";
        let lines = lines.join(",\n");
        let text =
            format!("{{\n  \"description\": {},\n  \"vectors\": [\n{lines}\n  ]\n}}\n", json!(description));
        fs::write(&path, text).unwrap();
    }
    vectors(&fs::read_to_string(path).unwrap())
}

#[test]
fn series_have_the_bytes_of_the_vectors() {
    let all = load();
    assert!(all.len() > 20);
    let mut damaged = 0;
    for vector in all {
        let (name, layout, bytes) = (&vector["name"], layout(&vector["schema"]), message(&vector));
        let reference =
            vector["reference"].as_str().map(|plain| layout.reference_from(&hex(plain), None).unwrap());
        if vector["kind"].is_string() {
            let error = error_of(&layout, reference.as_ref(), &bytes).unwrap();
            assert_eq!((&error["kind"], &error["offset"]), (&vector["kind"], &vector["offset"]), "{name}");
            damaged += 1;
            continue;
        }
        let (given, mut out) = (value(&vector["value"]), Vec::new());
        if let Some(reference) = &reference {
            layout.encode_delta(&given, reference, &mut out).unwrap();
            assert_eq!(layout.decode_delta(&bytes, [reference], [], None).unwrap().value, given, "{name}");
        } else {
            layout.encode(&given, &mut out).unwrap();
            assert_eq!(layout.decode(&bytes, None).as_ref(), Ok(&given), "{name}");
            let plain = hex(vector["plain"].as_str().unwrap());
            assert_eq!(layout.reference(&given).unwrap().plain(), plain, "{name}");
            assert_eq!(layout.decode(&plain, None).as_ref(), Ok(&given), "{name}");
        }
        assert_eq!(out, bytes, "{name}");
    }
    assert!(damaged > 4);
}

/// The plain bits are those of an array without the keyword, and a layout of more than 1,024 bytes is plain.
#[test]
fn plain_messages_are_those_of_an_array() {
    let series = numbers();
    let mut array = series.clone();
    array["x-dunnage-series"] = json!(false);
    let given = value(&Thing::new(3).numbers());
    let plain = |schema: &Json| {
        let mut bytes = Vec::new();
        layout(schema).encode(&given, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(plain(&series), plain(&array));
    let large = |count: u32| {
        let mut schema = series.clone();
        schema["maxItems"] = json!(count);
        layout(&schema).max_bytes()
    };
    assert_eq!((large(1023), large(1024)), (Some(4095), None));
    assert_eq!(
        layout(&array).canonical().replace("[0,200]", "[0,200],\"series\":true"),
        layout(&series).canonical()
    );
    assert_ne!(layout(&array).fingerprint(), layout(&series).fingerprint());
}

#[test]
fn training_finds_how_each_part_moves() {
    let layout = layout(&trained(serde_json::from_str(READINGS).unwrap(), Thing::readings));
    let leaves = layout.trained_leaves().unwrap();
    let of = |path: &str| {
        let reading = layout.root().children()[1].1.children()[0].1;
        let is_field = |(place, _): &(Place<'_>, _)| matches!(place, Place::Field(name) if *name == path);
        let (_, node) = reading.children().into_iter().find(is_field).unwrap();
        leaves.list()[leaves.value(node.id, 0).unwrap()].predictor
    };
    // The table of its changes says that it grows by 900.
    assert_eq!(of("time"), Some(Predictor::Previous));
    assert_eq!(of("east"), Some(Predictor::Linear));
    assert_eq!(of("state"), Some(Predictor::Previous));
    assert_eq!(leaves.list()[0].predictor, None);
}

#[test]
fn the_expected_size_is_near_that_of_the_messages() {
    let layout = layout(&trained(numbers(), Thing::numbers));
    let (mut thing, mut prior, mut delta) = (Thing::new(5), Vec::new(), Vec::new());
    let mut before = layout.reference(&value(&thing.numbers())).unwrap();
    let count = 200;
    for _ in 0..count {
        let given = value(&thing.numbers());
        layout.encode(&given, &mut prior).unwrap();
        layout.encode_delta(&given, &before, &mut delta).unwrap();
        before = layout.reference(&given).unwrap();
    }
    let expected = layout.expected().unwrap();
    for (expected, measured) in [(expected.prior_bytes, prior.len()), (expected.delta_bytes, delta.len())] {
        let measured = measured as f64 / f64::from(count);
        println!("{expected:.2} expected, {measured:.2} measured");
        // The end of the coder's interval takes half a byte more or less, which counts in messages of a few bytes.
        assert!((expected - measured).abs() < 0.1 * measured + 0.5, "{expected} instead of {measured}");
    }
}
