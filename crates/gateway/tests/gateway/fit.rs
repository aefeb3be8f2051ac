//! Messages of devices that left out what did not fit their link.

use crate::support::start_in;
use dunnage_formats::{Format, Json, Packed};
use dunnage_schema::Model;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

const SCHEMA: &str = r#"{
    "title": "Log",
    "type": "object",
    "properties": {
        "gust": {"type": "integer", "minimum": 0, "maximum": 65535, "x-dunnage-drop": 2},
        "battery": {"type": "integer", "minimum": 0, "maximum": 100, "x-dunnage-drop": 1},
        "readings": {"type": "array", "minItems": 1, "maxItems": 24, "x-dunnage-series": true, "items": {"type": "integer", "minimum": 0, "maximum": 255}}
    },
    "required": ["readings"],
    "additionalProperties": false
}"#;

#[test]
fn a_message_that_was_made_to_fit_says_what_is_left_out() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/log.json"), SCHEMA).unwrap();
    let gateway =
        start_in(folder, |config| config.schemas.path = config.buffer.path.with_file_name("schemas"));
    let codec = Packed::new(&Model::compile(SCHEMA).unwrap()).unwrap();
    let message = Json.decode(br#"{"gust":300,"battery":90,"readings":[1,2,3,4,5,6]}"#).unwrap();
    for (limit, value, origin) in [
        (20, json!({"gust": 300, "battery": 90, "readings": [1, 2, 3, 4, 5, 6]}), json!(null)),
        (8, json!({"gust": 300, "battery": 90, "readings": [1, 2, 3]}), json!(null)),
        (5, json!({"battery": 90, "readings": [1, 2]}), json!({"left_out": ["gust"]})),
        (3, json!({"readings": [1]}), json!({"left_out": ["gust", "battery"]})),
    ] {
        let mut bytes = Vec::new();
        codec.layout().encode_fit(&message, limit, &mut bytes).unwrap();
        assert!(bytes.len() <= limit);
        let answer = gateway.post("/ingest/d?schema=log", "application/vnd.dunnage.packed", &bytes);
        assert_eq!(answer.status, 204, "{}", answer.text);
        let stored = gateway.get_json("/api/messages?limit=1")["messages"][0].clone();
        assert_eq!((&stored["value"], &stored["origin"]), (&value, &origin), "{limit}");
    }
}
