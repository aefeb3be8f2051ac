//! Odd and invalid samples, notes about guesses, and the examples of the bundled schemas.

use super::inferred;
use dunnage_schema::{Model, Type, bundled, infer};
use serde_json::Value as Json;

#[test]
fn one_odd_value_is_reported_and_does_not_widen_the_schema() {
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
    // Several odd values are not an exception.
    let zeros: Vec<String> =
        (0..180).map(|n| if n % 5 == 0 { "-0.0".into() } else { format!("{n}.5") }).collect();
    assert_eq!(inferred(&zeros).odd, []);
}

#[test]
fn every_note_states_how_many_values_it_is_based_on() {
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
fn an_invalid_sample_is_an_error_with_its_index() {
    assert!(infer(&[] as &[&str], None).is_err());
    for text in ["", "{", "{}{}", r#"{"a":1,"a":1}"#, "1e999", "\"\\ud800\""] {
        let error = infer(&["{}", text], None).unwrap_err();
        assert_eq!(error.sample(), Some(1), "{text}: {error}");
    }
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(infer(&[nested(32)], None).is_ok());
    assert_eq!(infer(&[nested(33)], None).unwrap_err().sample(), Some(0));
}

#[test]
fn every_field_of_the_bundled_examples_gets_a_type() {
    for (name, text) in bundled() {
        let schema: Json = serde_json::from_str(text).unwrap();
        let samples: Vec<String> =
            schema["examples"].as_array().unwrap().iter().map(Json::to_string).collect();
        let model = Model::compile(&inferred(&samples).schema).unwrap();
        let Type::Object(object) = model.root() else { panic!("{name} is an object") };
        assert_eq!(object.fields.len(), schema["properties"].as_object().unwrap().len(), "{name}");
        assert!(object.fields.iter().all(|field| field.kind != Type::Any), "{name}");
    }
}
