//! Content-Formats: the numbers that CoAP uses for media types.

use dunnage_formats::Id;
use dunnage_ingest::{Code, Rejected};

/// The Content-Formats of the IANA registry, or else numbers from the range for experimental use, 65000 to 65535 (RFC 7252, 12.3), as in
/// the table of `spec/ingest.md`.
const TABLE: [(u16, Id); 20] = [
    (0, Id::Text),
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
    (65011, Id::Form),
];

/// Registered Content-Formats of media types that are a format by their suffix, and of octets, which name none.
const OTHERS: [(u16, &str); 6] = [
    (42, "application/octet-stream"),
    (432, "application/td+json"),
    (433, "application/tm+json"),
    (10000, "application/vnd.ocf+cbor"),
    (11543, "application/vnd.oma.lwm2m+json"),
    (11544, "application/vnd.oma.lwm2m+cbor"),
];

/// Rejects a message whose Content-Format is an unknown number.
pub fn unknown(number: Option<u16>) -> Option<Rejected> {
    let number = number.filter(|number| find(*number).is_none())?;
    let detail = format!("the Content-Format {number} is not known");
    Some(Rejected::unsupported(detail).with_choice(format!("; known ones are {}", numbers())))
}

/// Names numbers in place of media types to the sender of a message without a known format.
pub fn with_numbers(rejected: Rejected) -> Rejected {
    match rejected.code == Code::MediaType && !rejected.choice.is_empty() {
        true => rejected.with_choice(format!("; Content-Format can be {}", numbers())),
        false => rejected,
    }
}

fn numbers() -> String {
    let formats = TABLE.iter().map(|(number, format)| format!("{number} {}", format.name()));
    let others = OTHERS.iter().map(|(number, media_type)| format!("{number} {media_type}"));
    formats.chain(others).collect::<Vec<_>>().join(", ")
}

/// Returns the media type of `number`; `content-format/{number}` for an unknown number, and an empty string for none.
pub fn media_type(number: Option<u16>) -> String {
    let Some(number) = number else { return String::new() };
    find(number).map_or_else(|| format!("content-format/{number}"), str::to_owned)
}

fn find(number: u16) -> Option<&'static str> {
    let format = TABLE.iter().find(|row| row.0 == number).map(|row| row.1.media_type());
    format.or_else(|| OTHERS.iter().find(|row| row.0 == number).map(|row| row.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_format_has_one_number() {
        let numbers: HashSet<_> =
            TABLE.iter().map(|row| row.0).chain(OTHERS.iter().map(|row| row.0)).collect();
        assert_eq!((numbers.len(), Id::readable().count()), (TABLE.len() + OTHERS.len(), TABLE.len()));
        for id in Id::readable() {
            let (number, _) = TABLE.iter().find(|row| row.1 == id).unwrap();
            assert_eq!(Id::from_media_type(&media_type(Some(*number))), Some(id));
        }
        for (number, media_type) in OTHERS.iter().filter(|row| row.0 != 42) {
            assert!(Id::from_media_type(media_type).is_some() && unknown(Some(*number)).is_none());
        }
        for number in [None, Some(42), Some(43), Some(65012)] {
            assert_eq!(Id::from_media_type(&media_type(number)), None);
        }
        assert!(unknown(None).is_none() && unknown(Some(42)).is_none() && unknown(Some(43)).is_some());
    }
}
