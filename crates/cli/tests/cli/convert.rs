use crate::run::dunnage;
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_packed::{Layout, Receiver, Sender, Training, Value};
use dunnage_schema::Model;
use std::fs;

const EXAMPLE: &str = r#"{"a":23.5,"b":[1,2,3],"c":-2,"d":null,"e":true,"f":1.03}"#;
const EXAMPLE_PSON: &str = "c68161400000bc418162e30102038163228164628165618166417b14ae47e17af03f";

#[test]
fn json_converts_to_pson_as_specified() {
    let run = dunnage(&["convert", "--from", "json", "--to", "pson", "--hex"], format!("{EXAMPLE}\n"));
    assert_eq!(run.text(), format!("{EXAMPLE_PSON}\n"));
    let run = dunnage(&["convert", "--from", "pson", "--to", "json", "--hex"], EXAMPLE_PSON);
    assert_eq!(run.text(), format!("{EXAMPLE}\n"));
}

#[test]
fn a_binary32_can_become_its_shortest_decimal() {
    let packed = [0x40, 0x29, 0x5c, 0xfb, 0x41]; // PSON: the binary32 nearest to 31.42
    let json = |more: &[&str]| {
        let run = dunnage(&[&["convert", "--from", "pson", "--to", "json"], more].concat(), packed);
        run.text().trim_end().to_owned()
    };
    assert_eq!(json(&[]), "31.420000076293945");
    assert_eq!(json(&["--binary32", "shortest"]), "31.42");
    // Numbers in text keep the sender's digits.
    let text = ["convert", "--from", "json", "--to", "json", "--binary32", "shortest"];
    assert_eq!(dunnage(&text, "31.420000076293945").text().trim_end(), "31.420000076293945");
    assert!(dunnage(&["inspect", "--format", "pson"], packed).text().contains("31.42  binary32"));
}

#[test]
fn numbers_survive_pson_and_cbor() {
    let numbers = "[9007199254740993,18446744073709551615,-9223372036854775808,1e-7,-0.0,0.1,5e-324,1.7976931348623157e+308]\n";
    for format in ["pson", "cbor", "msgpack"] {
        let encoded = dunnage(&["convert", "--from", "json", "--to", format], numbers);
        let decoded = dunnage(&["convert", "--from", format, "--to", "json"], &encoded.stdout);
        assert_eq!(decoded.text(), numbers, "{format}");
    }
}

#[test]
fn the_container_message_survives_every_format() {
    let message = fs::read_to_string(crate::run::root().join("bench/corpus/container.json")).unwrap();
    let formats = [
        "json",
        "msgpack",
        "cbor",
        "bson",
        "xml",
        "yaml",
        "protobuf",
        "avro",
        "thrift-binary",
        "thrift-compact",
        "struct",
        "struct-zlib",
        "pson",
        "packed",
    ];
    for format in formats {
        for hex in [false, true] {
            let arguments = |from, to| {
                let mut arguments = vec!["convert", "--from", from, "--to", to, "--schema", "container"];
                arguments.extend(hex.then_some("--hex"));
                arguments
            };
            let encoded = dunnage(&arguments("json", format), &message);
            assert_eq!(encoded.code, 0, "{format}: {}", encoded.stderr);
            let decoded = dunnage(&arguments(format, "json"), &encoded.stdout);
            assert_eq!(decoded.text(), format!("{}\n", message.trim_end()), "{format}");
        }
    }
}

#[test]
fn the_device_supplies_the_field_that_packed_omits() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("known.json");
    let text = r#"{
        "title": "Known", "type": "object", "required": ["id", "n"], "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "x-dunnage-known": "device"},
            "n": {"type": "integer", "minimum": 0, "maximum": 255}
        }
    }"#;
    fs::write(&schema, text).unwrap();
    let schema = schema.to_str().unwrap();
    let convert = |from, to, more: &[&str], input: &str| {
        dunnage(
            &[&["convert", "--from", from, "--to", to, "--schema", schema, "--hex"], more].concat(),
            input,
        )
    };
    let encoded = convert("json", "packed", &[], r#"{"id":"LMCU1231237","n":7}"#);
    assert_eq!(encoded.text(), "0107\n");
    let decoded = convert("packed", "json", &["--device", "LMCU1231237"], encoded.text());
    assert_eq!(decoded.text(), "{\"id\":\"LMCU1231237\",\"n\":7}\n");
    let decoded = convert("packed", "json", &[], encoded.text());
    assert_eq!(decoded.code, 1);
    assert!(decoded.stderr.ends_with(" is not known at /id, byte 1\n"), "{}", decoded.stderr);
}

