//! Reloads of profiles and schemas while messages arrive.

use crate::support::{JSON, Running, agent, post, runtime};
use dunnage_gateway::{Config, Gateway};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};
use tempfile::TempDir;

/// Writes a configuration for a gateway in `folder`, with the lines `more`, and loads it.
fn configured(folder: &Path, more: &str) -> Config {
    let file = folder.join("dunnage.toml");
    let folder = folder.display();
    let text = format!(
        "[http]\nlisten = '127.0.0.1:0'\n[buffer]\npath = '{folder}/buffer.sqlite3'\n[schemas]\npath = '{folder}/schemas'\n{more}"
    );
    fs::write(&file, text).unwrap();
    Config::load(Some(&file)).unwrap()
}

fn schema(folder: &Path, name: &str, text: &Value) {
    let schemas = folder.join("schemas");
    fs::create_dir_all(&schemas).unwrap();
    fs::write(schemas.join(name), text.to_string()).unwrap();
}

/// Returns a schema for a number up to `max`.
fn number(slot: u8, max: u32) -> Value {
    json!({"title": "N", "x-dunnage-slot": slot, "type": "object", "additionalProperties": false, "required": ["n"],
           "properties": {"n": {"type": "integer", "minimum": 0, "maximum": max}}})
}

fn start(folder: TempDir, more: &str) -> Running {
    let config = configured(folder.path(), more);
    let runtime = runtime();
    let gateway = runtime.block_on(Gateway::start(config)).unwrap();
    Running { runtime, gateway, folder, agent: agent() }
}

fn reload(gateway: &Running) -> Result<Vec<String>, String> {
    let reloaded = gateway.runtime.block_on(gateway.gateway.reload());
    reloaded.map(|reloaded| reloaded.needs_restart).map_err(|e| e.to_string())
}

#[test]
fn reload_applies_profiles_and_schemas_and_names_settings_that_need_a_restart() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "small.json", &number(1, 10));
    let gateway = start(folder, "");
    assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":11}"#).status, 204);
    schema(gateway.folder.path(), "large.json", &number(1, 100));
    configured(
        gateway.folder.path(),
        "[log]\nlevel = 'debug'\n[[profile]]\ndevice = '*'\nschema = 'small'\n[[output]]\nname = 'x'\n[output.http]\nurl = 'http://127.0.0.1:1/'\n",
    );
    assert_eq!(reload(&gateway).unwrap(), ["[log] level", "[[output]] name = \"x\""]);
    assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":11}"#).status, 422);
    assert_eq!(gateway.post("/ingest/d?schema=large", JSON, br#"{"n":11}"#).status, 204);
}

#[test]
fn access_rules_and_limits_need_a_restart_and_tokens_do_not() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "small.json", &number(1, 10));
    let gateway = start(folder, "[access]\nwho = 'loopback'\n");
    let folder = gateway.folder.path();
    let more = "[access]\nwho = 'tokens'\ntokens = 'others.toml'\ndevice_messages_per_minute = 1\naddress_messages_per_minute = 1\n";
    configured(folder, more);
    fs::write(folder.join("others.toml"), "[[token]]\nname = 'a'\n").unwrap();
    assert!(reload(&gateway).unwrap_err().contains("others.toml"));
    let token = format!("[[token]]\nname = 'a'\nread = true\nhash = '{}'\n", "0".repeat(64));
    fs::write(folder.join("others.toml"), token).unwrap();
    let named = ["who", "device_messages_per_minute", "address_messages_per_minute"];
    assert_eq!(reload(&gateway).unwrap(), named.map(|key| format!("[access] {key}")));
    for _ in 0..3 {
        assert_eq!(gateway.post("/ingest/d", JSON, b"{}").status, 204);
    }
    // The token file is the one next to the current buffer, not next to the buffer of the new configuration.
    let text = fs::read_to_string(folder.join("dunnage.toml")).unwrap();
    fs::write(folder.join("dunnage.toml"), text.replace("buffer.sqlite3", "other/buffer.sqlite3")).unwrap();
    let reloaded = gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert!(reloaded.needs_restart.contains(&"[buffer] path".into()), "{reloaded:?}");
    assert_eq!(reloaded.tokens, 1);
}

