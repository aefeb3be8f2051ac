//! What is in the rows.

use super::{Database, learn, message};
use std::sync::Arc;

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "n": {"type": "integer", "minimum": 0, "maximum": 1000},
    "large": {"type": "integer", "minimum": 0},
    "t": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85, "description": "Air", "x-dunnage-unit": "°C"},
    "f": {"type": "number"},
    "ok": {"type": "boolean"},
    "at": {"type": "string", "format": "date-time"},
    "gps": {"type": "string", "x-dunnage-time": {"notation": "DDMMYY hhmmss.f", "epoch": "2000-01-01T00:00:00Z"}},
    "text": {"type": "string"},
    "digits": {"type": "string", "x-dunnage-number": {"multipleOf": 0.01, "minimum": -40, "maximum": 85}},
    "state": {"enum": ["on", "off", null]},
    "position": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}},
    "list": {"type": "array", "items": {"type": ["string", "null"]}},
    "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    "mixed": {"type": ["integer", "string"]},
    "any": {}}}"#;

#[test]
fn every_field_has_a_column_of_its_type_and_the_value_that_was_sent() {
    let database = Database::new();
    let output = database.output("create = true\njson = true");
    learn(&output, "all", &[SCHEMA]);
    let json = r#"{"n":7,"large":9223372036854775807,"t":24.56,"f":-0.0,"ok":true,"at":"2026-03-29T12:00:00.123456+02:00","gps":"200423 002940.5","text":"a\t\"b\\\n\rü€😀","digits":"-07.50","state":"off","position":{"lat":1.5,"lon":-2.25,"more":[1]},"list":["a,b","{\"x\\\\y\"}",null,""],"matrix":[[1],[2,3]],"mixed":"5","any":{"k":[1,null]},"further":{"deep":1}}"#;
    let mut first = message(1, "all", json);
    first.stored.link = Some("astrocast".into());
    first.stored.origin = Some(r#"{"sent_at":"2026-01-03T11:00:00.000Z","topic":"a"}"#.into());
    first.stored.raw = vec![0; 99].into();
    let messages = [first, message(2, "all", r#"{"t":-40,"f":1e300,"at":"0000-01-01T00:00:00Z","n":0}"#)];
    assert_eq!(database.deliver(&output, &messages), Ok(()));
    let types = database.query(
        "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute \
         WHERE attrelid = '\"all\"'::regclass AND attnum > 0",
    );
    assert_eq!(
        types,
        "_name text, _device text, _device_name text, _tags jsonb, _received_at timestamp with time zone, \
         _sent_at timestamp with time zone, _link text, _bytes integer, _origin jsonb, _rest jsonb, _message jsonb, \
         n smallint, large bigint, t numeric(4,2), f double precision, ok boolean, at timestamp with time zone, \
         gps timestamp with time zone, text text, digits numeric(4,2), state text, position__lat double precision, \
         position__lon double precision, list text[], matrix jsonb, mixed jsonb, any jsonb"
    );
    let zone = "SET TIME ZONE 'UTC'; ";
    let row = database.query(&format!("{zone}SELECT n, large, t, f, ok, at, gps, digits, state, position__lat, position__lon, list[2], list[3] IS NULL, matrix, mixed, \"any\", _rest FROM \"all\" WHERE _name = 'm1'"));
    assert_eq!(
        row,
        r#"7|9223372036854775807|24.56|-0|t|2026-03-29 10:00:00.123456+00|2023-04-20 00:29:40.5+00|-7.50|off|1.5|-2.25|{"x\\y"}|t|[[1], [2, 3]]|"5"|{"k": [1, null]}|{"further": {"deep": 1}, "position": {"more": [1]}}"#
    );
    let text = database
        .query("SELECT text = E'a\\t\"b\\\\\\n\\rü€😀', _message->>'digits' FROM \"all\" WHERE _name = 'm1'");
    assert_eq!(text, "t|-07.50");
    let provenance = database.query(&format!("{zone}SELECT _device, _received_at, _sent_at, _link, _bytes, _origin->>'topic', _tags IS NULL FROM \"all\" WHERE _name = 'm1'"));
    assert_eq!(provenance, "d1|2026-01-01 00:00:00.001001+00|2026-01-03 11:00:00+00|astrocast|99|a|t");
    assert_eq!(
        database.query(&format!("{zone}SELECT t, f, at, state IS NULL FROM \"all\" WHERE _name = 'm2'")),
        "-40.00|1e+300|0001-01-01 00:00:00+00 BC|t"
    );
    let comment = "SELECT col_description('\"all\"'::regclass, attnum) FROM pg_attribute WHERE attrelid = '\"all\"'::regclass AND attname = 't'";
    assert_eq!(database.query(comment), "Air (°C)");
}

#[test]
fn one_row_among_thousands_that_cannot_be_stored_is_refused_with_its_column() {
    let database = Database::new();
    let output = database.output("create = true");
    learn(&output, "all", &[SCHEMA]);
    let mut messages: Vec<_> =
        (0..4000).map(|n| message(n, "all", &format!("{{\"n\":{}}}", n % 1000))).collect();
    for (at, json) in [
        (0, r#"{"n":32768}"#),
        (7, r#"{"text":"a\u0000b"}"#),
        (1234, r#"{"any":{"k":"\u0000"}}"#),
        (1235, r#"{"state":"broken"}"#),
        (2000, r#"{"large":9223372036854775808}"#),
        (2001, r#"{"t":24.567}"#),
        (2002, r#"{"t":123.4}"#),
        (2500, r#"{"at":"yesterday"}"#),
        (3999, r#"{"f":9007199254740993}"#),
    ] {
        messages[at].stored.json = json.into();
    }
    let refused = database.deliver_all(&output, &messages);
    let expected =
        ["\"n\"", "\"text\"", "any", "\"state\"", "\"large\"", "\"t\"", "column t", "\"at\"", "\"f\""];
    assert_eq!(refused.len(), expected.len(), "{refused:#?}");
    for (reason, column) in refused.iter().zip(expected) {
        assert!(reason.contains(column) || reason.contains(&column.replace('"', "")), "{column}: {reason}");
        assert!(reason.starts_with("table \"all\": "), "{reason}");
    }
    assert_eq!(database.query("SELECT count(*), count(DISTINCT _name) FROM \"all\""), "3991|3991");
}

#[test]
fn a_condition_of_the_database_refuses_its_row_alone() {
    let database = Database::new();
    let output = database.output("create = true");
    learn(&output, "all", &[SCHEMA]);
    assert_eq!(database.deliver(&output, &[message(0, "all", "{}")]), Ok(()));
    database.query("ALTER TABLE \"all\" ADD CONSTRAINT odd CHECK (n <> 13), ADD UNIQUE (large)");
    let mut messages: Vec<_> = (1..500).map(|n| message(n, "all", &format!("{{\"n\":{n}}}"))).collect();
    messages[300].stored.json = r#"{"large":1}"#.into();
    messages[301].stored.json = r#"{"large":1}"#.into();
    let refused = database.deliver_all(&output, &messages);
    assert_eq!(refused.len(), 2, "{refused:#?}");
    assert!(refused[0].contains("\"odd\""), "{refused:?}");
    assert!(refused[1].contains("all_large_key") && refused[1].contains("(large)=(1)"), "{refused:?}");
    assert_eq!(database.query("SELECT count(*) FROM \"all\""), "498");
}

#[test]
fn messages_that_are_delivered_again_are_one_row_each() {
    let database = Database::new();
    let output = database.output("create = true");
    let of = |range: std::ops::Range<usize>| {
        range.map(|n| message(n, "", &format!("{{\"n\":{n}}}"))).collect::<Vec<_>>()
    };
    assert_eq!(database.deliver(&output, &of(0..1000)), Ok(()));
    assert_eq!(database.deliver(&output, &of(500..1500)), Ok(()));
    // An output of another gateway.
    let other = database.output("create = true");
    assert_eq!(database.deliver(&other, &of(0..1500)), Ok(()));
    // A message that is twice in one call.
    assert_eq!(database.deliver(&other, &[of(1500..1501), of(1500..1501)].concat()), Ok(()));
    assert_eq!((output.duplicates(), other.duplicates()), (500, 1501));
    let counts =
        database.query("SELECT count(*), count(DISTINCT _name), sum((_message->>'n')::int) FROM messages");
    assert_eq!(counts, format!("1501|1501|{}", 1500 * 1501 / 2));
}

#[test]
fn long_texts_and_deep_values_are_stored() {
    let database = Database::new();
    let output = database.output("create = true");
    learn(&output, "all", &[SCHEMA]);
    let deep = format!("{}1{}", "[".repeat(31), "]".repeat(31));
    let messages = [
        message(1, "all", &format!(r#"{{"text":"{}"}}"#, "é\\\\".repeat(1 << 18))),
        message(2, "all", &format!(r#"{{"any":{deep},"unknown":{deep}}}"#)),
        message(3, "", &format!(r#""{}""#, "x".repeat(1 << 20))),
        message(4, "unknown", "17"),
    ];
    assert_eq!(database.deliver_all(&output, &messages), [""; 0]);
    assert_eq!(
        database.query("SELECT octet_length(text) FROM \"all\" WHERE _name = 'm1'"),
        (3 << 18).to_string()
    );
    let spaced =
        format!("SELECT \"any\" = '{deep}', _rest->'unknown' = '{deep}' FROM \"all\" WHERE _name = 'm2'");
    assert_eq!(database.query(&spaced), "t|t");
    assert_eq!(
        database.query("SELECT length(_message #>> '{}'), _schema FROM messages ORDER BY _name"),
        format!("{}|\n2|unknown", 1 << 20)
    );
}

#[test]
fn numbers_that_json_lacks_are_stored_where_a_column_can_hold_them() {
    let database = Database::new();
    let output = database.output("create = true\ndecimals = 'double'");
    learn(&output, "all", &[SCHEMA]);
    let json = |value: &str| format!(r#"{{"f":{{"$float":"{value}"}}}}"#);
    let messages: Vec<_> = ["NaN", "Infinity", "-Infinity"]
        .iter()
        .enumerate()
        .map(|(n, value)| message(n, "all", &json(value)))
        .collect();
    assert_eq!(database.deliver(&output, &messages), Ok(()));
    assert_eq!(
        database.query("SELECT string_agg(f::text, ' ' ORDER BY _name), pg_typeof(min(t)) FROM \"all\""),
        "NaN Infinity -Infinity|double precision"
    );
    let refused = database.deliver_all(&output, &[message(9, "all", r#"{"n":{"$float":"NaN"}}"#)]);
    assert!(refused[0].contains("\"n\""), "{refused:?}");
    drop::<Arc<_>>(output);
}
