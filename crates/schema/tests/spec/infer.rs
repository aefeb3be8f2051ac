//! From samples to schemas: what is inferred compiles, and allows every sample.

use dunnage_schema::{Inferred, Model, Type, bundled, infer};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn inferred(samples: &[impl AsRef<str>]) -> Inferred {
    infer(samples, Some("Sample")).expect("these are samples")
}

fn schema(samples: &[impl AsRef<str>]) -> Json {
    serde_json::from_str(&inferred(samples).schema).expect("a schema is JSON")
}

/// The schema of the field `a`, of whose values there are samples.
fn field(values: &[&str]) -> Json {
    let samples: Vec<String> = values.iter().map(|value| format!("{{\"a\":{value}}}")).collect();
    schema(&samples)["properties"]["a"].clone()
}

/// So many samples of a text with a number in it.
fn many(text: impl Fn(usize) -> String) -> Json {
    let values: Vec<String> = (0..200).map(text).collect();
    field(&values.iter().map(String::as_str).collect::<Vec<_>>())
}

fn notes(samples: &[&str]) -> Vec<String> {
    inferred(samples).notes.iter().map(ToString::to_string).collect()
}

#[test]
fn the_whole_schema_is_closed_and_in_order() {
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
fn decimals_are_counted_in_the_text() {
    let step = |values: &[&str]| field(values)["multipleOf"].clone();
    assert_eq!(step(&["17.00"]), json!(0.01));
    assert_eq!(step(&["1.5e-3", "2", "3"]), json!(0.0001));
    // One value or two may lack a decimal by chance, unless zeros stand at the end.
    assert_eq!((step(&["17.5"]), step(&["17.5", "17"])), (json!(0.01), json!(0.01)));
    assert_eq!(step(&["17.5", "18.25", "19.5"]), json!(0.01));
    assert_eq!(field(&["1", "2.0"])["type"], "number");
    assert_eq!(field(&["2e3"])["type"], "integer");
    assert_eq!(field(&["-0.0"]), json!({"type":"number"}));
    assert_eq!(field(&["0.1", "0.30000000000000004"]), json!({"type":"number"}));
    assert_eq!(field(&["1e300", "1"]), json!({"type":"number"}));
}

#[test]
fn integers_take_all_64_bits() {
    let wide = field(&["18446744073709551615"]);
    assert_eq!((&wide["minimum"], &wide["maximum"]), (&json!(0), &json!(u64::MAX)));
    assert_eq!(field(&["-9223372036854775808"])["minimum"], json!(i64::MIN));
    assert_eq!(field(&["9007199254740993", "0.5e300"]), json!({}));
}

#[test]
fn many_multiples_are_a_step() {
    // There and back: what only rises has no step.
    let hill = |n: usize| n.min(199 - n);
    let rain = many(|n| format!("{}.{}", hill(n) / 5, hill(n) % 5 * 2));
    assert_eq!(rain["multipleOf"], json!(0.2));
    assert_eq!(many(|n| format!("{}", hill(n) * 25))["multipleOf"], 25);
    assert_eq!(many(|n| format!("{}", n * 25)).get("multipleOf"), None);
    assert_eq!(many(|n| format!("{}", 1_780_000_000 + 30 * hill(n))).get("multipleOf"), None);
    assert_eq!(field(&["2", "4"]).get("multipleOf"), None);
}

#[test]
fn numbers_in_text_keep_their_notation() {
    let number = |value| json!({"type":"string","x-dunnage-number":value});
    let usual = json!({"minimum":-200,"maximum":200});
    assert_eq!(
        field(&["\"17.00\"", "\"-0.50\""]),
        number(json!({"multipleOf":0.01,"minimum":-2000,"maximum":2000,"usual":usual}))
    );
    assert_eq!(
        field(&["\"06\"", "\"11\""]),
        number(json!({"multipleOf":1,"minimum":0,"maximum":99,"digits":2}))
    );
    // Another notation in each: none that one keyword could say.
    for mixed in [["\"06\"", "\"7\""], ["\"1.0\"", "\"1.00\""], ["\"-0.0\"", "\"0.0\""], ["\"1.\"", "\".1\""]]
    {
        assert_eq!(field(&mixed).get("x-dunnage-number"), None, "{mixed:?}");
    }
}

#[test]
fn numbers_of_one_text_have_a_separator_and_share_a_range() {
    let acc = field(&["\"-993.9269 -27.1004 -52.0035\""]);
    let numbers = &acc["x-dunnage-numbers"];
    assert_eq!(numbers["separator"], " ");
    assert_eq!(
        numbers["items"][2],
        json!({
            "name":"z","multipleOf":0.0001,"minimum":-100000,"maximum":100000,
            "usual":{"minimum":-10000,"maximum":10000}
        })
    );
    assert_eq!(field(&["\"12:30\""])["x-dunnage-numbers"]["separator"], ":");
    assert_eq!(field(&["\"1 2\"", "\"1 2 3\""]).get("x-dunnage-numbers"), None);
}

#[test]
fn times_have_a_notation() {
    for (text, notation) in [
        ("200423 002940.0", "DDMMYY hhmmss.f"),
        ("2026-03-29T12:00:00Z", "YYYY-MM-DDThh:mm:ssZ"),
        ("2026-03-29T12:00:00.125Z", "YYYY-MM-DDThh:mm:ss.fffZ"),
        ("2026-02-18T03:43:28", "YYYY-MM-DDThh:mm:ss"),
        ("2026-02-18 03:43:28.50", "YYYY-MM-DD hh:mm:ss.ff"),
        ("18.02.2026 03:43:28", "DD.MM.YYYY hh:mm:ss"),
        ("12/31/2026 03:43:28", "MM/DD/YYYY hh:mm:ss"),
        ("20260218034328", "YYYYMMDDhhmmss"),
    ] {
        let time = &field(&[&format!("\"{text}\"")])["x-dunnage-time"];
        assert_eq!(
            (&time["notation"], &time["epoch"]),
            (
                &json!(notation),
                &json!(if notation.contains("YYYY") {
                    "1970-01-01T00:00:00Z"
                } else {
                    "2000-01-01T00:00:00Z"
                })
            ),
            "{text}"
        );
        assert_eq!(time.get("until").is_some(), notation.contains("YYYY"), "{text}");
    }
    assert_eq!(field(&["\"1969-07-20T20:17:40Z\""])["x-dunnage-time"]["epoch"], "0000-01-01T00:00:00Z");
    assert_eq!(field(&["\"320423 002940.0\""]).get("x-dunnage-time"), None);
}

#[test]
fn choices_take_many_samples() {
    assert_eq!(many(|n| format!("\"{}\"", ["on", "off", "E1"][n % 3]))["enum"], json!(["E1", "off", "on"]));
    assert_eq!(many(|n| format!("\"{}\"", n % 2))["enum"], json!(["0", "1"]));
    // A text that never changes is that of one device, and one that was seen once has others beside it.
    assert_eq!(many(|_| "\"reading\"".into()), json!({"type":"string","maxLength":50}));
    assert_eq!(many(|n| if n > 0 { "\"ok\"".into() } else { "\"lost\"".into() }).get("enum"), None);
    let few: Vec<&str> = (0..199).map(|n| ["\"on\"", "\"off\""][n % 2]).collect();
    assert_eq!(field(&few).get("enum"), None);
    assert_eq!(field(&["\"on\"", "\"off\""]), json!({"type":"string","maxLength":20}));
    assert_eq!(field(&["\"on\""]), json!({"type":"string","maxLength":20}));
    // Three devices are not all devices.
    assert_eq!(many(|n| format!("\"DNGU00000{}7\"", n % 3))["pattern"], "^[A-Z]{4}[0-9]{7}$");
}

#[test]
fn null_and_missing_are_seen() {
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
fn one_odd_value_is_named_and_not_paid_for_by_all() {
    let hill = |n: usize| n.min(179 - n);
    type Case = (&'static str, fn(usize) -> String, &'static str);
    let cases: [Case; 7] = [
        ("-0.0", |n| format!("{}.{}", n / 10, n % 10), "multipleOf"),
        ("0.30000000000000004", |n| format!("{}.{}", n / 10, n % 10), "multipleOf"),
        ("1e300", |n| n.to_string(), "minimum"),
        ("\"NaN\"", |n| format!("\"{}.{}\"", n / 10, n % 10), "x-dunnage-number"),
        ("\"-0.0\"", |n| format!("\"{}.{}\"", n / 10, n % 10), "x-dunnage-number"),
        ("\"\"", |n| format!("\"2026-03-{:02}T12:00:00Z\"", n % 31 + 1), "x-dunnage-time"),
        ("\"never\"", |n| format!("\"2026-03-{:02}T12:00:00+0{}:00\"", n % 31 + 1, n % 3), "pattern"),
    ];
    for (odd, other, keyword) in cases {
        let sample = |n: usize| format!("{{\"a\":{}}}", if n == 57 { odd.into() } else { other(hill(n)) });
        let samples: Vec<String> = (0..180).map(sample).collect();
        let inferred = inferred(&samples);
        let schema: Json = serde_json::from_str(&inferred.schema).unwrap();
        assert!(schema["properties"]["a"].get(keyword).is_some(), "{odd}: {schema}");
        let [(57, violation)] = inferred.odd.as_slice() else { panic!("{odd}: {:?}", inferred.odd) };
        assert!(violation.ends_with(" at /a"), "{violation}");
        let named = inferred.notes.iter().any(|note| note.text.contains("in 1 of 180 is unlike the others"));
        assert!(named, "{:?}", inferred.notes);
    }
    // Several are no exception.
    let zeros: Vec<String> =
        (0..180).map(|n| if n % 5 == 0 { "-0.0".into() } else { format!("{n}.5") }).collect();
    assert_eq!(inferred(&zeros).odd, []);
}

#[test]
fn every_guess_says_how_many_values_it_is_from() {
    let samples: Vec<String> = (0..7)
        .map(|n| {
            format!(
                r#"{{"n":{n},"t":"{n}.5","u":"2026-03-29T12:00:0{n}Z","v":"2026-03-29T12:00:0{n}+02:00",
                   "id":"LMCU123123{n}","ip":"10.0.0.{n}","text":"a b","acc":"1 {n}","list":[{n}],"fix":"3d"}}"#
            )
        })
        .collect();
    for note in inferred(&samples).notes {
        assert!(note.text.contains(" 7 "), "{note}");
    }
}

