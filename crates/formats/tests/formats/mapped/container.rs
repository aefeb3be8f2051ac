//! The container message in the schema-driven formats: sizes that others measured, and round trips.

use super::models::{container_message, container_model};
use dunnage_formats::{Id, Mapping};

fn size(id: Id, mapping: Mapping) -> usize {
    let format = id.open(Some(&container_model()), mapping).expect("a format of the model");
    format.round_trip(&container_message()).expect("a valid message").bytes.len()
}

/// Table 2 of the paper that the container message comes from, with the mapping of its authors.
#[test]
fn float32_mapping_has_the_sizes_of_the_authors() {
    assert_eq!(size(Id::Struct, Mapping::Float32), 116);
    assert_eq!(size(Id::StructZlib, Mapping::Float32), 124);
    assert_eq!(size(Id::Protobuf, Mapping::Float32), 138);
}

#[test]
fn exact_mapping_has_known_sizes() {
    assert_eq!(size(Id::Protobuf, Mapping::Exact), 97);
    assert_eq!(size(Id::Avro, Mapping::Exact), 79);
    assert_eq!(size(Id::ThriftBinary, Mapping::Exact), 170);
    assert_eq!(size(Id::ThriftCompact, Mapping::Exact), 98);
    assert_eq!(size(Id::Struct, Mapping::Exact), 89);
    assert_eq!(size(Id::StructZlib, Mapping::Exact), 98);
    assert_eq!(size(Id::Packed, Mapping::Exact), 56);
}

#[test]
fn exact_mapping_round_trips_the_message() {
    for id in Id::all().filter(|id| id.needs_schema()) {
        let format = id.open(Some(&container_model()), Mapping::Exact).unwrap();
        let result = format.round_trip(&container_message()).unwrap();
        assert!(result.lossless, "{id}: {:?}", format.decode(&result.bytes));
    }
}

/// Compares the bytes with the example of `spec/formats.md`.
#[test]
fn struct_layout_matches_the_specification() {
    let spec = include_str!("../../../../../spec/formats.md");
    let example = &spec[spec.find("### Example").unwrap()..spec.find("## Errors and limits").unwrap()];
    let mut bytes = Vec::new();
    for row in example.lines().filter(|row| row.starts_with('|') && row.contains('`')) {
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let quoted: Vec<_> = row.split('`').skip(1).step_by(2).collect();
        if last == "text" {
            quoted.iter().for_each(|text| bytes.extend_from_slice(text.as_bytes()));
        } else {
            let hex = quoted.last().unwrap().replace(' ', "");
            bytes.extend((0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()));
        }
    }
    let format = Id::Struct.open(Some(&container_model()), Mapping::Float32).unwrap();
    assert_eq!(bytes, format.round_trip(&container_message()).unwrap().bytes);
}
