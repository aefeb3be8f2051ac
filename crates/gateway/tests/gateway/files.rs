//! Messages in files, which another program (DuckDB) reads, also after kills.

use crate::support::{JSON, Running, agent, child, start_in, tools::tool, wait::wait_for};
use dunnage_gateway::Config;
use std::{collections::BTreeSet, fs, path::Path, process::Command, time::Duration};

const KINDS: [&str; 3] = ["ndjson", "csv", "parquet"];

/// Returns the configuration of an output to files of this kind, in a folder of its own.
fn output(folder: &Path, kind: &str) -> String {
    let path = folder.join(kind);
    format!("[[output]]\nname = '{kind}'\n[output.files]\npath = {path:?}\nkind = '{kind}'\n")
}

/// Configures complete Parquet files after a second.
fn with_complete_files(folder: &Path, config: &mut Config) {
    let output = output(folder, "parquet") + "readable_after_seconds = 1\n";
    config.outputs = toml::from_str::<Config>(&output).unwrap().outputs;
}

/// Returns the result of DuckDB, one string per row, with tabs between the columns.
fn duckdb(sql: &str) -> Vec<String> {
    let program = "import duckdb, sys\nfor row in duckdb.sql(sys.argv[1]).fetchall(): print(*row, sep='\\t')";
    let run = Command::new(tool("venv/bin/python")).args(["-c", program, sql]).output().unwrap();
    assert!(run.status.success(), "{sql}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Posts from many connections until the gateway is killed. Returns the texts of the acknowledged messages.
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
                        // Some have a field that the others lack, and all have characters that the files must quote.
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
    wait_for(|| {
        let text = gateway.get("/metrics").text;
        let lag = text.lines().filter_map(|line| line.strip_prefix("dunnage_output_lag_messages{"));
        let done = lag.filter(|line| line.ends_with(" 0")).count();
        if done == KINDS.len() { Ok(()) } else { Err(text) }
    });
}

/// Returns the names of the files in `folder`.
fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn kills_neither_lose_nor_duplicate_acknowledged_messages_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut acknowledged = BTreeSet::new();
    let config = KINDS.map(|kind| output(folder.path(), kind)).concat();
    child::configure(folder.path(), &config);
    for round in 0..4 {
        acknowledged.extend(load_and_kill(child::start(folder.path(), ""), round));
    }
    let (ndjson, csv, parquet) = (at("ndjson"), at("csv"), at("parquet"));
    let outputs = toml::from_str::<Config>(&config).unwrap().outputs;
    let gateway = start_in(folder, |config| config.outputs = outputs);
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

    a_past_day_becomes_parquet(folder, n);
}

/// Continues with the files of the test above, as if they were of another day.
fn a_past_day_becomes_parquet(folder: tempfile::TempDir, n: &str) {
    let parquet = folder.path().join("parquet");
    let lines = file_names(&parquet).pop().unwrap();
    let past = parquet.join(format!("2026-01-01{}", &lines[10..]));
    fs::rename(parquet.join(lines), &past).unwrap();
    let path = folder.path().to_owned();
    let gateway = start_in(folder, |config| with_complete_files(&path, config));
    assert_eq!(gateway.post("/ingest/d", JSON, b"{\"which\":\"last\"}").status, 204);
    wait_for_complete_files(&parquet, 2);
    let (_, _folder) = gateway.stop();
    let table = format!(
        "(SELECT * FROM read_parquet('{}/*.parquet', union_by_name = true) WHERE device != 'd')",
        parquet.display()
    );
    let exact = format!(
        "SELECT count(DISTINCT name), count(*) FILTER (\"/which\" = json_extract_string(value, '$.which') AND \"/t\" = -0.5
         AND \"/q\" = 'a,\"b\"\né' AND device LIKE 'client%' AND format = 'json' AND schema IS NULL
         AND received_at > TIMESTAMPTZ '2026-01-01'), bool_and(\"/more/0\") FROM {table}"
    );
    assert_eq!(duckdb(&exact), [format!("{n}\t{n}\tTrue")]);
}

/// Waits until `folder` has `count` Parquet files and no other ones.
fn wait_for_complete_files(folder: &Path, count: usize) {
    wait_for(|| {
        let names = if folder.exists() { file_names(folder) } else { Vec::new() };
        let complete = names.len() == count && names.iter().all(|name| name.ends_with(".parquet"));
        if complete { Ok(()) } else { Err(names) }
    });
}