#[test]
fn errors_have_the_pointer_and_offset_of_the_value() {
    let convert = |to: &str, schema: &[&str], input: &str| {
        let run = dunnage(&[&["convert", "--from", "json", "--to", to], schema].concat(), input);
        assert_eq!(run.code, 1);
        run.stderr
    };
    let container = fs::read_to_string(crate::run::root().join("bench/corpus/container.json")).unwrap();
    let wrong = container.replace("\"door\":\"D\"", "\"door\": \"X\"");
    let at = format!(" at /door, byte {}\n", wrong.find("\"X\"").unwrap());
    for to in ["packed", "protobuf", "avro", "thrift-compact", "struct"] {
        let error = convert(to, &["--schema", "container"], &wrong);
        assert!(error.starts_with("dunnage: range: ") && error.ends_with(&at), "{to}: {error}");
    }
    assert!(convert("bson", &[], r#"{"a": [1, 18446744073709551615]}"#).ends_with(" at /a/1, byte 10\n"));
    assert!(convert("cbor", &[], r#"{"a": [1, 1e-400]}"#).ends_with(" at /a/1, byte 10\n"));
    assert!(convert("bson", &[], "[1]").ends_with("not array\n"));
}

#[test]
fn a_packed_message_of_another_slot_is_rejected() {
    let run =
        dunnage(&["convert", "--from", "packed", "--to", "json", "--schema", "weather", "--hex"], "3f00");
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("dunnage: range: slot 63"), "{}", run.stderr);
}

#[test]
fn each_line_is_a_message_and_an_invalid_one_does_not_stop_the_others() {
    let run = dunnage(&["convert", "--from", "json", "--to", "pson", "--lines"], "1\n{\"a\":}\r\n[2]\n3");
    assert_eq!((run.code, run.any_text()), (1, "01\ne102\n03\n"));
    assert_eq!(
        run.stderr,
        "dunnage: line 2: malformed: a JSON value is missing (text needs double quotes) at /a, byte 5\n"
    );
    let run = dunnage(&["convert", "--from", "pson", "--to", "json", "--lines"], "01\ne1 02\nxy\n82\n");
    assert_eq!((run.code, run.any_text()), (1, "1\n[2]\n"));
    assert_eq!(run.stderr.lines().count(), 2);
    assert!(
        run.stderr.starts_with("dunnage: line 3: malformed: not a hex digit at byte 0\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("dunnage: line 4: truncated: "), "{}", run.stderr);
}

#[test]
fn every_message_has_a_line_even_if_it_has_no_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("quiet.json");
    let text = r#"{"title":"Quiet","type":"object","additionalProperties":false,"properties":{
        "n":{"type":"integer","minimum":0,"maximum":9},"unit":{"const":"C"}},"required":["unit"]}"#;
    let none = r#"{"title":"None","type":"object","additionalProperties":false,"properties":{"unit":{"const":"C"}},"required":["unit"]}"#;
    let mut without_bytes = Vec::new();
    for (text, messages) in [
        (
            text,
            "{\"unit\":\"C\"}\n{\"n\":0,\"unit\":\"C\"}\n{\"unit\":\"C\"}\n{\"n\":7,\"unit\":\"C\"}\n{\"unit\":\"C\"}\n",
        ),
        (none, "{\"unit\":\"C\"}\n{\"unit\":\"C\"}\n"),
    ] {
        fs::write(&schema, text).unwrap();
        for format in dunnage_formats::Id::all() {
            let convert = |from: &str, to: &str, input: &[u8]| {
                let schema = schema.to_str().unwrap();
                dunnage(&["convert", "--from", from, "--to", to, "--schema", schema, "--lines"], input)
            };
            let encoded = convert("json", format.name(), messages.as_bytes());
            let decoded = convert(format.name(), "json", &encoded.stdout);
            // YAML needs a line per field, so `--lines` rejects it with an error.
            if encoded.code == 0 {
                assert_eq!(decoded.text(), messages, "{format}");
                assert_eq!(encoded.text().lines().count(), messages.lines().count(), "{format}");
            } else {
                assert_eq!(format.name(), "yaml", "{}", encoded.stderr);
            }
            if encoded.any_text().lines().any(str::is_empty) {
                without_bytes.push(format.name());
            }
        }
    }
    assert!(
        ["protobuf", "avro", "struct"].iter().all(|name| without_bytes.contains(name)),
        "{without_bytes:?}"
    );
}

#[test]
fn blank_lines_line_ends_and_a_byte_order_mark_are_no_messages() {
    for (format, message) in [("json", "[1]"), ("xml", "<m/>"), ("yaml", "- 1")] {
        let input = format!("\u{feff}{message}\r\n \r\n\n{message}\n\r\n");
        let run = dunnage(&["convert", "--from", format, "--to", "pson", "--lines"], &input);
        assert_eq!((run.code, run.any_text().lines().count(), run.stderr.as_str()), (0, 2, ""), "{format}");
    }
    let run = dunnage(&["convert", "--from", "json", "--to", "pson", "--lines"], "1\n\n{\n");
    assert!(run.code == 1 && run.stderr.starts_with("dunnage: line 3: truncated: "), "{}", run.stderr);
}

#[test]
fn a_number_that_no_value_holds_is_rounded_only_if_that_is_asked_for() {
    let convert = |numbers: &[&str], input: &str| {
        dunnage(&[&["convert", "--from", "json", "--to", "json"], numbers].concat(), input)
    };
    let pi = "[49.297333333333336, 3.14159265358979323846]";
    for (input, names) in [(pi, "--numbers nearest"), ("{\"t\": nan}", "--numbers lenient")] {
        let refused = convert(&[], input);
        assert!(refused.code == 1 && refused.stderr.contains(names), "{}", refused.stderr);
        let compared = dunnage(&["compare"], input);
        assert!(compared.code == 1 && compared.stderr.contains(names), "{}", compared.stderr);
    }
    assert_eq!(convert(&["--numbers", "nearest"], pi).any_text(), "[49.297333333333334,3.141592653589793]\n");
    assert_eq!(
        convert(&["--numbers", "lenient"], "{\"t\":nan,\"p\":-inf}").any_text(),
        "{\"t\":null,\"p\":null}\n"
    );
    assert_eq!(dunnage(&["compare", "--numbers", "nearest"], pi).code, 0);
}

#[test]
fn several_messages_in_one_input_give_a_hint_at_lines() {
    let run = dunnage(&["convert", "--from", "json", "--to", "pson"], "{\"a\":1}\n{\"a\":2}\n");
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.ends_with("the input has more than one JSON message; --lines reads one per line\n"),
        "{}",
        run.stderr
    );
    let infer = dunnage(&["schema", "infer", "-"], "{\"a\":1}\n{\"a\":2}\n");
    assert!(infer.code == 1 && infer.stderr.contains("--lines reads one per line"), "{}", infer.stderr);
    let one = dunnage(&["convert", "--from", "json", "--to", "pson"], "{\"a\":1}}");
    assert!(one.code == 1 && !one.stderr.contains("--lines"), "{}", one.stderr);
}

#[test]
fn the_message_is_a_file_or_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("message.json");
    fs::write(&file, "[1,").unwrap();
    let file = file.to_str().unwrap();
    for arguments in [
        &["convert", "--from", "json", "--to", "pson"][..],
        &["compare"],
        &["inspect"],
        &["schema", "infer"],
        &["schema", "check", "weather"],
    ] {
        let bad = dunnage(&[arguments, &[file]].concat(), "");
        assert!(bad.code == 1 && bad.stderr.starts_with(&format!("dunnage: {file}: ")), "{}", bad.stderr);
        let missing = dunnage(&[arguments, &["no-such-file"]].concat(), "");
        assert!(missing.stderr.starts_with("dunnage: no-such-file: "), "{}", missing.stderr);
    }
    let message = [1u8];
    for more in [&[][..], &["-"]] {
        assert_eq!(
            dunnage(&[&["convert", "--from", "pson", "--to", "json"], more].concat(), message).text(),
            "1\n"
        );
        assert_eq!(dunnage(&[&["inspect"], more].concat(), message).code, 0);
        assert_eq!(dunnage(&[&["compare"], more].concat(), "1").code, 0);
        assert_eq!(dunnage(&[&["schema", "infer"], more].concat(), "1").code, 0);
    }
    // A schema can come from standard input as well.
    let schema = dunnage(&["schema", "infer", "bench/corpus/container.json"], "");
    let size = dunnage(&["schema", "size", "-"], &schema.stdout);
    assert!(size.text().starts_with("packed: slot "), "{}", size.stderr);
}

