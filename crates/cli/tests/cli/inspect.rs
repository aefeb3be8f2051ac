use crate::run::{dunnage, golden};

fn inspected(format: &str, json: &str) -> String {
    let bytes = dunnage(&["convert", "--from", "json", "--to", format], json);
    dunnage(&["inspect", "--format", format], &bytes.stdout).text().to_owned()
}

const MESSAGE: &str = r#"{"id":"LMCU1231237","temperature":[23.5,1.03,-40],"door":"öffen\n","ok":true,"none":null,"seen":1351824120}"#;

#[test]
fn every_format_has_a_view() {
    for format in ["pson", "cbor", "msgpack"] {
        golden(&format!("inspect-{format}.txt"), &inspected(format, MESSAGE));
    }
}

#[test]
fn notes_mark_non_canonical_forms() {
    let hex = "e8 1f8100 3f8100 20 4000004042 41000000000000e03f 9f0161 400000c0ff 1f1e";
    let run = dunnage(&["inspect", "--hex"], hex);
    golden("inspect-lenient.txt", run.text());
}

#[test]
fn items_before_the_damage_are_shown() {
    for (name, hex) in [("truncated", "c2 81 61 01 81 62 9f 2a 31 32 33"), ("malformed", "e3 01 63 02")] {
        let run = dunnage(&["inspect", "--hex"], hex);
        assert_eq!(run.code, 1);
        golden(&format!("inspect-{name}.txt"), &format!("{}{}", run.any_text(), run.stderr));
    }
}

#[test]
fn cbor_tags_chunks_and_indefinite_lengths_are_shown() {
    let hex = "bf 6474616773 82 c1 1a514b67b0 d818 4101 6474657874 7f 6161 6162 ff 6175 f7 ff";
    golden("inspect-cbor-indefinite.txt", dunnage(&["inspect", "--format", "cbor", "--hex"], hex).text());
}

#[test]
fn control_characters_in_a_message_are_escaped() {
    let view = inspected("pson", r#"["\u001b[2J\u009b\u202e"]"#);
    assert!(view.is_ascii() && view.bytes().all(|b| b == b'\n' || !b.is_ascii_control()), "{view}");
}

#[test]
fn an_empty_input_is_truncated() {
    let run = dunnage(&["inspect"], "");
    assert_eq!((run.code, run.stderr.as_str()), (1, "dunnage: truncated: the message ends here at byte 0\n"));
}

/// Writes a schema with every kind of part to `folder`.
fn parts(folder: &std::path::Path, more: &str) -> String {
    let path = folder.join("parts.json");
    let text = r#"{
        "title": "Parts", "type": "object", "additionalProperties": false,
        "required": ["v", "id", "on", "kind", "acc", "either", "row"],
        "properties": {
            "v": {"const": 3},
            "id": {"type": "string", "x-dunnage-known": "device"},
            "on": {"type": "boolean"},
            "kind": {"enum": ["a", "b", null]},
            "acc": {"type": "string", "x-dunnage-numbers": {"separator": " ", "items": [
                {"name": "x", "multipleOf": 0.1, "minimum": -20, "maximum": 20},
                {"name": "y", "multipleOf": 0.1, "minimum": -20, "maximum": 20}
            ]}},
            "either": {"type": ["integer", "string"], "minimum": 0, "maximum": 9, "maxLength": 7},
            "row": {"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 0, "maximum": 15}},
            "far": {"type": "number"},
            "gone": {"type": ["integer", "null"], "minimum": 0, "maximum": 100}MORE
        }
    }"#;
    std::fs::write(&path, text.replace("MORE", more)).unwrap();
    path.to_str().unwrap().to_owned()
}

const PARTS: &str = r#"{"v":3,"id":"buoy-7","on":true,"kind":"b","acc":"-9.8 0.1","either":"ö\u202e","row":[15,0],"gone":null}"#;

/// The view of `json` encoded as packed, without its last `cut` bytes.
fn packed(schema: &str, json: &str, cut: usize) -> crate::run::Run {
    let bytes = dunnage(&["convert", "--from", "json", "--to", "packed", "--schema", schema], json).stdout;
    let arguments = ["inspect", "--format", "packed", "--schema", schema, "--device", "buoy-7"];
    dunnage(&arguments, &bytes[..bytes.len() - cut])
}

#[test]
fn packed_has_a_row_per_part() {
    let folder = tempfile::tempdir().unwrap();
    let schema = parts(folder.path(), "");
    golden("inspect-packed.txt", packed(&schema, PARTS, 0).text());
    let weather =
        std::fs::read_to_string(crate::run::root().join("bench/corpus/telemetry/weather.json")).unwrap();
    golden("inspect-packed-weather.txt", packed("weather", &weather, 0).text());
}

#[test]
fn packed_parts_before_the_damage_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let run = packed(&parts(folder.path(), ""), PARTS, 3);
    assert_eq!(run.code, 1);
    golden("inspect-packed-truncated.txt", &format!("{}{}", run.any_text(), run.stderr));
    let run = dunnage(&["inspect", "--format", "packed", "--schema", "weather", "--hex"], "02 00");
    assert_eq!((run.code, run.any_text().lines().count()), (1, 2));
    assert!(run.stderr.starts_with("dunnage: range: slot 2"), "{}", run.stderr);
}

