//! Messages as rows of a real PostgreSQL.

use crate::support::{JSON, Running, postgres::Postgres, start_with, wait::wait_for};
use dunnage_gateway::{OutputKind, OutputSettings};
use std::fs;
use tempfile::TempDir;

const SOIL: &str = r#"{"type": "object", "required": ["moisture"], "properties": {
    "moisture": {"type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 100, "x-dunnage-unit": "%"},
    "note": {"type": "string"}}}"#;

fn start(server: &Postgres, settings: &str) -> Running {
    let schemas = TempDir::new().unwrap();
    fs::write(schemas.path().join("soil.json"), SOIL).unwrap();
    let text = format!("url = '{}'\n{settings}", server.url("postgres"));
    start_with(|config| {
        config.schemas.path = schemas.path().into();
        let kind = OutputKind::Postgres(toml::from_str(&text).unwrap());
        config.outputs.push(OutputSettings::new("database", kind));
    })
}

fn post(gateway: &Running, path: &str, body: &str) {
    assert_eq!(gateway.post(path, JSON, body.as_bytes()).status, 204, "{body}");
}

/// Waits until the database answers `sql` with `expected`.
fn wait_for_rows(server: &Postgres, sql: &str, expected: &str) {
    wait_for(|| {
        let output = server.psql("postgres", sql);
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if text == expected {
            Ok(())
        } else {
            Err(format!("{text} {}", String::from_utf8_lossy(&output.stderr)))
        }
    });
}

#[test]
fn messages_are_rows_of_the_table_of_their_schema_and_a_refused_one_is_a_dead_letter() {
    let server = Postgres::start_with(&["fsync=on"]);
    let gateway = start(&server, "create = true");
    for n in 0..50 {
        post(
            &gateway,
            &format!("/ingest/d{}?schema=soil", n % 5),
            &format!(r#"{{"moisture":{n}.5,"site":{n}}}"#),
        );
        post(&gateway, &format!("/ingest/d{}", n % 5), &format!("[{n}]"));
    }
    post(&gateway, "/ingest/d0?schema=soil", r#"{"moisture":1,"note":"a\u0000b"}"#);
    post(&gateway, "/ingest/d0?schema=soil", r#"{"moisture":99.9,"note":"after"}"#);
    let sql = "SELECT count(*), sum(moisture), count(DISTINCT _device), sum((_rest->>'site')::int) FROM soil";
    wait_for_rows(&server, sql, "51|1349.9|5|1225");
    wait_for_rows(&server, "SELECT count(*), sum((_message->>0)::int) FROM messages", "50|1225");
    let comment = "SELECT col_description('soil'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'soil'::regclass AND attname = 'moisture'";
    assert_eq!(server.query("postgres", comment), "%");
    wait_for(|| {
        let stats = gateway.get_json("/api/stats");
        let output = &stats["outputs"][0];
        let done = output["refused"] == 1 && output["lag_messages"] == 0;
        if done && output["last_failure"].to_string().contains("column \\\"note\\\"") {
            Ok(())
        } else {
            Err(stats.to_string())
        }
    });
    gateway.stop();
}

#[test]
fn a_table_that_is_missing_holds_up_its_schema_alone_and_the_status_says_what_to_do() {
    let server = Postgres::start_with(&["fsync=on"]);
    let gateway = start(&server, "create = true");
    post(&gateway, "/ingest/d0", "1");
    wait_for_rows(&server, "SELECT count(*) FROM messages", "1");
    gateway.stop();
    let gateway = start(&server, "");
    for n in 0..20 {
        post(&gateway, &format!("/ingest/typed{n}?schema=soil"), r#"{"moisture":1.5}"#);
        post(&gateway, &format!("/ingest/plain{n}"), "1");
    }
    wait_for_rows(&server, "SELECT count(*) FROM messages", "21");
    wait_for(|| {
        let stats = gateway.get_json("/api/stats");
        let reason = stats["outputs"][0]["last_failure"].to_string();
        if reason.contains("soil") && reason.contains("does not exist") {
            Ok(())
        } else {
            Err(stats.to_string())
        }
    });
    assert_eq!(gateway.get_json("/api/stats")["outputs"][0]["refused"], 0);
    gateway.stop();
}
