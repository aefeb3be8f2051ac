use crate::run::{dunnage, golden, root};
use serde_json::{Value, json};
use std::fs;

const CONTAINER: [&str; 4] = ["compare", "bench/corpus/container.json", "--schema", "container"];

fn compare(more: &[&str]) -> crate::run::Run {
    dunnage(&[&CONTAINER, more].concat(), "")
}

fn row<'a>(report: &'a Value, format: &str) -> &'a Value {
    report["formats"].as_array().unwrap().iter().find(|row| row["format"] == format).unwrap()
}

#[test]
fn the_container_message_has_the_sizes_of_the_paper() {
    let report = compare(&["--link", "astrocast", "--json"]).json();
    assert_eq!(
        report["message"],
        json!({"json_bytes": 379, "compact_json_bytes": 379, "spaced_json_bytes": 418})
    );
    // Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and Non-Terrestrial
    // Networks, Table 2.
    for (format, bytes, lossless, fits) in [
        ("json", 379, true, false),
        ("msgpack", 301, true, false),
        ("cbor", 300, true, false),
        ("protobuf (float32)", 138, false, true),
        ("struct (float32)", 116, false, true),
        ("struct-zlib (float32)", 124, false, true),
    ] {
        let row = row(&report, format);
        assert_eq!(row["bytes"], bytes, "{format}");
        assert_eq!(row["lossless"], lossless, "{format}");
        assert_eq!(row["fits"], json!({"astrocast": fits}), "{format}");
        assert!(row["gzip_bytes"].as_u64().unwrap() > 18);
    }
    assert!(row(&report, "protobuf")["bytes"].as_u64().unwrap() <= 105);
    for format in [
        "protobuf",
        "avro",
        "thrift-binary",
        "thrift-compact",
        "struct",
        "struct-zlib",
        "packed",
        "pson",
        "bson",
        "xml",
        "yaml",
    ] {
        assert_eq!(row(&report, format)["lossless"], true, "{format}");
    }
}

/// Three forms of the container message: as its platform expects it, with the ranges of one deployment, and with numbers in place
/// of text.
#[test]
fn packed_container_messages_stay_within_their_limits() {
    for (message, schema, max_bytes) in [
        ("container.json", "container", 57),
        ("telemetry/container-voyage.json", "container-voyage", 49),
        ("telemetry/container-numeric.json", "container-numeric", 47),
    ] {
        let message = format!("bench/corpus/{message}");
        let report = dunnage(&["compare", &message, "--schema", schema, "--json"], "").json();
        let packed = row(&report, "packed");
        assert!(packed["bytes"].as_u64().unwrap() <= max_bytes, "{schema}: {packed}");
        assert_eq!(packed["lossless"], true, "{schema}");
    }
}

#[test]
fn packed_is_smaller_than_every_other_format_even_after_gzip() {
    for schema in ["container", "container-voyage", "container-numeric", "weather", "meter"] {
        let message = match schema {
            "container" => "bench/corpus/container.json".to_owned(),
            other => format!("bench/corpus/telemetry/{other}.json"),
        };
        let report = dunnage(&["compare", &message, "--schema", schema, "--json"], "").json();
        let packed = row(&report, "packed");
        let others = report["formats"].as_array().unwrap().iter().filter(|row| row["format"] != "packed");
        for other in others {
            for size in ["bytes", "gzip_bytes"] {
                assert!(packed[size].as_u64() < other[size].as_u64(), "{schema} {size}: {other}");
            }
        }
    }
}

#[test]
fn rows_are_sorted_by_bytes() {
    let report = compare(&["--json"]).json();
    let bytes: Vec<_> =
        report["formats"].as_array().unwrap().iter().map(|row| row["bytes"].as_u64().unwrap()).collect();
    assert_eq!(bytes.len(), 17);
    assert!(bytes.is_sorted());
}

#[test]
fn the_table_fits_80_columns() {
    let run = compare(&[]);
    assert!(run.text().lines().all(|line| line.chars().count() <= 80));
    golden("compare-container.txt", run.text());
    golden("compare-container-links.txt", compare(&["--link", "lte-m", "--link", "kineis"]).text());
}

#[test]
fn any_message_can_be_compared_without_a_schema() {
    let run = dunnage(&["compare", "-"], " {\"t\": 23.5, \"n\": [1, 2, 3]}\n");
    golden("compare-small.txt", run.text());
    let report = dunnage(&["compare", "-", "--json"], " {\"t\": 23.5, \"n\": [1, 2, 3]}\n").json();
    assert_eq!(
        report["message"],
        json!({"json_bytes": 27, "compact_json_bytes": 22, "spaced_json_bytes": 27})
    );
}

#[test]
fn a_format_that_cannot_carry_the_message_has_an_error() {
    let report = dunnage(&["compare", "-", "--schema", "container", "--json"], "{\"a\":1}").json();
    let protobuf = row(&report, "protobuf");
    assert!(protobuf["bytes"].is_null());
    assert!(protobuf["error"]["kind"].is_string() && protobuf["error"]["offset"].is_u64(), "{protobuf}");
    let run = dunnage(&["compare", "-", "--schema", "container"], "{\"a\":1}");
    let line = run.any_text().lines().find(|line| line.starts_with("protobuf - ")).unwrap();
    assert!(line.len() > "protobuf - ".len() + 10, "{line}");
}

