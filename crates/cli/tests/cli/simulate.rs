//! `dunnage schema train` and `dunnage simulate`.

use crate::run::{dunnage, golden};
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;

/// A sensor whose temperature drifts slowly.
const SCHEMA: &str = r#"{
  "title": "Sensor",
  "type": "object",
  "properties": {
    "id": { "type": "string", "maxLength": 8 },
    "at": { "type": "integer", "minimum": 0, "maximum": 4294967295, "x-dunnage-every": 600 },
    "temperature": { "type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85 },
    "humidity": { "type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 100 },
    "pressure": { "type": "number", "multipleOf": 0.1, "minimum": 300, "maximum": 1100 },
    "door": { "enum": ["open", "closed"] }
  },
  "required": ["id", "at", "temperature", "humidity", "pressure", "door"],
  "additionalProperties": false
}"#;

/// Returns messages of `devices` sensors, one per line.
fn messages(devices: u64, each: u64) -> String {
    let mut lines = String::new();
    for device in 0..devices {
        let mut random = device + 1;
        let mut next = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % n
        };
        let (mut celsius, mut humidity, mut pressure) = (2000 + next(400), 500, 10_130);
        for i in 0..each {
            celsius = celsius + next(21) - 10;
            humidity = (humidity + next(11) - 5).clamp(100, 900);
            pressure = (pressure + next(5) - 2).clamp(9_800, 10_400);
            let message = json!({
                "id": format!("s{device}"),
                "at": 1_790_000_000 + 600 * i + next(5),
                "temperature": celsius as f64 / 100.0,
                "humidity": humidity as f64 / 10.0,
                "pressure": pressure as f64 / 10.0,
                "door": if next(50) == 0 { "open" } else { "closed" },
            });
            lines += &format!("{message}\n");
        }
    }
    lines
}

/// Writes the schema, the messages and the trained schema to a folder.
fn trained(folder: &Path) -> (String, String, String) {
    let path = |name: &str| folder.join(name).display().to_string();
    let (schema, lines, output) = (path("sensor.json"), path("messages.ndjson"), path("trained.json"));
    fs::write(&schema, SCHEMA).unwrap();
    fs::write(&lines, messages(6, 250)).unwrap();
    let run =
        dunnage(&["schema", "train", &lines, "--schema", &schema, "--device", "/id", "-o", &output], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    golden("schema-train.txt", &run.stderr);
    (schema, lines, output)
}

/// One message of each device does not tell whether messages change over time.
#[test]
fn a_drift_needs_a_first_and_a_second_half() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("sensor.json");
    fs::write(&schema, SCHEMA).unwrap();
    let train = |each: u64| {
        let lines = folder.path().join("messages.ndjson");
        fs::write(&lines, messages(30, each)).unwrap();
        let (lines, schema) = (lines.to_str().unwrap(), schema.to_str().unwrap());
        dunnage(&["schema", "train", lines, "--schema", schema, "--device", "/id"], "").stderr
    };
    for each in [1, 2] {
        let said = train(each);
        assert!(said.contains("messages are few") && !said.contains("drift"), "{said}");
    }
}

/// More flash makes smaller messages, and less flash is never exceeded.
#[test]
fn tables_take_no_more_flash_than_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, lines, _) = trained(folder.path());
    let train = |within: &str| {
        dunnage(
            &["schema", "train", &lines, "--schema", &schema, "--device", "/id", "--tables-within", within],
            "",
        )
    };
    let figures = |within: &str| {
        let said = train(within).stderr;
        let after = |start: &str| {
            let at = said.find(start).unwrap_or_else(|| panic!("{said}")) + start.len();
            said[at..]
                .split_whitespace()
                .map(|word| word.trim_end_matches('.').to_owned())
                .collect::<Vec<_>>()
        };
        let tables: usize = after("their tables in C ")[0].parse().unwrap();
        let means: Vec<f64> = after("these messages")[..3].iter().map(|mean| mean.parse().unwrap()).collect();
        (tables, means)
    };
    let mut before: Option<(usize, Vec<f64>)> = None;
    for within in [100_000, 200, 120] {
        let (tables, means) = figures(&within.to_string());
        assert!(tables <= within, "{tables} of {within}");
        if let Some((larger, smaller)) = before {
            assert!(
                tables < larger && smaller[1] <= means[1] && smaller[2] <= means[2],
                "{smaller:?} {means:?}"
            );
        }
        before = Some((tables, means));
    }
    let refused = train("1");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("the smallest tables take"), "{}", refused.stderr);
}

