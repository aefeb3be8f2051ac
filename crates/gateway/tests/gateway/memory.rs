//! Messages that are small on the wire and large after decoding. The attack `bombs` of `bench/load` measures their memory.

use crate::support::{JSON, Running, start, start_in};
use dunnage_formats::{Format, Packed, Value};
use dunnage_schema::Model;
use std::fs;

const MSGPACK: &str = "application/msgpack";
/// Most nulls that an array may have: 64 bytes of memory, and 32 for each null, are 8 MiB.
const NULLS: u32 = (1 << 18) - 2;

/// Returns a MessagePack array of `count` nulls, with a length of 32 bits.
fn nulls(count: u32) -> Vec<u8> {
    [&[0xdd][..], &count.to_be_bytes(), &vec![0xc0; count as usize]].concat()
}

/// Returns the messages of `device` in the quarantine.
fn quarantined(gateway: &Running, device: &str) -> Vec<serde_json::Value> {
    let list = gateway.get_json("/api/quarantine?limit=100");
    let messages = list["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["device"] == device).cloned().collect()
}

#[test]
fn a_message_at_the_memory_limit_is_stored_and_one_above_it_is_quarantined() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/at", MSGPACK, &nulls(NULLS)).status, 204);
    let rejected = gateway.post("/ingest/above", MSGPACK, &nulls(NULLS + 1));
    assert_eq!(rejected.status, 400, "{}", rejected.text);
    let problem = rejected.json();
    // The offset is that of the first null beyond the limit, after the header and the other nulls.
    assert_eq!(
        (problem["kind"].as_str(), problem["offset"].as_u64()),
        (Some("limit"), Some(5 + u64::from(NULLS)))
    );
    assert!(problem["detail"].as_str().unwrap().contains("memory"), "{problem}");
    let above = quarantined(&gateway, "above");
    assert_eq!((above.len(), above[0]["kind"].as_str()), (1, Some("limit")));
    assert!(quarantined(&gateway, "at").is_empty());
}

#[test]
fn a_short_packed_message_that_is_large_in_memory_is_rejected() {
    let schema = r#"{"type":"array","items":{"type":"boolean"}}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/open.json"), schema).unwrap();
    let gateway = start_in(folder, |config| {
        config.schemas.path = config.buffer.path.with_file_name("schemas");
    });
    let mut body = Vec::new();
    // Some values are true, because a shorter body would be rejected for its decoding effort instead.
    let is_true = |n: usize| n.wrapping_mul(2_654_435_761) >> 7 & 63 == 0;
    let many = Value::Array((0..300_000).map(|n| Value::Bool(is_true(n))).collect());
    Packed::new(&Model::compile(schema).unwrap()).unwrap().encode(&many, &mut body).unwrap();
    assert!(body.len() < 16 << 10, "{} bytes", body.len());
    let rejected = gateway.post("/ingest/modelled?schema=open", "application/vnd.dunnage.packed", &body);
    assert_eq!(
        (rejected.status, rejected.json()["kind"].as_str()),
        (400, Some("limit")),
        "{}",
        rejected.text
    );
}

#[test]
fn a_message_over_the_limit_as_json_is_rejected() {
    let gateway = start();
    // Each character takes six bytes in JSON.
    let controls = |count: u32| [&[0xdb][..], &count.to_be_bytes(), &vec![1; count as usize]].concat();
    assert_eq!(gateway.post("/ingest/fits", MSGPACK, &controls(600_000)).status, 204);
    let rejected = gateway.post("/ingest/long", MSGPACK, &controls(1_000_000));
    assert_eq!(
        (rejected.status, rejected.json()["kind"].as_str()),
        (422, Some("limit")),
        "{}",
        rejected.text
    );
    assert_eq!(quarantined(&gateway, "long").len(), 1);
    assert_eq!(gateway.post("/ingest/other", JSON, b"{}").status, 204);
}
