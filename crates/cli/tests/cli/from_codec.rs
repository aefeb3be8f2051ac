//! `dunnage schema infer --codec`.

use crate::run::{Run, dunnage, golden, root};
use serde_json::json;
use std::{fs, path::Path};
use tempfile::TempDir;

const LEVEL: &str = "function decodeUplink(input) { return { data: { level: input.bytes[0] / 2 } } }";

/// The codec of several ports: signed values, scales, status bits, states of a table, channels, optional fields.
fn tracker(more: &[&str]) -> Run {
    let folder = "crates/cli/tests/cli/codecs";
    let (codec, examples) = (format!("{folder}/tracker.js"), format!("{folder}/tracker.yaml"));
    dunnage(&[&["schema", "infer", "--codec", &codec, "--examples", &examples], more].concat(), "")
}

/// Infers from a codec and examples as lines of JSON.
fn infer(codec: &str, examples: &str, more: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    infer_in(&folder, codec, "examples.jsonl", examples, more)
}

fn infer_in(folder: &TempDir, codec: &str, name: &str, examples: &str, more: &[&str]) -> Run {
    let (codec_path, path) = (folder.path().join("codec.js"), folder.path().join(name));
    fs::write(&codec_path, codec).unwrap();
    fs::write(&path, examples).unwrap();
    let (codec, examples) = (codec_path.to_str().unwrap(), path.to_str().unwrap());
    let run = dunnage(&[&["schema", "infer", "--codec", codec, "--examples", examples], more].concat(), "");
    let stderr = run.stderr.replace(&format!("{}/", folder.path().display()), "");
    Run { stderr, ..run }
}