#[test]
fn a_trained_schema_has_smaller_messages_and_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, lines, trained) = trained(folder.path());
    let (before, after): (Json, Json) = [&schema, &trained]
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .into();
    assert_ne!(after["x-dunnage-slot"], 1);
    assert_eq!((&after["properties"], &after["title"]), (&before["properties"], &before["title"]));
    // The same text again: training does not depend on chance.
    let again = dunnage(&["schema", "train", &lines, "--schema", &schema, "--device", "/id"], "");
    assert_eq!(again.text(), fs::read_to_string(&trained).unwrap());
    let message = messages(1, 1);
    let packed = |schema: &str| {
        let run =
            dunnage(&["convert", "--from", "json", "--to", "packed", "--schema", schema, "--hex"], &message);
        run.text().trim().to_owned()
    };
    assert!(packed(&trained).len() < packed(&schema).len());
    let inspect = ["inspect", "--format", "packed", "--schema", &trained, "--hex"];
    let inspected = dunnage(&inspect, packed(&trained));
    golden("inspect-coded.txt", inspected.text());
    let back = ["convert", "--from", "packed", "--to", "json", "--schema", &trained, "--hex"];
    let back: Json = serde_json::from_str(dunnage(&back, packed(&trained)).text()).unwrap();
    assert_eq!(back, serde_json::from_str::<Json>(&message).unwrap());
}

#[test]
fn a_schema_that_says_how_its_numbers_change_needs_no_messages() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lines, trained) = trained(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (by_hand, assumed) = (path("by-hand.json"), path("assumed.json"));
    let mut schema: Json = serde_json::from_str(SCHEMA).unwrap();
    for (name, change) in [("temperature", 0.05), ("humidity", 0.3), ("pressure", 0.1)] {
        schema["properties"][name]["x-dunnage-changes"] = json!(change);
    }
    fs::write(&by_hand, schema.to_string()).unwrap();
    let train = |schema: &str, more: &[&str]| {
        dunnage(&[&["schema", "train", "--schema", schema, "--without-messages"], more].concat(), "")
    };
    let run = train(&by_hand, &["-o", &assumed]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    // The mean bytes plain, in the prior form and with deltas.
    let sizes = |schema: &str| {
        let run = ["simulate", "--schema", schema, "--messages", &lines, "--device", "/id", "--json"];
        let forms = dunnage(&run, "").json()["forms"].clone();
        let forms = forms.as_array().unwrap().clone();
        assert!(forms.iter().all(|form| form["wrong"] == 0), "{forms:?}");
        forms.iter().map(|form| form["mean_bytes"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let (assumed, trained) = (sizes(&assumed), sizes(&trained));
    assert!(assumed[1] <= assumed[0], "{assumed:?}");
    assert!(trained[2] < assumed[2] && assumed[2] < 0.7 * assumed[0], "{assumed:?} {trained:?}");
    // A schema that says nothing about changes has nothing to begin with, and messages contradict the option.
    let silent = train("weather", &[]);
    assert_eq!(silent.code, 1, "{}", silent.stderr);
    assert!(silent.stderr.contains("says nothing about changes"), "{}", silent.stderr);
    assert_eq!(train(&by_hand, &[&lines]).code, 2);
}

#[test]
fn compare_shows_packed_with_and_without_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, _, trained) = trained(folder.path());
    let bytes = |schema: &str| {
        let report = dunnage(&["compare", "-", "--schema", schema, "--json"], messages(1, 1)).json();
        let of = |format: &str| {
            let rows = report["formats"].as_array().unwrap();
            rows.iter().find(|row| row["format"] == format).map(|row| row["bytes"].as_u64().unwrap())
        };
        (of("packed"), of("packed (plain)"))
    };
    let (Some(plain), None) = bytes(&schema) else { panic!("a schema without statistics has one row") };
    let (Some(prior), Some(without)) = bytes(&trained) else { panic!("a trained schema has two rows") };
    assert!(prior < plain && without == plain, "{prior} {without} {plain}");
}

#[test]
fn the_expected_size_of_a_trained_schema_is_near_that_of_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, lines, trained) = trained(folder.path());
    for command in ["size", "layout"] {
        let expected =
            |schema: &str| dunnage(&["schema", command, schema, "--json"], "").json()["expected"].clone();
        assert_eq!(expected(&schema), Json::Null);
        let bytes = expected(&trained)["prior_bytes"].as_f64().unwrap();
        let simulate = ["simulate", "--schema", &trained, "--messages", &lines, "--device", "/id", "--json"];
        let sent = dunnage(&simulate, "").json();
        let forms = sent["forms"].as_array().unwrap();
        let prior = forms[1]["mean_bytes"].as_f64().unwrap();
        // The ID is a text of up to 8 characters, and has two.
        assert!((prior..prior + 2.5).contains(&bytes), "{bytes}: {forms:?}");
        let text = dunnage(&["schema", command, &trained], "");
        assert!(
            text.text().contains(&format!("expected: {bytes:.1} bytes in the prior form")),
            "{}",
            text.text()
        );
    }
}

