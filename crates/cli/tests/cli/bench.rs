use crate::run::dunnage;
use serde_json::Value;

const CONTAINER: [&str; 6] =
    ["bench", "bench/corpus/container.json", "--schema", "container", "--seconds", "1"];

fn row<'a>(report: &'a Value, format: &str) -> &'a Value {
    report["formats"].as_array().unwrap().iter().find(|row| row["format"] == format).unwrap()
}

#[test]
fn sizes_are_those_of_compare_and_every_format_has_times() {
    let compared =
        dunnage(&["compare", "bench/corpus/container.json", "--schema", "container", "--json"], "").json();
    let report = dunnage(&[&CONTAINER[..], &["--json"]].concat(), "").json();
    assert_eq!(report["messages"], 1);
    assert_eq!(report["compact_json_bytes"], 379.0);
    for expected in compared["formats"].as_array().unwrap() {
        let row = row(&report, expected["format"].as_str().unwrap());
        for key in ["bytes", "gzip_bytes"] {
            assert_eq!(row[key].as_f64(), expected[key].as_f64(), "{expected}");
        }
        assert_eq!(row["lossless"], expected["lossless"], "{expected}");
        for key in ["encode_ns", "decode_ns"] {
            let times = ["low", "median", "high"].map(|name| row[key][name].as_f64().unwrap());
            assert!(times[0] > 0.0 && times[0] <= times[1] && times[1] <= times[2], "{row}");
        }
        assert!(row.get("zstd_dictionary_bytes").is_none());
    }
}

#[test]
fn the_table_ends_with_a_recommendation() {
    let run = dunnage(&CONTAINER, "");
    let text = run.text();
    assert!(text.starts_with("379 B as compact JSON\n"), "{text}");
    assert!(text.contains("\nSmallest: packed with 56 B, 15 % of compact JSON."), "{text}");
    assert!(text.contains("\nWithout a schema, pson is the smallest: 299 B.\n"), "{text}");
    assert!(
        text.ends_with("Compression does not help: every compressed format is larger than packed.\n"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_plot_shows_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plot.svg");
    dunnage(&[&CONTAINER[..], &["--svg", path.to_str().unwrap()]].concat(), "").text();
    let svg = std::fs::read_to_string(path).unwrap();
    assert_eq!(svg.matches("<circle").count(), 17);
    assert!(svg.starts_with("<svg") && svg.contains("\npacked\n"), "{svg}");
    assert_eq!(svg.matches("float32), not lossless").count(), 3);
}

#[test]
fn many_messages_train_a_dictionary() {
    let lines: String = (0..200)
        .map(|n| format!("{{\"sensor\":\"hold-{n}\",\"temperature\":{},\"door\":\"open\"}}\n", n % 37))
        .collect();
    let report = dunnage(&["bench", "--lines", "--seconds", "1", "--json"], &lines).json();
    assert_eq!(report["messages"], 200);
    let json = row(&report, "json");
    assert!(json["zstd_dictionary_bytes"].as_f64().unwrap() < json["zstd_bytes"].as_f64().unwrap() / 2.0);
}

#[test]
fn bad_input_is_named_with_its_place() {
    let error = |arguments: &[&str], input: &str| {
        let run = dunnage(arguments, input);
        assert_eq!(run.code, 1, "{arguments:?}");
        run.stderr
    };
    assert_eq!(error(&["bench"], "{\"a\":1} {}").lines().count(), 1);
    assert!(error(&["bench"], "{\"a\":1} {}").contains("--lines reads one per line"));
    assert!(error(&["bench", "--lines"], "{}\n[\n").contains("standard input: line 2: truncated"));
    assert!(error(&["bench", "--lines"], "\n\r\n").contains("the input has no message"));
    assert!(error(&["bench", "--lines"], "").contains("the input has no message"));
    let unfit = error(&["bench", "--schema", "weather"], "{\"a\":1}");
    assert!(unfit.contains("no format that needs the schema weather carries the message"), "{unfit}");
    assert!(unfit.contains("at /a, byte 5"), "{unfit}");
    let folder = tempfile::tempdir().unwrap();
    assert!(error(&["bench", "--svg", folder.path().to_str().unwrap()], "{}").contains("Is a directory"));
    let hostile = error(&["bench", "--schema", "weather"], "{\"\\u001b[31mred\\u202e\":1}");
    assert!(!hostile.contains(['\u{1b}', '\u{202e}']), "{hostile}");
    let many = "{}\n".repeat(10_001);
    assert!(error(&["bench", "--lines"], &many).contains("line 10001: more than 10,000 messages or 16 MiB"));
}
