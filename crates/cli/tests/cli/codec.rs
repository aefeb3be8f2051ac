use crate::run::{dunnage, golden};
use std::{fs, path::Path};
use tempfile::TempDir;

const CODEC: &str = "function decodeUplink(input) {
  if (input.bytes[0] > 200) return { errors: ['no such level'] };
  if (input.bytes[0] === 0) throw new Error('empty');
  var warnings = input.bytes[0] < 10 ? ['level low'] : [];
  return { data: { level: input.bytes[0] / 2, port: input.fPort, at: input.recvTime }, warnings: warnings };
}

function encodeDownlink(input) {
  return { bytes: [input.data.interval & 0xff], fPort: 2 };
}

function decodeDownlink(input) {
  return { data: { interval: input.bytes[0] } };
}
";

const YAML: &str = "uplinkDecoder:
  fileName: level.js
  examples:
    - description: a level
      input: { fPort: 1, bytes: [43], recvTime: 2026-01-01T02:00:00+02:00 }
      output: { data: { port: 1, level: 21.50, at: '2026-01-01T00:00:00.000Z' } }
    - description: a low level
      input: { fPort: 1, bytes: [2] }
      output: { data: { level: 1, port: 1, at: '1970-01-01T00:00:00.000Z' }, warnings: [level low] }
    - description: an error
      input: { fPort: 1, bytes: [201] }
      output: { errors: [no such level] }
downlinkEncoder:
  fileName: level.js
  examples:
    - description: an interval
      input: { data: { interval: 60 } }
      output: { bytes: [60], fPort: 2 }
downlinkDecoder:
  fileName: level.js
  examples:
    - description: an interval
      input: { fPort: 2, bytes: [60] }
      output: { data: { interval: 60 } }
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("level.js"), CODEC).unwrap();
    folder
}

/// Checks the examples `text`, and returns the exit code, the output and the errors, without the folder.
fn check(folder: &Path, name: &str, text: &str) -> (i32, String, String) {
    let (codec, examples) = (folder.join("level.js"), folder.join(name));
    fs::write(&examples, text).unwrap();
    let run =
        dunnage(&["codec", "check", codec.to_str().unwrap(), "--examples", examples.to_str().unwrap()], "");
    let plain = |text: &str| text.replace(&format!("{}/", folder.display()), "");
    (run.code, plain(run.any_text()), plain(&run.stderr))
}

#[test]
fn the_help_of_codec_says_what_examples_are() {
    let help = [["codec", "--help", ""], ["codec", "check", "--help"], ["codec", "run", "--help"]];
    let texts = help.map(|words| {
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        dunnage(&words, "").text().to_owned()
    });
    golden("codec-help.txt", &texts.join("\n"));
}

#[test]
fn examples_of_the_device_repository_are_equal() {
    let folder = folder();
    let (code, out, errors) = check(folder.path(), "level-codec.yaml", YAML);
    assert_eq!((code, &*errors), (0, ""));
    assert_eq!(out, "level.js: 5 examples, 5 equal, 0 different\n");
}

#[test]
fn differences_name_the_example_and_the_place() {
    let folder = folder();
    let wrong = YAML
        .replace("21.50", "21.0")
        .replace("errors: [no such level]", "errors: [other]")
        .replace("[60], fPort: 2", "[61], fPort: 2");
    let (code, out, errors) = check(folder.path(), "level-codec.yaml", &wrong);
    assert_eq!((code, &*out), (1, "level.js: 5 examples, 2 equal, 3 different\n"));
    golden("codec-different.txt", &errors);
}