#[test]
fn a_message_of_several_lines_is_rejected_with_lines() {
    let run = dunnage(&["convert", "--from", "json", "--to", "yaml", "--lines"], "{\"a\":1,\"b\":2}\n7\n");
    assert_eq!((run.code, run.any_text()), (1, "7\n"));
    assert_eq!(run.stderr, "dunnage: line 1: type: the message takes more than one line at byte 0\n");
}

#[test]
fn errors_have_a_kind_and_an_offset() {
    let run = dunnage(&["convert", "--from", "pson", "--to", "json"], [0xc1, 0x81, 0x61, 0x63]);
    assert_eq!((run.code, run.stdout.len()), (1, 0));
    assert!(
        run.stderr.starts_with("dunnage: malformed: ") && run.stderr.ends_with(" at byte 3\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn more_than_a_mebibyte_is_rejected() {
    let large = format!("\"{}\"", "a".repeat(1 << 20));
    for lines in [None, Some("--lines")] {
        let mut arguments = vec!["convert", "--from", "json", "--to", "pson"];
        arguments.extend(lines);
        let run = dunnage(&arguments, &large);
        assert_eq!(run.code, 1);
        assert!(
            run.stderr.contains("limit: ") && run.stderr.ends_with(" at byte 1048576\n"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_missing_schema_is_reported() {
    let run = dunnage(&["convert", "--from", "json", "--to", "avro"], "{}");
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (2, "dunnage: avro needs the schema of the message: --schema\n")
    );
    let run = dunnage(&["convert", "--from", "json", "--to", "avro", "--schema", "nowhere.json"], "{}");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nowhere.json") && run.stderr.contains("container"), "{}", run.stderr);
}

#[test]
fn a_proto_alone_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.proto");
    fs::write(
        &path,
        "syntax = \"proto3\"; package p; message H { bool x = 1; } message M { sint32 t = 1; string n = 2; optional int64 i = 3; }",
    )
    .unwrap();
    let own = ["--proto", path.to_str().unwrap(), "--proto-message", "M"];
    let run = |arguments: &[&str], input: &str| dunnage(&[arguments, &own].concat(), input);
    let read = run(&["convert", "--from", "protobuf", "--to", "json", "--hex"], "0809 1201 78");
    assert_eq!((read.code, read.any_text()), (0, "{\"t\":-5,\"n\":\"x\"}\n"), "{}", read.stderr);
    let written = run(&["convert", "--from", "json", "--to", "protobuf", "--hex"], read.any_text());
    assert_eq!(written.any_text(), "0809120178\n");
    let seen = run(&["inspect", "--format", "protobuf", "--hex"], "0809120178 18f9ffffffffffffffff01");
    assert!(
        seen.code == 0 && seen.any_text().contains("1 t: -5") && seen.any_text().contains("-7"),
        "{}",
        seen.any_text()
    );
    let compared = run(&["compare"], "{\"t\":-5,\"n\":\"x\"}");
    assert!(compared.any_text().contains("protobuf (m.proto)"), "{}", compared.any_text());
    let unused = run(&["convert", "--from", "json", "--to", "cbor", "--hex"], "1");
    assert!(unused.code == 2 && unused.stderr.contains("--proto is for"), "{}", unused.stderr);
    let wrong = dunnage(
        &["convert", "--from", "protobuf", "--to", "json", "--proto", own[1], "--proto-message", "X"],
        "",
    );
    assert!(wrong.code == 1 && wrong.stderr.contains("p.H, p.M"), "{}", wrong.stderr);
}

#[test]
fn a_header_before_an_avro_message_is_named_and_skipped() {
    let message = fs::read_to_string(crate::run::root().join("bench/corpus/container.json")).unwrap();
    let avro =
        dunnage(&["convert", "--from", "json", "--to", "avro", "--schema", "container", "--hex"], &message);
    let from = ["convert", "--from", "avro", "--to", "json", "--schema", "container", "--hex"];
    for (header, name) in [("0000000007", "registry"), ("c3010123456789abcdef", "single-object")] {
        let sent = format!("{header}{}", avro.text());
        let bare = dunnage(&from, &sent);
        assert!(bare.stderr.contains(&format!("--avro-header {name}")), "{}", bare.stderr);
        let read = dunnage(&[&from[..], &["--avro-header", name]].concat(), &sent);
        assert_eq!(read.text(), dunnage(&from, avro.text()).text());
    }
}

/// A trained schema whose messages omit the ID of their device.
const COUNTER: &str = r#"{"type":"object","properties":{"id":{"type":"string","x-dunnage-known":"device"},"n":{"type":"integer","minimum":0,"maximum":100}},
    "required":["id","n"],"additionalProperties":false,"x-dunnage-slot":24,"x-dunnage-statistics":"AYAlSmsBHQMGAQP+BgEA"}"#;

#[test]
fn deltas_are_read_after_the_messages_that_they_refer_to() {
    // Four numbers, so that a delta is shorter than the message.
    let bare = r#"{"type":"array","minItems":4,"maxItems":4,"items":{"type":"integer","minimum":0,"maximum":999999,"x-dunnage-changes":2}}"#;
    let statistics = Training::assumed(&Layout::untrained(&Model::compile(bare).unwrap())).unwrap().unwrap();
    let text = format!(r#"{{"x-dunnage-statistics":"{}",{}"#, BASE64_STANDARD.encode(statistics), &bare[1..]);
    let schema = tempfile::NamedTempFile::new().unwrap();
    fs::write(&schema, &text).unwrap();
    let layout = Layout::new(&Model::compile(&text).unwrap()).unwrap();
    let (mut sender, mut receiver) = (Sender::new(&layout, 1), Receiver::new(&layout, 8));
    let mut send = |n: u64| -> String {
        let mut bytes = Vec::new();
        sender.encode(&Value::Array(vec![Value::U64(n); 4]), &mut bytes).unwrap();
        receiver.decode(&bytes, None).unwrap();
        sender.acknowledged(receiver.last().unwrap().name());
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let sent: Vec<String> = (500_000..500_003).map(&mut send).collect();
    let convert = [
        "convert",
        "--from",
        "packed",
        "--to",
        "json",
        "--lines",
        "--schema",
        schema.path().to_str().unwrap(),
    ];
    let read = dunnage(&convert, sent.join("\n"));
    let line = |n: u64| format!("[{n},{n},{n},{n}]\n");
    assert_eq!(read.text(), (500_000..500_003).map(line).collect::<String>());
    let alone = dunnage(&convert, &*sent[1]);
    assert!(alone.code == 1 && alone.stderr.contains("reference: "), "{}", alone.stderr);
}

#[test]
fn a_text_that_packed_omits_is_the_one_that_is_given() {
    let schema = tempfile::NamedTempFile::new().unwrap();
    fs::write(&schema, COUNTER).unwrap();
    let path = schema.path().to_str().unwrap();
    let to = |device: &str| {
        let convert =
            ["convert", "--from", "json", "--to", "packed", "--hex", "--device", device, "--schema", path];
        dunnage(&convert, r#"{"id":"A","n":50}"#)
    };
    assert_eq!(to("A").code, 0);
    let other = to("B");
    assert!(
        other.code == 1 && other.stderr.contains(r#"the device of this message is "A", not "B""#),
        "{}",
        other.stderr
    );
}
