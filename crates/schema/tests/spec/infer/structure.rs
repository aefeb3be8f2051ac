//! Schemas of objects, maps, arrays and values of several types.

use super::{field, inferred, many, notes, schema};
use serde_json::json;

#[test]
fn the_schema_is_closed_and_keeps_the_order_of_keys() {
    let schema = inferred(&[r#"{"b":1,"a":{"d":true}}"#, r#"{"b":2,"c":null,"a":{"d":false}}"#]).schema;
    assert_eq!(
        schema,
        r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Sample",
  "type": "object",
  "properties": {
    "b": {
      "type": "integer",
      "minimum": -200,
      "maximum": 200,
      "x-dunnage-usual": { "minimum": 0, "maximum": 20 }
    },
    "c": {},
    "a": {
      "type": "object",
      "properties": { "d": { "type": "boolean" } },
      "required": ["d"],
      "additionalProperties": false
    }
  },
  "required": ["b", "a"],
  "additionalProperties": false
}"#
    );
}

#[test]
fn null_and_missing_values_are_recognised() {
    let nullable = field(&["null", "1.5"]);
    assert_eq!(nullable["type"], json!(["number", "null"]));
    let mostly = (0..300).map(|n| ["\"a\"", "\"b\"", "null"][n % 3]).collect::<Vec<_>>();
    assert_eq!(field(&mostly)["enum"], json!(["a", "b", null]));
    assert_eq!(many(|n| if n > 0 { "\"same\"".into() } else { "null".into() })["maxLength"], 20);
    for text in ["\"17.00\"", "\"1 2\"", "\"200423 002940.0\"", "\"LMCU1231237\"", "true", "[1]", "{}"] {
        assert!(field(&[text, "null"])["type"].as_array().unwrap().contains(&json!("null")), "{text}");
    }
    assert_eq!(schema(&[r#"{"a":1,"b":1}"#, r#"{"a":1}"#])["required"], json!(["a"]));
    let notes = notes(&[r#"{"a":1,"b":null}"#, r#"{"a":1}"#]);
    assert!(notes.contains(&"b: missing in 1 of 2: optional".to_owned()), "{notes:?}");
}

#[test]
fn several_types_are_all_allowed() {
    let number =
        json!({"type":"integer","minimum":-100,"maximum":100,"x-dunnage-usual":{"minimum":0,"maximum":10}});
    let text = json!({"type":"string","maxLength":20});
    assert_eq!(field(&["1", "\"on\""]), json!({"anyOf":[number, text]}));
    assert_eq!(field(&["1", "\"on\"", "null"]), json!({"anyOf":[number, text, {"type":"null"}]}));
    assert_eq!(field(&["[1,\"on\"]"])["items"], json!({"anyOf":[number, text]}));
    assert_eq!(field(&["9007199254740993", "0.5e300", "\"on\""]), json!({}));
}

#[test]
fn arrays_have_one_schema_for_their_elements() {
    assert_eq!(
        field(&["[1,2.5]", "[]"]),
        json!({"type":"array","items":{"type":"number","multipleOf":0.01,"minimum":-500,"maximum":500,
            "x-dunnage-usual":{"minimum":0,"maximum":50}},"maxItems":10})
    );
    let pair = many(|n| format!("[{n},{n}]"));
    assert_eq!((&pair["minItems"], &pair["maxItems"]), (&json!(2), &json!(2)));
    // One of several sensors may be missing.
    let list = many(|n| format!(r#"[{{"v":{n}}},{{"v":7}}]"#));
    assert_eq!((list.get("minItems"), &list["maxItems"]), (None, &json!(10)));
    assert_eq!(field(&["[{\"x\":1},{\"y\":[[]]}]"])["items"]["properties"]["y"]["items"]["type"], "array");
}

#[test]
fn arrays_of_one_length_may_have_a_type_for_each_position() {
    let pairs = field(&["[1,\"on\"]", "[0,\"off\"]"]);
    assert_eq!(pairs["prefixItems"][0]["type"], "integer");
    assert_eq!((&pairs["items"], &pairs["minItems"]), (&json!(false), &json!(2)));
    for others in [["[1,\"on\"]", "[\"off\",0]"], ["[1,\"on\"]", "[1]"], ["[1,2]", "[3,4]"]] {
        assert_eq!(field(&others).get("prefixItems"), None, "{others:?}");
    }
}

#[test]
fn keys_that_are_data_make_a_map() {
    let days = (1..=9).map(|day| format!("\"2026-01-0{day}\":{day}")).collect::<Vec<_>>().join(",");
    assert_eq!(
        field(&[&format!("{{{days}}}")]),
        json!({"type":"object","additionalProperties":{"type":"integer","minimum":-4294967295i64,
            "maximum":4294967295u32,"x-dunnage-usual":{"minimum":0,"maximum":1000}}})
    );
    let come_and_go =
        many(|n| format!("{{\"{}\":true}}", ["a", "b", "c", "d", "e", "f", "g", "h", "i"][n % 9]));
    assert_eq!(come_and_go["additionalProperties"], json!({"type":"boolean"}));
    let phases = field(&[r#"{"t1":1,"t2":2,"t3":3}"#]);
    assert_eq!(phases["additionalProperties"], false);
}
