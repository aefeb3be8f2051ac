//! The changes of a schema that messages allow: those that must not be proposed.

use dunnage_pson::Value;
use dunnage_schema::shrink::{Change, Cost, changes};

/// Returns the changes of `{"v": VALUE}` messages whose schema has `keywords` for the property.
fn proposed(keywords: &str, values: &[Value]) -> Vec<Change> {
    let schema = format!(
        r#"{{"$defs":{{"text":{{"type":"string","maxLength":20}}}},"type":"object","properties":{{"v":{keywords}}},"required":["v"]}}"#
    );
    let messages: Vec<_> = values.iter().map(|v| Value::Map(vec![("v".into(), v.clone())])).collect();
    changes(&schema, &messages).expect("the schema compiles")
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| Value::from(*text)).collect()
}

const TEXT: &str = r#"{"type":"string","maxLength":20}"#;

fn enumerations(changes: &[Change]) -> Vec<Cost> {
    changes.iter().filter(|change| change.line.contains("\"enum\"")).map(|change| change.cost).collect()
}

#[test]
fn states_become_an_enumeration_at_a_cost_that_depends_on_how_often_they_were_seen() {
    let once = ["off", "low", "high"];
    assert_eq!(enumerations(&proposed(TEXT, &texts(&once))), [Cost::UnseenValues]);
    assert_eq!(enumerations(&proposed(TEXT, &texts(&once.repeat(3)))), [Cost::OtherForms]);
    assert_eq!(enumerations(&proposed(TEXT, &texts(&["on its way", "no fan"]))), []);
    assert_eq!(enumerations(&proposed(TEXT, &texts(&["north"; 20]))), [Cost::UnseenValues]);
    assert_eq!(enumerations(&proposed(TEXT, &texts(&["north"; 19]))), []);
}

#[test]
fn times_and_devices_seen_once_are_not_frozen() {
    let time = r#"{"type":"string","x-dunnage-time":{"notation":"YYYY-MM-DDThh:mm:ssZ"}}"#;
    let times = texts(&["2026-11-02T05:10:00Z", "2026-11-02T05:20:00Z"]);
    assert_eq!(enumerations(&proposed(time, &times)), []);
    assert_eq!(enumerations(&proposed(TEXT, &times)), []);
    for ids in [["node1", "node2"], ["node-17", "node-18"], ["sensor17", "sensor18"]] {
        assert_eq!(enumerations(&proposed(TEXT, &texts(&ids))), [], "{ids:?}");
        assert_eq!(enumerations(&proposed(TEXT, &texts(&ids.repeat(3)))), [Cost::OtherDevices], "{ids:?}");
    }
    // A short code counts nothing.
    assert_eq!(enumerations(&proposed(TEXT, &texts(&["E1", "E2"].repeat(3)))), [Cost::OtherForms]);
}

#[test]
fn parts_of_schemas_with_references_or_conditions_stay() {
    let states = texts(&["off", "low"].repeat(3));
    assert_ne!(proposed(TEXT, &states), []);
    for keywords in [
        r##"{"$ref":"#/$defs/text"}"##,
        r#"{"anyOf":[{"type":"string","maxLength":20},{"type":"null"}]}"#,
        r#"{"type":"string","maxLength":20,"not":{"const":"x"}}"#,
    ] {
        assert_eq!(proposed(keywords, &states), [], "{keywords}");
    }
    let inside = r#"{"type":"object","properties":{"lat":{"type":"number","multipleOf":0.01,"minimum":0,"maximum":90}},"if":{"required":["x"]},"then":{"required":["y"]}}"#;
    let position = Value::Map(vec![("lat".into(), Value::F64(20.5))]);
    assert_eq!(proposed(inside, &[position]), []);
}

/// 0.04, which `exclusiveMinimum` allows, would be rounded to 0.
#[test]
fn numbers_are_not_rounded_across_an_exclusive_bound() {
    let numbers = [Value::F64(0.25), Value::F64(0.75)];
    let rounded =
        |keywords: &str| proposed(keywords, &numbers).iter().any(|change| change.cost == Cost::Decimals);
    assert!(rounded(r#"{"type":"number","multipleOf":0.01,"minimum":0,"maximum":9}"#));
    assert!(!rounded(r#"{"type":"number","multipleOf":0.01,"exclusiveMinimum":0,"maximum":9}"#));
}

/// A later message of a device that goes on counting would be rejected.
#[test]
fn counters_and_running_clocks_are_not_bounded_by_the_last_that_was_seen() {
    let number = r#"{"type":"integer","minimum":0,"maximum":4294967295}"#;
    let clock: Vec<Value> = (0..40).map(|n| Value::U64(1_790_000_000 + 600 * n)).collect();
    let of_clock: Vec<String> = proposed(number, &clock).into_iter().map(|change| change.what).collect();
    assert_eq!(of_clock, ["only 1790000000 to 2863741823, 34 years from the first that was seen"]);
    let usual = r#"{"type":"integer","minimum":0,"maximum":4294967295,"x-dunnage-usual":{"minimum":0,"maximum":100000}}"#;
    assert_eq!(proposed(usual, &(0..40).map(Value::U64).collect::<Vec<_>>()), []);
    let few: Vec<Value> = [3_u64, 4, 4, 7, 9].map(Value::U64).into();
    assert_eq!(proposed(number, &few), []);
    let down: Vec<Value> = (0..40).map(|n| Value::U64(5000 - n)).collect();
    assert_eq!(proposed(number, &down), []);
    let two_devices: Vec<Value> = (0..40).flat_map(|n| [100 + n, 70_000 + 2 * n]).map(Value::U64).collect();
    assert_eq!(proposed(number, &two_devices), []);
    let wave: Vec<Value> = [3_u64, 4, 9, 7, 4].map(Value::U64).into();
    assert!(proposed(number, &wave).iter().any(|change| change.what == "only 3 to 9, as seen"));
}

#[test]
fn numbers_in_texts_do_not_become_an_enumeration() {
    let seen = texts(&["3.61", "3.62"].repeat(3));
    for keyword in [
        r#""x-dunnage-number":{"multipleOf":0.01,"minimum":0,"maximum":9}"#,
        r#""x-dunnage-numbers":{"separator":",","items":[{"name":"volt","multipleOf":0.01,"minimum":0,"maximum":9}]}"#,
    ] {
        assert_eq!(proposed(&format!(r#"{{"type":"string",{keyword}}}"#), &seen), []);
    }
}

#[test]
fn one_offset_is_found_in_each_notation() {
    for at in ["T", " "] {
        let times = ["05:10:00", "05:20:00"].map(|time| Value::Text(format!("2026-11-02{at}{time}+02:00")));
        let changes = proposed(r#"{"type":"string","maxLength":40}"#, &times);
        let notation = format!("YYYY-MM-DD{at}hh:mm:ss+02:00");
        assert!(changes.iter().any(|change| change.line.contains(&notation)), "{changes:?}");
    }
}
