//! Schemas of what a decoder returned for examples and for mutated frames.

use dunnage_schema::{Inferred, infer_decoded};
use serde_json::{Value as Json, json};

fn inferred(samples: &[&str], mutated: &[String]) -> Inferred {
    let inferred = infer_decoded(samples, mutated, None).expect("these are messages");
    assert!(inferred.odd.is_empty(), "{:?}", inferred.odd);
    inferred
}

/// The schema of the field `name` with the values `samples`, and with those that `mutated` makes from 0 to `count` - 1.
fn field(name: &str, samples: &[&str], count: usize, mutated: impl Fn(usize) -> String) -> Json {
    let message = |value: &str| format!("{{\"{name}\":{value}}}");
    let samples: Vec<String> = samples.iter().map(|value| message(value)).collect();
    let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
    let mutated: Vec<String> = (0..count).map(|n| message(&mutated(n))).collect();
    let schema: Json = serde_json::from_str(&inferred(&samples, &mutated).schema).expect("a schema is JSON");
    schema["properties"][name].clone()
}

#[test]
fn ranges_and_steps_are_those_of_the_decoder() {
    let signed = |n: usize| format!("{}", (n as i32 * 161 % 65_536 - 32_768) as f64 / 10.0);
    let kind = field("temperature", &["21.5"], 500, signed);
    let usual = json!({"minimum": -100.0, "maximum": 200.0});
    assert_eq!((&kind["minimum"], &kind["maximum"]), (&json!(-3276.8), &json!(3276.7)));
    assert_eq!(kind["multipleOf"], 0.1);
    let bound = |name: &str| kind["x-dunnage-usual"][name].as_f64();
    assert_eq!((bound("minimum"), bound("maximum")), (usual["minimum"].as_f64(), usual["maximum"].as_f64()));
    assert_eq!(
        field("level", &["50"], 500, |n| format!("{}", n % 256)),
        json!({"type":"integer","minimum":0,"maximum":255})
    );
    assert_eq!(
        field("level", &["50"], 500, |n| format!("{}", n % 201 * 5)),
        json!({"type":"integer","multipleOf":5,"minimum":0,"maximum":1000})
    );
    assert_eq!(
        field("alarm", &["0"], 300, |n| format!("{}", n % 2)),
        json!({"type":"integer","minimum":0,"maximum":1})
    );
}

#[test]
fn few_values_and_constants_keep_their_headroom() {
    assert!(field("x", &["50"], 100, |n| n.to_string())["maximum"].as_i64() > Some(1000));
    // Unless they reach the ends of eight bits.
    assert_eq!(field("x", &["50"], 100, |n| (n * 255 / 99).to_string())["maximum"], 255);
    let signed = |n: usize| (n as i32 * 255 / 99 - 128).to_string();
    let kind = field("x", &["50"], 100, signed);
    assert_eq!((&kind["minimum"], &kind["maximum"]), (&json!(-128), &json!(127)));
    assert!(field("x", &["50"], 300, |_| "50".into())["maximum"].as_i64() > Some(1000));
}

#[test]
fn noise_of_binary_arithmetic_is_rounded() {
    let noisy = |n: usize| format!("{:?}", n as f64 * 0.1);
    assert_eq!(noisy(3), "0.30000000000000004");
    let kind = field("x", &["21.3"], 1024, noisy);
    assert_eq!((&kind["multipleOf"], &kind["x-dunnage-round"]), (&json!(0.1), &json!(true)));
    assert_eq!((&kind["minimum"], &kind["maximum"]), (&json!(0), &json!(102.3)));
    let few = field("x", &["21.3"], 4, noisy);
    assert_eq!(
        (&few["x-dunnage-round"], few["maximum"].as_f64() > Some(1000.0)),
        (&json!(true), true),
        "{few}"
    );
    let thirds = |n: usize| format!("{:?}", n as f64 / 3.0);
    assert_eq!(field("x", &["7"], 300, thirds), json!({"type":"number"}));
}

#[test]
fn a_binary32_is_that_of_the_examples() {
    let any = |n: usize| format!("{:?}", f64::from(f32::from_bits(n as u32 * 10_316_557)));
    let kind = field("x", &["21.299999237060547"], 200, any);
    assert_eq!((&kind["multipleOf"], &kind["x-dunnage-round"]), (&json!(0.01), &json!(true)));
}

#[test]
fn states_become_an_enumeration_and_versions_do_not() {
    let state = |n: usize| format!("\"{}\"", ["open", "closed", "tilt"][n % 3]);
    assert_eq!(field("x", &["\"open\""], 300, state)["enum"], json!(["closed", "open", "tilt"]));
    let constant = |_| "\"heartbeat\"".to_owned();
    assert_eq!(field("x", &["\"heartbeat\""], 300, constant)["enum"], json!(["heartbeat"]));
    let version = |n: usize| format!("\"v{}.{}\"", n % 16, n / 16 % 16);
    assert_eq!(field("x", &["\"v1.2\""], 250, version).get("enum"), None);
    let with_missing = |n: usize| if n.is_multiple_of(2) { "\"vNaN.undefined\"".into() } else { state(n) };
    assert_eq!(field("x", &["\"open\""], 600, with_missing)["enum"], json!(["closed", "open", "tilt"]));
}

#[test]
fn the_structure_is_that_of_the_examples() {
    let samples = [r#"{"a":1,"b":{"c":true}}"#, r#"{"a":2,"list":[1,2]}"#];
    let mutated: Vec<String> = (0..300)
        .map(|n| match n % 3 {
            0 => format!(r#"{{"b":{{"c":false,"d":1}},"a":{n}}}"#),
            1 => r#"{"a":"x","e":1,"list":[]}"#.into(),
            _ => "{\"a\":null}".into(),
        })
        .collect();
    let inferred = inferred(&samples, &mutated);
    let schema: Json = serde_json::from_str(&inferred.schema).expect("a schema is JSON");
    assert_eq!(schema["required"], json!(["a"]));
    let names: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
    assert_eq!(names, ["a", "list", "b"]);
    assert_eq!(schema["properties"]["a"]["type"], "integer");
    assert_eq!(schema["properties"]["b"]["properties"], json!({"c":{"type":"boolean"}}));
    let notes: Vec<String> = inferred.notes.iter().map(ToString::to_string).collect();
    for note in [
        "$: only mutated frames have e: left out; give examples that have them",
        "a: text in 100 mutated frames, in no example: left out",
        "a: null in 100 mutated frames, in no example: left out",
        "b: only mutated frames have d: left out; give examples that have them",
    ] {
        assert!(notes.iter().any(|found| found == note), "{note}: {notes:#?}");
    }
}

#[test]
fn a_mutated_message_that_is_none_is_an_error() {
    let error = infer_decoded(&["{}"], &["{"], None).expect_err("this is no message");
    assert_eq!(error.sample(), None);
    assert!(infer_decoded(&[] as &[&str], &["{}"], None).is_err());
}
