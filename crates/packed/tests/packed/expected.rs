//! Compares the sizes of messages according to the statistics with their actual sizes.

use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_packed::{Layout, Training};
use dunnage_pson::Value;
use dunnage_schema::Model;
use serde_json::{Value as Json, json};

/// A schema whose parts all have tables.
fn schema() -> Json {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["temperature", "state", "speed", "samples", "code"],
        "properties": {
            "temperature": {"type": "integer", "minimum": -400, "maximum": 850},
            "state": {"enum": ["off", "on", "fault"]},
            "speed": {"type": "integer", "minimum": 0, "maximum": 1000},
            "level": {"type": "integer", "minimum": 0, "maximum": 100},
            "samples": {"type": "array", "maxItems": 6, "items": {"type": "integer", "minimum": 0, "maximum": 63}},
            "code": {"type": "string", "pattern": "^[0-9A-F]{4,8}$", "maxLength": 8},
        },
    })
}

/// Returns messages of one device, whose speed depends on its state.
fn messages(count: usize) -> Vec<Value> {
    let mut seed = 3u64;
    let mut below = |limit: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as i64 % limit as i64
    };
    let (mut temperature, mut state) = (215, 0);
    let mut all = Vec::new();
    for _ in 0..count {
        temperature = (temperature + below(21) - 10).clamp(100, 300);
        if below(10) == 0 {
            state = below(3);
        }
        let speed = if state == 1 { 300 + below(200) } else { below(3) };
        let samples = (0..below(5)).map(|_| Value::from(below(20))).collect();
        let code = format!("{:04X}", below(0x800));
        let mut one = vec![
            ("temperature".to_owned(), Value::from(temperature)),
            ("state".to_owned(), Value::Text(["off", "on", "fault"][state as usize].to_owned())),
            ("speed".to_owned(), Value::from(speed)),
            ("samples".to_owned(), Value::Array(samples)),
            ("code".to_owned(), Value::Text(code)),
        ];
        if below(5) > 0 {
            one.push(("level".to_owned(), Value::from(40 + below(30))));
        }
        all.push(Value::Map(one));
    }
    all
}

fn compiled(schema: &Json) -> Layout {
    Layout::new(&Model::compile(&schema.to_string()).unwrap()).unwrap()
}

#[test]
fn the_expected_size_is_that_of_the_messages_of_the_training() {
    let (mut schema, messages) = (schema(), messages(4000));
    let untrained = compiled(&schema);
    assert_eq!(untrained.expected(), None);
    let mut training = Training::new(&untrained).unwrap();
    let examples: Vec<_> = messages.iter().map(|message| training.example(message).unwrap()).collect();
    examples.iter().for_each(|example| training.add(example));
    examples.windows(2).for_each(|pair| training.add_change(&pair[1], &pair[0]));
    let learnt = training.finish();
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(&learnt.statistics));
    let layout = compiled(&schema);
    let expected = layout.expected().unwrap();

    let (mut prior, mut delta) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        layout.encode(message, &mut prior).unwrap();
        if at > 0 {
            let reference = layout.reference(&messages[at - 1]).unwrap();
            layout.encode_delta(message, &reference, &mut delta).unwrap();
        }
    }
    let near = |what: &str, expected: f64, measured: f64| {
        println!("{what}: {expected:.2} expected, {measured:.2} measured");
        assert!((expected / measured - 1.0).abs() < 0.1, "{what}: {expected} instead of {measured}");
    };
    near("prior bytes", expected.prior_bytes, prior.len() as f64 / messages.len() as f64);
    near("delta bytes", expected.delta_bytes, delta.len() as f64 / (messages.len() - 1) as f64);
    for part in &expected.parts {
        assert!(part.prior.mean <= part.prior.max && part.delta.mean <= part.delta.max, "{part:?}");
    }
    let bits = expected.parts.iter().map(|part| part.prior.mean).sum::<f64>();
    near("prior bits", bits, learnt.parts.iter().map(|part| part.prior).sum());
}