#[test]
fn a_users_definition_has_its_own_row() {
    let folder = tempfile::tempdir().unwrap();
    let proto = folder.path().join("reading.proto");
    fs::write(&proto, "syntax = \"proto3\"; message Reading { uint32 n = 1; string s = 2; }").unwrap();
    let proto = proto.to_str().unwrap();
    let report = dunnage(&["compare", "-", "--proto", proto, "--json"], r#"{"n":1,"s":"ab"}"#).json();
    assert_eq!(row(&report, "protobuf (reading.proto)")["bytes"], 6);
    assert_eq!(row(&report, "protobuf (reading.proto)")["lossless"], true);
    let report = dunnage(&["compare", "-", "--proto", proto, "--json"], r#"{"x":1}"#).json();
    assert!(row(&report, "protobuf (reading.proto)")["error"]["kind"].is_string());
}

#[test]
fn the_chart_is_self_contained_and_follows_the_theme() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart.svg");
    compare(&["--svg", chart.to_str().unwrap()]).text();
    let chart = fs::read_to_string(chart).unwrap();
    assert!(chart.contains("prefers-color-scheme:dark"));
    assert!(!chart.contains("href") && !chart.contains("url("));
    golden("compare-container.svg", &chart);
}

#[test]
fn the_markdown_table_has_a_cell_per_column() {
    let text = compare(&["--markdown"]);
    let columns: Vec<_> = text.text().lines().map(|line| line.matches('|').count()).collect();
    assert!(columns.len() > 12 && columns.iter().all(|n| *n == columns[0]), "{columns:?}");
}

#[test]
fn invalid_json_is_rejected_with_its_offset() {
    let run = dunnage(&["compare", "-"], "{\"a\":}");
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("dunnage: malformed: ") && run.stderr.ends_with(" at /a, byte 5\n"),
        "{}",
        run.stderr
    );
    assert!(root().join("bench/corpus/container.json").exists());
}

#[test]
fn a_message_that_no_format_of_the_schema_carries_exits_with_1() {
    let run = dunnage(&["compare", "-", "--schema", "weather"], r#"{"temprature":1}"#);
    assert_eq!(run.code, 1);
    assert!(run.any_text().contains("cbor"), "{}", run.any_text());
    assert!(
        run.stderr.starts_with(
            "dunnage: no format that needs the schema weather carries the message: type: there is no field \"temprature\""
        ),
        "{}",
        run.stderr
    );
    // If at least one format carries the message, the exit code is 0.
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"array"}}},"required":["a"]}"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), schema).unwrap();
    let run = dunnage(&["compare", "-", "--schema", file.path().to_str().unwrap()], r#"{"a":[[1]]}"#);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn an_ended_link_and_an_unknown_limit_are_not_presented_as_carrying_the_message() {
    let links = ["--link", "swarm", "--link", "echostar-lora", "--link", "sigfox"];
    let report = compare(&[&links[..], &["--json"]].concat()).json();
    assert_eq!(
        row(&report, "packed")["fits"],
        json!({"echostar-lora": null, "sigfox": false, "swarm": true})
    );
    let run = compare(&links);
    let text = run.text();
    assert!(text.contains("(ended 2025-03)"), "{text}");
    let summary = text.lines().find(|line| line.starts_with("smallest lossless")).unwrap();
    assert!(!summary.contains("Swarm") && !summary.contains("EchoStar"), "{summary}");
    let size = dunnage(
        &["schema", "size", "container", "--link", "swarm", "--link", "echostar-lora", "--link", "swarm"],
        "",
    );
    assert!(
        size.text().contains("swarm (ended 2025-03)") && !size.text().contains("not all"),
        "{}",
        size.text()
    );
}

/// The other formats carry the device, so the comparison notes that packed does not.
#[test]
fn what_the_receiver_knows_is_said_to_be_left_out() {
    let schema = r#"{"type": "object", "properties": {"id": {"type": "string", "x-dunnage-known": "device"}, "n": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["id", "n"], "additionalProperties": false}"#;
    let folder = tempfile::tempdir().unwrap();
    let (schema_file, message) = (folder.path().join("s.json"), folder.path().join("m.json"));
    fs::write(&schema_file, schema).unwrap();
    fs::write(&message, r#"{"id": "buoy-7", "n": 3}"#).unwrap();
    let (schema_file, message) = (schema_file.to_str().unwrap(), message.to_str().unwrap());
    let text = "packed leaves out id, which the receiver knows; the other formats carry it";
    let words = |run: &crate::run::Run| run.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let compared = dunnage(&["compare", "--schema", schema_file, message], "");
    assert!(words(&compared).contains(text), "{}", compared.text());
    let planned = ["plan", "--devices", "9", "--per-day", "4", "--schema", schema_file, "--message", message];
    let planned = dunnage(&[&planned[..], &["--link", "sigfox"]].concat(), "");
    assert!(words(&planned).contains(text), "{}", planned.text());
    assert!(!compare(&[]).text().contains("leaves out"));
}
