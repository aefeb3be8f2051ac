//! `dunnage schema infer`.

use crate::run::{Run, dunnage, golden, root};
use dunnage_formats::{Id, Mapping};
use dunnage_links::fleet::Fleet;

/// Messages of the simulated fleet, one per line: 40 containers at five times of a voyage.
fn fleet() -> String {
    let json = Id::Json.open(None, Mapping::Exact).unwrap();
    let mut fleet = Fleet::new(7, 40);
    let mut lines = Vec::new();
    for _ in 0..5 {
        fleet.step(6.0 * 3600.0);
        for container in fleet.containers() {
            json.encode(&container.message(), &mut lines).unwrap();
            lines.push(b'\n');
        }
    }
    String::from_utf8(lines).unwrap()
}

/// Writes the printed schema to a temporary file.
fn saved(run: &Run) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), run.text()).unwrap();
    file
}

#[test]
fn the_messages_of_a_fleet_give_the_schema_of_a_container() {
    let lines = fleet();
    assert_eq!(lines.lines().count(), 200);
    let run = dunnage(&["schema", "infer", "-", "--lines", "--title", "Container"], &lines);
    golden("infer-fleet.json", run.text());
    golden("infer-fleet.txt", &run.stderr);
    let schema = saved(&run);
    let schema = schema.path().to_str().unwrap();
    // Avro depends entirely on the schema, so it carries all messages only if the schema is right.
    let bytes =
        dunnage(&["convert", "--from", "json", "--to", "avro", "--schema", schema, "--lines"], &lines);
    let back = ["convert", "--from", "avro", "--to", "json", "--schema", schema, "--lines"];
    assert_eq!(dunnage(&back, bytes.text()).text(), lines);
}

#[test]
fn the_inferred_schema_is_as_good_as_the_bundled_one() {
    let inferred = saved(&dunnage(&["schema", "infer", "-", "--lines"], fleet()));
    let message = std::fs::read(root().join("bench/corpus/container.json")).unwrap();
    let bytes = |schema: &str| {
        dunnage(&["convert", "--from", "json", "--to", "packed", "--schema", schema], &message).stdout.len()
    };
    let (inferred, bundled) = (bytes(inferred.path().to_str().unwrap()), bytes("container"));
    assert!((1..=bundled).contains(&inferred), "{inferred} bytes, {bundled} with the bundled schema");
}

#[test]
fn csv_gives_the_schema_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (rows, lines): (String, String) = (0..30)
        .map(|n| {
            let (t, door) = (21.5 + f64::from(n % 7) / 2.0, ["open", "closed"][n as usize % 2]);
            let row = if n == 9 { format!(",{door},8\n") } else { format!("{t:.1},{door},8\n") };
            let line = if n == 9 { String::new() } else { format!("\"temp\":{t:.1},") };
            (row, format!("{{{line}\"door\":\"{door}\",\"pos\":{{\"lat\":8}}}}\n"))
        })
        .unzip();
    let lines = file("log.jsonl", &lines);
    let csv = file("log.csv", &format!("/temp,/door,/pos/lat\n{rows}"));
    let of_lines = dunnage(&["schema", "infer", "--lines", &lines], "");
    for arguments in [&["schema", "infer", &csv][..], &["schema", "infer", "--lines", &csv]] {
        assert_eq!(dunnage(arguments, "").text(), of_lines.text());
    }
    let converted = dunnage(&["convert", "--from", "csv", "--to", "json", &csv], "");
    assert_eq!(converted.text(), std::fs::read_to_string(&lines).unwrap());

    let torn = file("torn.csv", "temp,door\n1,open\n2\n");
    let run = dunnage(&["schema", "infer", &torn], "");
    let reason = format!("{torn}: line 3, column 1: malformed: this row has 1 field, but the header has 2\n");
    assert_eq!((run.code, run.stderr), (1, format!("dunnage: {reason}")));
    let schema = saved(&dunnage(&["schema", "infer", &csv], ""));
    let schema = schema.path().to_str().unwrap();
    let run = dunnage(
        &["convert", "--from", "csv", "--to", "packed", "--schema", schema],
        "/door,/temp,/pos/lat\nopen,21.5,8\nopen,cold,8\nopen\nclosed,22.0,8\n",
    );
    assert_eq!((run.code, run.any_text().lines().count()), (1, 2));
    let places: Vec<_> = run.stderr.lines().map(|line| line.split(": ").nth(2).unwrap()).collect();
    assert_eq!(places, ["line 3, column 6", "line 4, column 1"], "{}", run.stderr);
}

