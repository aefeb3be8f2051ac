//! Schemas with the same fingerprint read each other's messages, because a layout depends only on its canonical text.

use dunnage_conform::{Random, Scope, schema};
use dunnage_packed::Layout;
use dunnage_pson::{Kind, Value};
use dunnage_schema::{Model, Options};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A schema whose types overlap, so that a union has more than one candidate.
fn overlapping(random: &mut Random, depth: usize) -> Json {
    let low = random.below(40);
    match random.below(if depth == 0 { 8 } else { 11 }) {
        0 | 1 => json!({"type": "integer", "minimum": low, "maximum": low + random.below(60)}),
        2 => json!({"type": "number", "multipleOf": 0.5, "minimum": -5, "maximum": 20 + low}),
        3 => json!({"type": "number"}),
        4 => json!({"type": "string", "maxLength": 1 + random.below(4)}),
        5 => json!({"type": "string", "pattern": "^[a-c]{1,2}$"}),
        6 => json!({"enum": [low, "a", "b", null, [1], {"k": 1, "m": "a"}]}),
        7 => json!({"const": random.pick(&[json!(0), json!("a"), json!({"k": 1}), json!([])])}),
        8 => json!({"type": "array", "items": union(random, depth - 1), "maxItems": 3}),
        _ => {
            let mut object = json!({"type": "object", "additionalProperties": false,
                "properties": {"k": union(random, depth - 1), "m": overlapping(random, depth - 1)}});
            if random.once_in(2) {
                object["required"] = json!(["k"]);
            }
            object
        }
    }
}

fn union(random: &mut Random, depth: usize) -> Json {
    let kinds: Vec<Json> = (0..2 + random.below(2)).map(|_| overlapping(random, depth)).collect();
    json!({ "anyOf": kinds })
}

/// A message of any of the kinds in [`overlapping`].
fn message(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 7 } else { 10 }) {
        0..=2 => random.below(60).into(),
        3 => json!(*random.pick(&[0.0, -0.0, 0.5, -3.5, 1.0, 7.25, 1e300])),
        4 => json!(*random.pick(&["", "a", "b", "ab", "cc", "abcd", "\u{e9}"])),
        5 => Json::Null,
        6 => Json::Bool(random.once_in(2)),
        7 => (0..random.below(4)).map(|_| message(random, depth - 1)).collect(),
        _ => {
            let mut object = json!({});
            for key in ["k", "m"] {
                if random.below(4) > 0 {
                    object[key] = message(random, depth - 1);
                }
            }
            object
        }
    }
}

/// Adds a keyword that only restricts values to a random schema in `json`.
fn restrict(json: &mut Json, random: &mut Random) {
    let is_schema = ["type", "anyOf", "enum", "const"].iter().any(|keyword| json.get(keyword).is_some());
    if is_schema && random.once_in(3) {
        let (keyword, value) = match random.below(8) {
            0 | 1 => ("not", json!({"const": message(random, 1)})),
            2 => ("not", json!({"type": *random.pick(&["integer", "string", "array", "object"])})),
            3 => ("not", overlapping(random, 0)),
            4 => ("if", overlapping(random, 0)),
            5 => ("uniqueItems", true.into()),
            6 => ("minProperties", 1.into()),
            _ => ("description", "text".into()),
        };
        if keyword == "if" {
            json["then"] = json!({"not": overlapping(random, 0)});
        }
        json[keyword] = value;
        return;
    }
    if let Some(inner) = random_part(json, random) {
        restrict(inner, random);
    }
}

/// Returns a random element or member of `json`, if it has any.
fn random_part<'j>(json: &'j mut Json, random: &mut Random) -> Option<&'j mut Json> {
    let mut parts: Vec<&mut Json> = match json {
        Json::Array(items) => items.iter_mut().collect(),
        Json::Object(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
        _ => return None,
    };
    let at = random.below(parts.len());
    (at < parts.len()).then(|| parts.swap_remove(at))
}