#[test]
fn the_documented_query_works_on_five_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let gateway = start_in(folder, |config| with_complete_files(&path, config));
    for (n, temperature) in [(1, "17"), (2, "17.25"), (3, "-3"), (4, "16.5"), (5, "18")] {
        let body = format!("{{\"temperature\":{temperature},\"n\":{n},\"at\":\"2026-01-31T08:00:0{n}Z\"}}");
        assert_eq!(gateway.post(&format!("/ingest/buoy-{}", n % 2), JSON, body.as_bytes()).status, 204);
    }
    // The file is complete without a further message, a stop or the next day.
    let parquet = path.join("parquet");
    let source = format!("read_parquet('{}/*.parquet', union_by_name = true)", parquet.display());
    wait_for(|| {
        let names = if parquet.exists() { file_names(&parquet) } else { Vec::new() };
        let complete = names.iter().any(|name| name.ends_with(".parquet"))
            && duckdb(&format!("SELECT count(*) FROM {source}")) == ["5"];
        if complete { Ok(()) } else { Err(names) }
    });
    let document = include_str!("../../../../docs/outputs.md");
    let query = document.lines().find(|line| line.trim().starts_with("SELECT device, max(")).unwrap();
    assert!(query.contains("'data/files/*.parquet'"), "{query}");
    let query = query.trim().trim_end_matches(';').replace("data/files", &parquet.display().to_string());
    assert_eq!(duckdb(&format!("{query} ORDER BY device")), ["buoy-0\t17.25", "buoy-1\t18.0"]);
    let types = format!(
        "SELECT DISTINCT typeof(id), typeof(\"/n\"), typeof(\"/temperature\"), typeof(\"/at\"), typeof(received_at) FROM {source}"
    );
    let time = "TIMESTAMP WITH TIME ZONE";
    assert_eq!(duckdb(&types), [format!("BIGINT\tBIGINT\tDOUBLE\t{time}\t{time}")]);
}

#[test]
fn files_with_a_schema_have_its_columns_whatever_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let (path, schemas) = (folder.path().to_owned(), folder.path().join("schemas"));
    fs::create_dir(&schemas).unwrap();
    let schema = r#"{"type":"object","properties":{
        "n":{"type":"integer"},"t":{"type":"number"},"at":{"type":"string","format":"date-time"},
        "ok":{"type":"boolean"},"s":{"type":"string"},"never":{"type":"number","multipleOf":0.01}}}"#;
    fs::write(schemas.join("soil.json"), schema).unwrap();
    let gateway = start_in(folder, |config| {
        with_complete_files(&path, config);
        config.schemas.path = schemas;
    });
    let parquet = path.join("parquet");
    // Without the schema, each of these files would have other types: only integers, a text that is a time, absent fields.
    let bodies = [
        r#"{"t":1,"n":1,"s":"2026-01-31T08:00:00Z"}"#,
        r#"{"t":1.5,"n":2.0,"at":"2026-01-31T08:00:00.123456789+01:00","ok":true,"s":"x","more":1}"#,
        r#"{"at":"soon"}"#,
    ];
    for (body, file) in bodies.iter().zip(1..) {
        assert_eq!(gateway.post("/ingest/d?schema=soil", JSON, body.as_bytes()).status, 204);
        wait_for_complete_files(&parquet, file);
    }
    // Without union_by_name, DuckDB expects the columns of the first file in all files.
    let source = format!("read_parquet('{}/*.parquet')", parquet.display());
    let columns = ["n", "t", "at", "ok", "s", "never"].map(|name| format!("\"/{name}\""));
    let types = columns.each_ref().map(|column| format!("typeof({column})")).join(", ");
    assert_eq!(
        duckdb(&format!("SELECT DISTINCT {types} FROM {source}")),
        ["BIGINT\tDOUBLE\tTIMESTAMP WITH TIME ZONE\tBOOLEAN\tVARCHAR\tDOUBLE"]
    );
    let utc = columns.map(|column| match &*column {
        "\"/at\"" => "\"/at\" = TIMESTAMPTZ '2026-01-31 07:00:00.123456Z'".into(),
        _ => column,
    });
    assert_eq!(
        duckdb(&format!("SELECT {} FROM {source} ORDER BY id", utc.join(", "))),
        [
            "1\t1.0\tNone\tNone\t2026-01-31T08:00:00Z\tNone",
            "2\t1.5\tTrue\tTrue\tx\tNone",
            // `format` is an annotation: a text that is not a time is only in the column `value`.
            "None\tNone\tNone\tNone\tNone\tNone",
        ]
    );
    let value = format!("SELECT value FROM {source} ORDER BY id DESC LIMIT 1");
    assert_eq!(duckdb(&value), [r#"{"at":"soon"}"#]);
    let open = format!("SELECT \"/more\" FROM read_parquet('{}/*.2-2.parquet')", parquet.display());
    assert_eq!(duckdb(&open), ["1"]);
}
