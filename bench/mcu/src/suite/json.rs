//! The suite `mcu-json`: ten kinds of JSON, in JSON, MessagePack and PSON, on every simulated target.

use crate::{
    Failure, combine_failures,
    measure::Measured,
    payloads::{self, Group},
    results::{self, Record},
};
use std::path::{Path, PathBuf};

/// The name of the suite.
pub const SUITE: &str = "mcu-json";

/// The payloads of the study, in its order.
pub const PAYLOADS: [&str; 10] = [
    "short-int",
    "short-json",
    "medium-mixed",
    "long-and-mixed",
    "array-strings",
    "array-int",
    "short-null",
    "json-org",
    "wot",
    "tasmota-status",
];

/// The columns of the study's CSV: its name, and the format, the operation and the metric of ours; a metric `count` is cycles or instructions.
/// JSON is written by snprintf and read by jsmn; cJSON has columns of its own.
const COLUMNS: [(&str, &str, &str, &str); 26] = [
    ("deserTimeJson", "jsmn", "deserialize", COUNT),
    ("deserTimeMsgPack", "mpack", "deserialize", COUNT),
    ("serTimeJson", "snprintf", "serialize", COUNT),
    ("serTimeMsgPack", "mpack", "serialize", COUNT),
    ("serSpaceJson", "snprintf", "serialize", "bytes"),
    ("serSpaceMsgPack", "mpack", "serialize", "bytes"),
    ("deserTimePson", "dunnage", "deserialize", COUNT),
    ("serTimePson", "dunnage", "serialize", COUNT),
    ("serSpacePson", "dunnage", "serialize", "bytes"),
    ("bindTimePson", "dunnage", "bind", COUNT),
    ("deserTimeCjson", "cjson", "deserialize", COUNT),
    ("serTimeCjson", "cjson", "serialize", COUNT),
    ("deserStackJson", "jsmn", "deserialize", "stack"),
    ("deserStackMsgPack", "mpack", "deserialize", "stack"),
    ("deserStackPson", "dunnage", "deserialize", "stack"),
    ("deserStackCjson", "cjson", "deserialize", "stack"),
    ("serStackJson", "snprintf", "serialize", "stack"),
    ("serStackMsgPack", "mpack", "serialize", "stack"),
    ("serStackPson", "dunnage", "serialize", "stack"),
    ("serStackCjson", "cjson", "serialize", "stack"),
    ("bindStackPson", "dunnage", "bind", "stack"),
    ("deserHeapJson", "jsmn", "deserialize", "heap"),
    ("deserHeapCjson", "cjson", "deserialize", "heap"),
    ("serHeapJson", "snprintf", "serialize", "heap"),
    ("serHeapCjson", "cjson", "serialize", "heap"),
    ("serSpaceCjson", "cjson", "serialize", "bytes"),
];

/// The metric that is counted on a target.
const COUNT: &str = "count";

/// Measures the ten payloads and the user's `files`, writes `bench/results/mcu-json.jsonl` and `.csv`, and prints a table.
pub fn run(options: &[&str], files: &[PathBuf]) -> Result<(), Failure> {
    let groups = groups(files)?;
    let mut boards = super::boards()?;
    boards.retain(|board| board.simulator().is_some());
    let libraries = super::libraries(&["json", "msgpack", "pson"])?;
    let Measured { rows, failures } = super::measure(SUITE, &boards, &libraries, &groups, options)?;
    results::write(SUITE, &rows)?;
    let reference: Vec<_> =
        rows.iter().filter(|row| row.options.as_deref() == Some(crate::REFERENCE_OPTIONS)).cloned().collect();
    let targets: Vec<_> =
        boards.iter().filter_map(|board| Some((board.target(), board.simulator()?.counts()))).collect();
    super::json_table::print(&reference, &groups, &targets);
    super::json_table::print_averages(&reference, &results::quoted(SUITE)?, &PAYLOADS, &targets);
    let path = results::path(SUITE).with_extension("csv");
    write_csv(&reference, &groups, &targets, &path)?;
    println!("\n{} results in bench/results/{SUITE}.jsonl, and bench/results/{SUITE}.csv", rows.len());
    combine_failures(&failures)
}

/// The study's payloads, then the user's.
fn groups(files: &[PathBuf]) -> Result<Vec<Group>, Failure> {
    let corpus = payloads::groups()?;
    let mut groups = Vec::new();
    for name in PAYLOADS {
        let group = corpus.iter().find(|group| group.name == name);
        groups.push(group.ok_or_else(|| format!("bench/corpus has no {name}.json"))?.clone());
    }
    for file in files {
        let group = payloads::file(file)?;
        if groups.iter().any(|other| other.name == group.name) {
            return Err(format!("{}: there is a payload {} already", file.display(), group.name).into());
        }
        groups.push(group);
    }
    Ok(groups)
}

