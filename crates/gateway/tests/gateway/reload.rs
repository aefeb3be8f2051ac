//! Reading profiles and schemas again while messages come in.

use crate::support::{JSON, Running, agent, post, runtime};
use dunnage_gateway::{Config, Gateway};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};
use tempfile::TempDir;

/// Writes a configuration for a gateway in `folder` with `more`, and answers it.
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

/// A schema of a number up to `most`.
fn number(slot: u8, most: u32) -> Value {
    json!({"title": "N", "x-dunnage-slot": slot, "type": "object", "additionalProperties": false, "required": ["n"],
           "properties": {"n": {"type": "integer", "minimum": 0, "maximum": most}}})
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
fn profiles_and_schemas_change_and_what_needs_a_restart_is_named() {
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
fn who_may_send_and_how_much_needs_a_restart_and_the_tokens_do_not() {
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
    // The tokens lie beside the buffer that is used, and not beside the one that will be.
    let text = fs::read_to_string(folder.join("dunnage.toml")).unwrap();
    fs::write(folder.join("dunnage.toml"), text.replace("buffer.sqlite3", "other/buffer.sqlite3")).unwrap();
    let reloaded = gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert!(reloaded.needs_restart.contains(&"[buffer] path".into()), "{reloaded:?}");
    assert_eq!(reloaded.tokens, 1);
}

#[test]
fn a_mistake_leaves_everything_as_it_was() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "small.json", &number(1, 10));
    let gateway = start(folder, "[[profile]]\ndevice = '*'\nschema = 'small'\n");
    let folder = gateway.folder.path();
    let still = || assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":11}"#).status, 422);

    fs::write(folder.join("dunnage.toml"), "[htp]\n").unwrap();
    assert!(reload(&gateway).unwrap_err().contains("htp"));
    still();
    configured(folder, "[[profile]]\ndevice = '*'\nschema = 'smal'\n");
    assert!(reload(&gateway).unwrap_err().contains("smal"));
    still();
    configured(folder, "");
    schema(folder, "bad.json", &json!({"title": "B", "$dynamicRef": "#a"}));
    assert!(reload(&gateway).unwrap_err().contains("bad.json"));
    still();
    fs::remove_file(folder.join("schemas/bad.json")).unwrap();
    reload(&gateway).unwrap();
    assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":11}"#).status, 204);
}

#[test]
fn a_layout_does_not_change_under_its_slot() {
    let folder = TempDir::new().unwrap();
    schema(folder.path(), "n.json", &number(1, 10));
    let gateway = start(folder, "");
    let folder = gateway.folder.path();
    // Messages may be under way with what is loaded.
    schema(folder, "n.json", &number(1, 1000));
    let e = reload(&gateway).unwrap_err();
    assert!(e.contains("n.json") && e.contains("slot 1") && e.contains("the one that is loaded"), "{e}");
    // With what is not loaded any more, if the buffer has some.
    let packed = "application/vnd.dunnage.packed";
    assert_eq!(gateway.post("/ingest/d?schema=n", packed, &[0x01, 0x50]).status, 204);
    fs::remove_file(folder.join("schemas/n.json")).unwrap();
    reload(&gateway).unwrap();
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
