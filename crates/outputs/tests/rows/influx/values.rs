//! Values of all types, in InfluxDB 1 and back.

use super::{Database, deliver, deliver_all, open_at};
use crate::postgres::{learn, message};
use dunnage_outputs::Message;
use dunnage_register::{Record, Tags};
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "n": {"type": "integer", "minimum": -5, "maximum": 1000},
    "large": {"type": "integer"},
    "huge": {"type": "integer", "minimum": 0, "maximum": 18446744073709551614},
    "t": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
    "f": {"type": "number"},
    "ok": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "text": {"type": "string"},
    "digits": {"type": "string", "x-dunnage-number": {"multipleOf": 0.01, "minimum": -40, "maximum": 85}},
    "state": {"enum": ["on", "off", null]},
    "position": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}},
    "list": {"type": "array", "items": {"type": ["integer", "null"]}},
    "parts": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "mixed": {"type": ["integer", "string"]},
    "any": {}}}"#;

/// Returns the only point of a measurement, by the names of its columns.
fn point(database: &Database, measurement: &str) -> Value {
    let answer = database.server.ask(&database.name, &format!("SELECT * FROM \"{measurement}\"")).unwrap();
    let series = &answer["results"][0]["series"][0];
    let values = series["values"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(values.len(), 1, "{answer}");
    let names = series["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
    let row = names.zip(values[0].as_array().unwrap().clone()).filter(|(_, value)| !value.is_null());
    Value::Object(row.collect())
}

#[test]
fn every_field_has_its_type_and_the_value_that_was_sent() {
    let database = Database::new();
    let output = database.output();
    learn(&output, "all", &[SCHEMA]);
    let json = r#"{"n":7,"large":-9223372036854775808,"huge":18446744073709551610,"t":24,"f":1e-300,"ok":true,"time":"2026-03-29T12:00:00+02:00","text":"a\t\"b\\\n\rü€😀 c,d=e\\","digits":"-07.50","state":"off","position":{"lat":1.5,"lon":-2,"more":[1]},"list":[3,null,4],"parts":[{"n":1},{"n":2}],"mixed":"5","any":{"k":[1,null,true]},"further":{"deep":1,"none":{},"_x":"y"}}"#;
    let mut message = message(1, "all", json);
    message.stored.link = Some("astrocast".into());
    message.stored.raw = vec![0; 99].into();
    assert_eq!(deliver(&output, &[message.clone()]), Ok(()));
    let mut found = point(&database, "all");
    let x: Vec<_> =
        found.as_object().unwrap().keys().filter(|key| key.starts_with("further___x")).cloned().collect();
    assert_eq!(found.as_object_mut().unwrap().remove(&x[0]), Some("y".into()));
    assert_eq!(
        found,
        json!({
            "time": 1_767_225_600_001_001_001_i64, "device": "d1", "link": "astrocast", "message_bytes": 99,
            "n": 7, "large": i64::MIN, "huge": 18_446_744_073_709_551_610.0, "t": 24, "f": 1e-300, "ok": true,
            "time_": "2026-03-29T12:00:00+02:00", "text": "a\t\"b\\\n\rü€😀 c,d=e\\", "digits": -7.5, "state": "off",
            "position__lat": 1.5, "position__lon": -2, "position__more__0": 1, "list__0": 3, "list__2": 4,
            "parts__0__n": 1, "parts__1__n": 2, "mixed": "5", "any__k__0": 1, "any__k__2": true, "further__deep": 1,
        })
    );
    let types = database.query("SHOW FIELD KEYS FROM \"all\"");
    for (key, kind) in [
        ("message_bytes", "integer"),
        ("n", "integer"),
        ("large", "integer"),
        ("huge", "float"),
        ("t", "float"),
        ("ok", "boolean"),
        ("time_", "string"),
        ("digits", "float"),
        ("state", "string"),
        ("position__lon", "float"),
        ("position__more__0", "float"),
        ("list__0", "integer"),
        ("parts__1__n", "integer"),
        ("mixed", "string"),
        ("any__k__0", "float"),
    ] {
        assert!(types.contains(&json!([key, kind]).to_string()), "{key}: {types}");
    }
    // The next values of a field have its type, whatever they look like.
    let next =
        crate::postgres::message(2, "all", r#"{"n":8.0,"t":24.56,"f":3,"mixed":6,"digits":"1.00","huge":1}"#);
    assert_eq!(deliver(&output, &[next]), Ok(()));
    assert_eq!(
        database.query("SELECT n, t, f, mixed, digits, huge FROM \"all\" WHERE n = 8").replace(' ', ""),
        "[1767225600002001002,8,24.56,3,\"6\",1,1]"
    );
}

/// Everything that a name or a tag may have comes back, or percent-encoded; no two devices have one series.
#[test]
fn odd_names_are_series_of_their_own() {
    let database = Database::new();
    let output = database.output();
    let long = "é".repeat(64);
    let devices = [
        "a/b+#..",
        "a b",
        "a,b",
        "a=b",
        "a\\",
        "a\\b",
        "a\\ b",
        "a\\,b",
        "\"a\"",
        "'a'",
        "#a",
        "_a",
        "%",
        "%5C",
        "é€😀",
        "-",
        long.as_str(),
    ];
    let messages: Vec<_> = devices
        .iter()
        .enumerate()
        .map(|(n, device)| {
            let mut message = message(
                n,
                "",
                r##"{"a,b":1,"c=d":true,"e f":"g","h\"i":2,"j\\":3,"":4,"k\nl":5,"\u0000":6,"#m":7}"##,
            );
            message.stored.device = (*device).into();
            let mut tags = Tags::default();
            tags.insert(format!("key {device}"), format!("value\n{device}"));
            tags.insert("empty".into(), String::new());
            let name = Some(format!("name {device}"));
            message.record = Some(Arc::new(Record { name, tags, ..Record::default() }));
            message
        })
        .collect();
    assert_eq!(deliver_all(&output, &messages), [""; 0]);
    let found = database.server.query(&database.name, "SHOW TAG VALUES FROM messages WITH KEY = \"device\"");
    let mut found: Vec<_> = found.iter().map(|row| row[1].as_str().unwrap().to_owned()).collect();
    let mut expected: Vec<_> = devices.iter().map(|id| id.replace('%', "%25").replace('\\', "%5C")).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let names = database.query("SHOW TAG VALUES FROM messages WITH KEY = \"device_name\"");
    assert!(names.contains("name a,b") && names.contains("name a%5C b"), "{names}");
    let tags = database.query("SHOW TAG VALUES FROM messages WITH KEY =~ /tag_.*/");
    assert!(
        tags.contains(r#"["tag_key a,b","value%0Aa,b"]"#)
            && tags.contains(r#"["tag_key a=b","value%0Aa=b"]"#),
        "{tags}"
    );
    assert_eq!(tags.lines().count(), devices.len());
    let row = database.query("SELECT \"a,b\", \"c=d\", \"e f\", \"h\\\"i\", \"j%5C\", \"k%0Al\", \"#m\" FROM messages WHERE device = 'a=b'");
    assert!(row.ends_with(r#",1,true,"g",2,3,5,7]"#), "{row}");
    assert_eq!(database.query("SELECT count(message_bytes) FROM messages"), format!("[0,{}]", devices.len()));
}

#[test]
fn messages_at_one_time_are_points_of_their_own_and_a_repeated_one_is_the_same() {
    let database = Database::new();
    let output = database.output();
    // A batch of one device: one time of receipt, and keys.
    let messages: Vec<Message> = (0..3000)
        .map(|n| {
            let mut message = message(n, "", &format!("{{\"n\":{n}}}"));
            message.stored.device = "d".into();
            message.stored.stable_id = format!("k{n:032x}");
            message.stored.received_at = 1_767_225_600_000_000;
            if n % 2 == 1 {
                message.stored.origin = Some(r#"{"sent_at":"2026-01-01T00:00:00.000Z"}"#.into());
            }
            message
        })
        .collect();
    for sent in [&messages[..2000], &messages[1000..], &messages] {
        assert_eq!(deliver(&output, sent), Ok(()));
    }
    // Another gateway, another process.
    assert_eq!(deliver(&open_at(&database.url(), "").unwrap(), &messages), Ok(()));
    assert_eq!(
        database.query("SELECT count(n), sum(n), max(n) FROM messages"),
        format!("[0,3000,{},2999]", 3000 * 2999 / 2)
    );
}

#[test]
fn a_message_without_values_is_a_point() {
    let database = Database::new();
    let output = database.output();
    let bodies = [
        "{}",
        "null",
        "[]",
        r#"{"a":null,"b":{"c":[]}}"#,
        r#"{"f":{"$float":"NaN"}}"#,
        "\"x\"",
        "17",
        "true",
    ];
    let messages: Vec<_> = bodies.iter().enumerate().map(|(n, json)| message(n, "", json)).collect();
    // A value of the message itself has one field, whose type the first one decides.
    assert_eq!(deliver_all(&output, &messages[..6]), [""; 0]);
    let refused = deliver_all(&output, &messages[6..]);
    assert_eq!(refused.len(), 2);
    assert!(refused[0].contains("field type conflict") && refused[0].contains("value"), "{refused:?}");
    assert_eq!(database.query("SELECT count(message_bytes), count(value) FROM messages"), "[0,6,1]");
}

#[test]
fn one_message_among_thousands_that_cannot_be_stored_is_refused_with_its_field() {
    let database = Database::new();
    let output = database.output();
    learn(&output, "all", &[SCHEMA]);
    assert_eq!(deliver(&output, &[message(9000, "all", r#"{"any":1,"further":true}"#)]), Ok(()));
    let mut messages: Vec<_> =
        (0..4000).map(|n| message(n, "all", &format!("{{\"n\":{}}}", n % 1000))).collect();
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(70_000));
    let bad = [
        (0, r#"{"any":"text"}"#, "any"),
        (7, r#"{"large":9223372036854775808}"#, "field large: 9223372036854775808 is not an integer"),
        (1234, r#"{"further":17}"#, "further"),
        (1235, r#"{"any":true}"#, "any"),
        (2000, &long, "field text: a text of 70000 bytes"),
        (2001, r#"{"ok":1}"#, "field ok: 1 is not a boolean"),
        (3999, r#"{"any":"text"}"#, "any"),
    ];
    for (at, json, _) in bad {
        messages[at].stored.json = json.into();
    }
    let refused = deliver_all(&output, &messages);
    assert_eq!(refused.len(), bad.len(), "{refused:#?}");
    for (reason, (_, _, expected)) in refused.iter().zip(bad) {
        assert!(reason.contains(expected), "{expected}: {reason}");
        assert!(
            reason.starts_with("measurement all: ") || reason.contains("field type conflict"),
            "{reason}"
        );
    }
    let count = database.query("SELECT count(message_bytes) FROM \"all\"");
    assert_eq!(count, format!("[0,{}]", 4000 - bad.len() + 1));
}

#[test]
fn schemas_have_measurements_of_their_own_and_unknown_ones_do_not() {
    let database = Database::new();
    let output = database.output();
    learn(&output, "messages", &[r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#]);
    let messages = [
        message(1, "messages", r#"{"n":1}"#),
        message(2, "unknown", r#"{"n":1.5}"#),
        message(3, "", r#"{"n":"x"}"#),
    ];
    let refused = deliver_all(&output, &messages);
    assert!(refused.len() == 1 && refused[0].contains("field type conflict"), "{refused:?}");
    assert_eq!(database.query("SELECT n FROM messages_schema").split_once(',').unwrap().1, "1]");
    assert_eq!(database.query("SELECT n FROM messages").split_once(',').unwrap().1, "1.5]");
}
