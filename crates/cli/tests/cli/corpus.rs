//! Compares packed with every other format of `dunnage compare`: on real documents and schemas that were not written for it, on nested messages, on
//! messages of the smart grid, and on telemetry.

use crate::run::{dunnage, golden, root};
use serde_json::Value;
use std::{fmt::Write, fs, thread};

/// The size of a document in packed and in the next smallest format, before and after gzip.
struct Row {
    name: String,
    json: u64,
    packed: u64,
    lossless: bool,
    next: (u64, String),
    gzip: (u64, String),
}

impl Row {
    fn measure(name: &str, message: &str, schema: &str) -> Row {
        let report = dunnage(&["compare", message, "--schema", schema, "--json"], "").json();
        let rows = report["formats"].as_array().unwrap();
        let packed = rows.iter().find(|row| row["format"] == "packed").unwrap();
        let least = |member: &str| {
            let others = rows.iter().filter(|row| row["format"] != "packed");
            let sizes =
                others.filter_map(|row| Some((row[member].as_u64()?, row["format"].as_str()?.into())));
            sizes.min_by_key(|(bytes, _)| *bytes).unwrap()
        };
        Row {
            name: name.into(),
            json: report["message"]["compact_json_bytes"].as_u64().unwrap(),
            packed: packed["bytes"].as_u64().unwrap_or_else(|| panic!("{name}: {packed}")),
            lossless: packed["lossless"] == Value::Bool(true),
            next: least("bytes"),
            gzip: least("gzip_bytes"),
        }
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:20}{:>7}{:>8}  {:24}smallest with gzip\n",
        "message", "json", "packed", "smallest of the others"
    );
    for row in rows {
        let (next, gzip) = (&row.next, &row.gzip);
        let line = format!(
            "{:20}{:7}{:8}  {:6} {:17}{:6} {}",
            row.name, row.json, row.packed, next.0, next.1, gzip.0, gzip.1
        );
        writeln!(text, "{line}").unwrap();
    }
    text
}

/// Prints the table, and fails if packed is not the smallest and lossless.
fn check(file: &str, rows: &[Row]) {
    check_except(&[], file, rows);
}

/// As [`check`], for rows of which some have a smaller format than packed: exactly those that are named.
fn check_except(larger: &[&str], file: &str, rows: &[Row]) {
    let text = table(rows);
    println!("{text}");
    for row in rows {
        assert!(row.lossless, "{} does not round-trip", row.name);
        let least = row.next.0.min(row.gzip.0);
        let smallest = row.packed < least;
        assert_eq!(
            smallest,
            !larger.contains(&&*row.name),
            "{}: packed {}, another {least}",
            row.name,
            row.packed
        );
    }
    golden(file, &text);
}

/// The rows of a folder whose folders have a document and its schema. Fails if the folder's README has no row with the size of one.
fn documents(folder: &str) -> Vec<Row> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<_> = entries
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let measure = |name: &String| {
        let file = |file| format!("{folder}/{name}/{file}.json");
        Row::measure(name, &file("document"), &file("schema"))
    };
    let half = names.len() / 2;
    let rows = thread::scope(|scope| {
        let second = scope.spawn(|| names[half..].iter().map(measure).collect::<Vec<_>>());
        let mut rows: Vec<_> = names[..half].iter().map(measure).collect();
        rows.extend(second.join().unwrap());
        rows
    });
    let readme = fs::read_to_string(root().join(folder).join("README.md")).unwrap();
    for row in &rows {
        let line = readme.lines().find(|line| line.starts_with(&format!("| `{}` |", row.name)));
        assert!(line.is_some_and(|line| line.contains(&format!("| {} |", row.json))), "README: {}", row.name);
    }
    rows
}

#[test]
fn packed_is_the_smallest_for_every_real_document() {
    let rows = documents("bench/corpus/real");
    assert!(rows.len() >= 26);
    check("corpus-real.txt", &rows);
}

#[test]
fn packed_is_the_smallest_for_every_nested_message() {
    let rows = documents("bench/corpus/nested");
    assert!(rows.len() >= 4);
    check("corpus-nested.txt", &rows);
}

/// A report of MMS repeats names and times, which zlib finds and packed does not.
#[test]
fn packed_is_the_smallest_for_the_messages_of_the_smart_grid_but_one() {
    let rows = documents("bench/corpus/smart-grid");
    assert!(rows.len() >= 6);
    check_except(&["mms-report"], "corpus-smart-grid.txt", &rows);
}

#[test]
fn packed_is_the_smallest_for_the_telemetry_of_the_bundled_schemas() {
    let message = |name: &str| match name {
        "container" => "bench/corpus/container.json".into(),
        _ => format!("bench/corpus/telemetry/{name}.json"),
    };
    let names = ["container", "container-voyage", "container-numeric", "weather", "meter"];
    let rows: Vec<_> = names.iter().map(|name| Row::measure(name, &message(name), name)).collect();
    check("corpus-telemetry.txt", &rows);
}

#[test]
fn real_documents_survive_packed_unchanged() {
    for name in ["entry-points", "weather-current", "ocpp-meter-values", "json-feed", "geojson"] {
        let schema = format!("bench/corpus/real/{name}/schema.json");
        let document = fs::read(root().join(format!("bench/corpus/real/{name}/document.json"))).unwrap();
        let convert = |from: &str, to: &str, input: &[u8]| {
            let run = dunnage(&["convert", "--from", from, "--to", to, "--schema", &schema], input);
            assert_eq!(run.code, 0, "{name}: {}", run.stderr);
            run.stdout
        };
        let packed = convert("json", "packed", &document);
        assert_eq!(convert("packed", "json", &packed), convert("json", "json", &document), "{name}");
    }
}
