//! What becomes of messages that are small on the wire and large once they are decoded. What they take in memory, the attack `bombs` of
//! `bench/load` measures.

use crate::support::{JSON, Running, start, start_in};
use dunnage_formats::{Format, Packed, Value};
use dunnage_schema::Model;
use std::fs;

const MSGPACK: &str = "application/msgpack";
/// The most nulls of an array: 64 bytes of memory and 32 for each are 8 MiB.
const NULLS: u32 = (1 << 18) - 2;

/// An array of 32-bit length in MessagePack.
fn nulls(count: u32) -> Vec<u8> {
    [&[0xdd][..], &count.to_be_bytes(), &vec![0xc0; count as usize]].concat()
}

/// What the quarantine has of `device`.
fn kept(gateway: &Running, device: &str) -> Vec<serde_json::Value> {
    let list = gateway.get_json("/api/quarantine?limit=100");
    let messages = list["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["device"] == device).cloned().collect()
}

#[test]
fn a_message_at_the_limit_of_memory_is_stored_and_one_above_it_is_kept_unread() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/at", MSGPACK, &nulls(NULLS)).status, 204);
    let refused = gateway.post("/ingest/above", MSGPACK, &nulls(NULLS + 1));
    assert_eq!(refused.status, 400, "{}", refused.text);
    let problem = refused.json();
    // The offset is that of the null which has no memory: behind the header and those before it.
    assert_eq!(
        (problem["kind"].as_str(), problem["offset"].as_u64()),
        (Some("limit"), Some(5 + u64::from(NULLS)))
    );
    assert!(problem["detail"].as_str().unwrap().contains("memory"), "{problem}");
    let kept = kept(&gateway, "above");
    assert_eq!((kept.len(), kept[0]["kind"].as_str()), (1, Some("limit")));
    assert!(self::kept(&gateway, "at").is_empty());
}

#[test]
fn a_few_bytes_that_a_schema_makes_large_are_refused() {
    let schema = r#"{"type":"array","items":{"type":"boolean"}}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/open.json"), schema).unwrap();
    let gateway = start_in(folder, |config| {
        config.schemas.path = config.buffer.path.with_file_name("schemas");
    });
    let mut body = Vec::new();
    // Few of them are true: a body of fewer bytes would be refused for the work that it is.
    let is_true = |n: usize| n.wrapping_mul(2_654_435_761) >> 7 & 63 == 0;
    let many = Value::Array((0..300_000).map(|n| Value::Bool(is_true(n))).collect());
    Packed::new(&Model::compile(schema).unwrap()).encode(&many, &mut body).unwrap();
    assert!(body.len() < 16 << 10, "{} bytes", body.len());
    let refused = gateway.post("/ingest/modelled?schema=open", "application/vnd.dunnage.packed", &body);
    assert_eq!((refused.status, refused.json()["kind"].as_str()), (400, Some("limit")), "{}", refused.text);
}

#[test]
fn a_message_that_is_larger_as_json_than_it_may_be_is_refused() {
    let gateway = start();
    // Each character is six in JSON.
    let controls = |count: u32| [&[0xdb][..], &count.to_be_bytes(), &vec![1; count as usize]].concat();
    assert_eq!(gateway.post("/ingest/fits", MSGPACK, &controls(600_000)).status, 204);
    let refused = gateway.post("/ingest/long", MSGPACK, &controls(1_000_000));
    assert_eq!((refused.status, refused.json()["kind"].as_str()), (422, Some("limit")), "{}", refused.text);
    assert_eq!(kept(&gateway, "long").len(), 1);
    assert_eq!(gateway.post("/ingest/other", JSON, b"{}").status, 204);
}