#[test]
fn a_modelled_body_is_one_row_followed_by_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let schema = parts(folder.path(), r#","note": {"type": "string"}"#);
    let message = PARTS.replace("}", r#","note":"any length"}"#);
    golden("inspect-packed-modelled.txt", packed(&schema, &message, 0).text());
    let run = packed(&schema, &message, 9);
    assert_eq!(run.code, 1);
    assert!(run.any_text().contains("not decoded"), "{}", run.any_text());
}

#[test]
fn the_check_of_packed_messages_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("checked.json");
    for (bytes, kind) in [(1, r#""type":"boolean""#), (2, r#""type":"boolean""#), (2, r#""type":"string""#)] {
        std::fs::write(&schema, format!(r#"{{"x-dunnage-check":{bytes},{kind}}}"#)).unwrap();
        let message = if kind.contains("string") { r#""text""# } else { "true" };
        let run = packed(schema.to_str().unwrap(), message, 0);
        let last = run.text().lines().last().unwrap();
        assert!(last.ends_with(&format!("  check, CRC-{}, matches", 8 * bytes)), "{}", run.text());
        let rows: Vec<_> = run.text().lines().filter_map(|row| row.get(8..14)?.trim().parse().ok()).collect();
        assert_eq!(rows.last(), Some(&(8 * bytes)), "{}", run.text());
        assert_eq!(packed(schema.to_str().unwrap(), message, 1).code, 1);
    }
}

#[test]
fn packed_needs_a_schema() {
    let run = dunnage(&["inspect", "--format", "packed"], "");
    let reason = "dunnage: packed needs the schema of the message: --schema\n";
    assert_eq!((run.code, run.stderr.as_str()), (2, reason));
}

/// A schema with every kind of field that a record can have.
const KINDS: &str = r#"{"title":"Kinds","type":"object","additionalProperties":false,
    "required":["on","n","t","state","text","list","f","fix"],"properties":{
        "on":{"type":"boolean"},
        "n":{"type":"integer","minimum":-9,"maximum":300},
        "t":{"type":"number","multipleOf":0.01,"minimum":-40,"maximum":85},
        "state":{"enum":["idle","run"]},
        "text":{"type":"string","maxLength":20},
        "list":{"type":"array","items":{"type":"integer","minimum":0,"maximum":9},"maxItems":4},
        "f":{"type":"number"},
        "fix":{"type":"object","additionalProperties":false,"required":["lat"],"properties":{
            "lat":{"type":"number","multipleOf":0.1,"minimum":-90,"maximum":90},
            "sats":{"type":"integer","minimum":0,"maximum":40}}},
        "late":{"type":"integer","minimum":0,"maximum":9}}}"#;
const KINDS_MESSAGE: &str = r#"{"on":true,"n":-3,"t":17.25,"state":"run","text":"quay 7","list":[1,2,3],"f":0.5,"fix":{"lat":44.4,"sats":9}}"#;

/// Writes KINDS to a file. Returns its path and the message encoded in `format`, without its last `cut` bytes.
fn kinds(folder: &std::path::Path, format: &str, cut: usize) -> (String, Vec<u8>) {
    let schema = folder.join("kinds.json");
    std::fs::write(&schema, KINDS).unwrap();
    let schema = schema.to_str().unwrap().to_owned();
    let mut bytes =
        dunnage(&["convert", "--from", "json", "--to", format, "--schema", &schema], KINDS_MESSAGE).stdout;
    bytes.truncate(bytes.len() - cut);
    (schema, bytes)
}

#[test]
fn record_formats_are_shown_field_by_field() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["protobuf", "avro", "struct"] {
        let (schema, bytes) = kinds(folder.path(), format, 0);
        let run = dunnage(&["inspect", "--format", format, "--schema", &schema], &bytes);
        golden(&format!("inspect-{format}.txt"), run.text());
    }
    let (_, bytes) = kinds(folder.path(), "protobuf", 0);
    golden("inspect-protobuf-numbers.txt", dunnage(&["inspect", "--format", "protobuf"], &bytes).text());
    for format in ["avro", "struct"] {
        let run = dunnage(&["inspect", "--format", format], "");
        assert_eq!(
            (run.code, run.stderr),
            (2, format!("dunnage: {format} needs the schema of the message: --schema\n"))
        );
    }
}

#[test]
fn inspect_rejects_the_same_messages_as_convert() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["protobuf", "avro", "struct"] {
        let (schema, whole) = kinds(folder.path(), format, 0);
        for cut in [1, 2, 7, whole.len() / 2] {
            let bytes = &whole[..whole.len() - cut];
            let run = dunnage(&["inspect", "--format", format, "--schema", &schema], bytes);
            let convert = ["convert", "--from", format, "--to", "json", "--schema", &schema];
            let converted = dunnage(&convert, bytes);
            assert_eq!(run.code, converted.code, "{format} without {cut}: {}", run.any_text());
            // Protobuf may end after any field, because the missing ones have defaults.
            assert!(run.code == 1 || format == "protobuf");
        }
        let more = [&whole[..], &[0]].concat();
        let run = dunnage(&["inspect", "--format", format, "--schema", &schema], more);
        assert_eq!(run.code, 1, "{format}: {}", run.any_text());
        // Well-formed fields that break the schema: a text longer than the schema allows.
        let other = KINDS.replace("\"maxLength\":20", "\"maxLength\":3");
        let narrow = folder.path().join("narrow.json");
        std::fs::write(&narrow, other).unwrap();
        let run = dunnage(&["inspect", "--format", format, "--schema", narrow.to_str().unwrap()], &whole);
        assert!(
            run.code == 1 && run.stderr.starts_with("dunnage: range: \"quay 7\" has 6 characters"),
            "{}",
            run.stderr
        );
        assert!(run.any_text().contains("quay 7"));
    }
}

#[test]
fn an_error_suggests_the_format_that_the_bytes_look_like() {
    let folder = tempfile::tempdir().unwrap();
    let message = r#"{"temperature":17.25,"list":[1,2,300],"name":"quay"}"#;
    for (format, assumed) in [("cbor", "pson"), ("msgpack", "cbor"), ("pson", "msgpack")] {
        let bytes = dunnage(&["convert", "--from", "json", "--to", format], message).stdout;
        let run = dunnage(&["inspect", "--format", assumed], &bytes);
        assert_eq!(run.code, 1, "{format} as {assumed}");
        let hint = format!("; the bytes look like {format}: --format {format}\n");
        assert!(run.stderr.ends_with(&hint), "{format} as {assumed}: {}", run.stderr);
    }
    let bson = dunnage(&["convert", "--from", "json", "--to", "bson"], message).stdout;
    let run = dunnage(&["inspect"], &bson);
    assert!(
        run.stderr.contains("; the bytes look like bson: `dunnage convert --from bson"),
        "{}",
        run.stderr
    );
    let json = dunnage(&["inspect"], message);
    assert!(
        json.stderr.contains("; the bytes look like json: `dunnage convert --from json"),
        "{}",
        json.stderr
    );
    let hex = dunnage(&["inspect", "--format", "cbor"], "a1 61 61 18 18");
    assert!(
        hex.code == 1 && hex.stderr.ends_with("; the input looks like hex text: --hex\n"),
        "{}",
        hex.stderr
    );
    let (schema, bytes) = kinds(folder.path(), "avro", 0);
    let run = dunnage(&["inspect", "--format", "packed", "--schema", &schema], &bytes);
    assert!(run.stderr.ends_with("; the bytes look like avro: --format avro\n"), "{}", run.stderr);
    let noise = dunnage(&["inspect", "--format", "cbor"], [0xff; 40]);
    assert!(noise.code == 1 && !noise.stderr.contains("look"), "{}", noise.stderr);
}