#[test]
fn failed_reload_changes_nothing() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "small.json", &number(1, 10));
    let gateway = start(folder, "[[profile]]\ndevice = '*'\nschema = 'small'\n");
    let folder = gateway.folder.path();
    let assert_unchanged = || assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":11}"#).status, 422);

    fs::write(folder.join("dunnage.toml"), "[htp]\n").unwrap();
    assert!(reload(&gateway).unwrap_err().contains("htp"));
    assert_unchanged();
    configured(folder, "[[profile]]\ndevice = '*'\nschema = 'smal'\n");
    let error = reload(&gateway).unwrap_err();
    let lines = fs::read_to_string(folder.join("dunnage.toml")).unwrap();
    let line = 1 + lines.lines().position(|line| line.contains("'smal'")).unwrap();
    assert!(
        error.contains(&format!("dunnage.toml:{line}:1: profile[1].schema: there is no schema \"smal\"")),
        "{error}"
    );
    assert_unchanged();
    configured(folder, "");
    schema(folder, "bad.json", &json!({"title": "B", "$dynamicRef": "#a"}));
    assert!(reload(&gateway).unwrap_err().contains("bad.json"));
    assert_unchanged();
    fs::remove_file(folder.join("schemas/bad.json")).unwrap();
    reload(&gateway).unwrap();
    assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":11}"#).status, 204);
}

#[test]
fn reload_rejects_another_layout_in_the_same_slot() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "n.json", &number(1, 10));
    let gateway = start(folder, "");
    let folder = gateway.folder.path();
    // Messages with the loaded layout may be on their way.
    schema(folder, "n.json", &number(1, 1000));
    let e = reload(&gateway).unwrap_err();
    assert!(e.contains("n.json") && e.contains("slot 1") && e.contains("the one that is loaded"), "{e}");
    // A layout that is no longer loaded counts, too, if the buffer has messages with it.
    let packed = "application/vnd.dunnage.packed";
    assert_eq!(gateway.post("/ingest/d?schema=n", packed, &[0x01, 0x50]).status, 204);
    fs::remove_file(folder.join("schemas/n.json")).unwrap();
    let reloaded = gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert_eq!(reloaded.gone_layouts, [r#"slot 1 of the schema "n""#]);
    let reloaded = gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert_eq!(reloaded.gone_layouts, [""; 0]);
    schema(folder, "n.json", &number(1, 1000));
    let e = reload(&gateway).unwrap_err();
    assert!(e.contains("slot 1") && e.contains("the stored messages"), "{e}");
    schema(folder, "n.json", &number(2, 1000));
    reload(&gateway).unwrap();
    assert_eq!(gateway.post("/ingest/d?schema=n", JSON, br#"{"n":999}"#).status, 204);
}

#[test]
fn no_request_fails_during_fifty_reloads() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "small.json", &number(1, 10));
    let profile =
        |formats: &str| format!("[[profile]]\ndevice = 'd*'\nschema = 'small'\nformats = [{formats}]\n");
    let gateway = start(folder, &profile("'json'"));
    let (done, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for client in 0..4 {
            let (gateway, done, answered) = (&gateway, &done, &answered);
            scope.spawn(move || {
                let (agent, url) = (agent(), gateway.url(&format!("/ingest/d{client}")));
                while !done.load(Ordering::Relaxed) {
                    let answer = post(&agent, &url, JSON, br#"{"n":7}"#);
                    assert_eq!(answer.status, 204, "{}", answer.text);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..50 {
            let seen = answered.load(Ordering::Relaxed);
            while answered.load(Ordering::Relaxed) < seen + 4 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            configured(
                gateway.folder.path(),
                &profile(if round % 2 == 0 { "'json', 'cbor'" } else { "'json'" }),
            );
            reload(&gateway).unwrap();
            let cbor =
                post(&gateway.agent, &gateway.url("/ingest/dx"), "application/cbor", &[0xa1, 0x61, b'n', 7]);
            assert_eq!(cbor.status, if round % 2 == 0 { 204 } else { 415 });
        }
        done.store(true, Ordering::Relaxed);
    });
    let stored = answered.into_inner() + 25;
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined, summary.refused), (stored, 25, 0));
}
