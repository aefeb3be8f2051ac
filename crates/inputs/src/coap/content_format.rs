//! Content-Formats: the numbers that CoAP uses for media types.

use dunnage_formats::Id;
use dunnage_ingest::Rejected;

/// The Content-Formats of the IANA registry, or else numbers from the range for experimental use, 65000 to 65535 (RFC 7252, 12.3), as in
/// the table of `spec/ingest.md`.
const TABLE: [(u16, Id); 18] = [
    (41, Id::Xml),
    (50, Id::Json),
    (60, Id::Cbor),
    (110, Id::SenmlJson),
    (111, Id::SensmlJson),
    (112, Id::SenmlCbor),
    (113, Id::SensmlCbor),
    (65000, Id::Pson),
    (65001, Id::Packed),
    (65002, Id::Msgpack),
    (65003, Id::Bson),
    (65004, Id::Yaml),
    (65005, Id::Protobuf),
    (65006, Id::Avro),
    (65007, Id::ThriftBinary),
    (65008, Id::ThriftCompact),
    (65009, Id::Struct),
    (65010, Id::StructZlib),
];

/// Returns the problem of a request with an unknown Content-Format, or with none.
pub fn unsupported(number: Option<u16>) -> Rejected {
    let known: Vec<_> = TABLE.iter().map(|(number, format)| format!("{number} {}", format.name())).collect();
    let known = known.join(", ");
    Rejected::unsupported(match number {
        Some(number) => format!("the Content-Format {number} is not known; known ones are {known}"),
        None => format!("Content-Format must name the message's format: {known}"),
    })
}

/// Returns whether `number` is the Content-Format of a format.
pub fn is_known(number: Option<u16>) -> bool {
    TABLE.iter().any(|row| Some(row.0) == number)
}

/// Returns the media type of `number`; `content-format/{number}` for an unknown number, and an empty string for none.
pub fn media_type(number: Option<u16>) -> String {
    let Some(number) = number else { return String::new() };
    match TABLE.iter().find(|row| row.0 == number) {
        Some((_, format)) => format.media_type().to_owned(),
        None => format!("content-format/{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_format_has_one_number() {
        let numbers: HashSet<_> = TABLE.iter().map(|row| row.0).collect();
        assert_eq!((numbers.len(), Id::readable().count()), (TABLE.len(), TABLE.len()));
        for id in Id::readable() {
            let (number, _) = TABLE.iter().find(|row| row.1 == id).unwrap();
            assert_eq!(Id::from_media_type(&media_type(Some(*number))), Some(id));
        }
        for number in [None, Some(42), Some(65011)] {
            assert_eq!(Id::from_media_type(&media_type(number)), None);
        }
    }
}
