//! Numbers with more decimals than the schema's, which `x-dunnage-round` allows.

use dunnage_formats::{Format, Id, Json, Mapping};
use dunnage_schema::Model;

#[test]
fn a_rounded_message_is_not_lossless_in_a_format_that_needs_the_schema() {
    let schema = r#"{"title":"R","type":"object","properties":{"v":{"type":"number","multipleOf":0.01,"minimum":0,
        "maximum":5,"x-dunnage-round":true}},"required":["v"],"additionalProperties":false}"#;
    let model = Model::compile(schema).unwrap();
    let noisy = Json.decode(br#"{"v":0.9512450499999999}"#).unwrap();
    let rounded = Json.decode(br#"{"v":0.95}"#).unwrap();
    for id in [Id::Packed, Id::Protobuf, Id::Avro, Id::Struct] {
        let format = id.open(Some(&model), Mapping::Exact).unwrap();
        let trip = format.round_trip(&noisy).unwrap();
        assert!(!trip.lossless, "{id}");
        assert_eq!(format.decode(&trip.bytes), Ok(rounded.clone()), "{id}");
        assert!(format.round_trip(&rounded).unwrap().lossless, "{id}");
    }
}