fn saved(folder: &Path, run: &Run) -> String {
    let path = folder.join("schema.json");
    fs::write(&path, run.text()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_schema_of_a_codec_has_its_ranges_steps_states_and_channels() {
    let run = tracker(&[]);
    golden("infer-codec.json", run.text());
    golden("infer-codec.txt", &run.stderr);
    let schema = run.json();
    let property = |name: &str| schema["properties"][name].clone();
    let range = |name: &str| (property(name)["minimum"].as_f64(), property(name)["maximum"].as_f64());
    assert_eq!(range("temperature"), (Some(-3276.8), Some(3276.7)));
    assert_eq!(property("temperature")["multipleOf"], 0.1);
    assert_eq!(
        (range("pressure"), property("pressure")["multipleOf"].clone()),
        ((Some(0.0), Some(655.35)), json!(0.01))
    );
    assert_eq!(
        (range("humidity"), property("humidity")["multipleOf"].clone()),
        ((Some(0.0), Some(127.5)), json!(0.5))
    );
    assert_eq!(range("battery"), (Some(0.0), Some(255.0)));
    assert_eq!(property("voltage")["x-dunnage-round"], true);
    assert_eq!(property("state")["enum"], json!(["closed", "open", "tampered", "tilted", "unknown"]));
    assert_eq!(property("alarms")["properties"]["level"]["maximum"], 3);
    // Only with a warning, only in an error, in no example.
    for absent in ["broken sensor", "too short", "co2"] {
        assert!(!run.text().contains(absent), "{absent}");
    }
    assert_eq!(schema["required"], json!(["type"]));
}

#[test]
fn the_messages_of_the_examples_are_valid_and_come_back_from_packed() {
    let folder = tempfile::tempdir().unwrap();
    for more in [&[][..], &["--closed"], &["--frames", "0"], &["--seed", "7"], &["--frames", "300"]] {
        let run = tracker(more);
        let schema = saved(folder.path(), &run);
        assert!(
            run.stderr
                .contains("examples, packed and decoded: 5 messages, 4 equal, 1 rounded, 0 different\n"),
            "{}",
            run.stderr
        );
        let codec = root().join("crates/cli/tests/cli/codecs/tracker.js");
        for (port, hex) in [
            ("1", "00d71027820103"),
            ("1", "ff9c5e277600400 29b5ba009"),
            ("2", "0175630367 00d2046865"),
            ("2", "050002 06cb07010000"),
            ("3", "000a0f0c1ec8"),
        ] {
            let message = dunnage(&["codec", "run", codec.to_str().unwrap(), "--port", port, hex], "");
            let path = folder.path().join("message.json");
            fs::write(&path, message.text()).unwrap();
            let checked = dunnage(&["schema", "check", &schema, path.to_str().unwrap()], "");
            assert_eq!(checked.code, 0, "{more:?} {hex}: {}", checked.stderr);
        }
    }
}

#[test]
fn a_seed_decides_the_schema() {
    let of = |seed: &str| tracker(&["--frames", "500", "--seed", seed]);
    let (one, again, other) = (of("3"), of("3"), of("4"));
    assert_eq!((one.text(), &one.stderr), (again.text(), &again.stderr));
    assert_ne!(one.stderr, other.stderr);
}

#[test]
fn closed_leaves_out_what_the_frames_do_not_have() {
    let run = tracker(&["--closed"]);
    assert!(run.stderr.contains("\nclosed: "), "{}", run.stderr);
    assert!(!run.text().contains("x-dunnage-usual"));
    let history = run.json()["properties"]["history"]["maxItems"].as_u64();
    assert_eq!(history, Some(3));
}

#[test]
fn a_json_file_may_have_one_array_or_be_like_the_device_repository() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        r#"[{"bytes":"2b","data":{"level":21.5}},{"bytes":[2],"data":{"level":1}}]"#,
        r#"{"uplinkDecoder":{"examples":[{"input":{"bytes":[43]},"output":{"data":{"level":21.5}}},{"input":{"bytes":[2]},"output":{"data":{"level":1}}}]}}"#,
        "{\"bytes\":\"2b\",\"data\":{\"level\":21.5}}\n{\"bytes\":\"02\",\"data\":{\"level\":1}}\n",
    ] {
        let run = infer_in(&folder, LEVEL, "examples.json", text, &[]);
        assert_eq!(run.json()["properties"]["level"]["maximum"], 127.5, "{}", run.stderr);
        assert!(
            run.stderr.starts_with("examples: 2, 2 decoded\nmutated frames: 255, 254 decoded, 1 with NaN"),
            "{}",
            run.stderr
        );
    }
    let wrong = infer_in(&folder, LEVEL, "examples.json", r#"[{"bytes":"2b","data":{}},{"data":{}}]"#, &[]);
    assert_eq!((wrong.code, &*wrong.stderr), (1, "dunnage: examples.json: example 2: bytes is missing\n"));
}

#[test]
fn an_example_that_differs_is_named_and_the_rest_counts() {
    let run = infer(
        LEVEL,
        "{\"bytes\":\"2b\",\"data\":{\"level\":21}}\n{\"bytes\":\"\",\"data\":{\"level\":null}}\n{\"bytes\":\"02\",\"data\":{\"level\":1}}\n",
        &[],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    for line in [
        "dunnage: warning: examples.jsonl: line 1: /level: expected 21, got 21.5\n",
        "dunnage: warning: examples.jsonl: line 2: left out: codec.js: /level: the codec returned NaN",
        "\nexamples: 3, 2 decoded, 1 not\n",
        "\nexamples, packed and decoded: 2 messages, 2 equal, 0 different\n",
    ] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
}

#[test]
fn bad_codecs_and_examples_are_errors_with_their_place() {
    let one = r#"{"bytes":"2b","data":{"level":21.5}}"#;
    let body = |body: &str| format!("function decodeUplink(input) {{ {body} }}");
    let many = format!("{one}\n").repeat(30);
    for (codec, examples, part) in [
        (
            body("throw new Error('no')"),
            one,
            "codec.js: the codec decodes none of 1 example: examples.jsonl: line 1: codec.js:1: Error: no",
        ),
        (body("return { data: { x: new Uint8Array(2) } }"), one, "JSON has no bytes"),
        (
            body("while (true) {}"),
            &many,
            "codec.js: given up, as 20 examples exceeded a limit: examples.jsonl: line 1: codec.js:1: the codec takes more than 100 ms",
        ),
        (LEVEL.into(), "", "examples.jsonl: there are no examples"),
        (LEVEL.into(), r#"{"data":{"level":1}}"#, "examples.jsonl: line 1: bytes is missing"),
        ("var a = ;".into(), one, "codec.js:1: SyntaxError"),
    ] {
        let run = infer(&codec, examples, &[]);
        assert!(
            run.code == 1 && run.stderr.contains(part) && run.stdout.is_empty(),
            "{part}: {}",
            run.stderr
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let yaml =
        "downlinkDecoder:\n  examples:\n    - input: { bytes: [1] }\n      output: { data: { level: 1 } }\n";
    let none = infer_in(&folder, LEVEL, "examples.yaml", yaml, &[]);
    assert_eq!(none.stderr, "dunnage: examples.yaml: there are no examples of uplinks\n");
}

#[test]
fn a_codec_that_loops_on_mutated_frames_is_given_up_and_the_rest_is_inferred() {
    let codec = "function decodeUplink(input) { while (input.bytes[0] > 50) {} return { data: { level: input.bytes[0], x: input.bytes[1] } } }";
    let run = infer(codec, r#"{"bytes":"2b01","data":{"level":43,"x":1}}"#, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains(" 20 over a limit, "), "{}", run.stderr);
    let line = "limits: 20 of the mutated frames exceeded a limit; given up, so that ranges may be too narrow: codec.js:1: the codec takes more than 100 ms";
    assert!(run.stderr.contains(line), "{}", run.stderr);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for (arguments, part) in [
        (&["--codec", "a.js"][..], "--examples <FILE>"),
        (&["--examples", "a.yaml"], "--codec <FILE>"),
        (&["--frames", "9", "a.json"], "--codec <FILE>"),
        (&["--seed", "9", "a.json"], "--codec <FILE>"),
        (&["--codec", "a.js", "--examples", "a.yaml", "--lines"], "cannot be used with"),
        (&["--codec", "a.js", "--examples", "a.yaml", "b.json"], "cannot be used with"),
        (&["--codec", "a.js", "--examples", "a.yaml", "--frames", "100001"], "100000"),
    ] {
        let run = dunnage(&[&["schema", "infer"], arguments].concat(), "");
        assert!(run.code == 2 && run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
    }
}