#[test]
fn a_csv_column_without_a_value_is_a_warning() {
    let run = dunnage(&["schema", "infer"], "a,plaice,c\n1,,2\n3, ,4\n");
    assert!(run.stderr.contains("the column of /plaice is empty in every row"), "{}", run.stderr);
    assert!(!run.stderr.contains("the column of /a") && !run.text().contains("plaice"), "{}", run.stderr);
}

#[test]
fn what_is_no_json_is_named_in_words() {
    for (text, words) in [
        ("temperature=21.5;door=open", "text needs double quotes"),
        ("{\"a\":1,}", "a comma without a value after it"),
        ("{a:1}", "a key without double quotes"),
        ("1,2,3", "more text after the end of the JSON value"),
    ] {
        let run = dunnage(&["schema", "infer"], text);
        assert!(run.code == 1 && run.stderr.contains(words), "{}", run.stderr);
    }
}

#[test]
fn training_is_offered_for_many_messages() {
    let lines = |count: u32| (0..count).map(|n| format!("{{\"n\":{}}}\n", n * 7 % 100)).collect::<String>();
    let offers =
        |lines: &str| dunnage(&["schema", "infer", "-", "--lines"], lines).stderr.contains("schema train");
    assert!(offers(&lines(1000)));
    assert!(!offers(&lines(999)));
    // Training needs a schema whose largest message has a bound.
    let texts: String =
        (0..1000).map(|n| format!("{{\"text\":\"{}\"}}\n", "word ".repeat(n * 7 % 300))).collect();
    assert!(!offers(&texts));
}

#[test]
fn one_message_is_enough_for_a_schema() {
    for message in
        ["container", "tasmota-status", "medium-mixed", "long-and-mixed", "short-null", "wot", "pson-paper"]
    {
        let path = format!("bench/corpus/{message}.json");
        let run = dunnage(&["schema", "infer", &path], "");
        let schema = saved(&run);
        let checked = dunnage(&["schema", "check", schema.path().to_str().unwrap(), &path], "");
        assert!(checked.text().ends_with(&format!("{path} is valid\n")));
    }
    let run = dunnage(&["schema", "infer", "bench/corpus/container.json"], "");
    golden("infer-container.json", run.text());
    golden("infer-container.txt", &run.stderr);
}

#[test]
fn files_and_standard_input_can_be_combined() {
    let run =
        dunnage(&["schema", "infer", "bench/corpus/short-json.json", "-"], r#"{"compact":false,"n":null}"#);
    let schema: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["compact"]));
    assert_eq!(
        run.stderr,
        "$: 1 of 3 fields always there in 2 objects: required\n\
         n: missing in 1 of 2: optional\n\
         schema: missing in 1 of 2: optional\n\
         n: only null seen in one value: anything is allowed; say what it may be\n\
         schema: 0 seen in one value; range -100000 to 100000 guessed with headroom, usually 0 to 10\n"
    );
}

#[test]
fn an_invalid_sample_is_reported_with_its_position() {
    let bad = dunnage(&["schema", "infer", "-", "--lines"], "{}\n{\"a\":1,\n");
    assert_eq!((bad.code, bad.any_text()), (1, ""));
    assert!(bad.stderr.starts_with("dunnage: standard input: line 2: truncated: "), "{}", bad.stderr);
    let blank = dunnage(&["schema", "infer", "-", "--lines"], "\u{feff}{\"a\":1}\r\n\r\n \n[\r\n");
    assert!(blank.code == 1 && blank.stderr.contains("line 4: truncated"), "{}", blank.stderr);
    let none = dunnage(&["schema", "infer", "--lines"], "");
    assert_eq!((none.code, none.stderr.as_str()), (1, "dunnage: there is no sample\n"));
    assert_eq!(dunnage(&["schema", "infer", "no-such-file"], "").code, 1);
    let escape = dunnage(&["schema", "infer", "-"], "{\"\\u001b[2J\":1}");
    assert!(escape.stderr.contains("\\u{1b}[2J: 1 seen"), "{}", escape.stderr);
}