/// A line per payload and target. A figure that does not exist, because the payload does not fit, is an empty cell.
fn write_csv(
    records: &[Record],
    groups: &[Group],
    targets: &[(&str, &str)],
    path: &Path,
) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_path(path)?;
    let (theirs, ours) = COLUMNS.split_at(9);
    let names =
        |columns: &[(&'static str, &str, &str, &str)]| columns.iter().map(|c| c.0).collect::<Vec<_>>();
    writer.write_record([vec!["name"], names(theirs), vec!["target", "unit"], names(ours)].concat())?;
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        for (target, counts) in targets {
            let cells = |columns: &[(&str, &str, &str, &str)]| -> Vec<String> {
                let cell = |(_, library, operation, metric): &(&str, &str, &str, &str)| {
                    let metric = if *metric == COUNT { counts } else { metric };
                    let found = super::figure(records, target, library, &payload.name, operation, metric);
                    found.map_or(String::new(), |value| value.to_string())
                };
                columns.iter().map(cell).collect()
            };
            let place = vec![(*target).to_owned(), (*counts).to_owned()];
            writer.write_record([vec![payload.name.clone()], cells(theirs), place, cells(ours)].concat())?;
        }
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::row;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dunnage-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is a place for temporary files");
        folder
    }

    #[test]
    fn the_csv_starts_with_the_columns_of_the_study_and_leaves_cells_empty() {
        let folder = folder("csv");
        let path = folder.join("mcu-json.csv");
        let groups = groups(&[]).expect("the corpus can be read");
        let records = [row("dunnage", "short-null", "serialize", 99.0)];
        write_csv(&records, &groups, &[("atmega328p", "cycles")], &path).expect("it can be written");
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_dir_all(&folder).expect("it is ours");
        let head = "name,deserTimeJson,deserTimeMsgPack,serTimeJson,serTimeMsgPack,serSpaceJson,serSpaceMsgPack,\
                    deserTimePson,serTimePson,serSpacePson,target,unit,";
        assert!(text.starts_with(head), "{text}");
        let line = text.lines().find(|line| line.starts_with("short-null")).expect("it has a line");
        assert!(line.starts_with("short-null,,,,,,,,99,,atmega328p,cycles,,"), "{line}");
        assert_eq!(text.lines().count(), 11);
    }

    /// The percentages that the example output prints for two of its payloads, and the sizes that our payloads share with the study's.
    #[test]
    fn the_quoted_figures_give_the_printed_improvements_and_our_sizes() {
        let quoted = results::quoted(SUITE).expect("the figures can be read");
        let value = |payload: &str, format: &str, operation: &str, metric: &str| {
            let same = |r: &&Record| {
                (r.payload.as_str(), r.format.as_str()) == (payload, format)
                    && (r.operation.as_str(), r.metric.as_str()) == (operation, metric)
            };
            quoted.iter().find(same).expect("it is quoted").value
        };
        for (payload, operation, metric, percent) in [
            ("short-int", "serialize", "time", -58.97),
            ("short-int", "deserialize", "time", -20.35),
            ("long-and-mixed", "serialize", "bytes", -12.79),
            ("tasmota-status", "deserialize", "time", -18.10),
        ] {
            let [json, msgpack] = ["json", "msgpack"].map(|format| value(payload, format, operation, metric));
            assert!(((msgpack / json - 1.0) * 100.0 - percent).abs() < 0.006, "{payload} {operation}");
        }
        for group in groups(&[]).expect("the corpus can be read") {
            let text = serde_json::to_string(&group.payloads[0].value).expect("it can be written");
            assert_eq!(text.len() as f64, value(&group.name, "json", "serialize", "bytes"), "{}", group.name);
        }
    }

    #[test]
    fn an_error_names_the_users_file() {
        let folder = folder("files");
        let broken = folder.join("broken.json");
        std::fs::write(&broken, "{\"a\":").expect("it can be written");
        let twice = folder.join("wot.json");
        std::fs::write(&twice, "{}").expect("it can be written");
        let error =
            |file: &PathBuf| groups(std::slice::from_ref(file)).expect_err("it is faulty").to_string();
        assert!(error(&broken).contains("broken.json: "), "{}", error(&broken));
        assert!(error(&twice).contains("there is a payload wot already"));
        assert!(error(&folder.join("missing.json")).contains("missing.json: "));
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