/// Adds an annotation to a random schema in `json`, or expresses the schema differently. Usually, but not always, the layout
/// stays the same.
fn rewrite(json: &mut Json, random: &mut Random) {
    let is_schema = ["type", "anyOf", "enum", "const"].iter().any(|keyword| json.get(keyword).is_some());
    if !is_schema || random.below(3) > 0 {
        if let Some(inner) = random_part(json, random) {
            rewrite(inner, random);
        }
        return;
    }
    match random.below(14) {
        0 => json["title"] = format!("Title {}", random.below(9)).into(),
        1 => json["$comment"] = "text".into(),
        2 => *json = json!({ "allOf": [json.take()] }),
        3 => *json = json!({ "anyOf": [json.take()] }),
        4 => *json = json!({ "oneOf": [json.take()] }),
        5 => json["not"] = message(random, 1),
        6 => json["format"] = (*random.pick(&["date-time", "uuid", "ipv4", "email"])).into(),
        7 => json["minLength"] = random.below(3).into(),
        8 => json["pattern"] = (*random.pick(&["^(?:[a-c]{1,2})$", "^[abc][a-c]?$", "a|b", ""])).into(),
        9 => json["minimum"] = json!(random.below(20) as f64 + 0.25),
        10 => json["patternProperties"] = json!({"^k": overlapping(random, 0)}),
        11 => json["additionalProperties"] = json!(random.once_in(2)),
        12 => {
            for keyword in ["enum", "anyOf", "required", "type"] {
                turn(json, keyword);
            }
        }
        _ => turn(json, "properties"),
    }
}

/// Moves the first value or property under `keyword` to the end.
fn turn(json: &mut Json, keyword: &str) {
    match json.get_mut(keyword) {
        Some(Json::Array(items)) if !items.is_empty() => items.rotate_left(1),
        Some(Json::Object(entries)) if !entries.is_empty() => {
            let mut all: Vec<(String, Json)> = std::mem::take(entries).into_iter().collect();
            all.rotate_left(1);
            entries.extend(all);
        }
        _ => {}
    }
}

/// Wraps the schema at random: with or without a check, and with a root that is a reference or not.
fn rooted(schema: &Json, random: &mut Random) -> Json {
    let mut root = match random.below(3) {
        0 => json!({"$ref": "#/$defs/all", "$defs": {"all": schema}}),
        1 => {
            json!({"$id": "https://example.org/a", "$ref": "b", "$defs": {"all": {"$id": "b", "allOf": [schema]}}})
        }
        _ => schema.clone(),
    };
    if random.once_in(4) {
        root["x-dunnage-check"] = (1 + random.below(2)).into();
    }
    root
}

/// Encodes `message` with `writer` and checks that `reader`, with the same fingerprint, decodes it to the same value. Returns
/// false if `writer` cannot encode it.
fn read_each_other(writer: &Layout, reader: &Layout, message: &Value, about: &dyn Fn() -> String) -> bool {
    let mut bytes = Vec::new();
    if writer.encode(message, &mut bytes).is_err() {
        return false;
    }
    let own = writer.decode(&bytes, Some("d")).unwrap_or_else(|e| panic!("{e}: {message:?}\n{}", about()));
    match reader.decode(&bytes, Some("d")) {
        Ok(other) => assert_eq!(other, own, "{}", about()),
        Err(error) => {
            // A value that the reader's schema does not allow is rejected after decoding.
            assert!(reader.model().validate(&own).is_err(), "{error}: {message:?}\n{}", about());
            assert_eq!(error.kind(), Kind::Range, "{error}: {message:?}\n{}", about());
        }
    }
    true
}

