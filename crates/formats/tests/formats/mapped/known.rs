//! Fields that packed omits because the receiver knows them.

use dunnage_formats::{Format, Json, Kind, Known, Packed, Reception, Value};
use dunnage_schema::Model;
use std::collections::BTreeMap;

const SCHEMA: &str = r#"{
    "title": "Known", "type": "object", "required": ["n", "from"], "additionalProperties": false,
    "properties": {
        "n": {"type": "integer", "minimum": 0, "maximum": 255},
        "from": {
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {"id": {"type": "string", "pattern": "^[A-Z]{4}[0-9]{7}$", "x-dunnage-known": "device"}}
        }
    }
}"#;

fn message(id: &str) -> Value {
    Json.decode(format!(r#"{{"n":7,"from":{{"id":"{id}"}}}}"#).as_bytes()).unwrap()
}

fn from(device: &str) -> Reception<'_> {
    Reception { known: Some(device).into(), ..Reception::default() }
}

#[test]
fn decoding_fills_the_known_field_with_the_device() {
    let format = Packed::new(&Model::compile(SCHEMA).unwrap()).unwrap();
    let trip = format.round_trip(&message("LMCU1231237")).unwrap();
    assert_eq!((trip.bytes.as_slice(), trip.lossless), (&[1, 7][..], true));
    assert_eq!(format.decode_from(&trip.bytes, &from("MSCU7654321")), Ok(message("MSCU7654321")));
    assert_eq!(format.decode(&trip.bytes).unwrap_err().kind(), Kind::Type);
    // A device ID that the field does not allow.
    assert_eq!(format.decode_from(&trip.bytes, &from("buoy-7")).unwrap_err().kind(), Kind::Range);
}

#[test]
fn other_texts_come_from_a_table_and_a_missing_one_is_named() {
    let schema = SCHEMA.replace(r#""n", "from""#, r#""n", "from", "tel""#).replace(
        r#""n": {"#,
        r#""tel": {"type": "string", "pattern": "^[0-9]{12}$", "x-dunnage-known": "msisdn"}, "n": {"#,
    );
    let format = Packed::new(&Model::compile(&schema).unwrap()).unwrap();
    let message = Json.decode(br#"{"tel":"393315537800","n":7,"from":{"id":"LMCU1231237"}}"#).unwrap();
    let trip = format.round_trip(&message).unwrap();
    assert_eq!((trip.bytes.as_slice(), trip.lossless), (&[1, 7][..], true));
    let texts = BTreeMap::from([("msisdn".to_owned(), "393315537800".to_owned())]);
    let known = Known { device: Some("LMCU1231237"), texts: Some(&texts) };
    let reception = Reception { known, ..Reception::default() };
    assert_eq!(format.decode_from(&trip.bytes, &reception), Ok(message));
    let error = format.decode_from(&trip.bytes, &from("LMCU1231237")).unwrap_err();
    assert_eq!(error.kind(), Kind::Type);
    assert!(error.to_string().contains("msisdn"), "{error}");
}