#[test]
fn the_title_comes_from_the_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let title = |files: &[&str], more: &[&str]| {
        let paths: Vec<String> = files
            .iter()
            .map(|file| {
                let path = folder.path().join(file);
                std::fs::write(&path, "{\"a\":1}\n").unwrap();
                path.to_str().unwrap().to_owned()
            })
            .collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let schema = dunnage(&[&["schema", "infer"], paths.as_slice(), more].concat(), "{}").json();
        schema["title"].as_str().map(str::to_owned)
    };
    assert_eq!(title(&["soil-node.jsonl"], &["--lines"]).as_deref(), Some("Soil node"));
    assert_eq!(title(&["reading-1.json", "reading-2.json"], &[]).as_deref(), Some("Reading"));
    assert_eq!(title(&["soil.json"], &["--title", "Ground"]).as_deref(), Some("Ground"));
    assert_eq!(title(&["a.json", "b.json"], &[]), None);
    assert_eq!(title(&[], &["-"]), None);
}

#[test]
fn an_odd_message_is_reported_with_its_line() {
    let line = |n: i32| match n {
        56 => "{\"t\":-0.0}\n".to_owned(),
        _ => format!("{{\"t\":{}.{}}}\n", (n - 90).abs(), n % 10),
    };
    let lines: String = (0..180).map(line).collect();
    let run = dunnage(&["schema", "infer", "--lines"], lines);
    assert_eq!(run.json()["properties"]["t"]["multipleOf"], 0.1);
    let odd = "standard input: line 57: the schema rejects this message: -0.0 has no scaled integer: its sign would be lost at /t\n";
    assert!(run.stderr.ends_with(odd), "{}", run.stderr);
}

#[test]
fn the_first_tenth_of_a_voyage_gives_a_schema_for_the_rest() {
    let lines = fleet();
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    let (first, rest) = lines.split_at(lines.len() / 10);
    let schema = saved(&dunnage(&["schema", "infer", "--lines"], first.concat()));
    let schema = schema.path().to_str().unwrap();
    let run = dunnage(
        &["convert", "--from", "json", "--to", "packed", "--schema", schema, "--lines"],
        rest.concat(),
    );
    assert_eq!(run.text().lines().count(), rest.len());
}

/// SignalK's own sample has more digits than the shortest ones of the number that it means; the gateway accepts it, so tools do.
#[test]
fn numbers_that_the_gateway_accepts_are_accepted() {
    let sample = r#"{"latitude":49.297333333333336,"longitude":-3.14159265358979323846}"#;
    let schema = saved(&dunnage(&["schema", "infer"], sample));
    let schema = schema.path().to_str().unwrap();
    let message = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&message, sample).unwrap();
    let message = message.path().to_str().unwrap();
    for command in [
        &["schema", "check", schema, message][..],
        &["plan", "--schema", schema, "--devices", "2", "--per-day", "24", "--message", message],
        &["bench", "--schema", schema, "--seconds", "1", message],
    ] {
        let run = dunnage(command, "");
        assert_eq!(run.code, 0, "{command:?}: {}", run.stderr);
    }
}

#[test]
fn the_log_of_a_brokers_client_is_recognized() {
    let line = r#"{"topic":"v1/a/json","qos":1,"payload":{"t":21.5}}"#;
    let log = dunnage(&["schema", "infer", "--lines"], [line; 3].join("\n"));
    assert!(log.stderr.contains("jq -c .payload"), "{}", log.stderr);
    let bare = dunnage(&["schema", "infer", "--lines"], r#"{"t":21.5}"#);
    assert!(!bare.stderr.contains("jq -c .payload"), "{}", bare.stderr);
}