#[test]
fn schemas_of_one_fingerprint_read_each_others_messages() {
    let mut random = Random::new(17);
    let (mut pairs, mut read) = (0, 0);
    for index in 0..600 {
        let old: Json = match index % 3 {
            0 => serde_json::from_str(&schema(&mut random, Scope::Plain)).expect("a schema is JSON"),
            _ => union(&mut random, 2),
        };
        let mut new = old.clone();
        for _ in 0..1 + random.below(3) {
            restrict(&mut new, &mut random);
        }
        let (Ok(a), Ok(b)) = (Model::compile(&old.to_string()), Model::compile(&new.to_string())) else {
            continue;
        };
        let (a, b) = (Layout::new(&a).expect("a layout"), Layout::new(&b).expect("a layout"));
        if a.fingerprint() != b.fingerprint() || old == new {
            continue;
        }
        pairs += 1;
        let about = || format!("{old}\n{new}\n{}", a.canonical());
        for _ in 0..12 {
            let value: Value = serde_json::from_value(message(&mut random, 2)).expect("JSON is a value");
            read += usize::from(read_each_other(&a, &b, &value, &about));
            read += usize::from(read_each_other(&b, &a, &value, &about));
        }
    }
    assert!(pairs > 300 && read > 1000, "{pairs} pairs, {read} messages");
}

#[test]
fn any_two_schemas_of_one_fingerprint_read_each_others_messages() {
    let mut random = Random::new(35);
    let (mut pairs, mut read) = (0, 0);
    for _ in 0..160 {
        let base = match random.below(4) {
            0 => serde_json::from_str(&schema(&mut random, Scope::Open)).expect("a schema is JSON"),
            1 => serde_json::from_str(&schema(&mut random, Scope::Plain)).expect("a schema is JSON"),
            _ => union(&mut random, 2),
        };
        let mut layouts: BTreeMap<[u8; 32], Vec<(Json, bool, Layout)>> = BTreeMap::new();
        for _ in 0..8 {
            let mut variant: Json = base.clone();
            for _ in 0..random.below(4) {
                if random.once_in(3) {
                    restrict(&mut variant, &mut random);
                } else {
                    rewrite(&mut variant, &mut random);
                }
            }
            let variant = rooted(&variant, &mut random);
            let assert_formats = random.once_in(2);
            let Ok(model) =
                Model::compile_with(&variant.to_string(), Options { assert_formats, ..Options::default() })
            else {
                continue;
            };
            let layout = Layout::new(&model).expect("a layout");
            layouts.entry(layout.fingerprint()).or_default().push((variant, assert_formats, layout));
        }
        for same in layouts.values() {
            for (i, (old, old_asserts, a)) in same.iter().enumerate() {
                for (new, new_asserts, b) in same[..i].iter() {
                    pairs += 1;
                    let about = || format!("{old} {old_asserts}\n{new} {new_asserts}\n{}", a.canonical());
                    for _ in 0..8 {
                        let value: Value =
                            serde_json::from_value(message(&mut random, 2)).expect("JSON is a value");
                        read += usize::from(read_each_other(a, b, &value, &about));
                        read += usize::from(read_each_other(b, a, &value, &about));
                    }
                }
            }
        }
    }
    assert!(pairs > 300 && read > 1000, "{pairs} pairs, {read} messages");
}

#[test]
fn a_keyword_that_only_restricts_a_type_does_not_change_which_type_carries_a_value() {
    let restricted = json!({"anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 100, "not": {"const": 7}},
        {"type": "integer", "minimum": 5, "maximum": 300}]});
    let free = json!({"anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 100}, {"type": "integer", "minimum": 5, "maximum": 300}]});
    let [restricted, free] = [restricted, free].map(|schema| {
        Layout::new(&Model::compile(&schema.to_string()).expect("compiles")).expect("a layout")
    });
    assert_eq!(restricted.fingerprint(), free.fingerprint());
    for n in 0..=300u64 {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        restricted.encode(&n.into(), &mut one).expect("both allow it");
        free.encode(&n.into(), &mut other).expect("both allow it");
        assert_eq!(one, other, "{n}");
        assert_eq!(restricted.decode(&other, None).expect("both read it"), n.into());
        assert_eq!(free.decode(&one, None).expect("both read it"), n.into());
    }
}