#[test]
fn a_simulation_decodes_what_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lines, trained) = trained(folder.path());
    let run = ["simulate", "--schema", &trained, "--messages", &lines, "--device", "/id", "--link", "kineis"];
    golden("simulate-messages.txt", dunnage(&run, "").text());
    let svg = folder.path().join("sizes.svg").display().to_string();
    let json = dunnage(&[&run[..], &["--json", "--svg", &svg]].concat(), "").json();
    let mean = |form: usize| json["forms"][form]["mean_bytes"].as_f64().unwrap();
    assert!(mean(2) < mean(1) && mean(1) < mean(0), "{json}");
    for form in json["forms"].as_array().unwrap() {
        assert_eq!((&form["wrong"], &form["messages"]), (&json!(0), &json!(1500)));
        let arrived = form["delivered"].as_u64().unwrap() + form["quarantined"].as_u64().unwrap();
        assert!((950..1150).contains(&arrived), "{arrived}");
    }
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
}

#[test]
fn containers_are_simulated_for_their_schemas() {
    let run = ["simulate", "--schema", "container-voyage", "--devices", "3", "--count", "20"];
    golden("simulate-containers.txt", dunnage(&run, "").text());
    let many = ["simulate", "--schema", "container", "--devices", "1000000", "--count", "1", "--json"];
    let json = dunnage(&many, "").json();
    assert_eq!((&json["devices"], &json["simulated_devices"]), (&json!(1_000_000), &json!(1000)));
}

#[test]
fn what_does_not_fit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, lines, trained) = trained(folder.path());
    let fails = |arguments: &[&str], code: i32, reason: &str| {
        let run = dunnage(arguments, "");
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{reason}: {}", run.stderr);
    };
    fails(&["simulate", "--schema", "weather"], 1, "give yours with --messages");
    fails(&["simulate", "--schema", "container", "--loss", "1.5"], 2, "1.5 is not from 0 to 1");
    fails(&["simulate", "--schema", "container", "--cadence", "15"], 2, "such as 15m");
    fails(&["schema", "train", &lines, "--schema", "weather"], 1, "line 1: the schema does not allow it");
    fails(
        &["schema", "train", &lines, "--schema", &schema, "--device", "/who"],
        1,
        "no text or number at /who",
    );
    fails(&["schema", "train", "/dev/null", "--schema", &schema], 1, "no message");
    let text = fs::read_to_string(&trained).unwrap();
    let other = folder.path().join("other.json").display().to_string();
    for (from, to, reason) in [
        ("\"open\"", "\"ajar\"", "statistics of another schema"),
        ("statistics\": \"A", "statistics\": \"!", "not Base64"),
        ("\"\n}", "AAAA\"\n}", "x-dunnage-statistics"),
    ] {
        fs::write(&other, text.replace(from, to)).unwrap();
        fails(&["schema", "check", &other], 1, reason);
        fails(&["schema", "check", &other], 1, "at /x-dunnage-statistics");
    }
}