#[test]
fn short_texts_of_digits_and_letters_are_not_hexadecimal() {
    for text in ["3d", "2D", "4g", "A1"] {
        assert_eq!(field(&[&format!("\"{text}\"")]), json!({"type":"string","maxLength":20}), "{text}");
    }
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
    assert_eq!(field(&["[{\"x\":1},{\"y\":[[]]}]"])["items"]["properties"]["y"]["items"]["type"], "array");
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
fn arrays_of_one_length_may_have_a_type_for_each_place() {
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

#[test]
fn what_is_no_sample_is_an_error_that_names_it() {
    assert!(infer(&[] as &[&str], None).is_err());
    for text in ["", "{", "{}{}", r#"{"a":1,"a":1}"#, "1e999", "\"\\ud800\"", "36893488147419103233"] {
        let error = infer(&["{}", text], None).unwrap_err();
        assert_eq!(error.sample(), Some(1), "{text}: {error}");
    }
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(infer(&[nested(32)], None).is_ok());
    assert_eq!(infer(&[nested(33)], None).unwrap_err().sample(), Some(0));
}

#[test]
fn the_examples_of_the_bundled_schemas_are_sane() {
    for (name, text) in bundled() {
        let schema: Json = serde_json::from_str(text).unwrap();
        let samples: Vec<String> =
            schema["examples"].as_array().unwrap().iter().map(Json::to_string).collect();
        let model = Model::compile(&inferred(&samples).schema).unwrap();
        let Type::Object(object) = &model.root else { panic!("{name} is an object") };
        assert_eq!(object.fields.len(), schema["properties"].as_object().unwrap().len(), "{name}");
        assert!(object.fields.iter().all(|field| field.kind != Type::Any), "{name}");
    }
}

#[test]
fn more_patterns_than_a_schema_may_have_become_text() {
    let id = |n: usize| format!("{}{}", "Z".repeat(1 + n % 20), "7".repeat(1 + n / 20));
    let fields: Vec<String> = (0..300).map(|n| format!("\"{}\":\"{}\"", "f".repeat(n), id(n))).collect();
    let properties = &schema(&[format!("{{{}}}", fields.join(","))])["properties"];
    let patterns = properties.as_object().unwrap().values().filter(|field| field["pattern"].is_string());
    assert_eq!(patterns.count(), 256);
}

/// Text of the kinds that are recognised, near misses among them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,4}(\\.[0-9]{1,3})?",
        "-?0[.:][0-9]{1,2}",
        "-?[0-9.]{1,5} -?[0-9.]{1,5}",
        "[0-3][0-9][01][0-9]2[0-9] [0-2][0-9][0-5][0-9][0-5][0-9](\\.[0-9])?",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,3})?(Z|\\+01:00)?",
        "[A-Z]{3}[UJZ][0-9]{7}",
        "[0-9A-F]{1,4}[-:./^$+]{0,2}[0-9a-f]{1,4}",
        "[0-9.]{7,9}",
        "[01]",
        "\\PC{0,6}",
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?",
        "-?[1-9](\\.[0-9]{1,14})?([eE][+-]?[0-9]{1,2})?",
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()).prop_map(|f| format!("{f:e}")),
        Just("-0".to_owned()),
    ]
}

