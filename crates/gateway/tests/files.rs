//! Messages in files, read back with another program (DuckDB), after kills.

#![allow(clippy::unwrap_used)]

mod support;

use dunnage_gateway::{Config, Output, OutputKind, files_output::Kind, files_output::Settings};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::Path,
    process::Command,
    time::{Duration, Instant, SystemTime},
};
use support::{JSON, Running, agent, child, start_in, tools::tool};

const KINDS: [(&str, Kind); 3] = [("ndjson", Kind::Ndjson), ("csv", Kind::Csv), ("parquet", Kind::Parquet)];

/// Files of every kind, each in a folder of its own.
fn with_files(folder: &Path, config: &mut Config) {
    config.outputs = KINDS
        .iter()
        .map(|(name, kind)| {
            let files = Settings { path: folder.join(name), kind: *kind, formulas: None };
            Output::new(name, OutputKind::Files(files))
        })
        .collect();
}

#[test]
#[ignore = "not a test: the gateway of the tests that start this program again"]
fn serve_in_child() {
    child::serve_with(with_files);
}

/// What DuckDB answers, a row a line, with tabs between columns.
fn duckdb(sql: &str) -> Vec<String> {
    let program = "import duckdb, sys\nfor row in duckdb.sql(sys.argv[1]).fetchall(): print(*row, sep='\\t')";
    let run = Command::new(tool("venv/bin/python")).args(["-c", program, sql]).output().unwrap();
    assert!(run.status.success(), "{sql}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Posts from many connections until the gateway is killed. Answers what was acknowledged.
fn load_and_kill(gateway: child::ChildGateway, round: u64) -> Vec<String> {
    let url = gateway.url.clone();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let url = format!("{url}/ingest/client{client}");
                scope.spawn(move || {
                    let agent = agent();
                    let mut acknowledged = Vec::new();
                    for n in 0.. {
                        let text = format!("{round}.{client}.{n}");
                        // Some have a part that the others have not, and all what files must quote.
                        let more = if n % 7 == 6 { ",\"more\":[true]" } else { "" };
                        let body =
                            format!("{{\"which\":\"{text}\",\"t\":-0.5,\"q\":\"a,\\\"b\\\"\\né\"{more}}}");
                        match agent.post(&url).header("content-type", JSON).send(&body) {
                            Ok(answer) if answer.status() == 204 => acknowledged.push(text),
                            Ok(answer) => panic!("{}", answer.status()),
                            Err(_) => break,
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500 + 83 * round));
        gateway.kill();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// Waits until every output has every message.
fn wait_until_delivered(gateway: &Running) {
    let begun = Instant::now();
    loop {
        let text = gateway.get("/metrics").text;
        let lag = text.lines().filter_map(|line| line.strip_prefix("dunnage_output_lag_messages{"));
        let done = lag.filter(|line| line.ends_with(" 0")).count();
        if done == KINDS.len() {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Names of a kind's files.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_was_acknowledged_is_in_every_file_once_however_often_the_gateway_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut acknowledged = BTreeSet::new();
    for round in 0..4 {
        acknowledged.extend(load_and_kill(child::start(folder.path(), ""), round));
    }
    let (ndjson, csv, parquet) = (at("ndjson"), at("csv"), at("parquet"));
    let path = folder.path().to_owned();
    let gateway = start_in(folder, |config| with_files(&path, config));
    wait_until_delivered(&gateway);
    let (_, folder) = gateway.stop();

    let stored = duckdb(&format!(
        "SELECT count(*), count(DISTINCT name), count(DISTINCT value.which) FROM read_json('{ndjson}/*.ndjson')"
    ));
    let n = stored[0].split('\t').next().unwrap();
    assert_eq!(stored, [format!("{n}\t{n}\t{n}")]);
    let sources = [
        format!("SELECT value.which FROM read_json('{ndjson}/*.ndjson')"),
        format!("SELECT \"/which\" FROM read_csv('{csv}/*.csv', union_by_name = true)"),
        format!("SELECT value.which FROM read_json('{parquet}/*.open.ndjson')"),
    ];
    for source in sources {
        let found = duckdb(&source);
        assert_eq!(found.len().to_string(), n, "{source}");
        let found: BTreeSet<_> = found.into_iter().collect();
        let lost: Vec<_> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "{source}: {lost:?}");
    }
    // Every cell of the values, through the quoting: a line break is written as in JSON.
    let cells = format!(
        "SELECT count(*) FILTER (\"/q\" = 'a,\"b\"\\né' AND \"/t\" = -0.5 AND json_extract_string(value, '$.which') = \"/which\"),
         count(\"/more/0\") = count(*) FILTER (json_exists(value, '$.more')), count(\"/more/0\") > 0
         FROM read_csv('{csv}/*.csv', union_by_name = true)"
    );
    assert_eq!(duckdb(&cells), [format!("{n}\tTrue\tTrue")]);

    a_day_that_is_over_becomes_parquet(folder, n);
}

/// Goes on with the files of the test above, as if they were of another day.
fn a_day_that_is_over_becomes_parquet(folder: tempfile::TempDir, n: &str) {
    let parquet = folder.path().join("parquet");
    let lines = files(&parquet).pop().unwrap();
    let over = parquet.join(format!("2026-01-01{}", &lines[10..]));
    fs::rename(parquet.join(lines), &over).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(&over).unwrap().set_modified(long_ago).unwrap();
    let path = folder.path().to_owned();
    let gateway = start_in(folder, |config| with_files(&path, config));
    assert_eq!(gateway.post("/ingest/d", JSON, b"{\"which\":\"last\"}").status, 204);
    wait_until_delivered(&gateway);
    let (_, _folder) = gateway.stop();
    let names = files(&parquet);
    assert_eq!(names.iter().filter(|name| name.ends_with(".parquet")).count(), 1, "{names:?}");
    assert_eq!(names.iter().filter(|name| name.ends_with(".open.ndjson")).count(), 1, "{names:?}");
    let table = format!("read_parquet('{}/*.parquet')", parquet.display());
    let exact = format!(
        "SELECT count(DISTINCT name), count(*) FILTER (\"/which\" = json_extract_string(value, '$.which') AND \"/t\" = -0.5
         AND \"/q\" = 'a,\"b\"\né' AND device LIKE 'client%' AND format = 'json' AND schema IS NULL
         AND received_at > TIMESTAMPTZ '2026-01-01'), bool_and(\"/more/0\") FROM {table}"
    );
    assert_eq!(duckdb(&exact), [format!("{n}\t{n}\tTrue")]);
}
