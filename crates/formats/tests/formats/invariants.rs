//! Invariants of every decoder for any bytes. The fuzz target `formats` uses this file, too.

use dunnage_formats::{Format, Id, Json, Kind, MAX_BYTES, Mapping, Value};
use dunnage_schema::Model;

/// Returns all formats, including those that are only read. Formats that need a schema have that of the container message.
pub fn all_formats() -> Vec<(Id, Box<dyn Format>)> {
    let schema = dunnage_schema::bundled_named("container").unwrap();
    let model = Model::compile(schema).unwrap();
    Id::readable().map(|id| (id, id.open(Some(&model), Mapping::Exact).unwrap())).collect()
}

/// Decodes `bytes`. Panics unless the result is an error with an offset within them, or a message that round-trips.
pub fn check(id: Id, format: &dyn Format, bytes: &[u8]) {
    let message = match format.decode(bytes) {
        Ok(message) => message,
        Err(e) => {
            assert!(e.offset().is_none_or(|at| at <= bytes.len()), "{id}: {e}");
            return;
        }
    };
    if matches!(id, Id::Text | Id::Form) {
        return;
    }
    if matches!(id, Id::SenmlJson | Id::SensmlJson | Id::SenmlCbor | Id::SensmlCbor) {
        return check_resolved(&message);
    }
    let mut again = Vec::new();
    match format.encode(&message, &mut again) {
        Ok(()) => assert_eq!(format.decode(&again).as_ref(), Ok(&message), "{id}"),
        Err(e) if id.needs_schema() => assert_ne!(e.kind(), Kind::Truncated, "{id}: {e}"),
        Err(e) => assert!(e.kind() == Kind::Limit && bytes.len() > MAX_BYTES / 8, "{id}: {e}"),
    }
}

/// Panics unless the resolved records are SenML that decodes to itself. Skips messages that JSON cannot represent, which come from CBOR.
fn check_resolved(message: &Value) {
    let mut text = Vec::new();
    if Json.encode(message, &mut text).is_ok() {
        let again = Id::SenmlJson.open(None, Mapping::Exact).and_then(|senml| senml.decode(&text));
        assert_eq!(again.as_ref(), Ok(message), "{}", String::from_utf8_lossy(&text));
    }
}

/// The formats by the first byte of the files in `fuzz/corpus/formats`. New ones come last, because the files stay.
const SELECTED: [Id; 20] = [
    Id::Json,
    Id::Msgpack,
    Id::Cbor,
    Id::Bson,
    Id::Xml,
    Id::Yaml,
    Id::Protobuf,
    Id::Avro,
    Id::ThriftBinary,
    Id::ThriftCompact,
    Id::Struct,
    Id::StructZlib,
    Id::Pson,
    Id::Packed,
    Id::SenmlJson,
    Id::SensmlJson,
    Id::SenmlCbor,
    Id::SensmlCbor,
    Id::Text,
    Id::Form,
];

/// Returns the byte that selects a format.
#[cfg(test)]
pub fn selector(id: Id) -> u8 {
    SELECTED.iter().position(|selected| *selected == id).unwrap() as u8
}

#[test]
fn every_format_is_selected_by_one_byte() {
    assert!(Id::readable().all(|id| SELECTED.iter().filter(|selected| **selected == id).count() == 1));
}

/// Checks the bytes after the first with a format. The first byte is its index in [`SELECTED`].
pub fn check_selected(formats: &[(Id, Box<dyn Format>)], input: &[u8]) {
    let Some((selector, bytes)) = input.split_first() else { return };
    let selected = SELECTED.get(usize::from(*selector));
    if let Some((id, format)) = formats.iter().find(|(id, _)| Some(id) == selected) {
        check(*id, format.as_ref(), bytes);
    }
}