#[test]
fn examples_as_lines_of_json_are_equal() {
    let folder = folder();
    let lines = r#"{"port":1,"bytes":"2b","data":{"level":21.5,"port":1,"at":"1970-01-01T00:00:00.000Z"}}

{"bytes":"c9","errors":["no such level"]}
{"port":7,"bytes":[2],"received_at":"2026-01-01T00:00:00Z","data":{"port":7.0,"at":"2026-01-01T00:00:00.000Z","level":1},"warnings":["level low"]}
"#;
    let (code, out, errors) = check(folder.path(), "level.jsonl", lines);
    assert_eq!((code, &*errors), (0, ""));
    assert_eq!(out, "level.js: 3 examples, 3 equal, 0 different\n");
    for (line, part) in [
        (r#"{"bytes":"00","data":{}}"#, "level.jsonl: line 1: level.js:3: Error: empty"),
        (r#"{"bytes":"02","data":{},"warnings":[]}"#, "expected the warnings [], got [\"level low\"]"),
        (r#"{"bytes":"0","data":{}}"#, "one hex digit"),
        (r#"{"bytes":"00"}"#, "data or errors is missing"),
        (r#"{"bytes":"00","data":{},"prot":1}"#, "\"prot\" is unknown"),
        (r#"{"port":256,"bytes":"00","data":{}}"#, "from 0 to 255"),
        (r#"{"bytes":[256],"data":{}}"#, "from 0 to 255"),
        (r#"{"received_at":"now","bytes":"00","data":{}}"#, "RFC 3339"),
        ("{", "line 1"),
        ("", "there are no examples"),
    ] {
        let (code, _, errors) = check(folder.path(), "level.jsonl", line);
        assert!(code == 1 && errors.contains(part), "{line}: {errors}");
    }
}

#[test]
fn examples_of_thingpark_and_of_chirpstack_are_equal() {
    let folder = folder();
    let thingpark = r#"[{"type":"uplink","description":"a level","input":{"bytes":"2b","fPort":1,"recvTime":"2026-01-01T02:00:00+02:00"},
        "output":{"data":{"level":21.5,"port":1,"at":"2026-01-01T00:00:00.000Z"}}},
        {"type":"downlink-encode","input":{"data":{"interval":60}},"output":{"bytes":"3c","fPort":2}},
        {"type":"downlink-decode","input":{"bytes":"3c","fPort":2},"output":{"data":{"interval":60}}}]"#;
    let chirpstack = r#"[{"name":"a level","input":{"fPort":1,"bytes":[43]},"expected":{"data":{"level":21.5,"port":1,"at":"1970-01-01T00:00:00.000Z"}}},
        {"name":"an interval","input":{"data":{"interval":60}},"expected":{"bytes":[60],"fPort":2}}]"#;
    for (text, count) in [(thingpark, 3), (chirpstack, 2)] {
        let (code, out, errors) = check(folder.path(), "examples.json", text);
        assert_eq!((code, &*errors), (0, ""));
        assert_eq!(out, format!("level.js: {count} examples, {count} equal, 0 different\n"));
    }
    let wrong = thingpark.replace("21.5", "21").replace("downlink-decode", "both");
    let (code, _, errors) = check(folder.path(), "examples.json", &wrong);
    assert!(code == 1 && errors.contains("example 3: type must be uplink"), "{errors}");
}

#[test]
fn a_message_is_decoded_from_hex() {
    let folder = folder();
    let path = folder.path().join("level.js");
    let run =
        |arguments: &[&str]| dunnage(&[&["codec", "run", path.to_str().unwrap()], arguments].concat(), "");
    let decoded = run(&["--port", "85", "2b ff"]).json();
    assert_eq!((decoded["level"].as_f64(), decoded["port"].as_u64()), (Some(21.5), Some(85)));
    let low = run(&["02"]);
    assert!(low.json().get("port").is_none());
    assert_eq!(low.stderr, "dunnage: warning: level low\n");
    let failed = run(&["00"]);
    assert_eq!((failed.code, failed.stderr), (1, format!("dunnage: {}:3: Error: empty\n", path.display())));
    assert_eq!(run(&["0x"]).code, 1);
    assert_eq!(run(&["--port", "0", "00"]).code, 2);
}

#[test]
fn a_message_is_printed_as_the_gateway_stores_it() {
    let folder = folder();
    let path = folder.path().join("bytes.js");
    fs::write(&path, "function decodeUplink(i) { return { data: { t: 48.0, raw: new Uint8Array(i.bytes) }, warnings: [NaN] } }").unwrap();
    let printed = dunnage(&["codec", "run", path.to_str().unwrap(), "0102"], "");
    assert_eq!(printed.text(), "{\"t\":48,\"raw\":{\"$bytes\":\"AQI=\"}}\n");
    assert_eq!(printed.stderr, "dunnage: warning: NaN\n");
}

#[test]
fn a_codec_that_cannot_be_loaded_is_named_with_its_line() {
    let folder = folder();
    let path = folder.path().join("level.js");
    let check = || dunnage(&["codec", "check", path.to_str().unwrap()], "");
    assert!(check().text().ends_with("level.js: the codec can be loaded\n"));
    fs::write(&path, "var a;\nvar b = ;\n").unwrap();
    let failed = check();
    assert!(failed.code == 1 && failed.stderr.contains("level.js:2: SyntaxError"), "{}", failed.stderr);
}