/// Messages of all kinds, as JSON.
pub fn message() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => text().prop_map(|text| Json::from(text).to_string()),
        4 => number(),
        1 => Just("null".to_owned()),
        1 => any::<bool>().prop_map(|b| b.to_string()),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop_oneof![3 => "[a-d]", 1 => "[0-9]{1,2}", 1 => "temperature|lat", 1 => "\\PC{0,2}"];
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            3 => prop::collection::btree_map(key, inner, 0..12).prop_map(|entries| {
                let entry = |(key, value): (String, String)| format!("{}:{value}", Json::from(key));
                format!("{{{}}}", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

#[test]
fn numbers_without_room_for_more_decimals_have_a_schema() {
    for name in ["temperature", "t"] {
        for number in ["-2.1113282521755098e36", "1.5e37", "-1e38"] {
            let sample = format!("{{\"{name}\":{number}}}");
            let inferred = infer(&[&sample], None);
            assert!(inferred.is_ok(), "{sample}: {inferred:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // `infer` itself holds every sample against the schema and fails when one does not obey it.
    #[test]
    fn any_messages_have_a_schema_that_allows_them(samples in prop::collection::vec(message(), 1..6)) {
        let inferred = infer(&samples, None);
        prop_assert!(inferred.is_ok(), "{samples:?}: {inferred:?}");
    }

    #[test]
    fn any_texts_have_a_schema_that_allows_them(texts in prop::collection::vec(text(), 1..40)) {
        let samples: Vec<String> = texts.into_iter().map(|text| Json::from(text).to_string()).collect();
        let inferred = infer(&samples, None);
        prop_assert!(inferred.is_ok(), "{samples:?}: {inferred:?}");
    }

    #[test]
    fn any_numbers_have_a_schema_that_allows_them(numbers in prop::collection::vec(number(), 1..40)) {
        let inferred = infer(&numbers, None);
        prop_assert!(inferred.is_ok(), "{numbers:?}: {inferred:?}");
    }

    #[test]
    fn decimals_of_one_notation_are_decimals(numbers in prop::collection::vec("-?[1-9][0-9]{0,3}\\.[0-9]{2}", 1..40)) {
        let model = Model::compile(&infer(&numbers, None).unwrap().schema).unwrap();
        prop_assert!(matches!(model.root, Type::Decimal(_)));
        let texts: Vec<String> = numbers.iter().map(|number| format!("\"{number}\"")).collect();
        let model = Model::compile(&infer(&texts, None).unwrap().schema).unwrap();
        prop_assert!(matches!(model.root, Type::NumberText(_)));
    }
}
